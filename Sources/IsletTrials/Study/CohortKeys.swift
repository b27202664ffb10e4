// The keys of a study's cohort, and of its meals.

import IsletDevices
package import IsletFiles
import IsletModels

extension Study.Cohort.Generated: Keyed {
    package static let keys = KeyTable<Self>(
        "Subjects drawn by the study's seed.",
        [
            KeyRow(
                "model", \.model,
                .name(of: ModelKind.generated, noun: "a model that people can be drawn of"),
                "Their glucose model."),
            KeyRow("group", \.group, .name(), "Their age group."),
            KeyRow("count", \.count, .count(1...UInt64(Study.maximumSessions)), "How many."),
        ])
}

extension Study.Cohort.Table: Keyed {
    package static let keys = KeyTable<Self>(
        "Subjects listed in a table.",
        [
            KeyRow(
                "table", \.path, .text(.path), "A CSV table of parameters, relative to the study file.",
                hasDefault: false),
            KeyRow("model", \.model, .name(), "The glucose model of the table."),
            KeyRow(
                "derived", \.derived, .name(),
                "Columns of the table that follow from others, as Gpb from Gb and Vg."),
            KeyRow(
                "subjects", optional: \.subjects, subjectsCodec,
                "Rows of the table by name; all of them when left out."),
        ])

    private static let subjectsCodec: Codec<[String]> = {
        let list = Codec<[String]>.list(of: .text(.name), count: 1...100_000)
        return Codec(list.shape) { reader throws(InputError) in
            var seen: Set<String> = []
            for item in reader.items {
                let name = try item.text()
                guard seen.insert(name).inserted else {
                    throw item.problem(
                        found: "the subject \(quotedForMessage(name)) twice", expected: "each subject once")
                }
            }
            return try list.decode(reader)
        } encode: {
            list.encode($0)
        }
    }()
}

extension Study.Cohort {
    /// One of two: drawn, or of a table.
    static let codec: Codec<Self> = {
        let (drawn, listed) = (Generated.keys, Table.keys)
        let shape = MappingShape(
            summary: "People drawn by the seed, or listed in a table.",
            keys: [KeyShape("generate", .mapping(drawn.shape), "Draw them.")] + listed.shape.keys,
            exactlyOne: ["generate", "table"],
            onlyBeside: listed.shape.names.dropFirst().map { (key: $0, other: "table") })
        return Codec(.mapping(shape)) { reader throws(InputError) in
            if let generate = reader["generate"] { return .generate(try drawn.decode(generate)) }
            return .table(try listed.decode(reader))
        } encode: {
            switch $0 {
            case .generate(let people): ["generate": drawn.json(of: people)]
            case .table(let table): listed.json(of: table)
            }
        }
    }()
}

extension MealPlan {
    static let codec: Codec<MealPlan> = {
        let list = Codec<[Entry]>.list(of: .mapping(), count: 0...10_000)
        let names = Shape.choice(
            noun: "a meal plan", named.map { Shape.Choice($0.name, $0.summary) })
        return Codec(.either([names, list.shape])) { reader throws(InputError) in
            if reader.isList { return .list(try list.decode(reader)) }
            let name = try reader.text()
            guard let plan = named.first(where: { $0.name == name })?.plan else {
                throw reader.problem(expected: names.expectation)
            }
            return plan
        } encode: { plan in
            if case .list(let entries) = plan { return list.encode(entries) }
            return .string(named.first { $0.plan == plan }?.name ?? "none")
        }
    }()
}

extension MealPlan.Entry: Keyed {
    package init() { self.init(time: .daily(minuteOfDay: 0), grams: 0) }

    package static let keys = KeyTable<Self>(
        "One meal, each day or once.",
        [
            KeyRow(
                "at", \.time, .text(MealTime.rule, { MealTime($0) }, write: \.description),
                "HH:MM each day, or a length of time since the start.", isRequired: true),
            KeyRow(
                "carbs", \.grams, .number(0...MealAnnouncement.largest.grams), "Carbohydrate in grams.",
                isRequired: true),
        ])
}
