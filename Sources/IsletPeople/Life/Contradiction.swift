// Settings that can't all be meant: each is within its range, and together they contradict each other.
//
// Guarantees: who is refused hears both names with their values. Does not: judge what is unlikely.

/// Two settings of which one must not be above the other.
package struct Contradiction: Sendable {
    package let found: String
    package let expected: String

    /// nil where they are in order.
    init?(_ lower: (name: String, value: Double), atMost upper: (name: String, value: Double)) {
        guard lower.value > upper.value else { return nil }
        found = "`\(lower.name)` \(lower.value) above `\(upper.name)` \(upper.value)"
        expected = "`\(lower.name)` at or below `\(upper.name)`"
    }
}

extension HabitSettings {
    package var contradiction: Contradiction? {
        Contradiction(("smallestRescue", smallestRescue), atMost: ("largestRescue", largestRescue))
            ?? Contradiction(
                ("earliestLate", counting.earliestLate), atMost: ("latestLate", counting.latestLate))
            // Who is unaware of lows feels them later than others, or nobody is.
            ?? (unaware > 0
                ? Contradiction(
                    ("unawareFeelsBelow", unawareFeelsBelow), atMost: ("feelsBelow", feelsBelow)) : nil)
    }
}

extension PersonSettings {
    package var contradiction: Contradiction? {
        guard unaware > 0, feelsAwake > 0 || feelsAsleep > 0 else { return nil }
        return Contradiction(
            ("unawareFeelsBelow", unawareFeelsBelow), atMost: ("feelsBelow", feelsBelow))
    }
}
