// What is otherwise from a fork on, as a value and as the text that a journal keeps.
//
// Guarantees: a change reads back to the value that it was written from, whatever becomes of the presets and files that it came from. What makes no sense
// for a session is refused with one line.
// Does not: read files: a policy is a preset's name or written out.

package import IsletAlerts
import IsletFiles
package import IsletLoop
package import IsletDevices
import IsletTrials

extension LiveFork {
    package struct Change: Hashable, Sendable, CustomStringConvertible {
        package var policy: AlertPolicy?
        package var algorithm: TunedAlgorithm?

        package init(policy: AlertPolicy? = nil, algorithm: TunedAlgorithm? = nil) {
            self.policy = policy
            self.algorithm = algorithm
        }

        package var isNothing: Bool { policy == nil && algorithm == nil }

        package var description: String {
            Self.words(policy: policy?.name, algorithm: algorithm?.kind.id)
        }

        /// What took over, in words: the names of policy and algorithm.
        package static func words(policy: String?, algorithm: String?) -> String {
            let parts =
                (policy.map { ["alerts by \(JournalLine.line($0))"] } ?? [])
                + (algorithm.map { ["dosing by \($0)"] } ?? [])
            return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
        }

        /// On one line: `{"algorithm":"basal-bolus","policy":{...}}`.
        package var json: String {
            JSONValue.object(
                (algorithm.map { [.init("algorithm", TunedAlgorithm.codec.encode($0))] } ?? [])
                    + (policy.map { [.init("policy", $0.json)] } ?? [])
            ).compactText
        }

        /// Reads `json`, and the same with a preset's name for the policy.
        /// - Throws: `InputError`: what isn't known, and where it stands.
        package init(json: String, file: String, line: Int? = nil) throws(InputError) {
            do {
                let root = YAMLReader(
                    try JSONDocument.parse(json, file: file, limitBytes: Study.writtenBytes))
                try root.check(Self.shape)
                algorithm = try root["algorithm"].map { reader throws(InputError) in
                    try TunedAlgorithm.codec.decode(reader)
                }
                policy = try root["policy"].map { reader throws(InputError) in
                    if reader.isMapping { return try AlertPolicy.decode(reader.node) }
                    guard let preset = AlertPreset(rawValue: try reader.text()) else {
                        throw reader.problem(expected: Self.expectedPolicy)
                    }
                    return try preset.policy()
                }
            } catch {
                var error = error
                error.line = line ?? error.line
                throw error
            }
        }

        private static let expectedPolicy =
            "a preset (\(AlertPreset.allCases.map(\.rawValue).joined(separator: ", "))) or a policy that is written out"

        private static let shape = Shape.mapping(
            MappingShape(
                summary: "What is otherwise from a fork on.",
                keys: [
                    KeyShape(
                        "policy", .either([.text(.name), .mapping(AlertPolicy.shape)]), "Another policy."),
                    KeyShape("algorithm", TunedAlgorithm.codec.shape, "Another algorithm."),
                ]))

        /// A preset loses the rules that are about other kinds of subjects, as in a study.
        func fitted(to kind: SubjectKind) -> Change {
            guard !kind.isPerson, let policy, policy.presetName != nil else { return self }
            let kept = policy.about(kind.metrics)
            return kept.rules.isEmpty ? self : Change(policy: kept, algorithm: algorithm)
        }

        /// What is wrong with it for a session that doses by `current` until then; nil where nothing is.
        func problem(for opening: LiveOpening, dosingBy current: TunedAlgorithm) -> (
            found: String, expected: String
        )? {
            guard let policy else { return nil }
            let metrics = policy.rules.flatMap(\.tests).map(\.metric)
            let kind = opening.study.subject.kind
            let measured = kind.metrics.filter { !opening.isFed || $0 != .reservoir }
            if !kind.isPerson, let rule = policy.rules.first(where: { $0.tests.isEmpty }) {
                return (
                    "a policy with \(rule.code), which \(kind.words.many) have no device for",
                    "thresholds of \(measured.map(\.rawValue).joined(separator: ", "))"
                )
            }
            if let unknown = metrics.first(where: { !measured.contains($0) }) {
                return (
                    "a policy with a threshold of \(unknown.rawValue)",
                    "thresholds of \(measured.map(\.rawValue).joined(separator: ", ")): "
                        + (opening.isFed
                            ? "glucose comes from outside, and nobody's pump is here"
                            : "the session measures no more")
                )
            }
            let doses = algorithm ?? current
            if metrics.contains(.forecastGlucose), doses.algorithm.forecastMinutes == nil {
                return (
                    "a policy with a threshold of forecastGlucose",
                    "an algorithm that forecasts, or glucoseIn20m: \(doses.kind.id) makes no forecast"
                )
            }
            return nil
        }
    }
}
