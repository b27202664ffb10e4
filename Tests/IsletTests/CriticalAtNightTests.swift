// What a critical bound costs by night, and what a wait would cost: the study of decision 0033 in a small form.

import Foundation
import Testing

@Suite struct CriticalAtNightTests {
    /// Harm: whoever chose an hour's patience is told of 48 mg/dL after an hour. And the other harm: nobody knows what the promise costs those who sleep on their sensors.
    @Test func anHoursPatienceHoldsNothingCriticalUp() throws {
        try withFolder { folder in
            let run = try islet(
                "run", "Cohorts/critical-at-night.yaml", "--quiet", "--no-report", "--out", folder + "/out",
                "--set", "cohort.generate.count=16", "--set", "duration=7d")
            #expect(run.status == 0, "\(run.error)")
            let data = try Data(contentsOf: URL(filePath: folder + "/out/summary.json"))
            let summary = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let rows = try #require(summary["policies"] as? [[String: Any]])
            func mean(_ policy: String, _ outcome: String) throws -> Double {
                let row = try #require(
                    rows.first { $0["arm"] as? String == "open-loop" && $0["policy"] as? String == policy })
                let outcomes = try #require(row["outcomes"] as? [String: [String: Any]])
                return try #require(outcomes[outcome]?["mean"] as? Double, "\(policy) \(outcome)")
            }
            let (rings, inTime) = ("alerts_notifications_night_per_day", "alerts_sensitivity_g15")
            // The promise: patience changes nothing of it.
            for outcome in ["alerts_raised_per_day", rings, inTime] {
                #expect(try mean("at-once", outcome) == mean("immediate", outcome))
            }
            #expect(try mean("at-once", inTime) > 0)
            // The price, and what a wait takes with it.
            #expect(try mean("at-once", "alerts_false_per_day") > 0)
            var before = try (mean("at-once", rings), mean("at-once", inTime))
            for policy in ["waits-10m", "waits-30m", "waits-1h"] {
                let now = try (mean(policy, rings), mean(policy, inTime))
                #expect(now.0 <= before.0 && now.1 <= before.1, "\(policy)")
                before = now
            }
            #expect(before.1 == 0)
        }
    }
}
