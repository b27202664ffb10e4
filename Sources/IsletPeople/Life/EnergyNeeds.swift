// How much somebody of an age and weight eats, beside an adult.
//
// Guarantees: 1 for every adult, whatever they weigh: meal plans were made for them. Does not: know sex, activity or what a person likes to eat; the
// activity of all ages is taken to be alike, and the share of carbohydrate in energy as well (both assumed).
//
// Source: Schofield, Hum Nutr Clin Nutr 39C (1985), Suppl. 1: basal metabolic rate by weight at 3 to 10, 10 to 18 and 30 to 60 years, as taken
// over by WHO; here the mean of both sexes.

import IsletModels

enum EnergyNeeds {
    /// kcal a day: `slope`·kg + `constant`.
    private struct Line {
        var slope: Double
        var constant: Double

        init(male: (Double, Double), female: (Double, Double)) {
            slope = (male.0 + female.0) / 2
            constant = (male.1 + female.1) / 2
        }

        func kilocalories(_ kilograms: Double) -> Double { slope * kilograms + constant }
    }

    private static let child = Line(male: (22.706, 504.3), female: (20.315, 485.9))
    private static let adolescent = Line(male: (17.686, 658.2), female: (13.384, 692.6))
    private static let adult = Line(male: (11.472, 873.1), female: (8.126, 845.6))

    /// An adult for whom meal plans were made, kg (assumed: about the mean of generated adults).
    static let adultWeight = 80.0

    /// A factor on meals planned for adults.
    /// - Parameter share: how much of the difference holds.
    static func mealFactor(_ group: AgeGroup?, kilograms: Double, share: Double) -> Double {
        let line: Line
        switch group {
        case .adult, nil: return 1
        case .adolescent: line = adolescent
        case .child: line = child
        }
        let needs = line.kilocalories(kilograms) / adult.kilocalories(adultWeight)
        return 1 + share * (needs - 1)
    }
}
