// Who listens in shadow to the sessions of an arm, and how all of its policies are scored.
//
// Guarantees: the arm's own policy and those in shadow are scored by the same code against the same truth. A sole cause is found by listeners that nobody hears of:
// the policy without one mechanism, beside the policy as it is, on the same session. For the arm's own both are in shadow, so that nothing but the mechanism
// differs; an acknowledgement's is that of the shadow, where nobody acknowledges, beside the arm's own.

import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel

package struct PolicyScoring: Sendable {
    /// What doesn't need a reaction.
    private static let mechanisms = AlertMechanism.allCases.filter { $0 != .snooze && $0 != .acknowledgement }

    /// A mechanism and the place of the policy without it.
    private typealias Without = (mechanism: AlertMechanism, place: Int)

    let plan: ShadowPlan
    private let scorer: ShadowScorer
    /// By listed policy, its variants without one mechanism each.
    private let without: [[Without]]
    /// The arm's own policy: its place in shadow, and its variants without one mechanism each.
    private let own: (place: Int, without: [Without])?
    private let ownPolicy: AlertPolicy

    /// nil for an arm in which nobody listens in shadow and no sole cause is asked for.
    init?(_ study: Study, arm: Study.Arm) {
        let listed = study.shadowPolicies
        var hidden: [AlertPolicy] = []
        func hide(_ policy: AlertPolicy) -> Int {
            hidden.append(policy)
            return listed.count + hidden.count - 1
        }
        func withouts(_ policy: AlertPolicy) -> [Without] {
            Self.mechanisms.filter(policy.uses).map { ($0, hide(policy.without($0))) }
        }
        without = listed.map { study.findsSoleCauses ? withouts($0) : [] }
        let hasOwn = study.findsSoleCauses && !arm.alerts.rules.isEmpty
        own = hasOwn ? (hide(arm.alerts), withouts(arm.alerts)) : nil
        ownPolicy = arm.alerts
        guard !listed.isEmpty || hasOwn else { return nil }
        plan = ShadowPlan(listed, hidden: hidden)
        scorer = ShadowScorer(plan, tellsFor: study.tellsFor.nanoseconds)
    }

    /// As `values`, of those who listened, whose records are taken from them; empty where nobody did.
    func takeValues(
        of shadows: ShadowPolicies?, on executor: SessionExecutor, _ facts: SessionFacts
    ) -> [PolicyValues] {
        guard let shadows else { return [] }
        let (records, tallies) = executor.inspect { shadows.here { ($0.takeRecords(), $0.tallies()) } }
        return values(records, tallies: tallies, facts)
    }

    /// - Parameters:
    ///   - records: of the plan's parts.
    ///   - tallies: of each listed policy.
    ///   - facts: of the session; the arm's own policy has been scored.
    /// - Returns: the arm's own policy, where it has alerts, then the listed ones.
    func values(
        _ records: [ShadowPartRecord], tallies: [[AlertTally]], _ facts: SessionFacts
    ) -> [PolicyValues] {
        let scores = scorer.scores(records, truth: facts.sessionTruth)
        func minutes(_ with: Double?, _ without: Double?) -> Double? {
            with.flatMap { with in without.map { with - $0 } }
        }
        func causes(_ place: Int, _ without: [Without]) -> [(mechanism: AlertMechanism, minutes: Double)] {
            without.compactMap { one in
                minutes(scores.suppressed[place], scores.suppressed[one.place]).map { (one.mechanism, $0) }
            }
        }
        func row(_ name: String, isInShadow: Bool, _ facts: PolicyFacts) -> PolicyValues {
            PolicyValues(
                policy: name, isInShadow: isInShadow, values: PolicyOutcome.stored.map { $0.value(facts) })
        }
        var rows: [PolicyValues] = []
        if !ownPolicy.rules.isEmpty {
            var found = PolicyFacts(days: facts.days, alerts: facts.alerts, metrics: facts.metrics)
            if let own {
                found.soleCauses = causes(own.place, own.without)
                if facts.person != nil, ownPolicy.uses(.acknowledgement),
                    let cost = minutes(facts.metrics[.suppressed], scores.suppressed[own.place])
                {
                    found.soleCauses.append((.acknowledgement, cost))
                }
            }
            rows.append(row(ownPolicy.name, isInShadow: false, found))
        }
        for (place, policy) in plan.policies.enumerated() {
            rows.append(
                row(
                    policy.name, isInShadow: true,
                    PolicyFacts(
                        days: facts.days, alerts: tallies[place], metrics: scores.metrics[place],
                        soleCauses: causes(place, without[place]))))
        }
        return rows
    }
}
