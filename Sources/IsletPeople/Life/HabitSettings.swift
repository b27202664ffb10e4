// The settings of a person's habits, each with where its value comes from.

/// How an unassisted person eats, counts, doses and answers a low. Until a person hears alarms, this is all they do.
public struct HabitSettings: Hashable, Sendable {
    public var counting = CountingSettings()
    public var correctsAbove = 220.0
    public var correctsTowards = 140.0
    public var correctsAfter = 3.0
    public var correctionChance = 0.04
    public var correctionOfPerson = 1.0
    public var rescueBelow = 70.0
    public var feelsBelow = 60.0
    public var noticesAwake = 0.4
    public var noticesAsleep = 0.2
    public var wakesBelow = 45.0
    public var smallestRescue = 16.0
    public var largestRescue = 32.0
    public var rescueWait = 15.0
    public var sleepsFrom = 23.0
    public var sleepsUntil = 7.0

    public init() {}

    private static let calibrated = "calibrated to standard therapy, docs/life.md"

    public static let rows: [SettingRow<Self>] = [
        .init(
            "countingSpread", \.counting.countingSpread, 0...1, "",
            "Deviation of the counted from the eaten carbohydrate, as a share of it.", .assumed,
            "an earlier fit by hand; Roversi 2021 looks at 0 to 50 %"),
        .init(
            "countingBias", \.counting.countingBias, 0...1, "", "Spread between people of their mean error.",
            .assumed,
            "an earlier fit by hand; Roversi 2021 looks at -10 to +10 %"),
        .init(
            "countingRegression", \.counting.countingRegression, 0...1, "",
            "How much of the published regression of errors on size and occasion holds.", .published,
            "Vettoretti 2020, doi 10.1089/dia.2019.0502"),
        .init(
            "missedBoluses", \.counting.missedBoluses, 0...10, "",
            "A factor on the published shares of missed meal boluses (7.5, 12.2, 11.1, 19.4 %).", .published,
            "smart pens of 22 964 adults"),
        .init(
            "missedOfPerson", \.counting.missedOfPerson, 0...3, "", "Spread between people of these shares.",
            .assumed,
            calibrated),
        .init(
            "largestMissed", \.counting.largestMissed, 0...1, "", "Nobody misses more.", .assumed,
            "an earlier fit by hand"),
        .init(
            "unannouncedSnacks", \.counting.unannouncedSnacks, 0...1, "",
            "Of the snacks not missed, what nobody announces.",
            .assumed, "an earlier fit by hand"),
        .init(
            "lateBoluses", \.counting.lateBoluses, 0...1, "", "Share of boluses that come late.", .published,
            "mistimed by 20 to 45 % of people"),
        .init(
            "earliestLate", \.counting.earliestLate, 0...240, "min", "A late bolus comes after this.",
            .assumed,
            "an earlier fit by hand"),
        .init(
            "latestLate", \.counting.latestLate, 0...240, "min", "And before this.", .assumed,
            "an earlier fit by hand"
        ),
        .init(
            "correctsAbove", \.correctsAbove, 100...600, "mg/dL",
            "In open loop, awake: a reading above it may be corrected.", .assumed, "an earlier fit by hand"),
        .init(
            "correctsTowards", \.correctsTowards, 80...300, "mg/dL", "What a correction aims at.", .published,
            "simglucose's basal-bolus rule"),
        .init(
            "correctsAfter", \.correctsAfter, 0...24, "h", "After the last bolus.", .assumed,
            "an earlier fit by hand"),
        .init(
            "correctionChance", \.correctionChance, 0...1, "", "In each five minutes.", .assumed, calibrated),
        .init(
            "correctionOfPerson", \.correctionOfPerson, 0...3, "", "Its spread between people.", .assumed,
            calibrated),
        .init(
            "rescueBelow", \.rescueBelow, 40...120, "mg/dL", "A reading below it is treated once noticed.",
            .published, "guideline"),
        .init(
            "feelsBelow", \.feelsBelow, 20...100, "mg/dL", "Plasma glucose below it is felt once noticed.",
            .assumed, "ours"),
        .init(
            "noticesAwake", \.noticesAwake, 0...1, "", "Chance of noticing in five minutes, awake.", .assumed,
            calibrated),
        .init(
            "noticesAsleep", \.noticesAsleep, 0...1, "", "The same, asleep.", .assumed,
            calibrated + "; adults woke to 37 % of single alarms (Buckingham 2005)"),
        .init(
            "wakesBelow", \.wakesBelow, 10...70, "mg/dL",
            "Plasma glucose below it is noticed asleep as awake.",
            .assumed, "in all 11 confirmed lows somebody woke (Buckingham 2005)"),
        .init(
            "smallestRescue", \.smallestRescue, 1...100, "g", "Rescue carbohydrate, at least.", .published,
            "16 g, 32 g below 50: trial protocol"),
        .init(
            "largestRescue", \.largestRescue, 1...100, "g", "At most.", .published,
            "real life: mean 32 g"),
        .init(
            "rescueWait", \.rescueWait, 5...120, "min", "Before taking more.", .published,
            "guideline"),
        .init("sleepsFrom", \.sleepsFrom, 0...24, "h", "Local time of falling asleep.", .assumed, "ours"),
        .init("sleepsUntil", \.sleepsUntil, 0...24, "h", "Local time of waking.", .assumed, "ours"),
    ]
}
