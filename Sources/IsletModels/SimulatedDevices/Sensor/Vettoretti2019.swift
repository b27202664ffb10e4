// The error model of Vettoretti et al., and the makes of sensors that err so.

import IsletDevices
import IsletNumerics
public import IsletKernel

extension SensorModel {
    private static let source = "Vettoretti et al., Sensors 19:5320 (2019)"
    private static let parameters: [NumberRow<Vettoretti2019.Settings, Void>] = [
        .init("noise", "1", "how many times the published noise", \.noise, 0...5),
        .init(
            "spread", "1", "the share of the published covariance of the parameters by which sensors differ",
            \.spread, 0...1),
        .init("offset", "mg/dL", "added to each reading", \.offsetMgdl, -100...100),
        .init(
            "lag", "min",
            "time constant by which it follows plasma; 0 for the interstitium of the body's model",
            \.lagMinutes, 0...60),
    ]

    public static let vettoretti2019 = SensorModel(
        id: "vettoretti-2019",
        summary: "error model of Vettoretti et al. 2019 for a factory-calibrated sensor", source: source,
        settings: Vettoretti2019.Settings(), parameters: parameters
    ) { try Vettoretti2019(streams: $0, index: $1, settings: $2) }

    public static let dexcomG6 = SensorModel(
        id: "dexcom-g6", summary: "Dexcom G6: 10 days, 2 h of warm-up, errors as vettoretti-2019",
        source: source, settings: Vettoretti2019.Settings(), parameters: parameters
    ) { try Vettoretti2019(streams: $0, index: $1, settings: $2) }

    /// No error model of the G7 is published with its numbers.
    public static let dexcomG7 = SensorModel(
        id: "dexcom-g7",
        summary: "Dexcom G7: 10 days and 12 h of grace, 27 min of warm-up, errors as vettoretti-2019",
        source: source, device: .dexcomG7, settings: Vettoretti2019.Settings(), parameters: parameters
    ) { try Vettoretti2019(streams: $0, index: $1, settings: $2) }
}

/// Vettoretti, Battocchio, Sparacino, Facchinetti, "Development of an error model for a factory-calibrated continuous
/// glucose monitoring sensor with 10-day lifetime", Sensors 19:5320 (2019): Dexcom G6, 79 traces.
///
/// A calibration that drifts as a quadratic over the days of wear, and AR(2) noise every five minutes; all seven
/// parameters are drawn together when the sensor is inserted, and the noise is stationary from then on.
public struct Vettoretti2019: SensorErrorModel {
    /// a0, a1 (1/day), a2 (1/day²), b0 (mg/dL), φ1, φ2, σ (mg/dL).
    static let mean = [0.942288, 0.00493988, -0.000584875, 6.3826, 1.26041, -0.402223, 3.25164]
    /// The upper triangle of their covariance, row by row.
    static let covariance: [[Double]] = [
        [0.0132458, -0.0039513, 0.000312767, 0.157179, 0.00268766, -0.00289046, -0.00318017],
        [0.0018528, -0.000155803, -0.10288, -0.00139023, 0.00115919, -0.00272849],
        [1.3746e-05, 0.00806859, 0.00012075, -0.000100421, 0.000111303],
        [29.0058, 0.124083, -0.101936, 0.600754],
        [0.0207935, -0.0184311, -0.0157218],
        [0.0187009, 0.0155233],
        [0.723568],
    ]
    /// The paper shrinks the covariance so that its draws stay within what it saw.
    static let covarianceScale = 0.9

    /// What a study may set.
    public struct Settings: Hashable, Sendable {
        /// Multiplies the noise that is drawn.
        public var noise = 1.0
        /// Multiplies the covariance of a0 to σ.
        public var spread = covarianceScale
        public var offsetMgdl = 0.0
        /// 0 for the body's own interstitium; about 7 in the people in whom such errors were measured (ReplayBG's population value).
        public var lagMinutes = 0.0

        public init() {}
    }

