// The settings of believable weeks: each has a name, a range, and where its value comes from.
//
// Guarantees: a session depends on these and on its streams alone. `rows` lists every one; studies, documents and reports read them there.
// Does not: hold what belongs to a person's behaviour (`HabitSettings`).

public import IsletDevices

/// What varies in bodies and at tables, and how far first prescriptions miss. Spreads are standard deviations of logarithms.
public struct LifeSettings: Hashable, Sendable {
    public var sensitivityOfWindow = 0.45
    public var sensitivityOfDayWindow = 0.28
    public var sensitivityOfDay = 0.12
    public var dawnHeight = 0.10
    public var dawnSpread = 0.5
    public var mealsByEnergy = 1.0
    public var mealSizeOfPerson = 0.20
    public var mealSize = 0.30
    public var emptying = 0.20
    public var uptake = 0.20
    public var availability = 0.10
    public var ratioError = 0.32
    public var correctionError = 0.32
    public var basalError = 0.25

    public init() {}

    private static let calibrated = "calibrated to standard therapy, docs/life.md"
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
            "ratioError", "", "How far first prescriptions miss the carbohydrate ratio, before the run-in.",
            \.ratioError, spread, .assumed(calibrated)),
        .init(
            "correctionError", "", "As ratioError, of the correction factor.", \.correctionError, spread,
            .assumed(calibrated)),
        .init(
            "basalError", "", "As ratioError, of the basal rate.", \.basalError, spread, .assumed(calibrated)),
    ]
}
