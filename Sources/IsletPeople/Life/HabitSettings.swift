// The settings of a person's habits, each with where its value comes from.

public import IsletDevices

/// How an unassisted person eats, counts, doses and answers a low. Until a person hears alarms, this is all they do.
public struct HabitSettings: Hashable, Sendable {
    public var counting = CountingSettings()
    public var correctsAbove = 220.0
    public var correctsTowards = 140.0
    public var correctsAfter = 3.0
    public var correctionChance = 0.05
    public var correctionOfPerson = 1.0
    public var rescueBelow = 70.0
    public var feelsBelow = 60.0
    public var feelsBelowSpread = 6.0
    public var unaware = 0.2
    public var unawareFeelsBelow = 45.0
    public var noticesAwake = 0.09
    public var noticesAsleep = 0.005
    public var wakesBelow = 45.0
    public var helpedBelow = 40.0
    public var helped = 0.15
    public var smallestRescue = 16.0
    public var largestRescue = 32.0
    public var rescuePerKilogram = 0.3
    public var rescueWait = 15.0
    public var exerciseCarbsBelow = 126.0
    public var exerciseCarbsChance = 0.5
    public var exerciseCarbs = 15.0
    public var lowersBasal = 0.3
    public var lowersBasalTo = 0.5
    public var exerciseFrom = 90.0
    public var exercisePutOff = 0.77
    public var exerciseWait = 15.0
    public var exerciseLatest = 60.0
    public var tellsLoop = 0.42
    public var tellsLoopTarget = 150.0
    public var sleepsFrom = 23.0
    public var sleepsUntil = 7.0

    public init() {}

    private static let calibrated = "calibrated to published lows and standard therapy, docs/validation.md"

