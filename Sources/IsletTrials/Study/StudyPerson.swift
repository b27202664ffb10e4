// Who listens, in a study file: the keys are the rows of `PersonSettings`.
//
// Guarantees: nobody unless the study asks; a person's settings are written out in full in the resolved study, also those of a preset. A new
// setting is a row; nothing here knows its name.

import IsletFiles
internal import IsletDevices
import IsletPeople
import IsletModels

extension Study {
    static let nobody = Shape.Choice("none", "nobody hears the phone; meals are eaten and announced")

    static let personShape: Shape = .either([
        .choice(
            noun: "a person", [nobody] + PersonPreset.allCases.map { Shape.Choice($0.rawValue, $0.summary) }),
        .mapping(
            MappingShape(
                summary: "A person, by preset and by settings of their own.",
                keys: [
                    KeyShape(
                        "preset",
                        .choice(
                            noun: "a person",
                            PersonPreset.allCases.map { Shape.Choice($0.rawValue, $0.summary) }),
                        "Whose settings hold where nothing else is said.",
                        defaultValue: .string(PersonPreset.typical.rawValue)),
                    KeyShape(
                        announcingKey,
                        .choice(
                            noun: PersonAnnouncing.noun,
                            PersonAnnouncing.allCases.map { Shape.Choice($0.rawValue, $0.summary) }),
                        "Who decides how meals are counted and when they are bolused for."
                    )
                    .leavingOut(
                        "`own` beside any setting of announcing, `scenario` else"),
                ]
                    + PersonSettings.rows.map { row in
                        KeyShape(
                            row.name, .number(row.range),
                            row.meaning.prefix(1).uppercased() + row.meaning.dropFirst()
                                + (row.unit.isEmpty ? "" : ", \(row.unit)")
                                + (row.source.isAssumed ? " (assumed)." : ".")
                        )
                        .leavingOut("the preset's")
                    })),
    ])

    static let announcingKey = "announcing"

    static func decodePerson(_ reader: YAMLReader) throws(InputError) -> Listener {
        guard reader.isMapping else {
            return PersonPreset(rawValue: try reader.text()).map { .somebody(PersonSettings($0)) } ?? .nobody
        }
        var settings = PersonSettings(PersonPreset(rawValue: try reader["preset"]?.text() ?? "") ?? .typical)
        for row in PersonSettings.rows {
            guard let given = reader[row.name] else { continue }
            settings[keyPath: row.path] = try given.number(in: row.range)
        }
        let named = PersonSettings.announcingRows.first { reader[$0.name] != nil }
        let chosen = try reader[announcingKey]?.text()
        settings.announcing =
            chosen.flatMap { PersonAnnouncing(rawValue: $0) } ?? (named == nil ? .scenario : .own)
        if let named, settings.announcing == .scenario {
            throw (reader[named.name] ?? reader).problem(
                found: "`\(named.name)` beside `\(announcingKey): scenario`",
                expected: "`\(announcingKey): own`, or no setting of announcing")
        }
        return .somebody(settings)
    }
}

extension Study.Listener {
    static let codec = Codec<Self>(
        Study.personShape,
        decode: { reader throws(InputError) in try Study.decodePerson(reader) }, encode: { $0.json })

    private var json: JSONValue {
        guard case .somebody(let settings) = self else { return .string(Study.nobody.id) }
        // What the scenario decides is in force there.
        let unused = settings.announcing == .own ? [] : PersonSettings.announcingRows.map(\.name)
        return .object(
            [
                .init("preset", .string(settings.preset.rawValue)),
                .init(Study.announcingKey, .string(settings.announcing.rawValue)),
            ]
                + PersonSettings.rows.filter { !unused.contains($0.name) }
                .map { .init($0.name, .number(settings[keyPath: $0.path])) })
    }
}

extension PersonAge {
    /// Somebody of no known group is an adult.
    init(_ group: AgeGroup?) {
        switch group {
        case .adult, nil: self = .adult
        case .adolescent: self = .adolescent
        case .child: self = .child
        }
    }
}
