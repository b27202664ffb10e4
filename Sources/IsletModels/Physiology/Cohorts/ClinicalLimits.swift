// Which therapies a clinic would recognise.
//
// Guarantees: three numbers of a subject's therapy against three ranges. Does not: judge a body.

internal import IsletDevices

/// Common clinical limits of insulin therapy.
public struct ClinicalLimits: Hashable, Sendable {
    /// g/U.
    public var ratio: ClosedRange<Double>
    /// Total daily insulin, U/kg.
    public var dailyUnitsPerKilogram: ClosedRange<Double>
    /// The share of basal insulin in the daily total.
    public var basalShare: ClosedRange<Double>

    public static let usual = Self(ratio: 3...25, dailyUnitsPerKilogram: 0.3...1.2, basalShare: 0.3...0.7)

    /// Whether the subject's therapy is within all of them.
    public func admit(_ subject: VirtualSubject) -> Bool {
        let daily = subject.totalDailyInsulin.units
        return ratio.contains(subject.carbohydrateRatio)
            && dailyUnitsPerKilogram.contains(daily / subject.bodyWeight)
            && basalShare.contains(24 * subject.basalRate.unitsPerHour / daily)
    }
}
