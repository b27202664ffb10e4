// A person who changes the sensor late.

extension FaultKind {
    public static let lateSensorChange = FaultKind(
        id: "late-sensor-change", meaning: "the person changes the sensor late", source: "assumed",
        rate: FaultRate(4, "mean hours", 0...1000),
        notice: .alerts(["ALERT-CGM-FAILED-OR-EXPIRED"], unless: .unseen), signs: [.noReadings],
        sampling: nil,
        effect: .sensor(.wear(begin: nil)))
}
