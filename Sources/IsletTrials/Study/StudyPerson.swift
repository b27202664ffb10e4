// Who listens, in a study file: the keys are the rows of `PersonSettings`.
//
// Guarantees: nobody unless the study asks; a person's settings are written out in full in the resolved study, also those of a preset. A new
// setting is a row; nothing here knows its name.

package import IsletFiles
internal import IsletDevices
package import IsletPeople
import IsletModels

extension Study {
    static let nobody = Shape.Choice("none", "nobody hears the phone; meals are eaten and announced")
}

extension PersonSettings: Keyed {
    package init() { self.init(.typical) }

    package static let keys = KeyTable<Self>(
        "A person, by preset and by settings of their own.",
        [presetRow, announcingRow]
            + rows.map { row in
                let isOfAnnouncing = announcingRows.contains { $0.name == row.name }
                return KeyRow(
                    row, row.facts.summary(isAssumed: row.source.isAssumed), leftOut: "the preset's",
                    // What the scenario decides is in force there.
                    isWritten: { !isOfAnnouncing || $0.announcing == .own })
            })

    private static let presetCodec = Codec<PersonPreset>.name()

    private static let presetRow = KeyRow<Self>(
        KeyShape(
            "preset", presetCodec.shape, "Whose settings hold where nothing else is said.",
            defaultValue: presetCodec.encode(.typical))
    ) { reader, settings throws(InputError) in
        settings = PersonSettings(try presetCodec.decode(reader))
    } encode: {
        presetCodec.encode($0.preset)
    }

    private static let announcingRow = KeyRow<Self>(
        "announcing", \.announcing, .name(),
        "Who decides how meals are counted and when they are bolused for.",
        leftOut: "`own` beside any setting of announcing, `scenario` else")

    /// The first setting of announcing that a file has.
    private static func announcing(in reader: YAMLReader) -> (name: String, place: YAMLReader)? {
        for row in announcingRows { if let place = reader[row.name] { return (row.name, place) } }
        return nil
    }

    package mutating func complete(_ reader: YAMLReader) {
        if reader[Self.announcingRow.shape.name] == nil, Self.announcing(in: reader) != nil {
            announcing = .own
        }
    }

    fileprivate func check(_ reader: YAMLReader) throws(InputError) {
        if let contradiction {
            throw reader.problem(found: contradiction.found, expected: contradiction.expected)
        }
        guard announcing == .scenario, let named = Self.announcing(in: reader) else { return }
        let key = Self.announcingRow.shape.name
        throw named.place.problem(
            found: "`\(named.name)` beside `\(key): scenario`",
            expected: "`\(key): own`, or no setting of announcing")
    }
}

extension Study.Listener {
    static let codec = Codec<Self>(
        .either([
            .choice(
                noun: PersonPreset.noun,
                [Study.nobody] + PersonPreset.allCases.map { Shape.Choice($0.rawValue, $0.summary) }),
            .mapping(PersonSettings.keys.shape),
        ])
    ) { reader throws(InputError) in
        guard reader.isMapping else {
            return PersonPreset(rawValue: try reader.text()).map { .somebody(PersonSettings($0)) } ?? .nobody
        }
        let settings = try PersonSettings.keys.decode(reader)
        try settings.check(reader)
        return .somebody(settings)
    } encode: { listener in
        guard case .somebody(let settings) = listener else { return .string(Study.nobody.id) }
        return PersonSettings.keys.json(of: settings)
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
