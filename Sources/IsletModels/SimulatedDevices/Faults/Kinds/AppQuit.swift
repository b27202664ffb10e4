// An app that is dead for a while.

import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let appQuit = FaultKind(
        id: "app-quit", meaning: "the phone's app is dead for a while", source: "assumed",
        rate: FaultRate(0.2, "1/day", 0...24),
        notice: .alerts(["ALERT-ALGORITHM-STEPPING-INTERRUPTED"], unless: .soonBack), signs: [.highGlucose],
        sampling: FaultSampling(perDay: 0.5...6, medianMinutes: 20, spread: 1.2),
        effect: .app(
            AppEffect(
                chance: FaultChance(stream: "fault.app-quit", hours: 24) { app, random in
                    let minutes = random.logNormal(
                        mu: naturalLogarithm(AppQuit.medianMinutes), sigma: AppQuit.spread)
                    app.die(for: max(1, GSLRandom.minutes(minutes)))
                },
                begin: { $0.die(for: $1.nanoseconds) })))
}

/// Most come back within the hour, one in a hundred within a night (assumed).
enum AppQuit {
    static let medianMinutes = 20.0
    static let spread = 1.2
}
