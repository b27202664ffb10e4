// A compartment of a sensor's own between plasma and what it measures.
//
// Guarantees: x' = (plasma - x) / lag, exact for plasma that goes straight from sample to sample; in a steady state x is plasma. The first sample
// finds it there. Does not: know the body.

import IsletKernel

struct OwnInterstitium {
    /// exp(-interval / lag).
    private let decay: Double
    /// What a rise over one interval has become at its end.
    private let ofRise: Double
    private var state: (plasma: Double, value: Double)?

    init(lagMinutes: Double, intervalMinutes: Double) {
        decay = exponential(-intervalMinutes / lagMinutes)
        ofRise = 1 - (1 - decay) * lagMinutes / intervalMinutes
    }

    /// - Parameter plasma: of the next sample, mg/dL.
    /// - Returns: what the sensor measures then.
    mutating func follow(_ plasma: Double) -> Double {
        let before = state ?? (plasma, plasma)
        let value =
            before.value + (1 - decay) * (before.plasma - before.value) + ofRise * (plasma - before.plasma)
        state = (plasma, value)
        return value
    }
}
