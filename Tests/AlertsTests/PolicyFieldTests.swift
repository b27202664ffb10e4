// Rows of policies, alerts and metrics: each does all that a list of its own did.

import IsletFiles
import IsletAlerts
import IsletKernel
import Testing

@Suite struct PolicyFieldTests {
    /// A value that isn't the default, as it stands in a file.
    private func value<Root>(_ field: PolicyField<Root>) -> String {
        switch field.value {
        case .flag: ["notify", "notifyWhenStale"].contains(field.name) ? "false" : "true"
        case .span, .optionalSpan: "7m"
        case .severity: "safetyCritical"
        case .acknowledgement: "reviews"
        case .codes: "[OTHER]"
        case .escalations: "[{ after: 10m, to: safetyCritical }]"
        case .cooldowns, .cooldown: "{ actionable: 9m }"
        case .afterFront: "{ left: 20s }"
        case .truth: "sensorGap"
        }
    }

    private func policy(rule: String = "", limits: String = "", all: String = "") throws -> AlertPolicy {
        try AlertPolicy.parse(
            """
            policy: mine
            rules:
              - { code: MINE, when: glucose < 70, \(rule.hasPrefix("acknowledge") ? "" : "acknowledge: closes")\(rule.isEmpty || rule.hasPrefix("acknowledge") ? "" : ", ")\(rule) }
              - { code: OTHER, when: glucose > 300 }
            limits: { \(limits) }
            \(all)
            """, file: "mine.yaml")
    }

    /// A file that sets it says it when written, reads back equal, and is another policy than one that doesn't.
    private func check(_ name: String, _ value: String, _ set: AlertPolicy) throws {
        let plain = try policy()
        #expect(set != plain, "\(name)")
        // What a rule says of its truth changes no alert: what is remembered goes on.
        #expect((set.fingerprint == plain.fingerprint) == (name == "truth"), "\(name)")
        let text = set.json.prettyText
        #expect(text.contains("\"\(name)\""), "\(name)")
        let again = try AlertPolicy.parse(text, file: "json")
        #expect(again == set && again.fingerprint == set.fingerprint, "\(name)")
        #expect(AlertPolicy.jsonSchema.compactText.contains("\"\(name)\":{\"title\""), "\(name)")
    }

    @Test func `each parameter is read, written, described and told apart, from its row alone`() throws {
        for field in AlertRule.ruleFields + AlertRule.fields {
            let (name, value) = (field.name, value(field))
            let set = try policy(rule: "\(name): \(value)")
            try check(name, value, set)
            let said = set.rules[0].settings(in: set).first { $0.key == name }
            if name != "severity" { #expect(said != nil, "\(name)") }
        }
        for field in AlertLimits.fields {
            try check(field.name, value(field), try policy(limits: "\(field.name): \(value(field))"))
        }
        for field in AlertPolicy.fields {
            let set = try policy(all: "\(field.name): \(value(field))")
            try check(field.name, value(field), set)
            #expect(set.settings.contains { $0.key == field.name }, "\(field.name)")
        }
    }

    @Test func `names of parameters, alerts and metrics differ`() {
        let names = [
            (AlertRule.ruleFields + AlertRule.fields).map(\.name), AlertLimits.fields.map(\.name),
            AlertPolicy.fields.map(\.name), AlertCode.allCases.map(\.rawValue),
            AlertMetric.allCases.map(\.rawValue), AlertCode.pumpIssues,
        ]
        for list in names { #expect(Set(list).count == list.count && !list.isEmpty) }
    }

    @Test func `what code speaks of by name is the row of that name, and its place is its number`() {
        let metrics: [(AlertMetric, String)] = [
            (.glucose, "glucose"), (.glucoseRate, "glucoseRate"), (.insulinOnBoard, "insulinOnBoard"),
            (.reservoir, "reservoir"), (.sensorAge, "sensorAge"), (.temperature, "temperature"),
            (.humidity, "humidity"), (.vpd, "vpd"), (.readingAge, "readingAge"),
            (.glucoseIn20m, "glucoseIn20m"), (.forecastGlucose, "forecastGlucose"),
            (.unknownInsulin, "unknownInsulin"),
        ]
        for (metric, name) in metrics {
            #expect(metric.rawValue == name && AlertMetric(rawValue: name) == metric)
        }
        let codes: [(AlertCode, String)] = [
            (.pumpSignalLoss, "ALERT-PUMP-SIGNAL-LOSS"),
            (.pumpNoActivePod, "ALERT-PUMP-NO-ACTIVE-POD"),
            (.pumpLowReservoir, "ALERT-PUMP-LOW-RESERVOIR"),
            (.pumpExpiring, "ALERT-PUMP-EXPIRING"),
            (.pumpExpired, "ALERT-PUMP-EXPIRED"),
            (.pumpFault, "ALERT-PUMP-FAULT"),
            (.pumpIncompatible, "ALERT-PUMP-INCOMPATIBLE"),
            (.pumpSetupIncomplete, "ALERT-PUMP-SETUP-INCOMPLETE"),
            (.pumpSuspendInProgress, "ALERT-PUMP-SUSPEND-IN-PROGRESS"),
            (.pumpSuspendEnded, "ALERT-PUMP-SUSPEND-ENDED"),
            (.pumpTimeOffsetDetected, "ALERT-PUMP-TIME-OFFSET-DETECTED"),
            (.cgmUnavailable, "ALERT-CGM-UNAVAILABLE"),
            (.cgmFailedOrExpired, "ALERT-CGM-FAILED-OR-EXPIRED"),
            (.cgmUrgentLow, "ALERT-CGM-URGENT-LOW"),
            (.steppingInterrupted, "ALERT-ALGORITHM-STEPPING-INTERRUPTED"),
            (.loginRequired, "ALERT-AUTH-LOGIN-REQUIRED"),
            (.subjectConflict, "ALERT-SUBJECT-ID-CONFLICT"),
            (.clockSkew, "ALERT-APP-CLOCK-SKEW"),
            (.awaitingFirstStep, "ALERT-LOOP-AWAITING-FIRST-STEP"),
            (.commandBlocked, "ALERT-LOOP-COMMAND-BLOCKED"),
            (.mealNotAvailable, "ALERT-MEAL-NOT-AVAILABLE-NOW"),
            (.insulinMissing, "LOOP-INSULIN-MISSING"), (.insulinDropped, "LOOP-INSULIN-DROPPED"),
            (.glucoseTypedLow, "GLUCOSE-TYPED-LOW"),
        ]
        for (code, name) in codes { #expect(code.rawValue == name && AlertCode(rawValue: name) == code) }
        #expect(AlertMetric.allCases.map(\.index) == Array(AlertMetric.allCases.indices))
        #expect(AlertCode.allCases.map(\.index) == Array(AlertCode.allCases.indices))
        // As many as one word has bits.
        #expect(AlertCode.allCases.count <= 32)
        #expect(AlertMetric(rawValue: "nothing") == nil && AlertCode(rawValue: "NOTHING") == nil)
    }

    @Test func `a metric's name in codes is its name in capitals with hyphens`() {
        #expect(
            AlertMetric.allCases.map(\.codeName) == [
                "GLUCOSE", "GLUCOSE-RATE", "INSULIN-ON-BOARD", "RESERVOIR", "SENSOR-AGE", "TEMPERATURE",
                "HUMIDITY", "VPD", "READING-AGE", "GLUCOSE-IN20M", "FORECAST-GLUCOSE", "UNKNOWN-INSULIN",
                "LEVEL", "BASAL-SHARE", "DROPPED-INSULIN",
            ])
    }
}
