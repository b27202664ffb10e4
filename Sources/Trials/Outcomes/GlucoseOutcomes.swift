// Outcomes of glucose: of the body's own, which decides between arms, and of the sensor's, which published trials report.

import GlucoseMetrics

extension GlucoseMetricKey {
    /// Which way a person wants the metric.
    var better: Outcome.Better {
        switch self {
        case .n, .days, .coveragePercent, .meanMgdl, .gmiPercent: .neither
        case .tir70to180Percent, .titr70to140Percent: .higher
        default: .lower
        }
    }

    /// Describes the trace rather than the glucose.
    var describesTrace: Bool {
        switch self {
        case .n, .days, .coveragePercent: true
        default: false
        }
    }

    /// Rows that a first look needs.
    fileprivate var isShown: Bool {
        switch self {
        case .meanMgdl, .tir70to180Percent, .tbr70Percent, .tbr54Percent, .tar180Percent, .tar250Percent,
            .cvPercent,
            .gmiPercent, .lbgi, .hbgi:
            true
        default: false
        }
    }

    fileprivate static let events: [GlucoseMetricKey] = [
        .hypoEventsL1, .hypoEventsL2, .hyperEventsL1, .hyperEventsL2,
    ]
}

extension Outcome {
    /// The true plasma glucose every five minutes.
    static let truth: [Outcome] = GlucoseMetricKey.allCases.map { key in
        Outcome(
            key.rawValue, unit: key.unit, "true plasma glucose: " + key.summary, better: key.better,
            kind: .truth,
            isCompared: !key.describesTrace, display: key.isShown ? .always : .never
        ) { $0.truth?[key] }
    }

    /// A session that ended early had less time for events: counts alone would make it look safer.
    static let truthByWeek: [Outcome] = GlucoseMetricKey.events.map { key in
        Outcome(
            key.rawValue + "_per_week", unit: "1/week",
            "true plasma glucose: " + key.summary + ", per week that the session lived", better: .lower,
            kind: .truth,
            display: key == .hypoEventsL1 || key == .hypoEventsL2 ? .always : .never
        ) { facts in facts.truth?[key].flatMap { facts.perWeek($0) } }
    }

    /// What the sensor said, readings that arrived late included.
    static let sensor: [Outcome] =
        GlucoseMetricKey.allCases.map { key in
            Outcome(
                "sensor_" + key.rawValue, unit: key.unit,
                "sensor glucose, late readings included: " + key.summary,
                better: key.better, kind: .sensor, isCompared: !key.describesTrace
            ) { $0.sensor?[key] }
        }
        + GlucoseMetricKey.events.map { key in
            Outcome(
                "sensor_" + key.rawValue + "_per_week", unit: "1/week",
                "sensor glucose, late readings included: " + key.summary + ", per week of readings",
                better: .lower, kind: .sensor
            ) { facts in
                guard let events = facts.sensor?[key], facts.sensorDays > 0 else { return nil }
                return 7 * events / facts.sensorDays
            }
        }
}
