// Policy files: presets, round trips, what is refused.

import IsletFiles
import IsletAlerts
import Foundation
import IsletDevices
import IsletKernel
import Testing

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

    /// Keys of a schema that say neither a default nor that they are required, by path.
    private static func silent(_ schema: JSONValue, _ path: String = "") -> [String] {
        guard case .object(let members) = schema else { return [] }
        func member(_ key: String, of members: [JSONValue.Member]) -> JSONValue? {
            members.first { $0.key == key }?.value
        }
        func names(_ value: JSONValue?) -> [String] {
            guard case .array(let items)? = value else { return [] }
            return items.flatMap { item in
                if case .string(let name) = item { return [name] }
                guard case .object(let inner) = item else { return [] }
                return names(member("required", of: inner))
            }
        }
        let required = names(member("required", of: members)) + names(member("oneOf", of: members))
        var found: [String] = []
        if case .object(let properties)? = member("properties", of: members) {
            for property in properties {
                let place = "\(path).\(property.key)"
                if case .object(let inner) = property.value, !required.contains(property.key),
                    member("default", of: inner) == nil
                {
                    guard case .string(let title)? = member("title", of: inner), title.contains(" Default: ")
                    else {
                        found.append(place)
                        continue
                    }
                }
                found += silent(property.value, place)
            }
        }
        if let items = member("items", of: members) { found += silent(items, path + "[]") }
        if case .array(let shapes)? = member("anyOf", of: members) {
            for shape in shapes { found += silent(shape, path) }
        }
        return found
    }

    @Test func `the schemas of policies and scenarios state every default`() {
        #expect(Self.silent(AlertPolicy.jsonSchema) == [])
        #expect(Self.silent(AlertScenario.jsonSchema) == [])
    }

    @Test(arguments: AlertPreset.allCases) func `a policy as resolved says every setting of every rule`(
        preset: AlertPreset
    ) throws {
        let policy = try preset.policy()
        let keys = [
            "debounce", "keepFiringFor", "acknowledge", "latching", "repeatEvery", "snooze", "notify",
        ]
        for rule in policy.rules {
            let settings = rule.settings(in: policy)
            let said = Set(settings.map(\.key))
            #expect(said.isSuperset(of: keys) && said.count == settings.count, "\(rule.code): \(settings)")
            #expect(said.contains("cooldown") == rule.notifies)
            #expect(said.contains("clearAt") == !rule.tests.isEmpty)
            #expect(said.contains("critical") == (rule.criticalBelow != nil || rule.criticalAbove != nil))
            #expect(said.contains("escalate") == !rule.escalations.isEmpty)
            #expect(said.contains("inhibits") == !rule.inhibits.isEmpty)
            // A rule that compares metrics says so, also under a code of the catalogue.
            #expect(rule.tests.allSatisfy { rule.condition.contains($0.metric.rawValue) })
        }
        #expect(
            policy.settings.map(\.key).prefix(3) == ["quietHours", "notifyInForeground", "notifyWhenStale"])
    }

    @Test func `a policy as resolved says defaults too`() throws {
        let policy = try AlertPolicy.parse(
            """
            policy: p
            rules:
              - { code: LOW, when: glucose < 70 and glucoseRate < -1, debounce: 15m }
              - { code: OWN, when: glucose < 60, cooldown: 1h, repeatEvery: 10m, escalate: [{ after: 20m, to: safetyCritical }] }
              - { code: ALERT-CGM-URGENT-LOW, when: glucose < 60 }
            thresholds: [{ metric: glucose, max: 250 }]
            """, file: "p.yaml")
        func setting(_ rule: Int, _ key: String) -> String? {
            policy.rules[rule].settings(in: policy).first { $0.key == key }?.value
        }
        #expect(setting(0, "cooldown") == "5m actionable, 60s safetyCritical".replacing("60s", with: "1m"))
        #expect(setting(0, "repeatEvery") == "never" && setting(0, "debounce") == "15m")
        #expect(setting(0, "clearAt") == "70, the bound")
        #expect(
            setting(1, "cooldown") == "1h actionable, 1h safetyCritical" && setting(1, "repeatEvery") == "10m"
        )
        #expect(setting(1, "escalate") == "safetyCritical after 20m")
        // What the rule compares, not what the catalogue says of its code.
        #expect(policy.rules[2].condition == "glucose < 60.0 mg/dL")
        #expect(setting(3, "critical") == "above 400")
    }

    /// A study's journal and folder keep the policy as text: whoever lives it again must have the same one.
    @Test func `a rule that bears a threshold's code reads back as it was`() throws {
        for text in [
            "policy: p\nrules:\n  - { code: THRESHOLD-GLUCOSE-LOW, when: glucose < 70 }\n  - { code: OTHER, when: glucose > 300 }\n",
            "policy: p\nrules: [{ code: THRESHOLD-GLUCOSE-HIGH, when: glucose > 250, debounce: 15m, severity: safetyCritical }]\n",
            "policy: p\nrules: []\nthresholds: [{ metric: glucose, min: 70, max: 250, sensitivity: 15m }]\n",
        ] {
            let policy = try AlertPolicy.parse(text, file: "p.yaml")
            #expect(try AlertPolicy.parse(policy.json.compactText, file: "again.yaml") == policy)
        }
    }

    @Test func `a policy extends a preset rule by rule`() throws {
        let text =
            "policy: mine\nextends: bionicloop\nrules: [{ code: ALERT-PUMP-SIGNAL-LOSS, debounce: 15m }]\n"
        let policy = try AlertPolicy.parse(text, file: "p.yaml")
        #expect(policy.rules.count == AlertCode.allCases.count)
        #expect(
            policy.rules.first { $0.code == "ALERT-PUMP-SIGNAL-LOSS" }?.debounce == 15 * Nanoseconds.minute)
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
            "policy: p\nrules:\n  - { code: A, when: readingAge > -9223372036854775808 }\n", "p.yaml:3",
            "comparisons"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70 and readingAge < -1e308 }\n", "p.yaml:3",
            "comparisons"
        ),
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
        (
            "policy: p\nthresholds:\n  - { metric: glucose, recommended: seedling }\n", "p.yaml:3",
            "temperature"
        ),
        ("policy: p\nthresholds:\n  - { metric: vpd, recommended: wilted }\n", "p.yaml:3", "flowering"),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70, inhibits: [A] }\n", "p.yaml:3",
            "no rule that inhibits itself"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70, inhibits: [B] }\n"
                + "  - { code: B, when: glucose < 60, inhibits: [A] }\n", "p.yaml:3",
            "no rule that inhibits itself"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 70 }\n"
                + "  - { code: B, when: glucose < 60, inhibits: [C] }\n"
                + "  - { code: C, when: glucose < 60, inhibits: [D] }\n"
                + "  - { code: D, when: glucose < 60, inhibits: [A, B] }\n", "p.yaml:4",
            "no rule that inhibits itself"
        ),
        (
            "policy: p\nthresholds:\n  - { metric: vpd, min: 1, inhibits: [THRESHOLD-VPD-LOW] }\n",
            "p.yaml:3",
            "no rule that inhibits itself"
        ),
        (
            "policy: p\nrules:\n  - { code: ALERT-PUMP-LOW-RESERVOIR, keepFiringFor: 5m }\n", "p.yaml:3",
            "its retraction ends it at once"
        ),
        (
            "policy: p\nrules:\n  - { code: ALERT-PUMP-FAULT, latching: true }\n", "p.yaml:3",
            "its retraction ends it at once"
        ),
        (
            "policy: p\nthresholds:\n  - { metric: glucose, min: 70, max: 250, clearAt: 80 }\n", "p.yaml:3",
            "an entry for `min` and one for `max`"
        ),
        (
            "policy: p\nrules:\n  - { code: A, when: glucose < 80 and glucoseRate < -2, clearAt: 90 }\n",
            "p.yaml:3", "one comparison"
        ),
        (
            "policy: p\nthresholds:\n  - { metric: glucose, min: 70, critical: { above: 300 } }\n",
            "p.yaml:3",
            "`max` beside it"
        ),
        ("policy: p\nlimits: { stepping: 0s }\n", "p.yaml:2", "a length of time"),
        ("policy: p\nlimits: { cooldown: { informational: 5m } }\n", "p.yaml:2", "actionable"),
        ("policy: p\nlimits: { freshnes: 5m }\n", "p.yaml:2", "freshness"),
        ("policy: p\nquietHours: { from: \"25:00\", to: \"07:00\" }\n", "p.yaml:2", "time of day"),
        ("policy: p\nquietHours: { from: \"22:00\" }\n", "p.yaml:2", "`to`"),
    ])
    func `a malformed policy names file, line and what was expected`(
        text: String, place: String, part: String
    ) throws {
        let problem = try #require(throws: InputError.self) { try AlertPolicy.parse(text, file: "p.yaml") }
        #expect(problem.kind == .badData)
        #expect(problem.description.hasPrefix(place), "\(problem)")
        #expect(problem.expected.contains(part), "\(problem)")
    }

    @Test func `limits and cooldowns by severity read back equal, and are inherited`() throws {
        let text = """
            policy: p
            extends: bionicloop
            limits: { freshness: 6m, stepping: 20m, podExpiring: 2h, podService: 4h, clockSkew: 90s, clockCheck: 6h, cooldown: { actionable: 7m } }
            rules:
              - { code: ALERT-PUMP-FAULT, cooldown: { safetyCritical: 2m } }
              - { code: ALERT-PUMP-EXPIRED, cooldown: 9m }
            """
        let policy = try AlertPolicy.parse(text, file: "p.yaml")
        #expect(try AlertPolicy.parse(policy.json.prettyText, file: "again") == policy)
        #expect(
            policy.limits.freshness == 6 * Nanoseconds.minute
                && policy.limits.clockSkew == 90 * Nanoseconds.second)
        #expect(
            policy.limits.cooldown
                == AlertCooldowns(actionable: 7 * Nanoseconds.minute, safetyCritical: Nanoseconds.minute)
        )
        let fault = try #require(policy.rules.first { $0.code == "ALERT-PUMP-FAULT" })
        #expect(fault.cooldown(at: .safetyCritical, policy.limits) == 2 * Nanoseconds.minute)
        #expect(fault.cooldown(at: .actionable, policy.limits) == 7 * Nanoseconds.minute)
        let expired = try #require(policy.rules.first { $0.code == "ALERT-PUMP-EXPIRED" })
        #expect(expired.cooldown(at: .safetyCritical, policy.limits) == 9 * Nanoseconds.minute)
    }

    @Test func `a stage's recommended range stands where min and max say nothing else`() throws {
        for (metric, stage, range) in AlertMetric.recommendedRanges {
            let policy = try AlertPolicy.parse(
                "policy: p\nthresholds: [{ metric: \(metric.rawValue), recommended: \(stage) }]",
                file: "p.yaml")
            #expect(policy.rules.flatMap(\.tests).map(\.bound) == [range.lowerBound, range.upperBound])
        }
        let own = try AlertPolicy.parse(
            "policy: p\nthresholds: [{ metric: vpd, recommended: seedling, max: 1 }]", file: "p.yaml")
        #expect(own.rules.flatMap(\.tests).map(\.bound) == [0.4, 1])
        // Every stage of every metric that has any.
        #expect(AlertMetric.recommendedRanges.count == 3 * AlertMetric.stages.count)
    }

    @Test
    func
        `thresholds of several devices are merged: the newest write of each metric stays, sides that it leaves out are gone`()
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "merge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ thresholds: String...) throws -> String {
            let path = folder.appending(path: name).path()
            let lines = thresholds.map { "  - { \($0) }\n" }.joined()
            try Data("policy: mine\nsubject: Basil\nthresholds:\n\(lines)".utf8).write(
                to: URL(filePath: path))
            return path
        }
        let phone = try file(
            "phone.yaml",
            "metric: temperature, min: 60, max: 85, writtenAt: \"2026-03-02T08:00:00Z\", device: phone",
            "metric: humidity, max: 70, writtenAt: \"2026-03-02T09:00:00Z\", device: phone")
        let tablet = try file(
            "tablet.yaml",
            // Newer by its instant, not by its text.
            "metric: temperature, max: 90, writtenAt: \"2026-03-02T04:00:00-05:00\", device: tablet",
            "metric: humidity, max: 65, enabled: false, writtenAt: \"2026-03-02T09:00:00Z\", device: tablet")
        func merged(_ paths: String...) throws -> AlertSettings {
            var settings = AlertSettings()
            for path in paths { settings.merge(try AlertSettings.read(path: path)) }
            return settings
        }
        let both = try merged(phone, tablet)
        #expect(try merged(tablet, phone) == both)
        #expect(try merged(phone, tablet, phone, tablet) == both)
        #expect(both.rules.map(\.code) == ["THRESHOLD-TEMPERATURE-HIGH"])
        #expect(both.rules.flatMap(\.tests).map(\.bound) == [90])
        // What is written can be read as a policy, and merged again.
        let text = both.text(in: AlertPolicy(name: "mine", rules: []))
        let again = folder.appending(path: "again.json").path()
        try Data(text.utf8).write(to: URL(filePath: again))
        #expect(try merged(again) == both)
        #expect(try AlertPolicy.parse(text, file: again).rules.map(\.code) == both.rules.map(\.code))
        // Two writes of one device within one second: the later one, in either order.
        let second = "metric: vpd, max: 2, writtenAt: \"2026-03-02T09:00:00Z\", sequence: 1, device: phone"
        let first = "metric: vpd, min: 1, max: 3, writtenAt: \"2026-03-02T09:00:00Z\", device: phone"
        let (early, late) = (try file("early.yaml", first), try file("late.yaml", second))
        #expect(try merged(early, late) == merged(late, early))
        #expect(try merged(early, late).rules.flatMap(\.tests).map(\.bound) == [2])
        let bare = try file("bare.yaml", "metric: temperature, max: 85")
        #expect(throws: InputError.self) { try AlertSettings.read(path: bare) }
    }
}
