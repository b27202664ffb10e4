// `policies` and `sweep`: what listens, what its variants are called, and what is refused.

import IsletFiles
import IsletAlerts
import IsletDevices
import Testing

@testable import IsletTrials

@Suite("Policies in shadow and sweeps in a study")
struct SweepTests {
    private func study(_ lines: String) throws -> Study {
        try Study.parse(
            """
            cohort: { generate: { count: 2 } }
            arms: [{ name: a, algorithm: basal-bolus, alerts: dexcom-g7 }]
            \(lines)
            """, file: "sweep.yaml")
    }

    private func refusal(_ lines: String) -> String {
        do {
            _ = try study(lines)
            return "accepted"
        } catch let problem as InputError {
            return problem.description
        } catch { return "\(error)" }
    }

    @Test(
        "a grid is every combination, the last path changing fastest, each with a name that says what it changes"
    )
    func grid() throws {
        let study = try study(
            """
            policies: [bionicloop]
            sweep:
              of: dexcom-g7
              grid:
                "rules[LOW,HIGH].debounce": [0s, 5m]
                "rules[*].cooldown": [60s, 5m, null]
            """)
        #expect(
            study.shadowPolicies.map(\.name) == [
                "bionicloop", "dexcom-g7 LOW+HIGH.debounce=0s *.cooldown=60s",
                "dexcom-g7 LOW+HIGH.debounce=0s *.cooldown=5m",
                "dexcom-g7 LOW+HIGH.debounce=0s *.cooldown=default",
                "dexcom-g7 LOW+HIGH.debounce=5m *.cooldown=60s",
                "dexcom-g7 LOW+HIGH.debounce=5m *.cooldown=5m",
                "dexcom-g7 LOW+HIGH.debounce=5m *.cooldown=default",
            ])
        let preset = try AlertPreset.dexcomG7.policy()
        var expected = preset
        expected.name = study.shadowPolicies[4].name
        for rule in expected.rules.indices {
            expected.rules[rule].cooldown = 60_000_000_000
            if ["LOW", "HIGH"].contains(expected.rules[rule].code) {
                expected.rules[rule].debounce = 300_000_000_000
            }
        }
        #expect(study.shadowPolicies[4] == expected)
        #expect(try Study.parse(study.yaml, file: "resolved") == study)
    }

    @Test("whatever a policy file can say can be swept")
    func paths() throws {
        let study = try study(
            """
            sweep:
              of:
                policy: mine
                extends: loop
                thresholds: [{ metric: glucose, min: 72, max: 240, sensitivity: 15m }]
              points:
                - { "thresholds[glucose].min": 80, "thresholds[*].sensitivity": immediate }
                - { "thresholds[THRESHOLD-GLUCOSE-HIGH].max": 300 }
                - { "rules[ALERT-ALGORITHM-STEPPING-INTERRUPTED].escalate[0].after": 20m }
                - { "rules[LOW].clearAt": 90, "rules[LOW].when": "glucose < 85" }
                - { "rules[HIGH].cooldown.actionable": 1m }
                - { "rules[URGENT-LOW].inhibits": null, "notifyWhenStale": true }
                - { "rules[LOW].inhibits": [HIGH], "rules[HIGH].acknowledge": closes, "rules[HIGH].latching": true }
                - { "quietHours": { from: "22:00", to: "07:00" } }
                - { "limits.freshness": 6m, "limits.cooldown.safetyCritical": 0s }
                - { "rules[HIGH].repeatEvery": 30m, "rules[HIGH].keepFiringFor": 5m, "rules[HIGH].severity": safetyCritical }
                - { "rules[HIGH].notify": false }
            """)
        let policies = study.shadowPolicies
        func rule(_ place: Int, _ code: String) throws -> AlertRule {
            try #require(policies[place].rules.first { $0.code.rawValue == code })
        }
        #expect(try rule(0, "THRESHOLD-GLUCOSE-LOW").tests[0].bound == 80)
        #expect(try rule(0, "THRESHOLD-GLUCOSE-HIGH").tests[0].bound == 240)
        #expect(try rule(0, "THRESHOLD-GLUCOSE-HIGH").debounce == 0)
        #expect(try rule(1, "THRESHOLD-GLUCOSE-HIGH").tests[0].bound == 300)
        #expect(
            try rule(2, "ALERT-ALGORITHM-STEPPING-INTERRUPTED").escalations[0].after == 1200 * 1_000_000_000)
        #expect(try rule(3, "LOW").tests == [MetricTest(.glucose, .low, 85, clearAt: 90)])
        #expect(try rule(4, "HIGH").cooldowns.actionable == 60_000_000_000)
        #expect(try rule(5, "URGENT-LOW").inhibits == [])
        #expect(policies[5].notifiesWhenStale)
        #expect(try rule(6, "LOW").inhibits == ["HIGH"])
        #expect(try rule(6, "HIGH").isLatching)
        #expect(policies[7].quietHours == QuietHours(from: 22 * 3_600_000_000_000, to: 7 * 3_600_000_000_000))
        #expect(policies[8].limits.freshness == 360_000_000_000)
        #expect(policies[8].limits.cooldown.safetyCritical == 0)
        #expect(try rule(9, "HIGH").repeatEvery == 1_800_000_000_000)
        #expect(try !rule(10, "HIGH").notifies)
        #expect(try Study.parse(study.yaml, file: "resolved") == study)
    }

    @Test(
        "a closed sweep makes each variant an arm beside the listed ones, and the resolved study lists them")
    func closed() throws {
        let study = try study(
            """
            sweep: { of: dexcom-g7, mode: closed, grid: { "rules[LOW].debounce": [5m, 15m] } }
            person: typical
            compare: { reference: a }
            """)
        #expect(study.arms.map(\.name) == ["a", "dexcom-g7 LOW.debounce=5m", "dexcom-g7 LOW.debounce=15m"])
        #expect(
            study.arms.map { $0.alerts.rules.first { $0.code == "LOW" }?.debounce } == [
                0, 300_000_000_000, 900_000_000_000,
            ])
        #expect(study.shadowPolicies.isEmpty)
        #expect(try Study.parse(study.yaml, file: "resolved") == study)
    }

    @Test(
        "what can't be meant is one line with its place",
        arguments: [
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[SIGNAL-LOS].debounce\": [5m] } }",
                "sweep.yaml:3: found `rules[SIGNAL-LOS].debounce`, which matches nothing, expected an item of `rules`",
                "(nearest: `rules[SIGNAL-LOSS].debounce`)"
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].debouce\": [5m] } }",
                "sweep.yaml:3: found `rules[LOW].debouce`, which matches nothing",
                "(nearest: `rules[LOW].debounce`)"
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rule[*].debounce\": [5m] } }",
                "sweep.yaml:3: found `rule[*].debounce`",
                "(nearest: `rules[*].debounce`)"
            ),
            ("sweep: { of: dexcom-g7, grid: { \"thresholds[*].min\": [5] } }", "the policy has none", ""),
            ("sweep: { of: dexcom-g7, grid: { \"rules.debounce\": [5m] } }", "in brackets", ""),
            ("sweep: { of: dexcom-g7, grid: { \"rules[LOW\": [5m] } }", "keys joined by dots", ""),
            ("sweep: { of: dexcom-g7, grid: {} }", "found an empty grid", ""),
            ("sweep: { of: dexcom-g7, grid: { \"rules[LOW].debounce\": [] } }", "found a list of 0", ""),
            ("sweep: { of: dexcom-g7 }", "found no variants", ""),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].debounce\": [5m, 300s] } }",
                "which are one policy", ""
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].debounce\": [soon] } }",
                "sweep.yaml:3: found `soon`", "in the variant `dexcom-g7 LOW.debounce=soon`"
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].clearAt\": [60] } }", "sweep.yaml:3:",
                "at least the bound 70"
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].latching\": [true], \"rules[LOW].acknowledge\": [none] } }",
                "`latching` without `acknowledge`", ""
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].when\": [\"temperature < 5\"] } }",
                "temperature", "what a study measures"
            ),
            (
                "sweep: { of: dexcom-g7, mode: closed, grid: { \"rules[LOW].debounce\": [\((1...120).map { "\($0)s" }.joined(separator: ", "))] } }",
                "at most 100 arms", ""
            ),
            (
                "sweep: { of: dexcom-g7, grid: { \"rules[LOW].debounce\": [\((1...100).map { "\($0)s" }.joined(separator: ", "))], \"rules[HIGH].debounce\": [\((1...100).map { "\($0)s" }.joined(separator: ", "))] } }",
                "more than 1000 combinations", ""
            ),
            ("policies: [dexcom-g7, dexcom-g7]", "sweep.yaml:3: found the policy `dexcom-g7` twice", ""),
            ("policies: [dexcom-g6]", "(nearest:", ""),
            ("policies: [story]", "a study measures no more", ""),
        ])
    func refused(lines: String, found: String, also: String) {
        let text = refusal(lines)
        #expect(text.contains(found), "\(text)")
        #expect(text.contains(also), "\(text)")
        #expect(!text.contains("\n"))
    }
}
