// A pod that breaks.

import IsletKernel

extension FaultKind {
    public static let podFault = FaultKind(
        id: "pod-fault", meaning: "the pod breaks", source: "assumed",
        rate: FaultRate(0.003, "1/day", 0...24),
        notice: .alerts(["ALERT-PUMP-FAULT"], unless: .outOfReach), signs: [.highGlucose],
        sampling: FaultSampling(perDay: 0.5...5, medianMinutes: 15, spread: 1),
        effect: .pump(
            PumpEffect(
                chance: FaultChance(stream: "fault.pod-fault", hours: 24) { pump, _ in
                    try pump.breakPod(changeAfter: nil)
                },
                begin: { try $0.breakPod(changeAfter: $1.nanoseconds) })))
}

extension SimulatedPump {
    fileprivate func breakPod(changeAfter: Int64?) throws {
        guard pod.state == .active else { return }
        log.begin(.podFault, at: executor.now)
        try stopPod(.broken, changeAfter: changeAfter)
    }
}
