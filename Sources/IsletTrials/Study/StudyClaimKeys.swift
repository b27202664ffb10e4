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

    static let marginRow: KeyRow<Study> = {
        let codec = Codec<Double>.number(0.001...100)
        let mapping = MappingShape(
            summary: "How much worse an arm may be and still count as not worse.",
            keys: [
                KeyShape(
                    StudyClaims.gate, codec.shape,
                    "Points of time below 54 mg/dL; at most what the reference arm has, and half of what a deaf person loses against a typical one in this study.",
                    isRequired: true)
            ])
        return KeyRow(
            KeyShape(
                "margin", .mapping(mapping),
                "Makes non-inferiority on time below 54 the gate before any claim about a primary outcome.",
                leftOut: "the study makes no claim")
        ) { reader, study throws(InputError) in
            study.margin = try reader[StudyClaims.gate].map { value throws(InputError) in
                try codec.decode(value)
            }
        } encode: { study in
            study.margin.map { [StudyClaims.gate: codec.encode($0)] }
        }
    }()

    static let confirmRow: KeyRow<Study> = {
        let codec = Codec<UInt64>.wholeNumber(0...UInt64.max)
        let mapping = MappingShape(
            summary: "Other people to confirm the best arm on.",
            keys: [
                KeyShape("seed", codec.shape, "The seed of these people and their luck.", isRequired: true)
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
        } encode: { study in
            study.confirmSeed.map { ["seed": .unsigned($0)] }
        }
    }()
}
