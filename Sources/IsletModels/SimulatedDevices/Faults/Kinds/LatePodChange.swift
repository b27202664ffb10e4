// A person who changes the pod late: a habit of the pump's wearer (`PodHabits`).

extension FaultKind {
    public static let latePodChange = FaultKind(
        id: "late-pod-change", meaning: "the person changes the pod late", source: "assumed",
        rate: FaultRate(3, "mean hours", 0...1000),
        notice: .alerts(["ALERT-PUMP-EXPIRED"], unless: .outOfReach), signs: [.highGlucose], sampling: nil,
        effect: .pump(PumpEffect()))
}
