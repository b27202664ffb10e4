// Counts what the alert center does, by rule of its policy.
//
// Guarantees: one tally a rule that can be raised, in the policy's order; minutes are those between effects, so that no clock runs
// beside the engine. An episode that a dead app leaves behind goes on until its relaunch clears it.

public import IsletDevices
public import IsletKernel

/// One policy's counts in one session.
public struct AlertTallies: Sendable {
    private var tallies: [AlertTally]
    private var activeSince: [Instant?]
    private var annunciatingSince: [Instant?]
    private var isReserved: [Bool]

    public init(_ policy: AlertPolicy) {
        tallies = policy.rules.map { AlertTally(policy: policy.name, code: $0.code) }
        activeSince = policy.rules.map { _ in nil }
        annunciatingSince = activeSince
        isReserved = policy.rules.map { $0.known?.isReserved ?? false }
    }

    /// Counts go on under a policy whose rules begin with those of the one before.
    mutating func follow(_ policy: AlertPolicy) {
        for rule in policy.rules.dropFirst(tallies.count) {
            var tally = AlertTally(policy: policy.name, code: rule.code)
            if tallies.first?.heard != nil { tally.heard = 0 }
            tallies.append(tally)
            activeSince.append(nil)
            annunciatingSince.append(nil)
            isReserved.append(rule.known?.isReserved ?? false)
        }
    }

    /// Somebody listens: what they don't hear is 0 from now on.
    mutating func expectListener() {
        for rule in tallies.indices { tallies[rule].heard = tallies[rule].heard ?? 0 }
    }

    /// The last notification of this rule was heard.
    mutating func hear(_ rule: Int) {
        guard tallies.indices.contains(rule) else { return }
        tallies[rule].heard = (tallies[rule].heard ?? 0) + 1
    }

    /// - Parameter isNight: whether the effect falls into the night; asked of what is counted by it only.
    mutating func take(_ effect: AlertEffect, isNight: () -> Bool) {
        let rule = effect.rule
        guard tallies.indices.contains(rule) else { return }
        switch effect.kind {
        case .raise where effect.reason == .preview: break
        case .raise:
            tallies[rule].raised += 1
            if isNight() { tallies[rule].raisedNight += 1 }
            activeSince[rule] = activeSince[rule] ?? effect.instant
        case .notify:
            tallies[rule].notified += 1
            if isNight() { tallies[rule].notifiedNight += 1 }
            // A test alert and a preview are of no episode.
            guard effect.reason != .test, effect.reason != .preview else { return }
            annunciatingSince[rule] = annunciatingSince[rule] ?? effect.instant
        case .clear:
            endActive(rule, at: effect.instant)
            endAnnunciating(rule, at: effect.instant)
        case .withdraw where effect.wasDelivered: endAnnunciating(rule, at: effect.instant)
        case .acknowledge, .snooze: endAnnunciating(rule, at: effect.instant)
        case .withdraw, .update, .route, .refresh, .suppress, .schedule, .wait, .drop: break
        }
    }

    private mutating func endActive(_ rule: Int, at now: Instant) {
        guard let since = activeSince[rule] else { return }
        activeSince[rule] = nil
        tallies[rule].minutesActive += Self.minutes(since, now)
    }

    private mutating func endAnnunciating(_ rule: Int, at now: Instant) {
        guard let since = annunciatingSince[rule] else { return }
        annunciatingSince[rule] = nil
        tallies[rule].minutesAnnunciating += Self.minutes(since, now)
    }

    private static func minutes(_ from: Instant, _ to: Instant) -> Double {
        Double(to.nanoseconds - from.nanoseconds) / Double(Nanoseconds.minute)
    }

    /// The counts so far; what is active or annunciating counts up to `now`. Codes that nothing can raise are left out.
    public func soFar(at now: Instant) -> [AlertTally] {
        var copy = self
        for rule in tallies.indices {
            copy.endActive(rule, at: now)
            copy.endAnnunciating(rule, at: now)
        }
        return copy.tallies.indices.filter { !isReserved[$0] }.map { copy.tallies[$0] }
    }
}
