// A sensitivity analysis as JSON, as a table of values, and in words.
//
// Guarantees: nothing in either file but what the study determines: no times, no paths.

package import IsletFiles
import IsletPeople
import IsletDevices

extension Sensitivity {
    /// The arms of a ranking, the best first where the outcome has a better direction, else by rising mean.
    private func order(_ ranking: Ranking) -> [String] {
        let isUp = ranking.outcome.better == .higher
        return zip(study.arms, ranking.means).enumerated()
            .compactMap { place, pair in pair.1.map { (place, pair.0.name, isUp ? -$0 : $0) } }
            .sorted { ($0.2, $0.0) < ($1.2, $1.0) }.map(\.1)
    }

    // MARK: JSON

    /// `sensitivity.json`.
    package var json: JSONValue {
        [
            "study": .string(study.name), "seed": .unsigned(study.seed),
            "primary": .array(study.primary.map { .string($0) }),
            "base": json(base), "variants": .array(results.map(json)),
            "verdicts": .object(base.rankings.indices.map { .init(study.primary[$0], counts($0)) }),
        ]
    }

    private func counts(_ place: Int) -> JSONValue {
        let verdicts = results.map { Self.verdict($0.rankings[place]) }
        return .object(
            Verdict.allCases.map { verdict in
                .init(verdict.rawValue, .integer(Int64(verdicts.count { $0 == verdict })))
            })
    }

    private func json(_ result: Result) -> JSONValue {
        var members: [JSONValue.Member] = []
        if let variant = result.variant {
            members.append(.init("variant", .string(variant.name)))
            members.append(.init("setting", variant.setting.isEmpty ? .null : .string(variant.setting)))
            members.append(.init("direction", .string(variant.direction.rawValue)))
            if let row = PersonSettings.rows.first(where: { $0.name == variant.setting }) {
                members.append(
                    .init(
                        "values",
                        .object(
                            variant.study.arms.compactMap { arm in
                                variant.study.person(in: arm).map {
                                    .init(arm.name, .number($0[keyPath: row.path]))
                                }
                            })))
            }
        }
        members.append(.init("digest", .string(result.digest)))
        let outcomes = result.rankings.map { ranking in
            JSONValue.Member(
                ranking.outcome.name,
                [
                    "means": .object(
                        zip(study.arms, ranking.means).map {
                            .init($0.name, $1.map { .number($0) } ?? .null)
                        }),
                    "order": .array(order(ranking).map { .string($0) }),
                    "verdict": Self.verdict(ranking).map { .string($0.rawValue) } ?? .null,
                    "pairs": .array(ranking.pairs.map(json)),
                ])
        }
        members.append(.init("outcomes", .object(outcomes)))
        return .object(members)
    }

    private func json(_ pair: Pair) -> JSONValue {
        [
            "arm": .string(pair.arm), "reference": .string(pair.other),
            "difference": .number(pair.difference),
            "ci95": pair.ci95.map { .array([.number($0.lower), .number($0.upper)]) } ?? .null,
            "verdict": pair.verdict.map { .string($0.rawValue) } ?? .null,
        ]
    }

    // MARK: Values

    /// `sensitivity.csv`: one row a variant, outcome and arm; the study as it is first, with an empty variant.
    package var csv: String {
        var text = "variant,setting,direction,outcome,arm,mean,rank,verdict\n"
        for result in [base] + results {
            let variant = result.variant
            for ranking in result.rankings {
                let order = order(ranking)
                for (arm, mean) in zip(study.arms, ranking.means) {
                    let rank = order.firstIndex(of: arm.name).map { "\($0 + 1)" } ?? ""
                    text +=
                        [
                            variant?.name ?? "", variant?.setting ?? "", variant?.direction.rawValue ?? "",
                            ranking.outcome.name, arm.name, mean.map(JSONValue.numberText) ?? "", rank,
                            Self.verdict(ranking)?.rawValue ?? "",
                        ].map(csvField).joined(separator: ",") + "\n"
                }
            }
        }
        return text
    }

    // MARK: Words

    /// What `run` prints: the order of arms by each outcome, and in which variants it doesn't hold.
    package var table: String { table(in: .mgdl) }

    /// - Parameter unit: that glucose is shown in.
    package func table(in unit: GlucoseUnit = .mgdl) -> String {
        var text = "sensitivity to \(results.count) variants of what is assumed about people\n"
        for (place, ranking) in base.rankings.enumerated() {
            let apart = ranking.pairs.count(where: \.isToldApart)
            text += "\n\(unit.text(ofName: ranking.outcome.name)): \(order(ranking).joined(separator: ", "))"
            text += "; \(apart) of \(ranking.pairs.count) pairs of arms told apart\n"
            guard apart > 0 else {
                text += "  no ranking to hold\n"
                continue
            }
            for verdict in Verdict.allCases {
                let found = results.filter { Self.verdict($0.rankings[place]) == verdict }
                guard !found.isEmpty else { continue }
                guard verdict != .holds else {
                    text += "  holds in \(found.count) of \(results.count)\n"
                    continue
                }
                text +=
                    TextGrid.wrapped(
                        verdict == .weaker ? "  no longer told apart in " : "  the other way round in ",
                        found.compactMap { $0.variant?.name }) + "\n"
            }
        }
        return text
    }
}
