// The truth of one session, put together from body, pump, sensor, loop and person.
//
// Guarantees: one for the session's own policy and for all that only listen. Device spans are what was so, not what the app saw.

import AlertMetrics
import Alerts
import People
import Physiology
import Records
import SessionTime
import SimulatedDevices

extension SessionTruth {
    /// - Parameters:
    ///   - plasma: as the patient keeps it.
    ///   - readings: in the order of their arrival.
    ///   - deeds: what the person did; nil where nobody listens.
    init(
        plasma: [Float], reached: Instant, pump: PumpTruth, interruptions: IntervalSet,
        readings: [SessionRecorder.SensorPoint], deeds: PersonFacts?
    ) {
        self.init(plasma: plasma, every: VirtualPatient.truthInterval, reached: reached)
        self[.signalLoss] = pump[.unreachable]
        self[.noPod] = pump[.withoutPod]
        self[.podFailure] = pump[.stopped]
        self[.steppingInterrupted] = interruptions
        self[.sensorGap] = Self.gaps(readings, until: reached)
        guard let deeds else { return }
        nights = IntervalSet(deeds.nights.map { Interval($0.from, $0.to) })
        let treated =
            deeds.rescuedAt.map { Treatment($0, .low) } + deeds.correctedAt.map { Treatment($0, .high) }
        treatments = treated.sorted { ($0.instant, $0.topic.rawValue) < ($1.instant, $1.topic.rawValue) }
    }

    /// A sensor that measures every five minutes; a new one has a phase of its own.
    private static let readingInterval = 5 * Nanoseconds.minute
    private static let slack = readingInterval / 2

    /// From when a reading was due that didn't come to the next one that did; a late one is none.
    static func gaps(_ readings: [SessionRecorder.SensorPoint], until reached: Instant) -> IntervalSet {
        var gaps: [Interval] = []
        var due = Instant.start
        for reading in readings where !reading.isBackfilled {
            if reading.instant > due.adding(slack) { gaps.append(Interval(due, reading.instant)) }
            due = max(due, reading.instant.adding(readingInterval))
        }
        if reached > due.adding(slack) { gaps.append(Interval(due, reached)) }
        return IntervalSet(gaps)
    }
}
