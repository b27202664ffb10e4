// What the alert tests share: a zone, a world, random sessions.

import IsletAlerts
import IsletDevices
import IsletKernel

extension ZoneTable {
    static let utc = ZoneTable(name: "UTC", firstOffsetSeconds: 0)
}

extension AlertWorld {
    static func make(
        _ policy: AlertPolicy, appState: AlertWorldEvent.AppState = .background, series: [AlertSeries] = []
    ) -> AlertWorld {
        var environment = AppEnvironment()
        environment.podExpiresAt = Instant(nanoseconds: 72 * Nanoseconds.hour)
        return AlertWorld(
            policy: policy, wallClock: WallClock(startEpochSeconds: 1_772_000_000, zone: .utc),
            environment: environment,
            appState: appState, series: series)
    }

    /// Runs a timeline, and then by itself up to `until`.
    mutating func run(_ timeline: [(at: Instant, events: [AlertWorldEvent])], until: Instant) {
        if timeline.first?.at != .start { happen([], at: .start) }
        for (at, events) in timeline {
            run(to: at.adding(-1))
            happen(events, at: at)
        }
        run(to: until)
    }
}

extension AlertPolicy {
    /// BionicLoop's rules, and thresholds that use every layer.
    static let rich: AlertPolicy = {
        var policy = AlertPolicy.bionicloop
        policy.name = "rich"
        var low = AlertRule(
            code: "LOW", trigger: .metrics([MetricTest(.glucose, .low, 70, clearAt: 75)]),
            severity: .actionable,
            debounce: 7 * Nanoseconds.minute, acknowledgement: .reviews)
        low.keepFiringFor = 6 * Nanoseconds.minute
        low.criticalBelow = 60
        low.repeatEvery = 17 * Nanoseconds.minute
        var high = AlertRule(
            code: "HIGH", trigger: .metrics([MetricTest(.glucose, .high, 200)]), severity: .informational,
            acknowledgement: .closes)
        high.isLatching = true
        high.escalations = [.init(after: 12 * Nanoseconds.minute, to: .actionable)]
        high.inhibits = ["ALERT-PUMP-LOW-RESERVOIR"]
        policy.rules += [low, high]
        policy.quietHours = QuietHours(from: 2 * Nanoseconds.hour, to: 3 * Nanoseconds.hour)
        return policy
    }()
}

/// A random session's timeline.
struct RandomSession {
    var random: RandomStream
    static let codes: [AlertName] = [
        "ALERT-PUMP-FAULT", "ALERT-PUMP-INCOMPATIBLE", "ALERT-CGM-URGENT-LOW", "LOW", "HIGH",
        "ALERT-PUMP-SIGNAL-LOSS",
    ]
    static let issues = [
        "lowReservoir", "fault", "alarm", "incompatiblePod", "suspendInProgress", "userPodExpiration",
        "podExpiring", "finishSetupReminder",
    ]

    init(_ seed: Int) { random = RandomStream(key: 0x5eed, index: UInt64(seed)) }

    mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

    mutating func event() -> AlertWorldEvent {
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1: .environment(EnvironmentFlag(\.isPumpStatusKnown, Bool.random(using: &random)))
        case 2: .pod(Bool.random(using: &random))
        case 3, 4, 5: .user(.pumpIssue(pick(Self.issues), text: pick(["", "a", "b"])))
        case 6, 7: .user(.pumpRetract(pick(Self.issues)))
        case 8: .cgmState(pick([.ok, .warmup, .failed, .temporaryError, .ok]))
        case 9, 10, 11, 12: .glucose(pick([40, 50, 56, 65, 72, 80, 120, 150, 210, 300]))
        case 13, 14: .user(.acknowledge(pick(Self.codes)))
        case 15: .user(.snooze(pick(Self.codes), for: pick([5, 20, 60]) * Nanoseconds.minute))
        case 16: .steps(isRunning: Bool.random(using: &random))
        case 17: .loop(pick([.armed, .armed, .disarmed, .reset]))
        case 18: .environment(EnvironmentFlag(\.isSignedIn, Bool.random(using: &random)))
        case 19: .app(pick([.foreground, .background, .background]))
        case 20: .handlers(pump: pick([true, true, false]), cgm: pick([true, false]))
        case 21: .environment(EnvironmentFlag(\.isClaimOk, Bool.random(using: &random)))
        case 22: .podExpires(in: pick([0, 1, 2, 72]) * Nanoseconds.hour + 600 * Nanoseconds.second)
        default: .timeChange(pick([-1, 1]) * Nanoseconds.hour)
        }
    }

    /// `count` instants with one to three events each, within `minutes`.
    mutating func timeline(_ count: Int, within minutes: Int64) -> [(at: Instant, events: [AlertWorldEvent])]
    {
        let seconds = (0..<count).map { _ in Int64.random(in: 0..<(minutes * 60), using: &random) }
        // Half of them on the grid, where inputs meet readings and steps.
        let instants = seconds.map { Bool.random(using: &random) ? $0 / 300 * 300 : $0 }
        var timeline: [(at: Instant, events: [AlertWorldEvent])] = []
        for second in instants.sorted() {
            let at = Instant(nanoseconds: second * Nanoseconds.second)
            let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in event() }
            if timeline.last?.at == at {
                timeline[timeline.count - 1].events += events
            } else {
                timeline.append((at, events))
            }
        }
        return timeline
    }
}
