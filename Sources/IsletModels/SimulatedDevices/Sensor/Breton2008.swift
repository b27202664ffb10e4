// The error model of Breton and Kovatchev.

import IsletDevices
import IsletNumerics
public import IsletKernel

extension SensorModel {
    public static let breton2008 = SensorModel(
        id: "breton-2008", summary: "error model of Breton and Kovatchev 2008",
        source: "Breton, Kovatchev, J Diabetes Sci Technol 2:853 (2008)",
        settings: Breton2008.Settings(),
        parameters: [.init("noise", "1", "how many times the published error", \.noise, 0...5)]
    ) { Breton2008(streams: $0, index: $1, settings: $2) }
}

/// Breton and Kovatchev, "Analysis, modeling, and simulation of the accuracy of continuous glucose sensors",
/// J Diabetes Sci Technol 2:853 (2008).
///
/// An AR(1) process in steps of 15 min, bent by Johnson's S_U transform; between its knots a cubic (Catmull-Rom) runs.
/// No drift, and no difference between sensors: a legacy sensor.
public struct Breton2008: SensorErrorModel {
    static let lambda = 15.96, xi = -5.471, delta = 1.6898, gamma = -0.5444
    static let samplesPerKnot = 3

    /// What a study may set.
    public struct Settings: Hashable, Sendable {
        /// Multiplies the error.
        public var noise = 1.0

        public init() {}
    }

    private let random: GSLRandom
    private let noise: Double
    private var latent: Double
    /// Four knots: the segment runs between the two in the middle.
    private var knots: (Double, Double, Double, Double)
    private var position = 0

    public init(streams: RandomStreams, index: UInt64, settings: Settings = Settings()) {
        noise = settings.noise
        random = GSLRandom(streams.stream("sensor.breton-2008", index: index))
        latent = random.normal()
        knots = (0, 0, 0, 0)
        for _ in 0..<4 { push() }
    }

    private mutating func push() {
        latent = 0.7 * (latent + random.normal())
        knots = (knots.1, knots.2, knots.3, Self.error(latent))
    }

    /// ε = ξ + λ·sinh((e − γ)/δ), mg/dL.
    static func error(_ e: Double) -> Double { xi + lambda * hyperbolicSine((e - gamma) / delta) }

    public mutating func sample(interstitial: Double, daysSinceInsertion: Double) -> Double {
        if position == Self.samplesPerKnot {
            position = 0
            push()
        }
        let t = Double(position) / Double(Self.samplesPerKnot)
        position += 1
        let (p0, p1, p2, p3) = knots
        let a = 2 * p1
        let b = p2 - p0
        let c = 2 * p0 - 5 * p1 + 4 * p2 - p3
        let d = 3 * (p1 - p2) + p3 - p0
        return interstitial + noise * 0.5 * (a + t * (b + t * (c + t * d)))
    }
}
