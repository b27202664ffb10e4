// What a study comes to: each arm's outcomes with confidence intervals, and the paired differences between arms.
//
// Guarantees: computed from the stored sessions in index order, so that workers, shards and interruptions leave no
// trace in it; the unit is the subject; differences are paired by subject. A session that ended early is named: an arm's own
// means count what it lived; in comparisons it has, of each outcome with a better side, the worst value that anybody in the study has (worst rank,
// Lachin 1999), so that no arm looks better by those who left it.
// Statistics: mean with Student's t interval over subjects an arm; where an end of that lies beyond what the outcome can be at all, Student's t on the log
// (of shares: logit) scale, by the delta method; mean paired difference with an interval that holds its level
// (`Statistics.pairedMeanInterval`: Student's t corrected for skewness below 40 pairs, else a BCa bootstrap of 2000 resamples over
// subjects, seeded by the study) and Wilcoxon's signed-rank test with Pratt's zeros, checked by flipping signs; beside each mean its
// Monte Carlo standard error; no claim below 6 pairs. Holm's adjustment
// is over the comparisons of the study's primary outcomes; all others are exploratory and not adjusted. A study that declares
// none is judged most strictly: over all comparisons but those of sensor glucose, which measure the same again and are adjusted
// among themselves. An outcome that isn't finite is left out, and named.

import IsletFiles
import IsletKernel
package import IsletNumerics
package import IsletDevices

