// A command that doesn't reach the pump. Which one does not is the link's luck (`PumpFaultDraws`).

import IsletKernel

extension FaultKind {
    public static let commandFailure = FaultKind(
        id: "command-failure", meaning: "a command doesn't reach the pump", source: "assumed",
        rate: FaultRate(0.01, "share of commands", 0...1),
        notice: .nothing("the flow has no alert for it; the loop asks again after 10 s and in each step"),
        signs: [.highGlucose], sampling: FaultSampling(perDay: 0.5...16, medianMinutes: 4, spread: 1.2),
        effect: .pump(
            PumpEffect(begin: { $0.failCommands(for: $1.nanoseconds) })))
}

extension SimulatedPump {
    fileprivate func failCommands(for nanoseconds: Int64) {
        let end = executor.now.adding(nanoseconds)
        link.failsUntil = max(link.failsUntil, end)
        log.begin(.commandFailure, at: executor.now)
        log.end(.commandFailure, at: end)
    }
}
