// When things go wrong with the pump: by chance, or because the study says so.
//
// Guarantees: one stream a kind. What becomes of a command hangs on its instant and its kind alone, so that sessions which
// send the same command at the same instant share its luck, whatever else each of them has sent.
//
// Rates: see `FaultKind`. Outages log-normal, median 8 min, spread 0.9 (assumed); an occlusion clears by itself in half
// of the cases, after a log-normal time of median 60 min, spread 0.8 (assumed); a failing site's floor is uniform on
// 0 to 0.5, and the person finds it out 3 h plus a gamma time of 5.1 ± 3.7 h later (Kanapka 2022: hours above 250
// mg/dL before the removal; the 3 h until there are assumed).

import Devices
import GSL
import SessionTime
import SimulationKernel

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

/// The pump's luck.
final class PumpChance {
    static let outageMedianMinutes = 8.0
    static let outageSpread = 0.9
    static let clearingShare = 0.5
    static let clearingMedianMinutes = 60.0
    static let clearingSpread = 0.8
    static let siteFloor = 0.0...0.5
    static let siteNoticedAfter = 3 * Span.hour
    static let siteNoticedMean = 5.1
    static let siteNoticedSD = 3.7

    /// The kinds that come at an instant.
    struct Arrival {
        var kind: FaultKind
        var times: FaultTimes
        var next: Instant
    }

    var arrivals: [Arrival] = []
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
        func add(_ kind: FaultKind, _ stream: RandomStream, hours: Double) {
            guard let rate = plan.rate(of: kind) else { return }
            let times = FaultTimes(stream, perHour: rate / hours)
            arrivals.append(Arrival(kind: kind, times: times, next: times.next(after: now)))
        }
        add(.pumpOutage, streams.stream("fault.pump-outage"), hours: 24)
        add(.occlusion, streams.stream("fault.occlusion"), hours: 24)
        add(.siteFailure, streams.stream("fault.site-failure"), hours: 1)
        add(.podFault, streams.stream("fault.pod-fault"), hours: 24)
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
        guard fails(.bolus, at: now, share: failing ?? FaultKind.commandFailure.standardRate) else {
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

    static func silenceMinutes(_ random: GSLRandom) -> Double {
        random.logNormal(mu: logarithm(outageMedianMinutes), sigma: outageSpread)
    }
}

extension SimulatedPump {
    func beginFaults() {
        let chance = PumpChance(plan: plan, streams: streams, at: executor.now)
        self.chance = chance
        waitForFaults()
    }

    private func waitForFaults() {
        guard let next = chance?.next, next < .distantFuture else { return }
        schedule(\.faults, "pump fault", at: next) { try $0.strike() }
    }

    private func strike() throws {
        guard let chance else { return }
        let now = executor.now
        while let fault = chance.scheduled.first, fault.at <= now {
            chance.scheduled.removeFirst()
            try begin(fault)
        }
        for index in chance.arrivals.indices where chance.arrivals[index].next <= now {
            let arrival = chance.arrivals[index]
            try strike(arrival.kind, arrival.times.random)
            chance.arrivals[index].next = arrival.times.next(after: now)
        }
        waitForFaults()
    }

    /// Every strike takes its numbers, whether or not it meets a pod that it can strike.
    private func strike(_ kind: FaultKind, _ random: GSLRandom) throws {
        switch kind {
        case .pumpOutage:
            let minutes = random.logNormal(
                mu: logarithm(PumpChance.outageMedianMinutes), sigma: PumpChance.outageSpread)
            loseLink(for: GSLRandom.minutes(minutes))
        case .occlusion:
            let threshold = random.uniform(in: device.occlusionThreshold)
            let clears = random.uniform() < PumpChance.clearingShare
            let minutes = random.logNormal(
                mu: logarithm(PumpChance.clearingMedianMinutes), sigma: PumpChance.clearingSpread)
            try occlude(threshold: threshold, clearsAfter: clears ? GSLRandom.minutes(minutes) : nil)
        case .siteFailure:
            let floor = random.uniform(in: PumpChance.siteFloor)
            let variance = PumpChance.siteNoticedSD * PumpChance.siteNoticedSD
            let hours = random.gamma(
                shape: PumpChance.siteNoticedMean * PumpChance.siteNoticedMean / variance,
                scale: variance / PumpChance.siteNoticedMean)
            guard pod.state == .active, site.failure == nil else { return }
            try failSite(floor: floor)
            planChange(
                at: executor.now.adding(PumpChance.siteNoticedAfter + GSLRandom.minutes(hours * 60)))
        case .podFault: try breakPod(changeAfter: nil)
        default: break
        }
    }

    private func begin(_ fault: ScheduledFault) throws {
        let end = executor.now.adding(fault.nanoseconds)
        // Numbers of the instant's own, and of the kind's.
        func random(_ stream: StaticString) -> GSLRandom {
            GSLRandom(streams.stream(stream, index: UInt64(bitPattern: fault.at.nanoseconds)))
        }
        switch fault.kind {
        case .pumpOutage: loseLink(for: fault.nanoseconds)
        case .commandFailure:
            link.failsUntil = max(link.failsUntil, end)
            noteSpan(.commandFailure, end)
        case .uncertainDelivery: link.unansweredUntil = max(link.unansweredUntil, end)
        case .occlusion:
            try occlude(
                threshold: random("fault.occlusion.scheduled").uniform(in: device.occlusionThreshold),
                clearsAfter: fault.nanoseconds)
        case .siteFailure:
            try failSite(
                floor: random("fault.site-failure.scheduled").uniform(in: PumpChance.siteFloor),
                lasts: fault.nanoseconds)
        case .podFault: try breakPod(changeAfter: fault.nanoseconds)
        default: break
        }
    }

    private func breakPod(changeAfter: Int64?) throws {
        guard pod.state == .active else { return }
        log.begin(.podFault, at: executor.now)
        try stopPod(.broken, changeAfter: changeAfter)
    }

    private func noteSpan(_ kind: FaultKind, _ end: Instant) {
        log.begin(kind, at: executor.now)
        log.end(kind, at: end)
    }
}
