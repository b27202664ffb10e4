// Outcomes of treatment: insulin given and food eaten.

import IsletDevices

extension Outcome {
    static let treatment: [Outcome] = [
        Outcome(
            "insulin_u_per_day", unit: "U/day",
            "insulin that the pump delivered, basal included, per day lived",
            better: .neither, kind: .treatment, display: .always
        ) { $0.perDay($0.insulinUnits) },
        Outcome(
            "carbs_g_per_day", unit: "g/day", "carbohydrate eaten, per day lived", better: .neither,
            kind: .treatment,
            compared: .never, display: .always
        ) { $0.perDay($0.carbohydrateGrams) },
    ]
}
