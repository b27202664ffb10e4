// Policy files: presets, round trips, what is refused.

import Alerts
import Records
import SessionTime
import Testing
import Trials

@Suite struct PolicyFileTests {
    @Test(arguments: AlertPreset.allCases) func `every preset is a policy file that reads back equal`(
        preset: AlertPreset
    ) throws {
        let policy = try preset.policy()
        #expect(try AlertPolicy.parse(preset.text, file: "preset") == policy)
        #expect(policy.name == preset.rawValue)
        let again = try AlertPolicy.parse(policy.json.prettyText, file: "json")
        #expect(again == policy)
        #expect(preset.text.contains("notes:"))
    }

    @Test func `a policy extends a preset rule by rule`() throws {
        let text =
            "policy: mine\nextends: bionicloop\nrules: [{ code: ALERT-PUMP-SIGNAL-LOSS, debounce: 15m }]\n"
        let policy = try AlertPolicy.parse(text, file: "p.yaml")
        #expect(policy.rules.count == AlertCode.allCases.count)
        #expect(policy.rules.first { $0.code == "ALERT-PUMP-SIGNAL-LOSS" }?.debounce == 15 * Span.minute)
    }

    @Test(arguments: [
        ("rules: []\n", "p.yaml:1", "`policy`"),
        ("policy: p\nrles: []\n", "p.yaml:2", "`rules`"),
        ("policy: p\nrules:\n  - { code: MINE }\n", "p.yaml:3", "`when`"),
        (
            "policy: p\nrules:\n  - { code: ALERT-PUMP-FALT, debounce: 1m }\n", "p.yaml:3",
            "`ALERT-PUMP-FAULT`"
        ),
        ("policy: p\nrules:\n  - { code: A, when: glucose is low }\n", "p.yaml:3", "comparisons"),
        ("policy: p\nrules:\n  - { code: A, when: glucos < 70 }\n", "p.yaml:3", "comparisons"),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70, debounce: 5 }\n", "p.yaml:3",
            "a length of time"
        ),
        ("policy: p\nrules:\n  - { code: A, when: glucose < 70, clearAt: 60 }\n", "p.yaml:3", "at least"),
        ("policy: p\nrules:\n  - { code: A, when: glucose > 70, clearAt: 80 }\n", "p.yaml:3", "at most"),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70, latching: true }\n", "p.yaml:3",
            "`acknowledge"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70, inhibits: [B] }\n", "p.yaml:3",
            "a rule of this"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70 }\n  - { code: A, when: glucose < 60 }\n",
            "p.yaml:4", "one rule a code"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70, severity: high }\n", "p.yaml:3",
            "safetyCritical"
        ),
        ("policy: p\nthresholds:\n  - { metric: glucose }\n", "p.yaml:3", "`min`"),
        ("policy: p\nthresholds:\n  - { metric: glucose, min: 80, max: 70 }\n", "p.yaml:3", "min below max"),
        ("policy: p\nthresholds:\n  - { metric: sugar, min: 80 }\n", "p.yaml:3", "a metric"),
        (
            "policy: p\nthresholds:\n  - { metric: vpd, min: 1 }\n  - { metric: vpd, min: 2 }\n", "p.yaml:4",
            "each side"
        ),
        ("policy: p\nquietHours: { from: \"25:00\", to: \"07:00\" }\n", "p.yaml:2", "time of day"),
        ("policy: p\nquietHours: { from: \"22:00\" }\n", "p.yaml:2", "`to`"),
    ])
    func `a malformed policy names file, line and what was expected`(
        text: String, place: String, part: String
    ) throws {
        let problem = try #require(throws: InputProblem.self) { try AlertPolicy.parse(text, file: "p.yaml") }
        #expect(problem.kind == .badData)
        #expect(problem.description.hasPrefix(place), "\(problem)")
        #expect(problem.expected.contains(part), "\(problem)")
    }

    @Test func `a study's arm takes a preset, and its manifest the whole of a policy`() throws {
        let policy = "{ policy: p, thresholds: [{ metric: glucose, min: 65, sensitivity: 20m }] }"
        let text = """
            cohort: { generate: { count: 2 } }
            arms: [{ name: a, alerts: dexcom-g7 }, { name: b, alerts: \(policy) }]
            """
        let study = try Study.parse(text, file: "study.yaml")
        #expect(study.arms[0].alerts.name == "dexcom-g7")
        #expect(study.arms[1].alerts.rules.map(\.code) == ["THRESHOLD-GLUCOSE-LOW"])
        #expect(try Study.parse(study.yaml, file: "resolved") == study)
    }
}
