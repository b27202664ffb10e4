// The keys of a study that say what it may claim: `margin` and `confirm`.

import IsletFiles
import IsletDevices

extension Study {
    /// Refuses to be about what nothing in the study is compared by.
    func checkPrimary(_ root: YAMLReader) throws(InputError) {
        guard let reader = root["primary"], shadowPolicies.count < 2 else { return }
        for item in reader.items {
            let name = try item.text()
            guard Outcome.named(name)?.compared == .policies else { continue }
            throw item.problem(
                found:
                    "the outcome \(name), and \(shadowPolicies.isEmpty ? "no policies" : "one policy") in shadow",
                expected:
                    "an outcome that arms are compared by, or `policies` or a `sweep` in shadow: each arm has episodes of its own, so that only policies on the same sessions are compared by how they found them"
            )
        }
    }

    private static let marginRange = 0.001...100.0

    /// A number, or a share, as `20%`: what a scalar may be is asked of the first form that it could have.
    private static let shareRule = TextRule(
        expectation: "a share of what the reference arm has, as 20%",
        pattern: #"^[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?%?$"#
    ) { text in
        shareOf(text) != nil || finiteNumber(text).map { marginRange.contains($0) } ?? false
    }

    private static func shareOf(_ text: String) -> Double? {
        guard text.last == "%", let share = Double(text.dropLast()), (0.1...100).contains(share) else {
            return nil
        }
        return share
    }

    static let marginRow: KeyRow<Study> = {
        let codec = Codec<Double>.number(marginRange)
        let mapping = MappingShape(
            summary:
                "How much worse an arm may be and still count as not worse: one outcome, by time or by events.",
            keys: StudyClaims.gates.map { name in
                KeyShape(
                    name, .either([.text(shareRule), codec.shape]),
                    (Outcome.named(name)?.unit == "%"
                        ? "Points of this time" : "Events a week")
                        + ", or a share of what the reference arm has, as `20%`; at most what the reference arm has, and half of what a deaf person loses against a typical one in this study.",
                    leftOut: "another outcome is the gate's")
            }, exactlyOne: StudyClaims.gates)
        return KeyRow(
            KeyShape(
                "margin", .mapping(mapping),
                "Makes non-inferiority on time below 54, or on another outcome of lows, the gate before any claim about a primary outcome.",
                leftOut: "the study makes no claim")
        ) { reader, study throws(InputError) in
            for name in StudyClaims.gates {
                guard let value = reader[name] else { continue }
                study.gate = name
                if let text = try? value.text(), let share = shareOf(text) {
                    (study.margin, study.isMarginRelative) = (share, true)
                } else {
                    study.margin = try codec.decode(value)
                }
            }
        } encode: { study in
            study.margin.map { margin in
                .object([
                    .init(
                        study.gate,
                        study.isMarginRelative
                            ? .string("\(JSONValue.numberText(margin))%") : codec.encode(margin))
                ])
            }
        }
    }()

    static let confirmRow: KeyRow<Study> = {
        let codec = Codec<UInt64>.wholeNumber(0...UInt64.max)
        let choice = Shape.choice(
            noun: "a rule", SelectionRule.allCases.map { Shape.Choice($0.rawValue, $0.summary) })
        let mapping = MappingShape(
            summary: "Other people to confirm the best arm on.",
            keys: [
                KeyShape("seed", codec.shape, "The seed of these people and their luck.", isRequired: true),
                KeyShape(
                    "select", choice, "Which arms go on.",
                    defaultValue: .string(SelectionRule.best.rawValue)),
            ])
        return KeyRow(
            KeyShape(
                "confirm", .mapping(mapping),
                "Selects the best arm on `seed`, and compares only that one on other people, in the folder `confirm`.",
                leftOut: "nothing is selected")
        ) { reader, study throws(InputError) in
            study.confirmSeed = try reader["seed"].map { value throws(InputError) in
                try codec.decode(value)
            }
            if let text = try reader["select"]?.text() {
                study.selects = SelectionRule(rawValue: text) ?? .best
            }
        } encode: { study in
            study.confirmSeed.map { seed in
                .object(
                    [.init("seed", .unsigned(seed))]
                        // As studies of before there was a choice say it.
                        + (study.selects == .best ? [] : [.init("select", .string(study.selects.rawValue))]))
            }
        }
    }()
}

/// Which arms of a first seed go on to be confirmed.
package enum SelectionRule: String, Sendable, CaseIterable {
    case best
    case front

    var summary: String {
        switch self {
        case .best: "the one that is best in the first primary outcome, among those that pass the gate"
        case .front:
            "all that pass the gate and that no other beats both in that outcome and in the gate's"
        }
    }
}
