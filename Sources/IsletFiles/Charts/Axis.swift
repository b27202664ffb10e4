// An axis: where a value stands, and which values are named along it.
//
// Guarantees: a place is between 0 and 1, whatever the value: what lies outside of the range stands at its border, and what is not
// finite (or not positive, on a logarithmic axis) has no place and is not drawn; ticks rise, lie within the range, and are at most as many as asked for.

package import IsletKernel

package struct Axis: Sendable {
    package enum Kind: Sendable {
        case linear
        case logarithmic
        /// Values are places in the list, from 0.
        case categories([String])
        /// Values are minutes since midnight.
        case clock
        /// Values are minutes since the session's start, shown as local time.
        case time(SessionCalendar)
        /// Values are mg/dL, whatever is shown.
        case glucose(GlucoseUnit)
        /// The glucose axis of a profile, whose ticks are the same for everybody.
        case profile(GlucoseUnit)
    }

    package struct Tick: Hashable, Sendable {
        package var value: Double
        package var label: String
        /// Lines across the panel are drawn for those that aren't.
        package var isMinor = false
    }

    package var kind: Kind
    package var label: String
    package private(set) var lower: Double
    package private(set) var upper: Double

    private init(_ kind: Kind, _ label: String, _ lower: Double, _ upper: Double) {
        self.kind = kind
        self.label = label
        let isUsable = lower.isFinite && upper.isFinite && lower < upper
        self.lower = isUsable ? lower : 0
        self.upper = isUsable ? upper : 1
    }

    package static func linear(_ label: String, from lower: Double, to upper: Double) -> Axis {
        Axis(.linear, label, lower, upper)
    }

    /// From round number to round number, around what is finite of `values`.
    package static func linear(_ label: String, around values: [Double], withZero: Bool = true) -> Axis {
        let finite = values.filter(\.isFinite)
        var lower = finite.min() ?? 0
        var upper = finite.max() ?? 1
        if withZero { (lower, upper) = (min(0, lower), max(0, upper)) }
        if lower == upper { upper += max(1, abs(upper)) }
        let step = Ticks.step(for: upper - lower, atMost: 6)
        return Axis(
            .linear, label, (lower / step + 1e-9).rounded(.down) * step,
            (upper / step - 1e-9).rounded(.up) * step)
    }

    /// From decade to decade, around what is positive of `values`.
    package static func logarithmic(_ label: String, around values: [Double]) -> Axis {
        let positive = values.filter { $0.isFinite && $0 > 0 }
        let lower = max(1e-12, min(positive.min() ?? 1, 1e12))
        let upper = max(1e-12, min(positive.max() ?? 10, 1e12))
        var (first, last) = (
            (decimalLogarithm(lower) + 1e-9).rounded(.down), (decimalLogarithm(upper) - 1e-9).rounded(.up)
        )
        if last <= first { (first, last) = (first, first + 1) }
        return Axis(.logarithmic, label, power(10, first), power(10, last))
    }

    package static func categories(_ label: String, _ names: [String]) -> Axis {
        Axis(.categories(names), label, 0, Double(max(1, names.count)))
    }

    /// The 24 h of a day.
    package static func clock(_ label: String = "time of day") -> Axis { Axis(.clock, label, 0, 1440) }

    /// A stretch of a session, in minutes since its start.
    package static func time(
        _ label: String, from lower: Double, to upper: Double, calendar: SessionCalendar
    ) -> Axis {
        Axis(.time(calendar), label, lower, upper)
    }

    /// - Parameters: in mg/dL.
    package static func glucose(_ unit: GlucoseUnit, from lower: Double = 40, to upper: Double = 350) -> Axis
    {
        Axis(.glucose(unit), "glucose, \(unit.rawValue)", lower, upper)
    }

    /// From 40 to 350 mg/dL, and as much farther as the values go: none is drawn where it isn't.
    package static func glucose(_ unit: GlucoseUnit, holding values: ClosedRange<Double>) -> Axis {
        .glucose(
            unit, from: values.lowerBound < 40 ? max(0, (values.lowerBound / 10).rounded(.down) * 10) : 40,
            to: max(350, (values.upperBound / 50).rounded(.up) * 50))
    }

    /// 40 to 400 mg/dL, as ambulatory profiles are drawn, whatever they hold.
    package static func profile(_ unit: GlucoseUnit) -> Axis {
        Axis(.profile(unit), "glucose, \(unit.rawValue)", 40, 400)
    }

    package var names: [String]? {
        if case .categories(let names) = kind { names } else { nil }
    }

    /// Where a value stands between the axis' begin, 0, and its end, 1; nil for what can't be drawn.
    package func place(_ value: Double) -> Double? {
        guard value.isFinite else { return nil }
        let share: Double
        switch kind {
        case .logarithmic:
            guard value > 0 else { return nil }
            share = decimalLogarithm(value / lower) / decimalLogarithm(upper / lower)
        case .categories: share = (value + 0.5) / upper
        default: share = (value - lower) / (upper - lower)
        }
        return max(0, min(1, share))
    }

    /// Whether a value lies on the axis rather than at its border for lack of room.
    package func contains(_ value: Double) -> Bool {
        if case .categories = kind { return value >= -0.5 && value <= upper - 0.5 }
        return value >= lower && value <= upper
    }

    /// The ticks, at most so many.
    /// - Parameter apart: the least share of the axis between two of them that are not evenly spaced.
    package func ticks(atMost most: Int, apart: Double = 0.05) -> [Tick] {
        let most = max(2, most)
        switch kind {
        case .linear: return Ticks.linear(lower, upper, atMost: most)
        case .logarithmic: return Ticks.logarithmic(lower, upper, atMost: most)
        case .categories(let names):
            return names.enumerated().map { Tick(value: Double($0.offset), label: $0.element) }
        case .clock: return Ticks.clock(atMost: most)
        case .time(let calendar): return Ticks.time(lower, upper, calendar, atMost: most)
        case .profile(let unit): return Ticks.profile(unit)
        case .glucose(let unit): return Ticks.glucose(lower, upper, unit, atMost: most, apart: apart)
        }
    }
}
