// Outcomes of glucose: of the body's own, which decides between arms, and of the sensor's, which published trials report.

import IsletFiles
import IsletDevices

extension GlucoseMetricKey {
    fileprivate static let events = allCases.filter { $0.kind == .events }
}

extension Outcome {
    /// The true plasma glucose every five minutes.
    static let truth: [Outcome] = GlucoseMetricKey.allCases.map { key in
        Outcome(
            key.rawValue, key.words, unit: key.unit, "true plasma glucose: " + key.summary,
            better: key.better,
            kind: .truth,
            compared: key.kind == .trace ? .never : .arms,
            display: key.isShown && key.kind != .events ? .always : .never
        ) { $0.truth?[key] }
    }

    /// A session that ended early had less time for events: counts alone would make it look safer.
    static let truthByWeek: [Outcome] = GlucoseMetricKey.events.map { key in
        Outcome(
            key.rawValue + "_per_week", key.words, unit: "1/week",
            "true plasma glucose: " + key.summary + ", per week that the session lived", better: .lower,
            kind: .truth,
            display: key.isShown ? .always : .never
        ) { facts in facts.truth?[key].flatMap { facts.perKnownWeek($0) } }
    }

    /// What the sensor said, readings that arrived late included.
    static let sensor: [Outcome] =
        GlucoseMetricKey.allCases.map { key in
            Outcome(
                "sensor_" + key.rawValue, "sensor: \(key.words)", unit: key.unit,
                "sensor glucose, late readings included: " + key.summary,
                better: key.better, kind: .sensor, compared: key.kind == .trace ? .never : .arms
            ) { $0.sensor?[key] }
        }
        + GlucoseMetricKey.events.map { key in
            Outcome(
                "sensor_" + key.rawValue + "_per_week", "sensor: \(key.words)", unit: "1/week",
                "sensor glucose, late readings included: " + key.summary + ", per week of readings",
                better: .lower, kind: .sensor
            ) { facts in
                guard let events = facts.sensor?[key], facts.sensorDays > 0 else { return nil }
                return 7 * events / facts.sensorDays
            }
        }
}
