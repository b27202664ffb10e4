// When things go wrong with the pump: by chance, or because the study says so.
//
// Guarantees: one stream a kind. What becomes of a command hangs on its instant and its kind alone, so that sessions which
// send the same command at the same instant share its luck, whatever else each of them has sent.
//
// Rates, and what a fault does: see the kinds' files.

import IsletDevices
import IsletNumerics
import IsletKernel

/// What the pump is told, as far as its luck goes.
enum PumpCommand: Int, CaseIterable {
    case bolus
    case readBolus
    case recall
    case programme
    case temporaryBasal
    /// Suspension, cut boluses, alerts.
    case other

    var stream: StaticString {
        switch self {
        case .bolus: "fault.command-failure.bolus"
        case .readBolus: "fault.command-failure.read"
        case .recall: "fault.command-failure.recall"
        case .programme: "fault.command-failure.programme"
        case .temporaryBasal: "fault.command-failure.temporary-basal"
        case .other: "fault.command-failure"
        }
    }
}

/// What the pump's faults are drawn from.
final class PumpFaultDraws {
    var arrivals: [FaultArrival<SimulatedPump>]
    var scheduled: ArraySlice<ScheduledFault>
    /// Shares of all commands that fail, and of failed boluses that are not answered; nil where the kind is off.
    private let failing: Double?
    private let unanswered: Double?
    private let failures: [RandomStream]
    private let boluses: RandomStream

    init(plan: FaultPlan, streams: RandomStreams, at now: Instant) {
        scheduled = plan.scheduled.filter { $0.kind.isOfPump }[...]
        failing = plan.rate(of: .commandFailure)
        unanswered = plan.rate(of: .uncertainDelivery)
        failures = PumpCommand.allCases.map { streams.stream($0.stream) }
        boluses = streams.stream("fault.uncertain-delivery")
        arrivals = FaultKind.all.compactMap { kind in
            guard case .pump(let effect) = kind.effect, let chance = effect.chance else { return nil }
            return FaultArrival(chance, of: kind, plan: plan, streams: streams, at: now)
        }
    }

    /// When the next one comes.
    var next: Instant {
        arrivals.reduce(scheduled.first?.at ?? .distantFuture) { min($0, $1.next) }
    }

    private func fails(_ command: PumpCommand, at now: Instant, share: Double) -> Bool {
        var own = failures[command.rawValue].at(UInt64(bitPattern: now.nanoseconds))
        return own.uniform() < share
    }

    /// Whether a command other than a bolus fails.
    func fails(_ command: PumpCommand, at now: Instant) -> Bool {
        failing.map { fails(command, at: now, share: $0) } ?? false
    }

    /// Boluses fail like other commands. Of those that do, a share is sent and not answered, whether or not plain failures
    /// are on.
    func bolusOutcome(at now: Instant) -> BolusOutcome {
        guard fails(.bolus, at: now, share: failing ?? FaultKind.commandFailure.rate.defaultValue) else {
            return .heard
        }
        if let unanswered {
            var own = boluses.at(UInt64(bitPattern: now.nanoseconds))
            if own.uniform() < unanswered {
                return own.uniform() < 0.5 ? .heardUnanswered : .lostUnanswered
            }
        }
        return failing == nil ? .heard : .lost
    }
}

extension SimulatedPump {
    func beginFaults() {
        let faultDraws = PumpFaultDraws(plan: plan, streams: streams, at: executor.now)
        self.faultDraws = faultDraws
        waitForFaults()
    }

    private func waitForFaults() {
        guard let next = faultDraws?.next, next < .distantFuture else { return }
        schedule(\.faults, "pump fault", at: next) { try $0.strike() }
    }

    private func strike() throws {
        guard let faultDraws else { return }
        let now = executor.now
        while let fault = faultDraws.scheduled.first, fault.at <= now {
            faultDraws.scheduled.removeFirst()
            if case .pump(let effect) = fault.kind.effect { try effect.begin?(self, fault) }
        }
        for index in faultDraws.arrivals.indices where faultDraws.arrivals[index].next <= now {
            let arrival = faultDraws.arrivals[index]
            faultDraws.arrivals[index].next = try arrival.strike(self, at: now)
        }
        waitForFaults()
    }

    /// Numbers of the fault's instant, and of its kind.
    func random(of fault: ScheduledFault, _ stream: StaticString) -> GSLRandom {
        GSLRandom(streams.stream(stream, index: UInt64(bitPattern: fault.at.nanoseconds)))
    }
}
