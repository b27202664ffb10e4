// A sensor that ends before its life.

extension FaultKind {
    public static let sensorFailure = FaultKind(
        id: "sensor-failure", meaning: "the sensor ends before its life", source: "Garg 2022",
        rate: FaultRate(0.195, "share of sensors", 0...0.999),
        notice: .alerts(["ALERT-CGM-FAILED-OR-EXPIRED"], unless: .unseen), signs: [.noReadings],
        sampling: FaultSampling(perDay: 0.5...3, medianMinutes: 30, spread: 1),
        effect: .sensor(.wear { $0.fail(at: $1.at, replacedAfter: $1.nanoseconds) }))
}
