// What a study names and may tune, from text to thing and back: its bare name, or a mapping of its name and its parameters.
//
// Guarantees: an unknown name, a parameter that the named thing doesn't have and a value outside its range are refused with file and
// line; where one parameter differs from its default value all are written, so that a study means the same when a default value
// changes.

package import IsletLoop
package import IsletDevices
package import IsletFiles
import IsletModels

extension Tuned where Kind == AlgorithmKind {
    /// Where an arm says nothing.
    static var `default`: TunedAlgorithm { .pidInsulinFeedback }

    package static var codec: Codec<TunedAlgorithm> {
        codec(name: "name", "An algorithm with parameters of its own.")
    }
}

/// What an arm says of its algorithm.
package enum ChosenAlgorithm: Sendable {
    case built(TunedAlgorithm)
    case program(PluginReference)
    case recorded(RecordedSteps)

    package static let codec: Codec<ChosenAlgorithm> = {
        let built = TunedAlgorithm.codec
        let program = PluginReference.codec
        let shapes = [built.shape, program.shape, .mapping(RecordedSteps.shape)]
        return Codec(.either(shapes.flatMap(\.alternatives))) { reader throws(InputError) in
            if reader[RecordedSteps.key] != nil { return .recorded(try RecordedSteps.decode(reader)) }
            return PluginReference.keys.contains { reader[$0] != nil }
                ? .program(try program.decode(reader)) : .built(try built.decode(reader))
        } encode: {
            switch $0 {
            case .built(let tuned): built.encode(tuned)
            case .program(let reference): program.encode(reference)
            case .recorded(let recorded): recorded.json
            }
        }
    }()
}

extension Shape {
    fileprivate var alternatives: [Shape] { if case .either(let shapes) = self { shapes } else { [self] } }
}

extension Study.Arm {
    /// Who listens, as the study names it.
    var listenerReference: PluginReference? {
        get { listener?.reference }
        set { listener = newValue.map { ArmPlugin(reference: $0) } }
    }

    package var chosenAlgorithm: ChosenAlgorithm {
        get {
            if let recorded { return .recorded(recorded) }
            return plugin.map { .program($0.reference) } ?? .built(algorithm)
        }
        set {
            switch newValue {
            case .built(let tuned): (algorithm, plugin, recorded) = (tuned, nil, nil)
            case .program(let reference):
                let own = ArmPlugin(reference: reference)
                (algorithm, plugin, recorded) = (TunedAlgorithm(own.unstarted), own, nil)
            case .recorded(let steps):
                (algorithm, plugin, recorded) = (TunedAlgorithm(steps.ofNobody), nil, steps)
            }
        }
    }

    /// The algorithm that doses for one of the cohort.
    package func algorithm(of index: Int) -> any DosingAlgorithm {
        (recorded.map { TunedAlgorithm($0.kind(subject: index)) } ?? algorithm).algorithm
    }
}

extension Tuned where Kind == SensorModel {
    static var codec: Codec<TunedSensor> {
        codec(name: "model", "A glucose sensor with parameters of its own.")
    }
}

extension Tuned where Kind == SubjectKind {
    static var codec: Codec<TunedSubject> {
        codec(name: "kind", "A kind of subject with parameters of its own.")
    }
}

extension Tuned {
    /// - Parameter key: of the name, in the mapping.
    fileprivate static func codec(name key: String, _ summary: String) -> Codec<Tuned> {
        let mapping = MappingShape(
            summary: summary,
            keys: [KeyShape(key, Kind.shape, "Which one.", isRequired: true)] + parameterKeys)
        return Codec(.either([Kind.shape, .mapping(mapping)])) { reader throws(InputError) in
            try decode(reader, key)
        } encode: { tuned in
            guard !tuned.isDefault else { return .string(tuned.kind.id) }
            return .object(
                [.init(key, .string(tuned.kind.id))]
                    + zip(tuned.kind.parameters, tuned.values).map { .init($0.name, .number($1)) })
        }
    }

    /// The parameters of all kinds; `decode` knows whose each is, and each one's range.
    private static var parameterKeys: [KeyShape] {
        var names: [String] = []
        for parameter in Kind.all.flatMap(\.parameters) where !names.contains(parameter.name) {
            names.append(parameter.name)
        }
        return names.map { name in
            var rows: [(parameter: TunableParameter, kinds: [String])] = []
            for kind in Kind.all {
                guard let parameter = kind.parameters.first(where: { $0.name == name }) else { continue }
                if let same = rows.firstIndex(where: { $0.parameter == parameter }) {
                    rows[same].kinds.append(kind.id)
                } else {
                    rows.append((parameter, [kind.id]))
                }
            }
            let ranges = rows.map(\.parameter.range)
            let all =
                (ranges.map(\.lowerBound).min() ?? 0)...(ranges.map(\.upperBound).max() ?? 0)
            let defaults = rows.map(\.parameter.defaultValue)
            let isOne = defaults.allSatisfy { $0 == defaults[0] }
            let summaries = rows.map { row in
                let unit = row.parameter.unitWords.isEmpty ? "" : ", \(row.parameter.unit)"
                let value =
                    isOne ? "" : "; \(JSONValue.numberText(row.parameter.defaultValue)) when left out"
                return "Of \(row.kinds.joined(separator: ", ")): \(row.parameter.meaning)\(unit)\(value)."
            }
            return KeyShape(
                name, .number(all), summaries.joined(separator: " "),
                defaultValue: isOne ? .number(defaults[0]) : nil)
        }
    }

    private static func decode(_ reader: YAMLReader, _ key: String) throws(InputError) -> Tuned {
        let place = reader[key] ?? reader
        guard let kind = Kind.named(try place.text()) else {
            throw place.problem(expected: Kind.shape.expectation)
        }
        var tuned = Tuned(kind)
        guard case .mapping(let entries) = reader.node.content else { return tuned }
        for entry in entries where entry.key != key {
            guard let parameter = kind.parameters.first(where: { $0.name == entry.key }),
                let value = reader[entry.key]
            else {
                throw InputError(
                    file: entry.keyOrigin.file, line: entry.keyOrigin.line,
                    found: "\(quotedForMessage(entry.key)) in \(reader.path)",
                    expected: parameters(of: kind))
            }
            let number = try value.number(in: parameter.range)
            guard tuned.set(parameter.name, to: number) else {
                throw value.problem(expected: Shape.number(parameter.range).expectation)
            }
        }
        return tuned
    }

    private static func parameters(of kind: Kind) -> String {
        guard !kind.parameters.isEmpty else { return "nothing beside \(kind.id): it has no parameters" }
        return "a parameter of \(kind.id): \(kind.parameters.map(\.name).joined(separator: ", "))"
    }
}
