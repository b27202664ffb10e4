// The keys of a scenario: a row each, and a row for each setting of believable weeks.

package import IsletFiles
package import IsletPeople
import IsletDevices

extension Study.Scenario: Keyed {
    package static let keys = KeyTable<Self>(
        "What happens to the people.",
        [
            KeyRow("meals", \.meals, MealPlan.codec, "A named meal plan, or a list of meals."),
            presetRow,
            settingsRow("life", \.settings, "What varies in `life`."),
            settingsRow("habits", \.habits, "What the people of `life` do."),
        ])

    private static let lifePreset = "life"

    private static let presetRow = KeyRow<Self>(
        KeyShape(
            "preset",
            .choice(
                noun: "a scenario",
                [
                    Shape.Choice("plain", "days alike: meals as planned, counted exactly"),
                    Shape.Choice(
                        lifePreset,
                        "believable weeks: bodies, meals and people vary, therapy is titrated (docs/life.md)"),
                ]), "How believable the weeks are.", leftOut: "`plain`")
    ) { reader, scenario throws(InputError) in
        scenario.life = try reader.text() == lifePreset ? Study.Life() : nil
    } encode: {
        $0.life == nil ? nil : .string(lifePreset)
    }

    /// Settings of `life`, after the preset's row.
    private static func settingsRow<Settings: Keyed>(
        _ name: String, _ path: any WritableKeyPath<Study.Life, Settings> & Sendable, _ summary: String
    ) -> KeyRow<Self> {
        KeyRow(
            KeyShape(
                name, .mapping(Settings.keys.shape), summary, leftOut: "each setting at its default value")
        ) { reader, scenario throws(InputError) in
            guard var life = scenario.life else {
                throw reader.problem(
                    found: "`\(name)` without `preset: life`", expected: "`preset: life` beside it")
            }
            life[keyPath: path] = try Settings.keys.decode(reader)
            if let contradiction = life.habits.contradiction {
                throw reader.problem(found: contradiction.found, expected: contradiction.expected)
            }
            scenario.life = life
        } encode: { scenario in
            scenario.life.map { Settings.keys.json(of: $0[keyPath: path]) }
        }
    }
}

extension LifeSettings: Keyed {
    package static let keys = KeyTable<LifeSettings>(
        "What varies in `life`.", rows.map { KeyRow($0) })
}

extension HabitSettings: Keyed {
    package static let keys = KeyTable<HabitSettings>(
        "What the people of `life` do.", rows.map { KeyRow($0) })
}
