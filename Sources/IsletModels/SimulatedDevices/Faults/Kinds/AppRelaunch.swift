// An app that dies and is back at once.

extension FaultKind {
    public static let appRelaunch = FaultKind(
        id: "app-relaunch", meaning: "the phone's app dies and is launched again at once", source: "assumed",
        rate: FaultRate(1, "1/day", 0...24),
        notice: .nothing("back in the same instant, with all that it knew"), signs: [],
        sampling: FaultSampling(perDay: 0.5...24, medianMinutes: 1, spread: 0),
        effect: .app(
            AppEffect(
                chance: FaultChance(stream: "fault.app-relaunch", hours: 24) { app, _ in app.restart() },
                begin: { app, _ in app.restart() })))
}