    public static let rows: [NumberRow<Self, SettingSource>] = [
        .init(
            "countingSpread", "", "Deviation of the counted from the eaten carbohydrate, as a share of it.",
            \.counting.countingSpread, 0...1,
            .assumed("an earlier fit by hand; Roversi 2021 looks at 0 to 50 %")),
        .init(
            "countingBias", "", "Spread between people of their mean error.", \.counting.countingBias, 0...1,
            .assumed("an earlier fit by hand; Roversi 2021 looks at -10 to +10 %")),
        .init(
            "countingRegression", "",
            "How much of the published regression of errors on size and occasion holds.",
            \.counting.countingRegression, 0...1, .published("Vettoretti 2020, doi 10.1089/dia.2019.0502")),
        .init(
            "missedBoluses", "",
            "A factor on the published shares of missed meal boluses (7.5, 12.2, 11.1, 19.4 %).",
            \.counting.missedBoluses, 0...10, .published("smart pens of 22 964 adults")),
        .init(
            "missedOfPerson", "", "Spread between people of these shares.", \.counting.missedOfPerson, 0...3,
            .assumed(calibrated)),
        .init(
            "largestMissed", "", "Nobody misses more.", \.counting.largestMissed, 0...1,
            .assumed("an earlier fit by hand")),
        .init(
            "unannouncedSnacks", "", "Of the snacks not missed, what nobody announces.",
            \.counting.unannouncedSnacks, 0...1, .assumed("an earlier fit by hand")),
        .init(
            "lateBoluses", "", "Share of boluses that come late.", \.counting.lateBoluses, 0...1,
            .published("mistimed by 20 to 45 % of people")),
        .init(
            "earliestLate", "min", "A late bolus comes after this.", \.counting.earliestLate, 0...240,
            .assumed("an earlier fit by hand")),
        .init(
            "latestLate", "min", "And before this.", \.counting.latestLate, 0...240,
            .assumed("an earlier fit by hand")),
        .init(
            "correctsAbove", "mg/dL", "In open loop, awake: a reading above it may be corrected.",
            \.correctsAbove, 100...600, .assumed("an earlier fit by hand")),
        .init(
            "correctsTowards", "mg/dL", "What a correction aims at.", \.correctsTowards, 80...300,
            .published("simglucose's basal-bolus rule")),
        .init(
            "correctsAfter", "h", "After the last bolus.", \.correctsAfter, 0...24,
            .assumed("an earlier fit by hand")),
        .init(
            "correctionChance", "", "In each five minutes.", \.correctionChance, 0...1, .assumed(calibrated)),
        .init(
            "correctionOfPerson", "", "Its spread between people.", \.correctionOfPerson, 0...3,
            .assumed(calibrated)),
        .init(
            "rescueBelow", "mg/dL", "A reading below it is treated once noticed.", \.rescueBelow, 40...120,
            .published("guideline")),
        .init(
            "feelsBelow", "mg/dL", "Plasma glucose below it is felt once noticed.", \.feelsBelow, 20...100,
            .assumed("ours")),
        .init(
            "feelsBelowSpread", "mg/dL", "Its deviation between people.", \.feelsBelowSpread, 0...20,
            .assumed("no publication")),
        .init(
            "unaware", "", "The share of people who feel lows only below unawareFeelsBelow.", \.unaware,
            0...1, .published("17 % in ALERTT1, about a fifth in clinics; unaware by questionnaire")),
        .init(
            "unawareFeelsBelow", "mg/dL", "Plasma glucose below which they feel it.", \.unawareFeelsBelow,
            10...70, .assumed("no publication")),
        .init(
            "noticesAwake", "", "Chance of noticing in five minutes, awake.", \.noticesAwake, 0...1,
            .assumed(calibrated)),
        .init(
            "noticesAsleep", "", "The same, asleep.", \.noticesAsleep, 0...1,
            .assumed(calibrated + "; adults woke to 37 % of single alarms (Buckingham 2005)")),
        .init(
            "wakesBelow", "mg/dL", "Plasma glucose below it is noticed asleep as awake.", \.wakesBelow,
            10...70, .assumed("in all 11 confirmed lows somebody woke (Buckingham 2005)")),
        .init(
            "helpedBelow", "mg/dL", "Plasma glucose below which others notice, and help.", \.helpedBelow,
            10...60, .assumed("no publication")),
        .init(
            "helped", "", "Their chance to, in five minutes, by day and by night.", \.helped, 0...1,
            .assumed("so that hardly anybody's low ends the session: severe lows are survived")),
        .init(
            "smallestRescue", "g", "Rescue carbohydrate: two thirds of what is eaten lie above this,",
            \.smallestRescue, 1...100,
            .published("16 g, 32 g below 50: trial protocol")),
        .init(
            "largestRescue", "g", "and below this.", \.largestRescue, 1...100,
            .published("real life: mean 32 g")),
        .init(
            "rescuePerKilogram", "g/kg", "What children and adolescents eat of it at most, by their weight.",
            \.rescuePerKilogram, 0.05...2, .published("0.3 g/kg in children, guideline")),
        .init("rescueWait", "min", "Before taking more.", \.rescueWait, 5...120, .published("guideline")),
        .init(
            "exerciseCarbsBelow", "mg/dL", "Before exercise, a reading below it may be answered by eating.",
            \.exerciseCarbsBelow, 0...400, .published("consensus, Lancet Diabetes Endocrinol 5:377: 126")),
        .init(
            "exerciseCarbsChance", "", "In so many of these times.", \.exerciseCarbsChance, 0...1,
            .assumed("no publication")),
        .init(
            "exerciseCarbs", "g", "How much; children and adolescents at most rescuePerKilogram of it.",
            \.exerciseCarbs, 1...100, .published("10 to 20 in the consensus")),
        .init(
            "lowersBasal", "",
            "In so many times a programmed basal is lowered, from a quarter of an hour before to the end.",
            \.lowersBasal, 0...1, .assumed("no publication; the consensus asks for it earlier")),
        .init(
            "lowersBasalTo", "", "To this share of it.", \.lowersBasalTo, 0...1,
            .published("20 to 50 in a hundred in the consensus")),
        .init(
            "exerciseFrom", "mg/dL", "Exercise doesn't begin below this reading: one eats, and waits.",
            \.exerciseFrom, 0...400,
            .published("consensus, Lancet Diabetes Endocrinol 5:377, and Diabetologia 63:2501: 90")),
        .init(
            "exercisePutOff", "", "In so many of these times; else it begins all the same.",
            \.exercisePutOff, 0...1,
            .published(
                "77 % of 502 adults go by a glucose before they start (doi 10.1016/j.jcjd.2016.04.010)")
        ),
        .init(
            "exerciseWait", "min", "Until the next look at whether it may begin.", \.exerciseWait, 5...120,
            .assumed("as after sugar against a low")),
        .init(
            "exerciseLatest", "min", "Exercise that can't begin by then is called off.", \.exerciseLatest,
            0...720, .assumed("no publication")),
        .init(
            "tellsLoop", "",
            "In so many times a loop that corrects by itself is told, from a quarter of an hour before to the end.",
            \.tellsLoop, 0...1,
            .published(
                "42 % of 102 who exercise regularly (doi 10.2337/cd24-0100); guidelines ask for it earlier")
        ),
        .init(
            "tellsLoopTarget", "mg/dL", "What it then aims at.", \.tellsLoopTarget, 70...250,
            .published("150 in two makers' loops, 140 to 160 in a third")),
        .init("sleepsFrom", "h", "Local time of falling asleep.", \.sleepsFrom, 0...24, .assumed("ours")),
        .init("sleepsUntil", "h", "Local time of waking.", \.sleepsUntil, 0...24, .assumed("ours")),
    ]
}
