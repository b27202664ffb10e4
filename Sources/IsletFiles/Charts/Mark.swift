// What a panel shows: plain values, in the units of its axes.
//
// Does not: hold anything that depends on how large it is drawn.

import IsletKernel

/// What something is drawn with: a colour that differs from its neighbours for the colour-blind and in print, in light and in dark.
package enum Ink: Hashable, Sendable {
    /// The n-th of several things, from 0. Colours come again from the ninth on: shapes and dashes change too.
    case series(Int)
    /// Like text; like the axes; the panel's ground.
    case strong, muted, ground
    /// The ranges of the consensus.
    case veryLow, low, target, high, veryHigh
    /// The segment of a bar of time in ranges, from the lowest, 0 to 4.
    case range(Int)

    var name: String {
        switch self {
        case .series(let index): "s\((index % 8 + 8) % 8)"
        case .strong: "k"
        case .muted: "m"
        case .ground: "b"
        case .veryLow: "vl"
        case .low: "lo"
        case .target: "ok"
        case .high: "hi"
        case .veryHigh: "vh"
        case .range(let index): "r\((index % 5 + 5) % 5)"
        }
    }
}

package enum PointShape: Int, Sendable, CaseIterable {
    case circle, square, diamond, triangle, cross

    /// The shape of the n-th of several series: with the eight colours, forty combinations.
    package static func of(series index: Int) -> PointShape {
        PointShape(rawValue: (index % 5 + 5) % 5) ?? .circle
    }
}

package enum Dash: Sendable, CaseIterable {
    case solid, dashed, dotted, dashDotted

    package static func of(series index: Int) -> Dash { allCases[((index / 8) % 4 + 4) % 4] }

    var pattern: String? {
        switch self {
        case .solid: nil
        case .dashed: "6 3"
        case .dotted: "1.5 3"
        case .dashDotted: "7 3 1.5 3"
        }
    }
}

package struct ChartPoint: Hashable, Sendable {
    package var x: Double
    package var y: Double
    /// Told by pointing at it.
    package var name: String?
    /// Written beside it where there is room.
    package var label: String?

    package init(_ x: Double, _ y: Double, name: String? = nil, label: String? = nil) {
        (self.x, self.y, self.name, self.label) = (x, y, name, label)
    }
}

package struct BandPoint: Hashable, Sendable {
    package var x: Double
    package var lower: Double
    package var upper: Double

    package init(_ x: Double, _ lower: Double, _ upper: Double) {
        (self.x, self.lower, self.upper) = (x, lower, upper)
    }
}

/// A value with the ends of its interval.
package struct ChartInterval: Hashable, Sendable {
    package var x: Double
    package var y: Double
    /// nil where nothing is known in that direction.
    package var xRange: ClosedRange<Double>?
    package var yRange: ClosedRange<Double>?

    package init(
        _ x: Double, _ y: Double, x xRange: ClosedRange<Double>? = nil, y yRange: ClosedRange<Double>? = nil
    ) {
        (self.x, self.y, self.xRange, self.yRange) = (x, y, xRange, yRange)
    }
}

package struct ChartBar: Hashable, Sendable {
    /// The place on the axis across it: a category's index, or a value.
    package var at: Double
    package var from: Double
    package var to: Double
    package var ink: Ink
    /// Drawn lightly.
    package var isFaint = false
    /// Written at its end, where there is room.
    package var label: String?
    /// The share of a category's room that it takes.
    package var thickness: Double

    package init(
        at: Double, from: Double = 0, to: Double, ink: Ink, isFaint: Bool = false, label: String? = nil,
        thickness: Double = 0.7
    ) {
        (self.at, self.from, self.to, self.ink) = (at, from, to, ink)
        (self.isFaint, self.label, self.thickness) = (isFaint, label, thickness)
    }
}

package enum Direction: Sendable { case x, y }

/// Drawn in the order given. A value that is not finite leaves a gap.
package enum Mark: Sendable {
    /// Between two lines; `opacity` of the filling.
    case band([BandPoint], Ink, opacity: Double = 0.25)
    case line([ChartPoint], Ink, Dash = .solid, width: Double = 1.8)
    /// Between a line and a value.
    case area([ChartPoint], base: Double, Ink)
    case points([ChartPoint], Ink, PointShape = .circle, radius: Double = 4)
    /// Many small ones, as of readings.
    case dots([ChartPoint], Ink, radius: Double = 1.2)
    /// Error bars.
    case intervals([ChartInterval], Ink)
    /// A closed region, as of 95 % confidence.
    case region([ChartPoint], Ink)
    /// Everything from a value to another.
    case span(Direction, from: Double, to: Double, Ink, opacity: Double = 0.12)
    /// A line across the panel at a value.
    case rule(Direction, at: Double, Ink, Dash = .dashed)
    /// Along the x axis where the y axis has categories, else along the y axis.
    case bars([ChartBar])
    case label(ChartPoint, Ink)
}

package enum Region {
    /// The 95 % confidence region of a mean of pairs, with normal errors (Hotelling's T²): its border, as a polygon.
    ///
    /// - Parameters:
    ///   - covariance: of single values, not of the mean.
    ///   - n: how many pairs; nil is returned below 4, and where the covariance is no number.
    package static func ofMean(
        x: Double, y: Double, covariance: (xx: Double, xy: Double, yy: Double), n: Int, corners: Int = 48
    ) -> [ChartPoint]? {
        guard n >= 4, x.isFinite, y.isFinite, covariance.xx.isFinite, covariance.xy.isFinite,
            covariance.yy.isFinite, covariance.xx >= 0, covariance.yy >= 0
        else { return nil }
        // T² = 2(n − 1)/(n − 2)·F(2, n − 2); with 2 degrees of freedom above, F has a closed form.
        let squared = Double(n - 1) * (power(0.05, -2 / Double(n - 2)) - 1)
        let radius = (squared / Double(n)).squareRoot()
        // Cholesky's factor of the covariance maps the circle on the ellipse.
        let a = covariance.xx.squareRoot()
        let b = a > 0 ? covariance.xy / a : 0
        let c = max(0, covariance.yy - b * b).squareRoot()
        return (0..<max(8, corners)).map { corner in
            let angle = 2 * Double.pi * Double(corner) / Double(max(8, corners))
            let (u, v) = (radius * cosine(angle), radius * sine(angle))
            return ChartPoint(x + a * u, y + b * u + c * v)
        }
    }
}
