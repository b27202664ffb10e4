// The truth of one session, put together from body, pump, sensor, loop and person.
//
// Guarantees: one for the session's own policy and for all that only listen. Device spans are what was so, not what the app saw.

import IsletAlerts
import IsletPeople
import IsletModels
import IsletDevices
import IsletKernel

extension SessionTruth {
    /// - Parameters:
    ///   - plasma: as the patient keeps it.
    ///   - readings: in the order of their arrival.
    ///   - personFacts: what the person did; nil where nobody listens.
    init(
        plasma: [Float], reached: Instant, pump: PumpTruth, interruptions: IntervalSet,
        readings: [SessionRecorder.SensorPoint], personFacts: PersonFacts?
    ) {
        self.init(plasma: plasma, every: VirtualPatient.truthInterval, reached: reached)
        self[.signalLoss] = pump[.unreachable]
        self[.noPod] = pump[.withoutPod]
        self[.podFailure] = pump[.stopped]
        self[.steppingInterrupted] = interruptions
        self[.sensorGap] = Self.gaps(readings, until: reached)
        guard let personFacts else { return }
        nights = IntervalSet(personFacts.nights.map { Interval($0.from, $0.to) })
        let treated =
            personFacts.rescuedAt.map { Treatment($0, .low) }
            + personFacts.correctedAt.map { Treatment($0, .high) }
        treatments = treated.sorted { ($0.instant, $0.topic.rawValue) < ($1.instant, $1.topic.rawValue) }
    }

    /// A sensor that measures every five minutes; a new one has a phase of its own.
    static let readingInterval = 5 * Nanoseconds.minute

    /// From when a reading was due that didn't come to the next one that did; a late one is none.
    static func gaps(_ readings: [SessionRecorder.SensorPoint], until reached: Instant) -> IntervalSet {
        gaps(measuredAt: readings.lazy.filter { !$0.isBackfilled }.map(\.instant), until: reached)
    }

    /// - Parameter interval: of the sensor, ns.
    static func gaps(
        measuredAt instants: some Sequence<Instant>, every interval: Int64 = readingInterval,
        until reached: Instant
    ) -> IntervalSet {
        let slack = interval / 2
        var gaps: [Interval] = []
        var due = Instant.start
        for instant in instants {
            if instant > due.adding(slack) { gaps.append(Interval(due, instant)) }
            due = max(due, instant.adding(interval))
        }
        if reached > due.adding(slack) { gaps.append(Interval(due, reached)) }
        return IntervalSet(gaps)
    }
}
