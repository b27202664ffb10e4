// What thresholds can watch: one row a metric.
//
// Guarantees: schemas, policies, scenarios and messages go through the rows, in their order. A metric that somebody measures needs its row and
// nothing else; what code speaks of by name has a constant below.

/// A number that somebody measures, or that somebody's own program answers (`OwnMetric`).
public struct AlertMetric: Hashable, Sendable, CaseIterable, RawRepresentable, Codable {
    /// Its place in `allCases`; behind them all for a number of somebody's own.
    public let index: Int

    private struct Row: Sendable {
        var id: String
        var name: String
        var unit: String
        var criticalBelow: Double?
        var criticalAbove: Double?
        var isMeasured: Bool
        var isInStudies: Bool
        var range: ClosedRange<Double>?
        var sensed: ClosedRange<Double>?
        var fastest: Double?
        var isPrediction: Bool
        var note: String
        var actions: (low: String, high: String)

        /// - Parameters:
        ///   - actions: what a person should do about a value that is too low, and about one that is too high.
        ///   - critical: a value beyond is safety-critical, where nothing else is said.
        ///   - isMeasured: whether somebody measures it; what isn't follows from others and the time.
        ///   - isInStudies: whether the sessions of a study of people have it.
        ///   - isPrediction: whether it speaks of a time to come.
        ///   - note: how it is computed, where that needs saying.
        ///   - range: within it nothing is wrong: what the true values of subjects are judged by.
        ///   - sensed: what a sensor can say: at either end it means that much or more.
        ///   - fastest: units a minute; what moves faster is a sensor's jump until another value confirms it.
        init(
            _ id: String, _ name: String, _ unit: String, critical: (below: Double?, above: Double?)? = nil,
            isMeasured: Bool = true, isInStudies: Bool = false, range: ClosedRange<Double>? = nil,
            sensed: ClosedRange<Double>? = nil, fastest: Double? = nil, isPrediction: Bool = false,
            note: String = "", actions: (low: String, high: String) = ("", "")
        ) {
            self.id = id
            self.name = name
            self.unit = unit
            criticalBelow = critical?.below
            criticalAbove = critical?.above
            self.isMeasured = isMeasured
            self.isInStudies = isInStudies
            self.range = range
            self.sensed = sensed
            self.fastest = fastest
            self.isPrediction = isPrediction
            self.note = note
            self.actions = actions
        }
    }

