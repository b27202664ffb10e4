// Outcomes of treatment: insulin given, steps that gave none because the algorithm failed, and food eaten.
//
// Guarantees: what is eaten has one meaning in every study, whoever eats it: all of it is meals (and snacks) and what is eaten against lows.

import IsletDevices

extension Outcome {
    static let treatment: [Outcome] = [
        Outcome(
            "insulin_u_per_day", "insulin", unit: "U/day",
            "insulin that the pump delivered, basal included, per day lived",
            better: .neither, kind: .treatment, display: .always
        ) { $0.perDay($0.insulinUnits) },
        Outcome(
            "carbs_g_per_day", "all carbohydrate", unit: "g/day",
            "all carbohydrate eaten, per day lived: `meal_g_per_day` and `rescue_g_per_day`",
            better: .neither, kind: .treatment, compared: .never, display: .always
        ) { $0.perDay($0.carbohydrateGrams) },
        Outcome(
            "meal_g_per_day", "carbohydrate of meals", unit: "g/day",
            "carbohydrate of meals and snacks, per day lived",
            better: .neither, kind: .treatment, compared: .never
        ) { $0.perDay($0.mealGrams) },
        Outcome(
            "rescue_g_per_day", "carbohydrate against lows", unit: "g/day",
            "carbohydrate against lows, per day lived; 0 where nobody treats any", better: .neither,
            kind: .treatment
        ) { $0.perDay($0.rescueGrams) },
        Outcome(
            failedSteps, "steps whose algorithm failed", unit: "%",
            "steps of the loop in which the algorithm gave no answer that counts, and so no dose of its own, of all steps run",
            better: .lower, kind: .treatment, compared: .never
        ) { facts in
            facts.steps.flatMap { $0.run > 0 ? 100 * Double($0.failed) / Double($0.run) : nil }
        },
    ]

    /// Of an arm that has any, table and report speak.
    package static let failedSteps = "failed_steps_percent"
}
