// The keys of a scenario file's root, a row each, and those of them that a case may say in the file's place.
//
// Guarantees: a key of both stands once; what a case says of the world goes over what the file says of it.

import IsletAlerts
import IsletDevices
import IsletKernel

/// What a file says for all its cases, and a case in its place.
struct ScenarioSetup: Keyed {
    var policy = AlertPolicy.bionicloop
    var compare = AlertScenario.defaultCompare
    var world = ScenarioWorld()
    /// Where the world's zone is said, for messages.
    var zone: YAMLReader?
    /// The interval of series, ns.
    var interval = AlertWorld.grid

    static let keys = KeyTable<Self>("What holds for the cases.", [policy, compare, world, interval])

    static let policy = KeyRow<Self>(
        KeyShape(
            "policy",
            .either([
                .text(
                    TextRule(
                        expectation:
                            "a preset: \(AlertPreset.allCases.map(\.rawValue).joined(separator: ", ")); or a path",
                        pattern: TextRule.path.pattern, accepts: TextRule.path.accepts)),
                .mapping(AlertPolicy.shape),
            ]), "The policy under test.", defaultValue: .string(AlertPreset.bionicloop.rawValue))
    ) { reader, setup throws(InputError) in
        setup.policy = try AlertPolicy.find(reader)
    } encode: { _ in
        nil
    }

    static let compare = KeyRow<Self>(
        "compare", \.compare,
        .list(
            of: .named(
                .choice(
                    noun: "an effect", AlertEffect.Kind.allCases.map { .init($0.rawValue, "the effect") }),
                { AlertEffect.Kind(rawValue: $0) }, write: \.rawValue),
            count: 0...AlertEffect.Kind.allCases.count),
        "Which effects must be as expected, all of them.")

    static let world = KeyRow<Self>(
        KeyShape(
            "defaults", .mapping(ScenarioWorld.keys.shape), "The world at t = 0.", leftOut: "each key's own")
    ) { reader, setup throws(InputError) in
        try ScenarioWorld.keys.rows.decode(reader, into: &setup.world)
        setup.zone = reader[ScenarioWorld.zoneKey] ?? setup.zone
    } encode: { _ in
        nil
    }

    static let interval = KeyRow<Self>(
        "interval", \.interval, .span(.timeSpan(upTo: TimeSpan(seconds: 86_400), saying: "1d")),
        "Of series.")
}

extension AlertScenario: Keyed {
    package init() { self.init(file: "", suite: "", cases: []) }

    package static let keys = KeyTable<Self>(
        "Unit tests of an alert policy.",
        [KeyRow("suite", \.suite, .text(title), "What the cases are about.", isRequired: true)]
            + ScenarioSetup.keys.rows.map { row in
                KeyRow(row.shape) { reader, scenario throws(InputError) in
                    try row.decode(reader, &scenario.setup)
                } encode: { _ in
                    nil
                }
            } + [
                KeyRow(
                    KeyShape(
                        "cases", .list(.mapping(caseShape), count: 1...10_000), "The cases.", isRequired: true
                    )
                ) { reader, scenario throws(InputError) in
                    for item in reader.items { scenario.cases.append(try decodeCase(item, scenario.setup)) }
                } encode: { _ in
                    nil
                }
            ])

    /// The shape of a scenario file.
    package static var shape: MappingShape { keys.shape }
}

extension KeyRow<ScenarioSetup> {
    /// This key as a case may say it.
    func inCase(_ summary: String = "In place of the file's.") -> KeyShape {
        var key = shape.leavingOut("the file's")
        key.summary = summary
        return key
    }
}
