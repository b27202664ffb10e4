// The algorithm of an arm, from text to algorithm and back: its bare name, or a mapping of its name and its parameters.
//
// Guarantees: an unknown algorithm, a parameter that the named one doesn't have and a value outside its range are refused with
// file and line; where one parameter differs from its default value all are written, so that a study means the same when a standard
// value changes.

import Algorithms
internal import Devices
import Documents
import Records

extension TunedAlgorithm {
    /// Where an arm says nothing.
    static let `default` = TunedAlgorithm.pidInsulinFeedback

    static let codec = Codec<TunedAlgorithm>(
        shape, decode: { reader throws(InputError) in try decode(reader) }, encode: { $0.json })

    static let shape: Shape = .either([AlgorithmKind.shape, .mapping(mappingShape)])

    /// The parameters of all algorithms; `decode` knows whose each is, and each one's range.
    private static let mappingShape: MappingShape = {
        var keys = [KeyShape("name", AlgorithmKind.shape, "Which one.", isRequired: true)]
        for kind in AlgorithmKind.all {
            for parameter in kind.parameters {
                let unit = parameter.unit == "1" ? "" : ", \(parameter.unit)"
                let summary = "Of \(kind.id): \(parameter.meaning)\(unit)."
                if let index = keys.firstIndex(where: { $0.name == parameter.name }),
                    case .number(let range) = keys[index].shape
                {
                    let all =
                        min(
                            range.lowerBound, parameter.range.lowerBound)...max(
                            range.upperBound, parameter.range.upperBound)
                    keys[index] = KeyShape(parameter.name, .number(all), "\(keys[index].summary) \(summary)")
                } else {
                    keys.append(
                        KeyShape(
                            parameter.name, .number(parameter.range), summary,
                            defaultValue: .number(parameter.defaultValue)))
                }
            }
        }
        return MappingShape(summary: "An algorithm with parameters of its own.", keys: keys)
    }()

    static func decode(_ reader: YAMLReader?) throws(InputError) -> TunedAlgorithm {
        guard let reader else { return .default }
        let place = reader["name"] ?? reader
        guard let kind = AlgorithmKind.named(try place.text()) else {
            throw place.problem(expected: AlgorithmKind.shape.expectation)
        }
        var algorithm = TunedAlgorithm(kind)
        guard case .mapping(let entries) = reader.node.content else { return algorithm }
        for entry in entries where entry.key != "name" {
            guard let parameter = kind.parameters.first(where: { $0.name == entry.key }),
                let value = reader[entry.key]
            else {
                let names = kind.parameters.map(\.name).joined(separator: ", ")
                throw InputError(
                    file: entry.keyOrigin.file, line: entry.keyOrigin.line,
                    found: "\(quotedForMessage(entry.key)) in \(reader.path)",
                    expected: "a parameter of \(kind.id): \(names)")
            }
            let number = try value.number(in: parameter.range)
            guard algorithm.set(parameter.name, to: number) else {
                throw value.problem(expected: Shape.number(parameter.range).expectation)
            }
        }
        return algorithm
    }

    var json: JSONValue {
        if isDefault { return .string(kind.id) }
        return .object(
            [.init("name", .string(kind.id))]
                + zip(kind.parameters, values).map { .init($0.name, .number($1)) })
    }
}