package struct StudySummary: Sendable {
    package struct Estimate: Hashable, Sendable {
        package var mean: Double
        /// n − 1; nil for one value.
        package var sd: Double?
        package var ci95: ConfidenceBounds?
        /// Monte Carlo standard error: how far the mean lies from what endlessly many subjects would give, sd/√n; nil for one value.
        package var standardError: Double?
        /// Subjects for which the metric is defined.
        package var n: Int
    }

    package struct ConfidenceBounds: Hashable, Sendable {
        package var lower: Double
        package var upper: Double
    }

    package struct Arm: Hashable, Sendable {
        package var name: String
        package var sessions: Int
        /// How many of these ended before their time.
        package var endedEarly: Int
        /// By the outcome's name; absent where no subject has it.
        package var outcomes: [String: Estimate]
        /// By policy and code.
        package var alerts: [AlertSummary]
        /// The arm's own policy, and those that listened in shadow.
        package var policies: [PolicySummary] = []
    }

    package struct Comparison: Hashable, Sendable {
        /// The outcome's name.
        package var metric: String
        package var arm: String
        package var reference: String
        /// Mean of arm − reference over subjects.
        package var difference: Double
        /// Its Monte Carlo standard error: sd of the differences / √n; nil for one pair.
        package var standardError: Double?
        /// nil without a claim: below 6 pairs, or where all pairs are equal.
        package var ci95: ConfidenceBounds?
        /// How `ci95` was found.
        package var method: MeanIntervalMethod?
        package var p: Double?
        /// Whether the ranks, which `p` is of, lie above zero; nil where nothing is tested.
        package var isRankedHigher: Bool?
        /// p of the mean, by flipping the signs of whole subjects: a check of `p`, which is of the ranks. It is in no adjustment.
        package var signFlipP: Double?
        package var pAdjusted: Double?
        package var n: Int
        /// With which others it is adjusted.
        package var family = Family.all
        /// Whether arm and reference are equal in every pair, as they are where the arms differ in nothing that the outcome
        /// hangs on. Nothing is tested then.
        package var isEqualInEveryPair = false

        /// On which side of zero both the mean's interval and the ranks lie: -1, 1, or 0 where they don't say the same.
        package var side: Int {
            guard let ci95, let isRankedHigher else { return 0 }
            if ci95.lower > 0 { return isRankedHigher ? 1 : 0 }
            return ci95.upper < 0 && !isRankedHigher ? -1 : 0
        }
    }

    /// Comparisons that are adjusted for their number together.
    package enum Family: String, Sendable, CaseIterable {
        /// The outcomes that the study declares.
        case primary
        /// The others, where it declares some: not adjusted.
        case exploratory
        /// All outcomes of a study that declares none.
        case all
        /// The outcomes of the sensor's glucose in a study that declares none.
        case sensor
        /// Time below 54 in a study with a margin: it is not tested for a difference, but against the margin.
        case gate

        /// Those within which p is adjusted for the number of comparisons.
        var isAdjusted: Bool { self != .exploratory && self != .gate }

        static func of(_ outcome: Outcome, arm: Study.Arm, in study: Study) -> Family {
            if study.margin != nil || study.confirmSeed != nil {
                // Where arms are selected nothing is claimed, nor of arms that are there to measure what being deaf costs.
                if StudyClaims.isYardstick(arm, in: study) { return .exploratory }
                if study.margin != nil, outcome.name == study.gate { return .gate }
                guard study.confirmSeed == nil else { return .exploratory }
                return study.primary.contains(outcome.name) ? .primary : .exploratory
            }
            guard study.primary.isEmpty else {
                return study.primary.contains(outcome.name) ? .primary : .exploratory
            }
            return outcome.kind == .sensor ? .sensor : .all
        }
    }

    /// A value that was NaN or infinite.
    package struct NotFinite: Hashable, Sendable {
        package var outcome: String
        package var arm: String
        /// Whose value it was; nil for the mean over an arm's subjects.
        package var session: Int?
        package var subject: String?
    }

    /// A session that ended before its time.
    package struct Failure: Hashable, Sendable {
        package var session: Int
        package var subject: String
        package var arm: String
        package var days: Double
        package var reason: String
    }

    package static let resamples = 2000
    /// The outcomes of the study's kind of subject, in the order of the files.
    package let outcomes: [Outcome]
    package var sessions = 0
    package var failures: [Failure] = []
    /// What is in no mean because it is no number.
    package var notFinite: [NotFinite] = []
    package var patientDays = 0.0
    /// SHA-256 over `session:digest` lines by session index, in hexadecimal.
    package var digest = ""
    package var arms: [Arm] = []
    package var comparisons: [Comparison] = []
    /// Comparisons of policies in shadow.
    package var policyComparisons: [PolicyComparison] = []
    /// Whether some of them are not compared by what pools episodes, as their rules are about other truths.
    private(set) var hasPoliciesOfOtherTruths = false
    /// nil for a study without a margin.
    package var claims: StudyClaims?
    /// nil for a study that selects nothing.
    package var selection: StudySelection?
    /// nil for a study without a sweep.
    package var sweep: SweepView?

    /// By place: arms whose algorithm failed at steps, and at how many of them, %, in the mean over subjects; with decimals enough for
    /// three digits, as one step in years is not none.
    package var armsWithFailedSteps: [(arm: Int, percent: Double, places: Int)] {
        arms.indices.compactMap { arm in
            guard let mean = arms[arm].outcomes[Outcome.failedSteps]?.mean, mean > 0 else { return nil }
            var (places, scaled) = (1, 10 * mean)
            while scaled < 100, places < 9 { (places, scaled) = (places + 1, 10 * scaled) }
            return (arm, mean, places)
        }
    }

    /// Sums up what the store holds.
    /// - Parameter shown: outcomes whose differences are shown; of the others no interval is drawn, and of none the check by flipped signs. Nil for all of all:
    ///   what is drawn is the same either way.
    package init(of study: Study, store: any ResultStore, shown: Set<String>? = nil) throws {
        outcomes = study.outcomes
        // A value a subject, of each arm and outcome.
        var columns = ArmColumns(study)
        var ended = EarlyEnds(arms: study.arms.count)
        var alerts = study.arms.map { _ in AlertSums(columns.spool) }
        var hash = SHA256()
        try store.forEachSummary { session in
            guard study.arms.indices.contains(session.armIndex),
                (0..<Study.maximumSessions).contains(session.subjectIndex),
                session.session == session.subjectIndex * study.arms.count + session.armIndex
            else {
                throw InputError(
                    file: "study.sqlite",
                    found:
                        "session \(session.session) of subject \(session.subjectIndex), arm \(session.armIndex)",
                    expected: "subject × \(study.arms.count) arms + arm: the file has been changed")
            }
            sessions += 1
            patientDays += session.days
            hash.update(Array("\(session.session):\(session.digest)\n".utf8))
            ended.add(session)
            try alerts[session.armIndex].add(session)
            if let reason = session.end.reason {
                failures.append(
                    Failure(
                        session: session.session, subject: session.subject, arm: session.arm,
                        days: session.days,
                        reason: reason))
            }
            for name in session.outcomes.notFinite {
                notFinite.append(
                    NotFinite(
                        outcome: name, arm: session.arm, session: session.session, subject: session.subject))
            }
            for outcome in study.outcomes {
                guard let value = session.outcomes[outcome.name] else { continue }
                try columns.append(value, of: session, outcome.name)
            }
        }
        digest = hash.finished().description
        arms = try study.arms.indices.map { arm in
            Arm(
                name: study.arms[arm].name, sessions: ended.sessions[arm],
                endedEarly: ended.count(arm),
                outcomes: try columns.estimates(ofArm: arm, study.outcomes),
                alerts: try alerts[arm].summaries(), policies: try alerts[arm].policies.summaries())
        }
        for (index, arm) in arms.enumerated() {
            // Finite values whose sums overflow.
            for outcome in study.outcomes where columns.count(index, outcome.name) > 1 {
                guard arm.outcomes[outcome.name]?.sd == nil else { continue }
                notFinite.append(NotFinite(outcome: outcome.name, arm: arm.name))
            }
        }
        var intervals = SharedIntervals(seed: study.seed)
        for arm in study.arms.indices {
            policyComparisons += try alerts[arm].policies.comparisons(
                study, arm: study.arms[arm].name, &intervals)
        }
        try Self.adjust(&policyComparisons)
        hasPoliciesOfOtherTruths = study.hasPoliciesOfOtherTruths
        if let sweep = study.sweep, sweep.mode == .shadow {
            self.sweep = try shadowView(sweep, of: study) { try alerts[$0].policies.values($1) }
            self.sweep?.speak(of: study, nil, nil)
        }
        guard let reference = study.arms.firstIndex(where: { $0.name == study.reference }) else { return }
        // By outcome, whose columns are held meanwhile; they stand by arm.
        var found = study.arms.map { _ in [Comparison]() }
        for outcome in study.outcomes where outcome.isCompared {
            let values = try columns.compared(outcome, ended)
            for arm in study.comparableArms(with: reference, by: outcome.name) {
                let stream = RandomStreams(seed: study.seed, subject: 0).stream(
                    "bootstrap", index: Self.streamIndex(outcome.name, study.arms[arm].name))
                let isShown = shown?.contains(outcome.name) ?? true
                if var comparison = Self.compare(
                    outcome.name, study.arms[arm].name, values[arm],
                    study.arms[reference].name, values[reference], stream: stream,
                    drawsInterval: isShown, flipsSigns: shown == nil)
                {
                    comparison.family = .of(outcome, arm: study.arms[arm], in: study)
                    found[arm].append(comparison)
                }
            }
        }
        comparisons = found.flatMap { $0 }
        for family in Family.allCases where family.isAdjusted { try adjust(family) }
        var gate = study.arms.map { _ in SubjectValues() }
        if study.margin != nil, let outcome = study.outcomes.first(where: { $0.name == study.gate }) {
            gate = try columns.compared(outcome, ended)
        }
        claims = StudyClaims(of: study, comparisons: comparisons, values: { gate[$0] }) {
            Self.gateInterval($0, level: $1, arm: $2, study: study)
        }
        selection = StudySelection(of: study, arms: arms, comparisons: comparisons, claims: claims)
        if let sweep = study.sweep, sweep.mode == .closed {
            self.sweep = try closedView(sweep, of: study) { try columns.compared($0, ended) }
            self.sweep?.speak(of: study, claims, selection)
        }
    }

    /// By names, as in comparisons, from draws of its own.
    private static func gateInterval(
        _ differences: [Double], level: Double, arm: String, study: Study
    ) -> ConfidenceInterval? {
        var stream = RandomStreams(seed: study.seed, subject: 0).stream(
            "gate", index: streamIndex(study.gate, arm))
        let found = try? Statistics.pairedMeanInterval(
            Statistics.blockMeans(differences), level: level, resamples: resamples, using: &stream)
        return found.flatMap { $0 }?.interval
    }

    /// Holm's adjustment over the primary outcomes of policies in shadow, all arms together; apart from that of arms.
    private static func adjust(_ comparisons: inout [PolicyComparison]) throws {
        let tested = comparisons.indices.filter {
            comparisons[$0].difference.p != nil && comparisons[$0].difference.family == .primary
        }
        let adjusted = try Statistics.holmAdjusted(tested.compactMap { comparisons[$0].difference.p })
        for (index, p) in zip(tested, adjusted) { comparisons[index].difference.pAdjusted = p }
    }

    /// Holm's adjustment over the comparisons of one family.
    private mutating func adjust(_ family: Family) throws {
        let tested = comparisons.indices.filter {
            comparisons[$0].p != nil && comparisons[$0].family == family
        }
        let adjusted = try Statistics.holmAdjusted(tested.compactMap { comparisons[$0].p })
        for (index, p) in zip(tested, adjusted) { comparisons[index].pAdjusted = p }
    }

    /// By names, so that another outcome or arm leaves this one's interval as it is.
    static func streamIndex(_ outcome: String, _ arm: String) -> UInt64 {
        var digest = Digest128()
        for word in Journal.words(of: Array("\(outcome)\n\(arm)".utf8)) { digest.absorb(word) }
        return digest.a
    }

    /// - Parameter possible: what a value can be at all.
    static func estimate(
        _ values: [Double], within possible: ClosedRange<Double> = -.infinity ... .infinity
    ) -> Estimate? {
        guard let mean = try? Statistics.mean(values) else { return nil }
        let interval = try? Statistics.meanInterval(of: values, level: 0.95, within: possible)
        return Estimate(
            mean: mean, sd: try? Statistics.standardDeviation(values),
            ci95: interval.map { ConfidenceBounds(lower: $0.lower, upper: $0.upper) },
            standardError: try? Statistics.monteCarloStandardError(of: values), n: values.count)
    }

    /// Both columns stand by rising subject.
    static func compare(
        _ metric: String, _ arm: String, _ values: SubjectValues, _ reference: String,
        _ references: SubjectValues, stream: RandomStream, drawsInterval: Bool = true, flipsSigns: Bool = true
    ) -> Comparison? {
        compare(metric, arm, reference, PairedColumns.differences(values, references)) { differences in
            var stream = stream
            let interval =
                drawsInterval
                ? try? Statistics.pairedMeanInterval(
                    differences, level: 0.95, resamples: resamples, using: &stream) : nil
            // Draws of its own, after the interval's.
            let p =
                flipsSigns
                ? try? Statistics.signFlipTest(differences, resamples: resamples - 1, using: &stream).p : nil
            return (interval.flatMap { $0 }, p)
        }
    }

    /// - Parameters:
    ///   - differences: by rising subject.
    ///   - draw: finds the interval of differences, and p of flipping their signs.
    static func compare(
        _ metric: String, _ arm: String, _ reference: String, _ differences: [Double],
        draw: ([Double]) -> SharedIntervals.Drawn
    ) -> Comparison? {
        guard !differences.isEmpty else { return nil }
        // A difference of finite values may overflow: then there is nothing to compare, and the arm's own row says so.
        guard let mean = try? Statistics.mean(differences) else { return nil }
        var comparison = Comparison(
            metric: metric, arm: arm, reference: reference, difference: mean,
            standardError: try? Statistics.monteCarloStandardError(of: differences), n: differences.count)
        guard differences.contains(where: { $0 != 0 }) else {
            comparison.isEqualInEveryPair = true
            return comparison
        }
        guard differences.count >= Statistics.fewestPairs else { return comparison }
        let drawn = draw(Statistics.blockMeans(differences))
        if let found = drawn.interval {
            comparison.ci95 = ConfidenceBounds(lower: found.interval.lower, upper: found.interval.upper)
            comparison.method = found.method
        }
        let ranks = try? Statistics.signedRankTest(differences)
        comparison.p = ranks?.p
        comparison.isRankedHigher = ranks.map { $0.positiveRankSum > $0.negativeRankSum }
        comparison.signFlipP = drawn.signFlipP
        return comparison
    }
}
