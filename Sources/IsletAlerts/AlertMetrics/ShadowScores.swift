// Scores of all policies that listened to one session in shadow.
//
// Guarantees: each policy's are what `AlertMetrics` finds for it alone, to the bit. What policies have in common is scored once: the rules about one truth, and
// a part's burden.

import IsletKernel

/// How a plan's policies are scored: made once for a plan, used by its sessions.
package struct ShadowScorer: Sendable {
    private let plan: ShadowPlan
    private let tellsFor: Int64
    /// By part and rule.
    private let truths: [[AlertTruth?]]
    /// Rules about one truth, of which some policy has these and no others.
    private let voices: [(truth: AlertTruth, rules: [(part: Int, rule: Int)], isListed: Bool)]
    /// By policy, hidden ones too, in the order of truths.
    private let voicesOfPolicy: [[Int]]

    private struct Key: Hashable {
        var truth: AlertTruth
        var rules: [Int]
    }

    /// - Parameter tellsFor: how long a notification counts as telling at most, ns.
    package init(_ plan: ShadowPlan, tellsFor: Int64) {
        self.plan = plan
        self.tellsFor = tellsFor
        truths = (0..<plan.partCount).map { plan.rules(ofPart: $0).map(\.truth) }
        var voices: [(truth: AlertTruth, rules: [(part: Int, rule: Int)], isListed: Bool)] = []
        var known: [Key: Int] = [:]
        var voicesOfPolicy: [[Int]] = []
        for (number, policy) in (plan.policies + plan.hidden).enumerated() {
            let about = Set(policy.rules.compactMap(\.truth))
            var own: [Int] = []
            for truth in AlertTruth.allCases where about.contains(truth) {
                var rules: [(part: Int, rule: Int)] = []
                for (part, places) in plan.partsOfPolicy[number] {
                    for rule in places.indices where truths[part][rule] == truth {
                        rules.append((part, rule))
                    }
                }
                let key = Key(truth: truth, rules: rules.flatMap { [$0.part, $0.rule] })
                let isListed = number < plan.policies.count
                if let place = known[key] {
                    voices[place].isListed = voices[place].isListed || isListed
                    own.append(place)
                } else {
                    known[key] = voices.count
                    own.append(voices.count)
                    voices.append((truth, rules, isListed))
                }
            }
            voicesOfPolicy.append(own)
        }
        self.voices = voices
        self.voicesOfPolicy = voicesOfPolicy
    }

    /// Scores one session.
    /// - Parameter records: of the plan's parts.
    package func scores(_ records: [ShadowPartRecord], truth: SessionTruth) -> ShadowScores {
        let alarms = records.indices.map { part -> AlarmSpans in
            let events = records[part].noticed.compactMap {
                AlertEvent(
                    $0.instant, rule: $0.rule, $0.kind, $0.reason, wasDelivered: $0.wasDelivered)
            }
            return AlarmSpans(
                plan.rules(ofPart: part), tellsFor: tellsFor, events: events, until: truth.reached)
        }
        var silent = [Int64?](repeating: nil, count: voices.count)
        let scores = voices.indices.map { place -> TruthScore? in
            let (about, rules, isListed) = voices[place]
            guard let spans = truth[about] else { return nil }
            let heard = rules.map { RuleAlarms($0.rule, alarms[$0.part], records[$0.part].blame) }
            guard isListed else {
                silent[place] = TruthScore.silentNanoseconds(in: spans, alarms: heard)
                return nil
            }
            let score = TruthScore(about, spans: spans, alarms: heard, hasBlame: true, in: truth)
            silent[place] = score.silent
            return score
        }
        let burdens = records.indices.map { part in
            plan.isListed(part) ? AlarmBurden(alarms[part], truths: truths[part], truth) : nil
        }
        let metrics = plan.policies.indices.map { policy in
            AlertMetrics(
                voicesOfPolicy[policy].compactMap { scores[$0] },
                burden: AlarmBurden(plan.partsOfPolicy[policy].compactMap { burdens[$0.part] }),
                hasRules: !plan.policies[policy].rules.isEmpty, truth: truth, hasBlame: true, heard: nil)
        }
        let suppressed = voicesOfPolicy.map { own -> Double? in
            guard own.contains(where: { !(truth[voices[$0].truth]?.isEmpty ?? true) }) else { return nil }
            let sum = own.reduce(0) { $0 + (silent[$1] ?? 0) }
            return Double(sum) / Double(Nanoseconds.minute)
        }
        return ShadowScores(metrics: metrics, suppressed: suppressed)
    }
}

package struct ShadowScores: Sendable {
    /// The metrics of each policy that isn't hidden.
    package let metrics: [AlertMetrics]
    /// `alerts_suppressed_while_true_min` of each policy, then of each hidden one; nil without true episodes that it has a rule about.
    package let suppressed: [Double?]
}
