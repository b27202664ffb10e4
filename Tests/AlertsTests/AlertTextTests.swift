import IsletDevices
import IsletKernel
import Testing

@testable import IsletAlerts

/// What an alert says.
@Suite struct AlertTextTests {
    /// Harm: an alert without a word of what to do. Each metric that somebody can set a bound of has a row.
    @Test(arguments: [
        AlertMetric.glucose, .glucoseRate, .reservoir, .readingAge, .temperature, .humidity, .vpd,
        .insulinOnBoard,
        .sensorAge, .glucoseIn20m, .forecastGlucose,
    ])
    func `a threshold's alert says what to do, on each side`(_ metric: AlertMetric) {
        #expect(metric.action(.low).hasSuffix(".") && metric.action(.high).hasSuffix("."))
        #expect(metric.action(.low) != metric.action(.high) || metric == .readingAge)
        let rule = AlertRule(
            code: "X", trigger: .metrics([MetricTest(metric, .high, 10)]), severity: .actionable)
        #expect(rule.recommendedAction == metric.action(.high))
    }

    /// Harm: a low of 48 that says 65, the value it began with.
    @Test func `the words are of the newest value, the bound, the beginning and the worst`() throws {
        var rule = AlertRule(
            code: "THRESHOLD-GLUCOSE-LOW", trigger: .metrics([MetricTest(.glucose, .low, 70)]),
            severity: .actionable)
        rule.subject = "Ada"
        var world = AlertWorld.make(AlertPolicy(name: "p", rules: [rule]), appState: .foreground)
        // 06:13:20 at the start.
        world.run(
            [
                (.minutes(5), [.value(.glucose, 65)]), (.minutes(10), [.value(.glucose, 48)]),
                (.minutes(15), [.value(.glucose, 56)]),
            ], until: .minutes(16))
        let engine = try #require(world.app?.flow.engine)
        #expect(
            engine.activeNow(at: .minutes(16)).map(\.message) == [
                "Ada: Glucose 56 mg/dL, below 70 since 06:18; lowest 48 mg/dL"
            ])
        // A look changes nothing.
        #expect(engine.activeNow(at: .minutes(16)) == engine.activeNow(at: .minutes(16)))
        let center = try #require(world.app?.port as? SimulatedNotificationCenter)
        #expect(center.deliveries.isEmpty)
    }
}
