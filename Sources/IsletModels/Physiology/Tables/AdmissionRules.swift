// What makes a row of numbers a person that the model can simulate.
//
// Guarantees: an admitted UVA/Padova row has a gut law that makes sense, glucose to spare for insulin to move,
// and a basal rate that a pump can give. Does not: judge how typical a person is.

import IsletDevices

/// The rules that a parameter set must meet; the first one that it breaks has words for a message.
public struct AdmissionRules: Hashable, Sendable {
    /// U/h.
    public var basalRange: ClosedRange<Double>

    /// For tables that users bring: whatever a pump can give.
    public static let table = Self(basalRange: 0.01...10)
    /// For generated cohorts.
    public static let generated = Self(basalRange: 0.1...2.5)

    public struct Violation: Error, Hashable, Sendable {
        public var found: String
        public var expected: String

        public init(found: String, expected: String) {
            self.found = found
            self.expected = expected
        }
    }

    public func firstViolation(_ p: UVAPadova2008.Parameters) -> Violation? {
        func check(_ holds: Bool, _ found: String, _ expected: String) -> Violation? {
            holds ? nil : Violation(found: found, expected: expected)
        }
        let Eb = p.Eb
        let basal = p.basalRate.unitsPerHour
        return check(p.d < p.b && p.b < 0.99, "d = \(p.d), b = \(p.b)", "d < b < 0.99")
            ?? check(p.kmax > p.kmin, "kmax = \(p.kmax), kmin = \(p.kmin)", "kmax above kmin")
            ?? check(
                p.EGPb > p.Fsnc + Eb, "EGPb = \(p.EGPb)",
                "more than Fsnc and basal excretion (\(p.Fsnc + Eb))")
            ?? check(p.Gtb > 0, "Gtb = \(p.Gtb)", "a positive basal tissue glucose")
            ?? check(p.kd > p.ka1, "kd = \(p.kd), ka1 = \(p.ka1)", "kd above ka1")
            ?? check(
                basalRange.contains(basal), "a basal rate of \(basal) U/h",
                "\(basalRange.lowerBound) to \(basalRange.upperBound) U/h")
    }

    /// A basal rate below 0 or without a number means glucose that no insulin brings to Gb.
    public func basalViolation(unitsPerMinute: Double) -> Violation? {
        let basal = unitsPerMinute * 60
        guard !basalRange.contains(basal) else { return nil }
        return Violation(
            found: "a basal rate of \(basal) U/h",
            expected: "\(basalRange.lowerBound) to \(basalRange.upperBound) U/h")
    }
}
