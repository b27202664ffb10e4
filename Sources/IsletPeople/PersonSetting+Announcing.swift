// How a person counts carbohydrate and times boluses: the settings of `announcing: own`, and what holds whoever decides.
//
// Guarantees: the same values as the habits of `life`, so that a person who announces by them in `life` says what the habits say, to the gram
// and minute: their luck is the same too. No preset has values of its own.

public import IsletDevices

extension PersonSettings {
    private static let life = CountingSettings()
    private static let published = "Vettoretti 2020, doi 10.1089/dia.2019.0502"

    /// What `announcing: own` is about.
    public static let announcingRows: [PersonSetting] = [
        PersonSetting(
            "countingSpread", \.counting.countingSpread, life.countingSpread, in: 0...1,
            "deviation of the counted from the eaten carbohydrate, as a share of it",
            .assumed("that of `life`; Roversi 2021 looks at 0 to 50 %")),
        PersonSetting(
            "countingBias", \.counting.countingBias, life.countingBias, in: 0...1,
            "spread between people of their mean error, as a deviation of its logarithm",
            .assumed("that of `life`; Roversi 2021 looks at -10 to +10 %")),
        PersonSetting(
            "countingRegression", \.counting.countingRegression, life.countingRegression, in: 0...1,
            "how much of the published regression of errors on size and occasion holds",
            .published(published)),
        PersonSetting(
            "missedBoluses", \.counting.missedBoluses, life.missedBoluses, in: 0...10,
            "a factor on the published shares of missed meal boluses (7.5, 12.2, 11.1, 19.4 %)",
            .published("smart pens of 22 964 adults")),
        PersonSetting(
            "missedOfPerson", \.counting.missedOfPerson, life.missedOfPerson, in: 0...3,
            "spread between people of these shares, as a deviation of their logarithm",
            .assumed("that of `life`, calibrated to standard therapy")),
        PersonSetting(
            "largestMissed", \.counting.largestMissed, life.largestMissed, in: 0...1, "nobody misses more",
            .assumed("that of `life`")),
        PersonSetting(
            "unannouncedSnacks", \.counting.unannouncedSnacks, life.unannouncedSnacks, in: 0...1,
            "of the snacks not missed, what is not announced", .assumed("that of `life`")),
        PersonSetting(
            "lateBoluses", \.counting.lateBoluses, life.lateBoluses, in: 0...1,
            "share of boluses that come late",
            .published("mistimed by 20 to 45 % of people")),
        PersonSetting(
            "earliestLate", \.counting.earliestLate, life.earliestLate, in: 0...240, "min",
            "a late bolus comes after this",
            .assumed("that of `life`")),
        PersonSetting(
            "latestLate", \.counting.latestLate, life.latestLate, in: 0...240, "min", "and before this",
            .assumed("that of `life`; iLet's guide says not later than 30 min")),
    ]

    /// Settings of meal insulin, whoever decides about announcing.
    static let dosing: [PersonSetting] = [
        PersonSetting(
            "mealBolusWithin", \.mealBolusWithin, 60, in: 0...240, "min",
            "later than this after the first bite nobody boluses for a meal, nor asks for its insulin again: most of it is absorbed",
            .assumed("no publication"))
    ]

    /// Announces by these habits from now on, as by settings of its own.
    public mutating func announce(by habits: HabitSettings) {
        announcing = .own
        counting = habits.counting
    }

    /// As the habits of somebody: what they say of meals, and when.
    public var announcingHabits: HabitSettings {
        var habits = HabitSettings()
        habits.counting = counting
        return habits
    }
}
