// A pump that can't be reached.

import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let pumpOutage = FaultKind(
        id: "pump-outage", meaning: "the pump can't be reached",
        source: "assumed, as all of the communication model", rate: FaultRate(0.5, "1/day", 0...24),
        notice: .alerts(["ALERT-PUMP-SIGNAL-LOSS", "ALERT-PUMP-NO-ACTIVE-POD"], unless: .short),
        signs: [.highGlucose], sampling: FaultSampling(perDay: 0.5...16, medianMinutes: 7, spread: 1.2),
        effect: .pump(
            PumpEffect(
                chance: FaultChance(stream: "fault.pump-outage", hours: 24) { pump, random in
                    pump.loseLink(for: GSLRandom.minutes(PumpOutage.minutes(random)))
                },
                begin: { $0.loseLink(for: $1.nanoseconds) })))
}

/// How long the pump is silent: log-normal (assumed).
enum PumpOutage {
    static let medianMinutes = 8.0
    static let spread = 0.9

    static func minutes(_ random: GSLRandom) -> Double {
        random.logNormal(mu: naturalLogarithm(medianMinutes), sigma: spread)
    }
}
