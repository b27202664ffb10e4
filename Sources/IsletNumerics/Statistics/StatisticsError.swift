// What a statistic says when it has no answer.
//
// Guarantees: no function of `Statistics` returns NaN; what is undefined throws one of these.

/// Why a statistic has no value.
public enum StatisticsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Fewer values than the statistic is defined for.
    case tooFewValues(needed: Int, found: Int)
    /// A value, at this index, is NaN or infinite.
    case notFinite(index: Int)
    /// A parameter outside its domain, in words.
    case badParameter(String)

    public var description: String {
        switch self {
        case .tooFewValues(let needed, let found):
            "found \(found) value\(found == 1 ? "" : "s"), expected at least \(needed)"
        case .notFinite(let index): "the value at index \(index) is not a finite number"
        case .badParameter(let what): what
        }
    }
}

/// The statistics of Islet's reports. All are pure; those that draw take their generator.
public enum Statistics {
    static func check(_ values: [Double], atLeast needed: Int) throws(StatisticsError) {
        guard values.count >= needed else { throw .tooFewValues(needed: needed, found: values.count) }
        for index in values.indices where !values[index].isFinite { throw .notFinite(index: index) }
    }

    /// A result of finite values that still overflowed.
    static func held(_ result: Double) throws(StatisticsError) -> Double {
        guard result.isFinite else { throw .badParameter("the values are too large for their statistic") }
        return result
    }

    static func check(probability p: Double, _ what: String) throws(StatisticsError) {
        guard p > 0 && p < 1 else {
            throw .badParameter("\(what) is \(p), expected a number between 0 and 1")
        }
    }
}

/// An interval of confidence, both ends in the unit of the estimate.
public struct ConfidenceInterval: Hashable, Sendable {
    public var lower: Double
    public var upper: Double
    /// The confidence that was asked for, such as 0.95.
    public var level: Double

    public init(lower: Double, upper: Double, level: Double) {
        self.lower = lower
        self.upper = upper
        self.level = level
    }
}
