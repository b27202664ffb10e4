// What thresholds can watch.

/// A number that somebody measures.
public enum AlertMetric: String, Sendable, CaseIterable, Codable {
    case glucose
    case glucoseRate
    case insulinOnBoard
    case reservoir
    case sensorAge
    case temperature
    case humidity
    case vpd
    /// Minutes since the newest reliable reading, since the session's start before the first. Never stale; it rises by itself,
    /// and a bound counts as passed at the instant at which it is reached.
    case readingAge

    /// Those that somebody measures; the others follow from these and the time.
    public static let measured = allCases.filter { $0 != .readingAge }

    public var unit: String {
        switch self {
        case .glucose: "mg/dL"
        case .glucoseRate: "mg/dL/min"
        case .insulinOnBoard, .reservoir: "U"
        case .sensorAge: "h"
        case .temperature: "°F"
        case .humidity: "% RH"
        case .vpd: "kPa"
        case .readingAge: "min"
        }
    }

    public var name: String {
        switch self {
        case .glucose: "Glucose"
        case .glucoseRate: "Glucose rate"
        case .insulinOnBoard: "Insulin on board"
        case .reservoir: "Reservoir"
        case .sensorAge: "Sensor age"
        case .temperature: "Temperature"
        case .humidity: "Humidity"
        case .vpd: "VPD"
        case .readingAge: "Reading age"
        }
    }

    /// As it stands in codes: `THRESHOLD-GLUCOSE-RATE-LOW`.
    public var codeName: String {
        switch self {
        case .glucoseRate: "GLUCOSE-RATE"
        case .insulinOnBoard: "INSULIN-ON-BOARD"
        case .sensorAge: "SENSOR-AGE"
        case .readingAge: "READING-AGE"
        default: rawValue.uppercased()
        }
    }

    /// A value below this is safety-critical, where nothing else is said.
    public var criticalBelow: Double? {
        switch self {
        case .glucose: 54
        case .temperature: 50
        case .humidity: 20
        case .vpd: 0.2
        default: nil
        }
    }

    /// A value above this is safety-critical, where nothing else is said.
    public var criticalAbove: Double? {
        switch self {
        case .glucose: 400
        case .temperature: 95
        case .humidity: 90
        case .vpd: 2.5
        default: nil
        }
    }

    /// Its place in `allCases`.
    public var index: Int {
        switch self {
        case .glucose: 0
        case .glucoseRate: 1
        case .insulinOnBoard: 2
        case .reservoir: 3
        case .sensorAge: 4
        case .temperature: 5
        case .humidity: 6
        case .vpd: 7
        case .readingAge: 8
        }
    }

    /// The range that growers aim at in a stage of growth; nil for metrics of people.
    public func recommendedRange(stage: String) -> ClosedRange<Double>? {
        Self.recommendedRanges.first { $0.metric == self && $0.stage == stage }?.range
    }

    /// Stages of growth, in their order.
    public static let stages = ["seedling", "vegetative", "flowering"]

    /// Ranges that growers aim at, by stage of growth.
    public static let recommendedRanges: [(metric: AlertMetric, stage: String, range: ClosedRange<Double>)] =
        [
            (.temperature, "seedling", 70...80), (.temperature, "vegetative", 70...85),
            (.temperature, "flowering", 65...80),
            (.humidity, "seedling", 65...75), (.humidity, "vegetative", 50...70),
            (.humidity, "flowering", 40...50),
            (.vpd, "seedling", 0.4...0.8), (.vpd, "vegetative", 0.8...1.2), (.vpd, "flowering", 1.2...1.6),
        ]
}
