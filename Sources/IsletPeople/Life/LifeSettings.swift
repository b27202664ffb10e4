// The settings of believable weeks: each has a name, a range, and where its value comes from.
//
// Guarantees: a session depends on these and on its streams alone. `rows` lists every one; studies, documents and reports read them there.
// Does not: hold what belongs to a person's behaviour (`HabitSettings`).

public import IsletDevices

/// What varies in bodies and at tables, and how far first prescriptions miss. Spreads are standard deviations of logarithms.
public struct LifeSettings: Hashable, Sendable {
    public var sensitivityOfWindow = 0.30
    public var sensitivityOfDayWindow = 0.16
    public var sensitivityOfDay = 0.12
    public var sensitivityOfWeek = 0.10
    public var dawnHeight = 0.10
    public var dawnSpread = 0.5
    public var mealsByEnergy = 1.0
    public var mealSizeOfPerson = 0.20
    public var mealSize = 0.30
    public var emptying = 0.20
    public var uptake = 0.20
    public var availability = 0.10
    public var rescueMinutes = 28.0
    public var rescueUptake = 0.35
    public var rescueAvailability = 0.10
    public var counterBelow = 56.0
    public var counterBelowSpread = 6.0
    public var counterGain = 0.04
    public var counterCeiling = 1.2
    public var counterMinutes = 30.0
    public var counterAsleep = 0.6
    public var counterAfterLow = 0.6
    public var exerciseNever = 0.12
    public var exerciseDays = 2.5
    public var exerciseDaysOfPerson = 0.7
    public var exerciseMinutes = 40.0
    public var exerciseLength = 0.35
    public var exerciseYoung = 1.5
    public var exerciseCounts = 2600.0
    public var exerciseIntensity = 0.25
    public var exerciseOfPerson = 0.3
    public var ratioError = 0.32
    public var correctionError = 0.32
    public var basalError = 0.25
    public var clinicBelow70 = 0.008
    public var clinicBelow54 = 0.002

    public init() {}

    private static let calibrated = "calibrated to published lows and standard therapy, docs/validation.md"
    private static let spread = 0.0...1.0

