// A small session as data, and what it comes to on paper.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

/// One day, unless it says otherwise; times are minutes from its start.
struct PaperSession {
    var name: String
    /// Stretches of true plasma glucose, mg/dL; 100 elsewhere.
    var plasma: [(from: Int, to: Int, mgdl: Float)] = []
    /// What devices truly did.
    var devices: [(AlertTruth, [(Int64, Int64)])] = []
    var rules: [AlertRule]
    var events: [(Int64, Int, AlertEvent.Kind)] = []
    /// By rule, from when on it stood how.
    var standings: [[(Int64, AlertStanding)]]?
    var nights: [(Int64, Int64)]?
    var treatments: [(Int64, AlertTopic)] = []
    var heard: Int?
    /// How long a notification tells at most, min; to its alert's end, unless a session is about just that.
    var tellsFor: Int64 = 1_000_000
    var length: Int64 = 1440
    var endsEarly = false
    /// nil: it has no value. Every key that isn't here is not looked at.
    var expected: [(AlertMetricKey, Double?)] = []

    var truth: SessionTruth {
        var values = [Float](repeating: 100, count: Int(length / 5) + 1)
        for stretch in plasma {
            for slot in stretch.from / 5..<min(values.count, stretch.to / 5) { values[slot] = stretch.mgdl }
        }
        var truth = SessionTruth(plasma: values, every: 5 * Nanoseconds.minute, reached: .minutes(length))
        for (about, spans) in devices { truth[about] = Self.set(spans) }
        truth.endedEarly = endsEarly
        truth.nights = nights.map(Self.set)
        truth.treatments = treatments.map { .init(.minutes($0.0), $0.1) }
        return truth
    }

    static func set(_ spans: [(Int64, Int64)]) -> IntervalSet {
        IntervalSet(spans.map { Interval(.minutes($0.0), .minutes($0.1)) })
    }

    var metrics: AlertMetrics {
        AlertMetrics(
            policy: AlertPolicy(name: "paper", rules: rules),
            events: events.map { AlertEvent(.minutes($0.0), $0.1, $0.2) }, truth: truth,
            tellsFor: tellsFor * Nanoseconds.minute,
            blame: standings.map { rules in
                BlameLog(
                    rules.map { $0.map { (at: .minutes($0.0), standing: $0.1) } }, reached: .minutes(length))
            }, heard: heard)
    }

    func check() {
        let metrics = metrics
        for (key, value) in expected {
            let found = metrics[key]
            if let value, let found {
                #expect(abs(found - value) < 1e-9, "\(name): \(key.name) \(found), on paper \(value)")
            } else {
                #expect(
                    found == nil && value == nil,
                    "\(name): \(key.name) \(found as Any), on paper \(value as Any)")
            }
        }
    }

    static func rule(_ code: AlertName, _ metric: AlertMetric, _ side: MetricTest.Side, _ bound: Double)
        -> AlertRule
    {
        AlertRule(code: code, trigger: .metrics([MetricTest(metric, side, bound)]), severity: .actionable)
    }
    static let low = rule("LOW", .glucose, .low, 70)
    static let urgentLow = rule("URGENT-LOW", .glucose, .low, 55)
    static let high = rule("HIGH", .glucose, .high, 250)
    static let rate = rule("FALLING", .glucoseRate, .low, -2)
}

extension AlertStanding {
    static func held(_ obstacles: AlertObstacle..., isActive: Bool = false) -> AlertStanding {
        var standing: AlertStanding = isActive ? [.condition, .episode] : [.condition]
        for obstacle in obstacles { standing.insert(AlertStanding(obstacle)) }
        return standing
    }
    static let told: AlertStanding = [.condition, .episode, .annunciated]
}
