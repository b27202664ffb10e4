// Who feels a low, and how much they eat against it by their weight: the same for habits and for a person.
//
// Guarantees: a trait: drawn once a person, from a stream of its own.

import IsletNumerics
import IsletModels
import IsletKernel

enum Awareness {
    /// mg/dL of plasma glucose below which this person can feel a low.
    static func feelsBelow(
        _ mean: Double, spread: Double, unaware: Double, unawareBelow: Double, _ streams: RandomStreams
    ) -> Double {
        var own = streams.stream("awareness")
        let isUnaware = own.uniform() < unaware
        let z = min(max(Normal.next(using: &own), -2.5), 2.5)
        return isUnaware ? min(mean, unawareBelow) : max(20, mean + spread * z)
    }
}

enum RescuePortion {
    /// A factor on what an adult eats against a low: 1 for adults, and for whom it is not above so much a kilogram.
    static func factor(of grams: Double, perKilogram: Double, _ subject: VirtualSubject?) -> Double {
        guard let subject, subject.group == .child || subject.group == .adolescent, grams > 0 else {
            return 1
        }
        return min(1, perKilogram * subject.bodyWeight / grams)
    }
}
