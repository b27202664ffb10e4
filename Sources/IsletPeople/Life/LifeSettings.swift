// The settings of believable weeks: each has a name, a range, and where its value comes from.
//
// Guarantees: a session depends on these and on its streams alone. `rows` lists every one; studies, documents and reports read them there.
// Does not: hold what belongs to a person's behaviour (`HabitSettings`).

/// Whether somebody published a value.
public enum Provenance: String, Hashable, Sendable {
    case published, assumed
}

/// One named number of a settings type.
public struct SettingRow<Settings: Sendable>: Sendable {
    /// As studies name it.
    public let name: String
    public let path: any WritableKeyPath<Settings, Double> & Sendable
    public let range: ClosedRange<Double>
    public let unit: String
    /// One sentence.
    public let meaning: String
    public let provenance: Provenance
    public let source: String

    init(
        _ name: String, _ path: any WritableKeyPath<Settings, Double> & Sendable,
        _ range: ClosedRange<Double>, _ unit: String, _ meaning: String, _ provenance: Provenance,
        _ source: String
    ) {
        self.name = name
        self.path = path
        self.range = range
        self.unit = unit
        self.meaning = meaning
        self.provenance = provenance
        self.source = source
    }
}

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

    public static let rows: [SettingRow<Self>] = [
        .init(
            "sensitivityOfWindow", \.sensitivityOfWindow, spread, "",
            "Spread between people of sensitivity in each window of the day (from 04, 11 and 17 h).",
            .assumed,
            calibrated + "; windows: S2017 as ReplayBG has it"),
        .init(
            "sensitivityOfDayWindow", \.sensitivityOfDayWindow, spread, "",
            "Spread of sensitivity from window to window.", .assumed,
            calibrated + "; .2 in LoopInsighT1's example of Visentin 2015"),
        .init(
            "sensitivityOfDay", \.sensitivityOfDay, spread, "", "Spread of sensitivity from day to day.",
            .assumed, calibrated),
        .init(
            "dawnHeight", \.dawnHeight, 0...1, "",
            "Median rise of production at dawn (03 to 08 h), as a share of basal production.", .assumed,
            "ours; the amplitude of S2017 is not public"),
        .init(
            "dawnSpread", \.dawnSpread, spread, "", "Its spread between people.", .assumed, "ours"),
        .init(
            "mealsByEnergy", \.mealsByEnergy, 0...1, "",
            "How much of the difference in energy needs by age and weight holds for what children and adolescents eat of a plan made for adults.",
            .published, "Schofield 1985 (WHO), basal metabolic rate at 3-10, 10-18 and 30-60 years"),
        .init(
            "mealSizeOfPerson", \.mealSizeOfPerson, spread, "", "Spread of appetite between people.",
            .assumed,
            calibrated),
        .init("mealSize", \.mealSize, spread, "", "Spread of size from meal to meal.", .assumed, calibrated),
        .init(
            "emptying", \.emptying, spread, "", "Spread of the stomach's emptying from meal to meal.",
            .published, "McGill simulator: time constant ± 20 %"),
        .init(
            "uptake", \.uptake, spread, "", "Spread of absorption from the intestine from meal to meal.",
            .published, "McGill simulator: time constant ± 20 %"),
        .init(
            "availability", \.availability, spread, "", "Spread of the share that arrives from meal to meal.",
            .published, "McGill simulator: bioavailability ± 20 % uniform, which has a deviation of .115"),
        .init(
            "ratioError", \.ratioError, spread, "",
            "How far first prescriptions miss the carbohydrate ratio, before the run-in.", .assumed,
            calibrated),
        .init(
            "correctionError", \.correctionError, spread, "", "As ratioError, of the correction factor.",
            .assumed, calibrated),
        .init(
            "basalError", \.basalError, spread, "", "As ratioError, of the basal rate.", .assumed, calibrated),
    ]
}
