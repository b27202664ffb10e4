// The person's side of phone, pod and sensor.
//
// Guarantees: the person sees what the app shows, and a dead app shows and takes nothing. Every look of theirs is a call within the session.
// Does not: decide anything.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletPeople
import IsletKernel
import IsletModels

/// Called on the session's thread only. Nobody holds the actors through it: the session does.
final class PersonPhoneAdapter: PersonPhone, PersonDevices, @unchecked Sendable {
    private unowned let alerts: AlertCenter
    private unowned let loop: LoopController
    private unowned let sensor: SimulatedSensor
    private unowned let pump: SimulatedPump
    private weak var phone: Phone?
    private weak var app: AppFaults?
    private unowned let recorder: SessionRecorder
    private weak var body: (any InsulinReceiver)?
    /// By a pen so far, U.
    private(set) var penUnits = 0.0

    /// - Parameters:
    ///   - phone: nil where the app can't die, as `app`.
    ///   - body: nil where it is not simulated.
    init(
        alerts: AlertCenter, loop: LoopController, sensor: SimulatedSensor, pump: SimulatedPump,
        phone: Phone?, app: AppFaults?, recorder: SessionRecorder, body: (any InsulinReceiver)?
    ) {
        self.alerts = alerts
        self.loop = loop
        self.sensor = sensor
        self.pump = pump
        self.phone = phone
        self.app = app
        self.recorder = recorder
        self.body = body
    }

    var isAppAlive: Bool { phone.map { $0.here { $0.isAppAlive } } ?? true }
    func reopenApp() { app?.here { $0.reopen() } }

    func open() { tell(.foreground) }
    func close() { tell(.background) }
    func acknowledge(_ code: AlertName) { tell(.acknowledge(code)) }

    private func tell(_ input: AlertInput) {
        guard isAppAlive else { return }
        alerts.here(input) { $0.tell($1) }
    }

    var reading: GlucoseReading? { phone.map(\.latestReading) ?? sensor.latestReading }

    var toAcknowledge: [(code: AlertName, raisedAt: Instant)] {
        let now = alerts.executor.now
        return alerts.here { $0.active }
            .filter { $0.acknowledgement != .none && $0.acknowledgedAt == nil && $0.raisedAt < now }
            .map { ($0.code, $0.raisedAt) }
    }

    var isClosedLoop: Bool { loop.here { $0.isClosedLoop } }
    var dropped: PersonDropped? {
        loop.here { $0.lastDropped }.map {
            PersonDropped(at: $0.at, insulin: $0.amount, carbohydrate: $0.carbohydrate)
        }
    }
    func askAgain() throws { try loop.here { try $0.askAgainForDropped() } }
    func dismissDropped() { loop.here { $0.dismissDropped() } }

    /// Readings farther apart belong to two highs.
    private static let longestGap = 30 * Nanoseconds.minute

    func high(above bound: Double) -> PersonHigh? {
        var found: PersonHigh?
        var before = Instant.distantFuture
        let newest = recorder.sensorTrace.last?.instant ?? .start
        for point in recorder.sensorTrace.reversed() {
            guard point.mgdl > bound,
                before == .distantFuture || before.nanoseconds - point.instant.nanoseconds <= Self.longestGap
            else { break }
            before = point.instant
            var high = found ?? PersonHigh(since: point.instant, anHourAgo: nil)
            high.since = min(high.since, point.instant)
            if high.anHourAgo == nil, newest.nanoseconds - point.instant.nanoseconds >= Nanoseconds.hour {
                high.anHourAgo = point.mgdl
            }
            found = high
        }
        return found
    }

    var podNeedsChange: Bool { pump.here { $0.needsChange() } }
    var sensorNeedsChange: Bool { sensor.here { $0.needsChange() } }
    func changePod(at instant: Instant) { pump.here(instant) { $0.requestPodChange(at: $1) } }
    var podWornSince: Instant? { pump.here { $0.podWornSince() } }
    func changeSite(at instant: Instant) { pump.here(instant) { $0.requestSiteChange(at: $1) } }
    var hasKetones: Bool { pump.here { $0.hasKetones() } }
    var siteFails: Bool { pump.here { $0.siteFails() } }
    func inject(_ amount: InsulinAmount) throws {
        guard let body else { return }
        try body.receive(amount, over: 0)
        penUnits += amount.units
    }
    func changeSensor(at instant: Instant) { sensor.here(instant) { $0.requestChange(at: $1) } }
}