    private static let rows: [Row] = [
        Row(
            "glucose", "Glucose", "mg/dL", critical: (54, 400), isInStudies: true, sensed: 39...400,
            fastest: 4,
            actions: (
                "Eat fast carbohydrate, and check again in 15 minutes.",
                "Check the pump and its site, and ketones; drink water."
            )),
        Row(
            "glucoseRate", "Glucose rate", "mg/dL/min", isInStudies: true,
            actions: ("Be ready to eat fast carbohydrate.", "Check the last meal and its bolus.")),
        Row(
            "insulinOnBoard", "Insulin on board", "U",
            actions: ("Check the pump and its site.", "Take no more insulin now, and watch glucose.")),
        Row(
            "reservoir", "Reservoir", "U", isInStudies: true,
            actions: ("Have a new pod ready.", "Check what was filled in.")),
        Row(
            "sensorAge", "Sensor age", "h",
            actions: ("Check its first values with a meter.", "Have a new sensor ready.")),
        Row(
            "temperature", "Temperature", "°F", critical: (50, 95), range: 65...85,
            actions: ("Check the heating.", "Check cooling and ventilation.")),
        Row(
            "humidity", "Humidity", "% RH", critical: (20, 90), range: 40...75,
            actions: ("Check the humidifier.", "Check the dehumidifier and ventilation.")),
        Row(
            "vpd", "VPD", "kPa", critical: (0.2, 2.5), range: 0.4...1.6,
            actions: (
                "Lower the humidity, or raise the temperature.",
                "Raise the humidity, or lower the temperature."
            )),
        Row(
            "readingAge", "Reading age", "min", isMeasured: false, isInStudies: true,
            actions: ("Check the sensor.", "Check the sensor, and glucose with a meter.")),
        Row(
            "glucoseIn20m", "Glucose in 20 min", "mg/dL", isMeasured: false, isInStudies: true,
            isPrediction: true,
            note:
                "a least-squares line over the readings of the last 15 min, three or more over 9.5 min or more, 20 min on from the newest; it begins anew after a gap of more than 11 min, a step of more than 5 mg/dL a minute (25 within five minutes), a warm-up or another sensor; late readings don't count; an alert of it ends when no prediction has come for 15 min",
            actions: ("Be ready to eat fast carbohydrate.", "Check the last meal and its bolus.")),
        Row(
            "forecastGlucose", "Forecast glucose", "mg/dL", isInStudies: true, isPrediction: true,
            note:
                "what the dosing algorithm forecasts at a step, as far ahead as it looks (pid-insulin-feedback: its slope, `prediction` minutes on; oref1-style: the least of its predictions, 30 min on; loop-style: its forecast, 30 min on; hovorka-mpc: its model's glucose, 30 min on); a study with an algorithm that forecasts nothing is refused; an alert of it ends when no forecast has come for 15 min",
            actions: ("Be ready to eat fast carbohydrate.", "Check the last meal and its bolus.")),
        Row(
            "unknownInsulin", "Insulin of unknown fate", "U",
            note:
                "what was sent to a linked pump, counts as delivered, and may never have been; live sessions only",
            actions: ("Look at the pump for what it gave.", "Look at the pump for what it gave.")),
        Row(
            "level", "Level", "%", critical: (5, nil), range: 20...100,
            actions: ("Fill it up.", "Check the inlet.")),
        Row(
            "basalShare", "Share of the insulin that came", "%", isInStudies: true,
            note:
                "1 − missing / programmed basal over the last 2 h, since the start if that is shorter, from 30 min on; missing is basal and correction that a step with a fresh reading asked for and that the pump has not confirmed, nor a later step made good, and programme that a zero displaced for steps that never ran, or that no pod gave; not what the algorithm withheld or wants no more, what a limit or a bolus under way left no place for, or what the person suspended; told at each step",
            actions: ("Check the pump and its site, and glucose with a meter.", "")),
        Row(
            "droppedInsulin", "Insulin that lapsed", "U", isInStudies: true,
            note:
                "what the person asked for and that was not given within 15 min, all of it, until they have seen it; a meal that no step has heard of counts by the person's ratio; each rise of it is news",
            actions: ("", "Look at what was not given, and decide about it anew.")),
    ]

    // The two that every reading asks for are plain constants, which nothing has to make first: the test of the constants holds
    // them to their rows.
    public static let glucose = AlertMetric(index: 0)
    public static let glucoseRate = AlertMetric(index: 1)
    public static let insulinOnBoard = named("insulinOnBoard")
    public static let reservoir = named("reservoir")
    public static let sensorAge = named("sensorAge")
    public static let temperature = named("temperature")
    public static let humidity = named("humidity")
    public static let vpd = named("vpd")
    /// Minutes since the newest reliable reading, since the session's start before the first. Never stale; it rises by itself,
    /// and a bound counts as passed at the instant at which it is reached.
    public static let readingAge = named("readingAge")

    /// By a straight line through the last readings.
    public static let glucoseIn20m = named("glucoseIn20m")
    /// By the dosing algorithm.
    public static let forecastGlucose = named("forecastGlucose")

    /// Sent to a linked pump, and nobody knows whether it was given.
    public static let unknownInsulin = named("unknownInsulin")

    /// What came of the insulin that the steps asked for.
    public static let basalShare = named("basalShare")
    /// What lapsed of what the person asked for.
    public static let droppedInsulin = named("droppedInsulin")

    public static let allCases = rows.indices.map(AlertMetric.init(index:))

