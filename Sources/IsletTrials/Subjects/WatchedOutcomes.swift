// Outcomes of watched subjects: what was true of each metric, what the alerts were worth, what the keeper did.
//
// Guarantees: a kind's outcomes follow from its metrics; the true values are read, never what the monitor showed. Rows of one name are the same row for every kind.

import IsletAlerts
import IsletFiles
import IsletDevices
import IsletKernel

/// What a watched session leaves beside its alerts.
struct WatchedFacts {
    var metrics: [AlertMetric]
    /// One a metric: true values, one a reading.
    var truth: [[Float]]
    var brokenReadings: Int
    var keeper: KeeperFacts

    func values(_ metric: AlertMetric) -> [Float]? {
        metrics.firstIndex(of: metric).map { truth[$0] }
    }
}

extension Outcome {
    /// In the order of the files.
    static func ofWatched(_ metrics: [AlertMetric]) -> [Outcome] {
        metrics.flatMap(ofMetric) + [critical, broken] + Array(alerts.prefix(3)) + keeper + watchedAlerts
    }

    /// The outcomes of every kind of subject but people.
    static let ofWatchedSubjects: [Outcome] =
        ofWatched(AlertMetric.allCases.filter { $0.range != nil }).filter { outcome in
            !all.contains { $0.name == outcome.name }
        }

    /// Every outcome of every kind, people's first.
    package static let everything: [Outcome] = all + ofWatchedSubjects

    // MARK: The subject

    private static func ofMetric(_ metric: AlertMetric) -> [Outcome] {
        let name = metric.rawValue.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
        let called = metric.name == metric.name.uppercased() ? metric.name : metric.name.lowercased()
        let words = "true \(called)"
        let low = metric.range?.lowerBound ?? -.infinity
        let high = metric.range?.upperBound ?? .infinity
        return [
            Outcome(
                "\(name)_mean", "mean \(called)", unit: metric.unit, "\(words), mean", better: .neither,
                kind: .subject,
                display: .always
            ) { facts in
                guard let values = facts.watched?.values(metric), !values.isEmpty else { return nil }
                return values.reduce(0) { $0 + Double($1) } / Double(values.count)
            },
            share(
                "\(name)_below_percent", "\(called) below \(JSONValue.numberText(low)) \(metric.unit)", metric
            ) {
                $0 < low
            },
            share(
                "\(name)_above_percent", "\(called) above \(JSONValue.numberText(high)) \(metric.unit)",
                metric
            ) {
                $0 > high
            },
        ]
    }

    private static func share(
        _ name: String, _ words: ValueText, _ metric: AlertMetric,
        _ isBeyond: @escaping @Sendable (Double) -> Bool
    ) -> Outcome {
        Outcome(
            name, "time with \(words)", unit: "%", "true \(words): share of the time", better: .lower,
            kind: .subject, display: .always
        ) { facts in
            guard let values = facts.watched?.values(metric), !values.isEmpty else { return nil }
            return 100 * Double(values.count { isBeyond(Double($0)) }) / Double(values.count)
        }
    }

    /// What harms.
    private static let critical = Outcome(
        "critical_percent", "time beyond critical bounds", unit: "%",
        "time with the true value of any metric beyond its critical bounds", better: .lower, kind: .subject,
        display: .always
    ) { facts in
        guard let watched = facts.watched, let count = watched.truth.first?.count, count > 0 else {
            return nil
        }
        var beyond = [Bool](repeating: false, count: count)
        for (metric, values) in zip(watched.metrics, watched.truth) {
            let (low, high) = (metric.criticalBelow ?? -.infinity, metric.criticalAbove ?? .infinity)
            for (place, value) in values.enumerated() where Double(value) < low || Double(value) > high {
                beyond[place] = true
            }
        }
        return 100 * Double(beyond.count { $0 }) / Double(count)
    }

    private static let broken = Outcome(
        "broken_hours_per_day", "time with something broken", unit: "h/day",
        "time with something broken, per day", better: .lower,
        kind: .subject, display: .always
    ) { facts in
        facts.watched.flatMap {
            facts.perDay(
                Double($0.brokenReadings) * Double(SubjectMonitor.interval) / Double(Nanoseconds.hour))
        }
    }

    // MARK: The keeper

    private static let keeper: [Outcome] = [
        deed(
            "keeper_calls_per_day", "visits because something rang", "visits because something rang, per day",
            .lower
        ) { $0.calls },
        deed("keeper_night_calls_per_day", "visits at night", "of these, at night", .lower) { $0.nightCalls },
        deed(
            "keeper_vain_calls_per_day", "visits for nothing",
            "of all calls, those at which nothing was broken, per day", .lower
        ) {
            $0.vain
        },
        deed(
            "keeper_wakings_per_day", "wakings of the keeper", "notifications that woke the keeper, per day",
            .lower
        ) { $0.wakings },
        Outcome(
            "keeper_heard_fraction", "rings that the keeper heard", unit: "",
            "noticed of the notifications; empty where there were none",
            better: .higher, kind: .person
        ) { facts in
            facts.watched.flatMap { watched in
                let all = watched.keeper.heard + watched.keeper.unheard
                return all > 0 ? Double(watched.keeper.heard) / Double(all) : nil
            }
        },
        Outcome(
            "hours_to_mend", "time to mend", unit: "h",
            "from a break to its mending, mean over what was mended; empty where nothing was", better: .lower,
            kind: .person, display: .always
        ) { facts in
            facts.watched.flatMap { watched in
                watched.keeper.mended > 0
                    ? Double(watched.keeper.brokenFor) / Double(Nanoseconds.hour)
                        / Double(watched.keeper.mended) : nil
            }
        },
    ]

    private static func deed(
        _ name: String, _ words: ValueText, _ meaning: String, _ better: Better,
        _ count: @escaping @Sendable (KeeperFacts) -> Int
    ) -> Outcome {
        Outcome(name, words, unit: "1/day", meaning, better: better, kind: .person, display: .always) {
            facts in
            facts.watched.flatMap { facts.perDay(Double(count($0.keeper))) }
        }
    }

    /// The metrics of alerts that don't speak of glucose.
    private static let watchedAlerts: [Outcome] = alertMetrics.filter { outcome in
        let name = outcome.name
        return !name.hasPrefix("hypo_") && !name.hasPrefix("alerts_missed_severity")
            && !AlertTruth.allCases.contains { $0.plasma != nil && name.contains("_\($0.rawValue)") }
    }
}
