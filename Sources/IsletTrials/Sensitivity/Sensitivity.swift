// Whether the ranking of a study's arms holds when what is assumed about its people is something else.
//
// Guarantees: a pure function of the study's sessions and of the variants', so that workers and interruptions leave no trace in it. Two arms are told apart where
// Student's 95 % interval of their paired difference leaves out 0. A pair that the study tells apart `holds` in a variant that tells it apart the
// same way, is `weaker` where the mean has the same sign only, and `turned` where it has the other. Pairs that the study doesn't tell apart have no order to lose.
// Does not: adjust for the number of variants: it asks what could be otherwise, and claims nothing.

import IsletKernel
import IsletNumerics
package import IsletDevices

package struct Sensitivity: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case holds, weaker, turned
    }

    /// One pair of arms, by one outcome.
    package struct Pair: Sendable {
        package var arm: String
        package var other: String
        /// arm − other.
        package var difference: Double
        package var ci95: StudySummary.ConfidenceBounds?
        /// Beside the study as it is; nil where that doesn't tell the two apart.
        package var verdict: Verdict?

        var isToldApart: Bool { ci95.map { $0.lower > 0 || $0.upper < 0 } ?? false }
    }

    /// One primary outcome.
    package struct Ranking: Sendable {
        package var outcome: Outcome
        /// By arm, in the study's order; nil where nobody has it.
        package var means: [Double?]
        package var pairs: [Pair]
    }

    /// The study, or a variant of it.
    package struct Result: Sendable {
        /// nil for the study as it is.
        package var variant: SensitivityPlan.Variant?
        /// As `summary.json` has it.
        package var digest: String
        package var rankings: [Ranking]
    }

    package let study: Study
    package let base: Result
    package private(set) var results: [Result] = []

    /// - Parameter store: of the study as it is.
    package init(of study: Study, store: any ResultStore) throws {
        self.study = study
        base = try Self.result(study, nil, store)
    }

    package mutating func add(_ variant: SensitivityPlan.Variant, store: any ResultStore) throws {
        var result = try Self.result(variant.study, variant, store)
        for outcome in result.rankings.indices {
            for place in result.rankings[outcome].pairs.indices {
                let was = base.rankings[outcome].pairs[place]
                guard was.isToldApart else { continue }
                let now = result.rankings[outcome].pairs[place]
                let isSame = (now.difference > 0) == (was.difference > 0) && now.difference != 0
                result.rankings[outcome].pairs[place].verdict =
                    isSame ? (now.isToldApart ? .holds : .weaker) : .turned
            }
        }
        results.append(result)
    }

    private static func result(
        _ study: Study, _ variant: SensitivityPlan.Variant?, _ store: any ResultStore
    ) throws -> Result {
        let outcomes = study.primary.compactMap { name in Outcome.all.first { $0.name == name } }
        // By outcome, by arm.
        var columns = outcomes.map { _ in study.arms.map { _ in SubjectValues() } }
        var ended = EarlyEnds(arms: study.arms.count)
        var hash = SHA256()
        try store.forEachSummary { session in
            hash.update(Array("\(session.session):\(session.digest)\n".utf8))
            ended.add(session)
            for (place, outcome) in outcomes.enumerated() {
                guard let value = session.outcomes[outcome.name], value.isFinite else { continue }
                columns[place][session.armIndex].append((session.subjectIndex, value))
            }
        }
        let rankings = outcomes.indices.map { place in
            let compared = ended.charged(columns[place], outcomes[place])
            var pairs: [Pair] = []
            for one in study.arms.indices {
                for other in study.arms.indices where other > one {
                    let differences = PairedColumns.differences(compared[other], compared[one])
                    guard let mean = try? Statistics.mean(differences) else { continue }
                    let interval =
                        differences.count < Statistics.fewestPairs
                        ? nil : try? Statistics.meanInterval(of: differences, level: 0.95)
                    pairs.append(
                        Pair(
                            arm: study.arms[other].name, other: study.arms[one].name, difference: mean,
                            ci95: interval.map { .init(lower: $0.lower, upper: $0.upper) }))
                }
            }
            return Ranking(
                outcome: outcomes[place],
                means: study.arms.indices.map { try? Statistics.mean(columns[place][$0].map(\.value)) },
                pairs: pairs)
        }
        return Result(variant: variant, digest: hash.finished().description, rankings: rankings)
    }

    /// The worst that happens to an outcome's pairs in a variant; nil where the study tells none apart.
    package static func verdict(_ ranking: Ranking) -> Verdict? {
        let verdicts = ranking.pairs.compactMap(\.verdict)
        return verdicts.contains(.turned) ? .turned : verdicts.contains(.weaker) ? .weaker : verdicts.first
    }
}