    static let largestNoiseSD = 10.0
    static let drawLimit = 1000

    /// L with L·Lᵀ = 0.9·Σ, by rows.
    static let factor: [[Double]] = cholesky()

    private let random: GSLRandom
    let parameters: [Double]
    public let ownLag: Double?
    private let a0: Double, a1: Double, a2: Double, b0: Double, phi1: Double, phi2: Double, sigma: Double
    private var e1 = 0.0
    private var e2 = 0.0

    /// - Throws: `SensorDrawFailed` after 1000 draws without an acceptable sensor.
    public init(streams: RandomStreams, index: UInt64, settings: Settings = Settings()) throws {
        // L·Lᵀ = spread·Σ.
        let scale = (settings.spread / Self.covarianceScale).squareRoot()
        let draw = GSLRandom(streams.stream("sensor.vettoretti-2019.parameters", index: index))
        var theta: [Double] = []
        var tries = 0
        repeat {
            tries += 1
            guard tries <= Self.drawLimit else { throw SensorDrawFailed() }
            let z = Self.mean.map { _ in draw.normal() }
            theta = Self.mean.indices.map { i in
                var value = Self.mean[i]
                for j in 0...i { value += scale * Self.factor[i][j] * z[j] }
                return value
            }
        } while !Self.isAcceptable(theta)
        parameters = theta
        ownLag = settings.lagMinutes > 0 ? settings.lagMinutes : nil
        (a0, a1, a2, b0) = (theta[0], theta[1], theta[2], theta[3] + settings.offsetMgdl)
        (phi1, phi2, sigma) = (theta[4], theta[5], settings.noise * theta[6])
        random = GSLRandom(streams.stream("sensor.vettoretti-2019.noise", index: index))
        // The paper starts at e = 0, which would make the first half hour far too good: the process is stationary from the
        // sensor's insertion on.
        let sd = settings.noise * (Self.noiseSD(theta) ?? 0)
        let correlation = phi1 / (1 - phi2)
        e1 = sd * random.normal()
        e2 = correlation * e1 + sd * (1 - correlation * correlation).squareRoot() * random.normal()
    }

    public mutating func sample(interstitial: Double, daysSinceInsertion t: Double) -> Double {
        let e = phi1 * e1 + phi2 * e2 + sigma * random.normal()
        e2 = e1
        e1 = e
        return (a0 + (a1 + a2 * t) * t) * interstitial + b0 + e
    }

    /// The noise's stationary standard deviation, mg/dL; nil where the process isn't stationary.
    static func noiseSD(_ theta: [Double]) -> Double? {
        let (phi1, phi2, sigma) = (theta[4], theta[5], theta[6])
        let ratio = phi1 * phi1 / (1 - phi2)
        let variance = sigma * sigma / (1 - ratio - phi2 * (ratio + phi2))
        return variance > 0 && variance.isFinite ? variance.squareRoot() : nil
    }

    static func isAcceptable(_ theta: [Double]) -> Bool {
        let (phi1, phi2) = (theta[4], theta[5])
        guard phi2 >= -1, phi2 <= 1 - abs(phi1) - 0.02, theta[6] > 0 else { return false }
        guard let sd = noiseSD(theta) else { return false }
        return sd <= largestNoiseSD
    }

    private static func cholesky() -> [[Double]] {
        let n = mean.count
        func sigma(_ i: Int, _ j: Int) -> Double {
            covarianceScale * (i <= j ? covariance[i][j - i] : covariance[j][i - j])
        }
        var l = Array(repeating: Array(repeating: 0.0, count: n), count: n)
        for i in 0..<n {
            for j in 0...i {
                var sum = sigma(i, j)
                for k in 0..<j { sum -= l[i][k] * l[j][k] }
                l[i][j] = i == j ? sum.squareRoot() : sum / l[j][j]
            }
        }
        return l
    }
}

/// No acceptable sensor came up in a thousand draws.
public struct SensorDrawFailed: Error {}
