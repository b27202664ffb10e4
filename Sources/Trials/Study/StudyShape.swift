// What a study file may say: the key tables.
//
// A new key is one `KeyShape` here, one line in `StudyDecoding` and one in `StudyEncoding`; a test compares the three.

import AlertFiles
import Algorithms
package import Documents
import Alerts
import Devices
import Physiology
import Records
import SimulatedDevices

extension Study {
    /// The shape of a study file.
    package static let shape = MappingShape(
        summary: "An Islet study: cohort × scenario × arms × duration × seed.",
        keys: [
            KeyShape("study", .text(.name), "The study's name.", standard: .string("study")),
            KeyShape(
                "seed", .wholeNumber(0...UInt64.max), "The seed of every random draw.", standard: .unsigned(1)
            ),
            KeyShape(
                "start", .text(StudyStart.rule), "Start instant with its local offset.",
                standard: .string(StudyStart.standardText)),
            KeyShape(
                "duration", .text(.timeSpan(upTo: maximumDuration, saying: "3650d")),
                "How long a session lasts.",
                standard: .string("7d")),
            KeyShape("cohort", .mapping(cohortShape), "The virtual people.", isRequired: true),
            KeyShape(
                "sensor",
                .either([SensorModel.shape, .mapping(deviceShape(SensorModel.self, "A glucose sensor."))]),
                "The glucose sensor.", standard: .string(SensorModel.vettoretti2019.id)),
            KeyShape(
                "pump",
                .either([PumpDevice.shape, .mapping(deviceShape(PumpDevice.self, "An insulin pump."))]),
                "The insulin pump.", standard: .string(PumpDevice.omnipod.id)),
            KeyShape(
                "scenario", .mapping(scenarioShape), "What happens to the people.",
                standard: .object([.init("meals", .string("moderate"))])),
            KeyShape(
                "faults", faultsShape, "What goes wrong with the devices.",
                standard: .string(noFaults.id)),
            KeyShape(
                "record", RecordLevel.shape, "What a run keeps.",
                standard: .string(RecordLevel.events.rawValue)),
            KeyShape(
                "arms", .list(.mapping(armShape), count: 1...100), "What is compared, 1 to 100 arms.",
                isRequired: true),
            KeyShape(
                "compare", .either([.choice(noun: "a comparison", [noComparison]), .mapping(compareShape)]),
                "Which arm the others are compared with; the first where there are several."),
        ])

    static let noComparison = Shape.Choice("none", "no comparison")

    static let cohortShape = MappingShape(
        summary: "People drawn by the seed, or listed in a table.",
        keys: [
            KeyShape("generate", .mapping(generateShape), "Draw them."),
            KeyShape("table", .text(.path), "A CSV table of parameters, relative to the study file."),
            KeyShape(
                "model", ModelKind.shape, "The glucose model of the table.",
                standard: .string(ModelKind.uvaPadova2008.id)),
            KeyShape(
                "subjects", .list(.text(.name), count: 1...100_000),
                "Rows of the table by name; all of them when left out."),
            KeyShape(
                "derived", DerivedColumns.shape,
                "Columns of the table that follow from others, as Gpb from Gb and Vg.",
                standard: .string(DerivedColumns.check.rawValue)),
        ],
        exactlyOne: ["generate", "table"],
        onlyBeside: [
            (key: "model", other: "table"), (key: "subjects", other: "table"),
            (key: "derived", other: "table"),
        ])

    static let generateShape = MappingShape(
        summary: "Subjects drawn by the study's seed.",
        keys: [
            KeyShape(
                "model",
                ModelKind.shape(of: ModelKind.generated, noun: "a model that people can be drawn of"),
                "Their glucose model.",
                standard: .string(ModelKind.uvaPadova2008.id)),
            KeyShape("group", AgeGroup.shape, "Their age group.", standard: .string(AgeGroup.adult.id)),
            KeyShape(
                "count", .wholeNumber(1...UInt64(maximumSessions)), "How many.", standard: .unsigned(100)),
        ])

    private static func deviceShape(_ id: (some Listed).Type, _ summary: String) -> MappingShape {
        MappingShape(summary: summary, keys: [KeyShape("model", id.shape, "Which one.", isRequired: true)])
    }

    static let scenarioShape = MappingShape(
        summary: "What happens to the people.",
        keys: [
            KeyShape(
                "meals",
                .either([
                    .choice(noun: "a meal plan", MealPlan.named.map { Shape.Choice($0.name, $0.summary) }),
                    .list(.mapping(mealShape), count: 0...10_000),
                ]),
                "A named meal plan, or a list of meals.", standard: .string("moderate"))
        ])

    static let mealShape = MappingShape(
        summary: "One meal, each day or once.",
        keys: [
            KeyShape(
                "at", .text(MealTime.rule), "HH:MM each day, or a length of time since the start.",
                isRequired: true),
            KeyShape(
                "carbs", .number(0...MealAnnouncement.largest.grams), "Carbohydrate in grams.",
                isRequired: true),
        ])

    static let armShape = MappingShape(
        summary: "One arm.",
        keys: [
            KeyShape("name", .text(.name), "Its name; that of its algorithm when left out."),
            KeyShape(
                "algorithm", TunedAlgorithm.shape,
                "The dosing algorithm: its name, or its name and parameters.",
                standard: .string(TunedAlgorithm.standard.kind.id)),
            KeyShape(
                "alerts",
                .either([
                    .text(
                        TextRule(
                            expectation: "an alert policy: "
                                + AlertPreset.allCases.map(\.rawValue).joined(separator: ", ")
                                + "; or the path of a policy file",
                            pattern: TextRule.path.pattern, accepts: TextRule.path.accepts)),
                    .mapping(AlertPolicy.shape),
                ]), "The alert policy: a preset, the path of a policy file, or a policy.",
                standard: .string(AlertPreset.bionicloop.rawValue)),
        ])

    static let compareShape = MappingShape(
        summary: "A comparison of arms.",
        keys: [
            KeyShape(
                "reference", .text(.name), "The arm that the others are compared with.", isRequired: true)
        ])

    /// The published JSON Schema (draft 2020-12) of a study file.
    package static var jsonSchema: JSONValue {
        var members: [JSONValue.Member] = [
            .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            .init("title", .string("Islet study")),
        ]
        if case .object(let inner) = Shape.mapping(shape).schema { members += inner }
        return .object(members)
    }
}
