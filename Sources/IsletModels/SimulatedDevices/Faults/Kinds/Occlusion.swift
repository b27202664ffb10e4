// A blocked cannula.

import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let occlusion = FaultKind(
        id: "occlusion", meaning: "the cannula is blocked", source: "assumed",
        rate: FaultRate(0.01, "1/day", 0...24),
        notice: .alerts(["ALERT-PUMP-FAULT"], unless: .belowDetection), signs: [.highGlucose],
        sampling: FaultSampling(perDay: 0.5...6, medianMinutes: 60, spread: 1),
        effect: .pump(
            PumpEffect(
                chance: FaultChance(stream: "fault.occlusion", hours: 24) { pump, random in
                    let threshold = random.uniform(in: pump.device.occlusionThreshold)
                    let clears = random.uniform() < Occlusion.clearingShare
                    let minutes = random.logNormal(
                        mu: naturalLogarithm(Occlusion.clearingMedianMinutes), sigma: Occlusion.clearingSpread
                    )
                    try pump.occlude(
                        threshold: threshold, clearsAfter: clears ? GSLRandom.minutes(minutes) : nil)
                },
                begin: { pump, fault in
                    let random = pump.random(of: fault, "fault.occlusion.scheduled")
                    try pump.occlude(
                        threshold: random.uniform(in: pump.device.occlusionThreshold),
                        clearsAfter: fault.nanoseconds)
                })))
}

/// An occlusion clears by itself in half of the cases, after a log-normal time (assumed).
enum Occlusion {
    static let clearingShare = 0.5
    static let clearingMedianMinutes = 60.0
    static let clearingSpread = 0.8
}