    private init(index: Int) { self.index = index }
    init(ownPlace: Int) { index = Self.rows.count + ownPlace }

    /// A number of somebody's own.
    public var isOwn: Bool { index >= Self.rows.count }

    // What is raw-representable compares by its raw value, where it says nothing else: two looks at the rows.
    public static func == (a: Self, b: Self) -> Bool { a.index == b.index }
    public func hash(into hasher: inout Hasher) { hasher.combine(index) }

    /// A row's: no number of somebody's own (`init(inPolicy:)`).
    public init?(rawValue: String) {
        guard let index = Self.rows.firstIndex(where: { $0.id == rawValue }) else { return nil }
        self.init(index: index)
    }

    /// The one of that id, which must have a row: a test looks at each constant.
    private static func named(_ id: String) -> AlertMetric {
        AlertMetric(rawValue: id) ?? AlertMetric(index: 0)
    }

    /// Those that somebody measures; the others follow from these and the time.
    public static let measured = allCases.filter { rows[$0.index].isMeasured }
    /// Those that the sessions of a study of people have.
    public static let inStudies = allCases.filter { rows[$0.index].isInStudies }

    public var rawValue: String {
        isOwn ? OwnMetric.prefix + OwnMetric.name(at: index - Self.rows.count) : row.id
    }
    public var unit: String { row.unit }
    public var name: String { isOwn ? rawValue : row.name }

    private var row: Row { isOwn ? Self.own : Self.rows[index] }
    /// The row of all numbers of programs of one's own: nothing is known of them but their name.
    private static let own = Row(
        "own", "own", "", isInStudies: true, isPrediction: true,
        note: "what an algorithm or a listener of one's own answers (docs/algorithms.md)")
    /// How it is computed; empty for what is measured as it is.
    public var note: String { row.note }
    /// What a person should do about a value beyond a bound on this side.
    public func action(_ side: MetricTest.Side) -> String {
        side == .low ? row.actions.low : row.actions.high
    }
    /// It speaks of a time to come: when nobody renews it, it says nothing any more.
    public var isPrediction: Bool { isOwn || Self.rows[index].isPrediction }
    /// Whether a low or high value of it is a low or high glucose, now or soon.
    public var isGlucose: Bool { self == .glucose || isPrediction && !isOwn }

    /// Every higher value of it is another event, and told as one.
    public var isNewsAtEachRise: Bool { self == .droppedInsulin || self == .unknownInsulin }
    /// Some values of it are another event than the one that somebody reviewed.
    var isNewsAfterReview: Bool { isNewsAtEachRise || newsBelowReviewed != nil }
    /// By how much a value must have fallen below the one that was reviewed to be another event; nil for never.
    var newsBelowReviewed: Double? { self == .basalShare ? 20 : nil }

    /// As it stands in codes: `THRESHOLD-GLUCOSE-RATE-LOW`.
    public var codeName: String {
        String(
            rawValue.flatMap { letter -> [Character] in
                if letter.isUppercase { return ["-", letter] }
                return letter == "." || letter == "_" ? ["-"] : [Character(letter.uppercased())]
            })
    }

    /// A value below this is safety-critical, where nothing else is said.
    public var criticalBelow: Double? { isOwn ? nil : Self.rows[index].criticalBelow }
    /// A value above this is safety-critical, where nothing else is said.
    public var criticalAbove: Double? { isOwn ? nil : Self.rows[index].criticalAbove }

    /// What its sensor can say; nil where any number can come.
    public var sensed: ClosedRange<Double>? { isOwn ? nil : Self.rows[index].sensed }
    /// Units a minute that it plausibly moves by at most; nil where nobody has said how fast is too fast.
    public var fastest: Double? { isOwn ? nil : Self.rows[index].fastest }

    /// Within it nothing is wrong; nil where nobody has said what is.
    public var range: ClosedRange<Double>? { isOwn ? nil : Self.rows[index].range }
}
