// What goes wrong with a sensor: the kinds of faults that have a part in it, and its wear (early failure, a late change).
//
// Guarantees: each kind draws from a stream of its own, and sensor k's failure and change from streams of index k; every
// span is logged with its true instants. Asking costs one comparison while nothing begins or ends.
// Does not: touch the error model's draws: a reading outside a fault is the one that the same session has without.

import IsletDevices
import IsletNumerics
import IsletKernel

final class SensorFaults {
    /// From a failure to the next sensor, where the person isn't late (assumed).
    static let replacementDelay = 30 * Nanoseconds.minute

    private let plan: FaultPlan
    private let device: SensorDevice
    private let streams: RandomStreams
    let log: FaultLog
    private var scheduled: ArraySlice<ScheduledFault>
    /// In the order of the kinds.
    let parts: [(kind: FaultKind, fault: any SensorFault)]

    private var insertedAt = Instant.start
    /// When the sensor in use fails; `distantFuture` for one that doesn't.
    private(set) var failsAt = Instant.distantFuture
    /// When the person puts the next one in.
    private(set) var changeAt = Instant.distantFuture
    private var hasFailed = false
    /// Nothing begins or ends before.
    private(set) var nextChange = Instant.start

    init(
        plan: FaultPlan, device: SensorDevice, streams: RandomStreams, startOfDay: Int64, log: FaultLog,
        at now: Instant
    ) {
        self.plan = plan
        self.device = device
        self.streams = streams
        self.log = log
        scheduled = plan.scheduled.filter { $0.kind.isOfSensor }[...]
        parts = FaultKind.all.compactMap { kind in
            guard case .sensor(.part(let make)) = kind.effect else { return nil }
            let setting = SensorFaultSetting(
                rate: plan.rate(of: kind), device: device, streams: streams, startOfDay: startOfDay, log: log,
                now: now)
            return (kind, make(setting))
        }
    }

    /// A new sensor, the `index`-th of the subject.
    func insert(index: UInt64, at instant: Instant) {
        if hasFailed { log.end(.sensorFailure, at: instant) }
        if log.isOpen(.lateSensorChange) { log.end(.lateSensorChange, at: instant) }
        for part in parts { part.fault.sensorChanged(at: instant) }
        hasFailed = false
        insertedAt = instant
        failsAt = .distantFuture
        let change = GSLRandom(streams.stream("fault.sensor-change", index: index))
        let (lateness, delay) = (change.exponential(mean: 1), change.exponential(mean: 1))
        let mean = plan.rate(of: .lateSensorChange).map { $0 * Double(Nanoseconds.hour) }
        changeAt = instant.adding(device.life + Int64(lateness * (mean ?? 0)))
        if let share = plan.rate(of: .sensorFailure), share > 0 {
            let random = GSLRandom(streams.stream("fault.sensor-failure", index: index))
            let life = random.weibull(scale: device.failureScale(share: share), shape: device.failureShape)
            if life < Double(device.life + device.grace) {
                failsAt = instant.adding(Int64(life))
                let replaced = failsAt.adding(Self.replacementDelay + Int64(delay * (mean ?? 0)))
                changeAt = min(changeAt, replaced)
                if failsAt >= changeAt { failsAt = .distantFuture }
            }
        }
        nextChange = .start
    }

    /// The sensor in use fails, unless it has.
    func fail(at instant: Instant, replacedAfter nanoseconds: Int64) {
        guard !hasFailed else { return }
        failsAt = instant
        changeAt = instant.adding(nanoseconds)
    }

    /// The person changes the sensor at `instant` where that was planned for later.
    func changeNoLater(than instant: Instant) { changeAt = min(changeAt, instant) }

    /// Brings everything up to `now`; call when `now` has reached `nextChange`.
    func advance(to now: Instant) {
        while let fault = scheduled.first, fault.at <= now {
            scheduled.removeFirst()
            begin(fault)
        }
        for part in parts { part.fault.advance(to: now) }
        if failsAt <= now, !hasFailed {
            hasFailed = true
            log.begin(.sensorFailure, at: failsAt)
        }
        for part in parts { part.fault.settle(at: now) }
        let expires = insertedAt.adding(device.life + device.grace)
        if expires <= now, changeAt > expires, !hasFailed, !log.isOpen(.lateSensorChange) {
            log.begin(.lateSensorChange, at: expires)
        }
        setNextChange(after: now)
    }

    private func begin(_ fault: ScheduledFault) {
        guard case .sensor(let effect) = fault.kind.effect else { return }
        switch effect {
        case .part: parts.first { $0.kind == fault.kind }?.fault.begin(fault)
        case .wear(let begin): begin?(self, fault)
        }
    }

    private func setNextChange(after now: Instant) {
        var next = scheduled.first?.at ?? .distantFuture
        for part in parts { next = min(next, part.fault.nextChange(after: now)) }
        if !hasFailed { next = min(next, failsAt) }
        let expires = insertedAt.adding(device.life + device.grace)
        if changeAt > expires, expires > now { next = min(next, expires) }
        nextChange = next
    }

    // MARK: Effects

    /// What they take off a reading, mg/dL.
    func reduction(at now: Instant) -> Double {
        parts.reduce(0) { $0 + $1.fault.reduction(at: now) }
    }

    /// Whether readings don't arrive.
    var holdsReadingsBack: Bool { parts.contains { $0.fault.holdsReadingsBack } }

    /// What the sensor's algorithm says, were it warm.
    func state(at now: Instant) -> SensorState {
        if hasFailed { return .failed }
        if now.nanoseconds - insertedAt.nanoseconds >= device.life + device.grace { return .expired }
        for part in parts {
            if let state = part.fault.state { return state }
        }
        return .ok
    }
}
