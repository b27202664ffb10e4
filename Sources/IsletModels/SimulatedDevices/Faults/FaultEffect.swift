// What a fault does, by the device that it is of.
//
// Guarantees: a device meets the kinds in the order of the table, each with the stream that its row names.

import IsletNumerics
import IsletKernel

/// Whose fault it is, and what it does there.
enum FaultEffect: Sendable {
    case sensor(SensorEffect)
    case pump(PumpEffect)
    case app(AppEffect)
}

/// Something that comes by chance.
struct FaultChance<Device: Actor>: Sendable {
    var stream: StaticString
    /// The rate counts faults in so many hours.
    var hours: Double
    /// Every strike takes its numbers, whether or not it meets something that it can strike.
    var strike: @Sendable (isolated Device, GSLRandom) throws -> Void
}

/// What the fault does to the pump. A kind with neither is a trait: the pump asks its plan.
struct PumpEffect: Sendable {
    var chance: FaultChance<SimulatedPump>?
    /// At an instant that the study chose.
    var begin: (@Sendable (isolated SimulatedPump, ScheduledFault) throws -> Void)?
}

/// What the fault does to the app.
struct AppEffect: Sendable {
    var chance: FaultChance<AppFaults>
    /// At an instant that the study chose.
    var begin: @Sendable (isolated AppFaults, ScheduledFault) -> Void
}

/// What the fault does to the sensor.
enum SensorEffect: Sendable {
    /// A part of the sensor's troubles, with a state of its own.
    case part(@Sendable (SensorFaultSetting) -> any SensorFault)
    /// A fault of the sensor's wear, which asks its plan; at an instant of the study's, `begin` happens.
    case wear(begin: (@Sendable (SensorFaults, ScheduledFault) -> Void)?)

    var canBegin: Bool {
        switch self {
        case .part: true
        case .wear(let begin): begin != nil
        }
    }
}

/// When faults of one kind come to one device. Belongs to the session's thread.
struct FaultArrival<Device: Actor> {
    private let chance: FaultChance<Device>
    private let times: FaultTimes
    var next: Instant

    /// nil where the plan has none.
    init?(
        _ chance: FaultChance<Device>, of kind: FaultKind, plan: FaultPlan, streams: RandomStreams,
        at now: Instant
    ) {
        guard let rate = plan.rate(of: kind) else { return nil }
        self.chance = chance
        times = FaultTimes(streams.stream(chance.stream), perHour: rate / chance.hours)
        next = times.next(after: now)
    }

    /// Strikes; returns when the next one comes.
    func strike(_ device: isolated Device, at now: Instant) throws -> Instant {
        try chance.strike(device, times.random)
        return times.next(after: now)
    }
}
