// How a dose of rapid-acting insulin acts over the hours after it.
//
// Guarantees: closed forms; `remaining` is 1 at the dose and 0 at its end, `activity` is its falling rate.

import IsletKernel

/// The exponential curve of the published loops: a peak and an end.
///
/// τ, a and S as published with it (github.com/LoopKit/Loop, issue 388): `activity(t) = S/τ²·t·(1 − t/td)·e^(−t/τ)`. Times are minutes.
public struct ExponentialCurve: Hashable, Sendable {
    /// When the last of it has acted, min.
    public let duration: Double
    /// When it acts most, min.
    public let peak: Double
    public let tau: Double
    public let a: Double
    public let S: Double

    /// - Parameters:
    ///   - duration: more than twice `peak`.
    ///   - peak: more than 0.
    public init(duration: Double, peak: Double) {
        self.duration = duration
        self.peak = peak
        tau = peak * (1 - peak / duration) / (1 - 2 * peak / duration)
        a = 2 * tau / duration
        S = 1 / (1 - a + (1 + a) * exponential(-duration / tau))
    }

    /// The share that has not acted yet, `minutes` after the dose.
    public func remaining(_ minutes: Double) -> Double {
        if minutes <= 0 { return 1 }
        if minutes >= duration { return 0 }
        let t = minutes
        return 1 - S * (1 - a)
            * ((t * t / (tau * duration * (1 - a)) - t / tau - 1) * exponential(-t / tau) + 1)
    }

    /// The share that acts per minute.
    public func activity(_ minutes: Double) -> Double {
        if minutes <= 0 || minutes >= duration { return 0 }
        return S / (tau * tau) * minutes * (1 - minutes / duration) * exponential(-minutes / tau)
    }
}