    public static let rows: [NumberRow<Self, SettingSource>] = [
        .init(
            "sensitivityOfWindow", "",
            "Spread between people of sensitivity in each window of the day (from 04, 11 and 17 h).",
            \.sensitivityOfWindow, spread, .assumed(calibrated + "; windows: S2017 as ReplayBG has it")),
        .init(
            "sensitivityOfDayWindow", "", "Spread of sensitivity from window to window.",
            \.sensitivityOfDayWindow, spread,
            .assumed(calibrated + "; .2 in LoopInsighT1's example of Visentin 2015")),
        .init(
            "sensitivityOfDay", "", "Spread of sensitivity from day to day.", \.sensitivityOfDay, spread,
            .assumed(calibrated)),
        .init(
            "sensitivityOfWeek", "", "Spread of a slow course of sensitivity over weeks.",
            \.sensitivityOfWeek, spread,
            .assumed("calibrated to how well a fortnight foretells a quarter (dia.2017.0455)")),
        .init(
            "dawnHeight", "",
            "Median rise of production at dawn (03 to 08 h), as a share of basal production.", \.dawnHeight,
            0...1, .assumed("ours; the amplitude of S2017 is not public")),
        .init("dawnSpread", "", "Its spread between people.", \.dawnSpread, spread, .assumed("ours")),
        .init(
            "mealsByEnergy", "",
            "How much of the difference in energy needs by age and weight holds for what children and adolescents eat of a plan made for adults.",
            \.mealsByEnergy, 0...1,
            .published("Schofield 1985 (WHO), basal metabolic rate at 3-10, 10-18 and 30-60 years")),
        .init(
            "mealSizeOfPerson", "", "Spread of appetite between people.", \.mealSizeOfPerson, spread,
            .assumed(calibrated)),
        .init("mealSize", "", "Spread of size from meal to meal.", \.mealSize, spread, .assumed(calibrated)),
        .init(
            "emptying", "", "Spread of the stomach's emptying from meal to meal.", \.emptying, spread,
            .published("McGill simulator: time constant ± 20 %")),
        .init(
            "uptake", "", "Spread of absorption from the intestine from meal to meal.", \.uptake, spread,
            .published("McGill simulator: time constant ± 20 %")),
        .init(
            "availability", "", "Spread of the share that arrives from meal to meal.", \.availability, spread,
            .published("McGill simulator: bioavailability ± 20 % uniform, which has a deviation of .115")),
        .init(
            "rescueMinutes", "min",
            "Carbohydrate against a low is on its way in two compartments of so many minutes each, median.",
            \.rescueMinutes, 5...120,
            .assumed("calibrated to the rise after 15 min (docs/validation.md); McGill has 20")),
        .init(
            "rescueUptake", "", "Its spread from one window of a day to the next.", \.rescueUptake, spread,
            .assumed("calibrated to the deviation of that rise")),
        .init(
            "rescueAvailability", "", "Spread of the share of it that arrives, at most all.",
            \.rescueAvailability, spread, .assumed("as of meals")),
        .init(
            "counterBelow", "mg/dL",
            "Plasma glucose below which the liver makes more by itself, mean of people.", \.counterBelow,
            20...80, .assumed("adrenaline's threshold is lower in type 1 diabetes than 67, and their own")),
        .init(
            "counterBelowSpread", "mg/dL", "Its deviation between people.", \.counterBelowSpread, 0...20,
            .assumed("no publication")),
        .init(
            "counterGain", "dL/mg", "How much more for each mg/dL below, a share of basal production.",
            \.counterGain, 0...0.2,
            .assumed("no rise at 54 in six people (Diabetes 50:2087), a blunted one in others; 0 is none")),
        .init(
            "counterCeiling", "", "And at most, a share of basal production.", \.counterCeiling, 0...3,
            .assumed("no publication")),
        .init(
            "counterMinutes", "min", "How slowly it comes and goes: a first-order lag.", \.counterMinutes,
            1...240, .assumed("no publication")),
        .init(
            "counterAsleep", "", "A factor on it asleep.", \.counterAsleep, 0...1,
            .assumed("smaller asleep (Jones, NEJM 338:1657); the size of production is not published")),
        .init(
            "counterAfterLow", "", "A factor on it for a day after a quarter of an hour below 54 mg/dL.",
            \.counterAfterLow, 0...1,
            .assumed("smaller after a low (Dagogo-Jack, J Clin Invest 91:819); likewise")),
        .init(
            "exerciseNever", "", "The share of people who never exercise.", \.exerciseNever, 0...1,
            .published("12 % of 7153 adults (T1D Exchange, doi 10.1177/0145721715620021)")),
        .init(
            "exerciseDays", "1/week", "Days with exercise of those who do any, median.", \.exerciseDays,
            0...7,
            .assumed(
                "so that 3 in 10 reach 150 min a week: 32 % of 72 adults by accelerometer (doi 10.1007/s11845-021-02741-w)"
            )),
        .init(
            "exerciseDaysOfPerson", "", "Its spread between people.", \.exerciseDaysOfPerson, 0...2,
            .assumed("likewise")),
        .init(
            "exerciseMinutes", "min", "How long, median.", \.exerciseMinutes, 5...240,
            .assumed("30 in T1DEXI's sessions; guidelines ask for 150 a week")),
        .init("exerciseLength", "", "Its spread.", \.exerciseLength, spread, .assumed("no publication")),
        .init(
            "exerciseYoung", "", "A factor on it for children and adolescents.", \.exerciseYoung, 0.1...4,
            .published("60 min on 2.7 days a week of 203 girls (doi 10.1155/2010/328318)")),
        .init(
            "exerciseCounts", "1/min", "How hard, in counts of an accelerometer, median.", \.exerciseCounts,
            0...5000,
            .assumed(
                "calibrated to what T1DEXI's sessions took, docs/validation.md; moderate is 1200 to 2000, hard from 5600 (doi 10.1371/journal.pcbi.1010289)"
            )),
        .init("exerciseIntensity", "", "Its spread.", \.exerciseIntensity, spread, .assumed("likewise")),
        .init(
            "exerciseOfPerson", "",
            "Spread between people of how their bodies answer: uptake, production and sensitivity each.",
            \.exerciseOfPerson, spread,
            .assumed("the published deviations are larger, and their correlations not published")),
        .init(
            "ratioError", "", "How far first prescriptions miss the carbohydrate ratio, before the run-in.",
            \.ratioError, spread, .assumed(calibrated)),
        .init(
            "correctionError", "", "As ratioError, of the correction factor.", \.correctionError, spread,
            .assumed(calibrated)),
        .init(
            "basalError", "", "As ratioError, of the basal rate.", \.basalError, spread, .assumed(calibrated)),
        .init(
            "clinicBelow70", "", "A clinic takes insulin away where more of the time is below 70 mg/dL,",
            \.clinicBelow70, 0...1,
            .assumed("the consensus allows 4 %; calibrated to how often people are low")),
        .init(
            "clinicBelow54", "", "or below 54 mg/dL.", \.clinicBelow54, 0...1,
            .assumed("the consensus allows 1 %; likewise")),
    ]
}
