// What a policy file may say: the key tables.

package import IsletAlerts
import IsletDevices

extension AlertPolicy {
    /// The shape of a policy file.
    package static let shape = MappingShape(
        summary: "An alert policy: how conditions become episodes, and episodes annunciations.",
        keys: [
            KeyShape("policy", .text(.name), "Its name.", isRequired: true),
            KeyShape(
                "notes", .text(notes), "What a reader should know, such as what is not reproduced.",
                leftOut: "none"),
            KeyShape(
                "extends",
                .choice(noun: "a preset", AlertPreset.allCases.map { .init($0.rawValue, $0.summary) }),
                "Rules to start from; a rule of the same code replaces one of them.", leftOut: "no rules"),
            KeyShape(
                "subject", .text(.name), "Whose thresholds these are, for messages and links.",
                leftOut: "nobody's"),
            KeyShape(
                "rules", .list(.mapping(ruleShape), count: 0...200), "Rules, one a code.",
                defaultValue: .array([])),
            KeyShape(
                "thresholds", .list(.mapping(thresholdShape), count: 0...200), "Thresholds of metrics.",
                defaultValue: .array([])),
            KeyShape(
                "quietHours", .mapping(quietShape), "When only what is safety-critical is notified.",
                leftOut: "never"),
            KeyShape(
                "limits", .mapping(limitsShape), "Limits of the engine, where they are others.",
                leftOut: "each as stated"),
            KeyShape(
                "evaluation",
                .choice(
                    noun: "a way to evaluate",
                    [
                        .init("timed", "time decides, between samples too"),
                        .init("literal", "the literal sketch of the threshold story, with its flaw"),
                    ]), "How thresholds are judged.", defaultValue: .string("timed")),
        ] + AlertPolicy.keyRows.map(\.shape))

    static let ruleShape = MappingShape(
        summary: "One rule. What is left out is as in the catalogue for its codes, else as stated.",
        keys: [
            KeyShape("code", .text(code), "A code of the catalogue, or one of your own.", isRequired: true),
            KeyShape(
                "when", .text(when), "Comparisons of metrics; for a code of your own this must be there.",
                leftOut: "the condition of the code in the catalogue"),
            KeyShape(
                "clearAt", .number(-100_000...100_000), "The value at which an episode may end.",
                leftOut: "the bound"),
        ] + AlertRule.ruleKeyRows.map(\.shape))

    static let thresholdShape = MappingShape(
        summary: "A range that a metric should stay in.",
        keys: [
            KeyShape(
                "metric",
                .either([
                    .text(metric),
                    .choice(
                        noun: "a metric",
                        AlertMetric.allCases.map {
                            .init(
                                $0.rawValue,
                                "\($0.name), \($0.unit)" + ($0.note.isEmpty ? "" : ": \($0.note)"))
                        }),
                ]),
                "Which one, or `own.NAME`: what an algorithm or a listener of one's own answers (docs/algorithms.md).",
                isRequired: true),
            KeyShape(
                "recommended",
                .choice(
                    noun: "a stage of growth", AlertMetric.stages.map { .init($0, "what growers aim at") }),
                "The range of this stage, where `min` and `max` say nothing else.", leftOut: "no range"),
            KeyShape(
                "min", .number(-100_000...100_000), "Below it is a violation.", leftOut: "no bound below"),
            KeyShape(
                "max", .number(-100_000...100_000), "Above it is a violation.", leftOut: "no bound above"),
            KeyShape("enabled", .flag, "Whether it counts.", defaultValue: .bool(true)),
            KeyShape(
                "sensitivity",
                .text(sensitivity), "How long a violation must last.", defaultValue: .string("immediate")),
            KeyShape(
                "clearAt", .number(-100_000...100_000), "The value at which an episode may end.",
                leftOut: "the bound"),
            KeyShape(
                "critical",
                .mapping(
                    MappingShape(
                        summary: "Beyond these the alert is safety-critical.",
                        keys: [
                            KeyShape(
                                "below", .number(-100_000...100_000), "Critical below.",
                                leftOut: "the metric's own"),
                            KeyShape(
                                "above", .number(-100_000...100_000), "Critical above.",
                                leftOut: "the metric's own"),
                        ])), "Bounds of what is safety-critical.", leftOut: metricCritical),
            KeyShape(
                "writtenAt", .text(StudyStart.rule), "When it was set, for `islet alerts merge`.",
                leftOut: "unknown, and not to be merged"),
            KeyShape(
                "sequence", .wholeNumber(0...1_000_000_000),
                "Which of the writes of one second it was, for `islet alerts merge`.",
                defaultValue: .integer(0)),
            KeyShape(
                "device", .text(.name), "Where it was set, for `islet alerts merge`.",
                leftOut: "unknown, and not to be merged"),
        ]
            + AlertRule.keyRows.map {
                $0.shape.name == "severity" ? $0.shape.leavingOut("actionable") : $0.shape
            })

    private static let limitsShape = MappingShape(
        summary: "Limits of the engine.", keys: AlertLimits.keyRows.map(\.shape))

    private static let quietShape = MappingShape(
        summary: "Local wall time; from is inside, to is outside; equal times mean always.",
        keys: [
            KeyShape("from", .text(timeOfDay), "Its start.", isRequired: true),
            KeyShape("to", .text(timeOfDay), "Its end.", isRequired: true),
            KeyShape("timeZone", .text(ZoneTable.rule), "Whose time.", leftOut: "the phone's"),
        ])

    static let severity = Shape.choice(
        noun: "a severity",
        [
            .init("informational", "shown, never notified"), .init("actionable", "notified"),
            .init("safetyCritical", "notified through quiet hours"),
        ])

    private static let metricCritical =
        AlertMetric.allCases.compactMap { metric in
            guard let below = metric.criticalBelow, let above = metric.criticalAbove else { return nil }
            return "\(metric.rawValue) \(JSONValue.numberText(below)) and \(JSONValue.numberText(above))"
        }.joined(separator: ", ") + "; none for the others"

    private static let notes = TextRule(
        expectation: "text of at most 4000 characters", pattern: #"^[\s\S]{0,4000}$"#,
        accepts: { $0.unicodeScalars.count <= 4000 })

    static let code = TextRule(
        expectation: "a code of capital letters, digits and hyphens, such as ALERT-PUMP-FAULT",
        pattern: #"^[A-Z][A-Z0-9\-]{0,79}$"#,
        accepts: { text in
            guard let first = text.utf8.first, (65...90).contains(first), text.utf8.count <= 80 else {
                return false
            }
            return text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) || $0 == 45 }
        })

    private static let metricNames =
        AlertMetric.allCases.map(\.rawValue).joined(separator: ", ") + ", or own.NAME"

    /// One of the names, or a number of somebody's own.
    private static let metric = TextRule(
        expectation: "a metric: " + metricNames, pattern: #"^(own\.)?[A-Za-z][A-Za-z0-9_]*$"#,
        accepts: { AlertMetric(inPolicy: $0) != nil })

    private static let when = TextRule(
        expectation:
            "comparisons such as `glucose < 70` or `glucose < 80 and glucoseRate < -2`, of "
            + metricNames,
        pattern:
            #"^(own\.)?[A-Za-z][A-Za-z0-9_]* *[<>] *-?[0-9.]+( +and +(own\.)?[A-Za-z][A-Za-z0-9_]* *[<>] *-?[0-9.]+)*$"#,
        accepts: { AlertPolicy.tests(of: $0) != nil })

    static let timeOfDay = TextRule(
        expectation: "a time of day from 00:00 to 23:59, in quotes",
        pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
        accepts: { AlertPolicy.nanoseconds(ofDay: $0) != nil })

    /// A length of time, zero included.
    static let span = TextRule(
        expectation: "a length of time such as 0s, 90s, 5m, 1h30m or 7d, at most 3650d",
        pattern: #"^(?=.)([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"#,
        accepts: { text in TimeSpan(text).map { $0 <= TimeSpan.longestAllowed } ?? false })

    private static let sensitivity = TextRule(
        expectation: "immediate, or a length of time such as 15m or 1h",
        pattern: #"^(immediate|(?=.)([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?)$"#,
        accepts: { $0 == "immediate" || span.accepts($0) })

    static let longSpan = TextRule.timeSpan(upTo: TimeSpan.longestAllowed, saying: "3650d")

    /// `22:00` as nanoseconds since midnight.
    static func nanoseconds(ofDay text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), (0..<24).contains(hour), (0..<60).contains(minute)
        else { return nil }
        return (hour * 60 + minute) * 60_000_000_000
    }

    /// What a bound may be, in the unit of any metric. An age in minutes stays within the time that an instant can say.
    static let bounds = -100_000.0...100_000.0

    /// The comparisons of `when`; nil where it is none.
    static func tests(of text: String) -> [MetricTest]? {
        var tests: [MetricTest] = []
        for part in text.split(separator: " and ", omittingEmptySubsequences: false) {
            guard let sign = part.firstIndex(where: { $0 == "<" || $0 == ">" }) else { return nil }
            func trimmed(_ text: Substring) -> String { String(text.filter { $0 != " " }) }
            guard let metric = AlertMetric(inPolicy: trimmed(part[..<sign])),
                let bound = Double(trimmed(part[part.index(after: sign)...])), bounds.contains(bound)
            else { return nil }
            tests.append(MetricTest(metric, part[sign] == "<" ? .low : .high, bound))
        }
        return tests.isEmpty || tests.count > 8 ? nil : tests
    }

    /// The published JSON Schema (draft 2020-12) of a policy file.
    package static var jsonSchema: JSONValue {
        var members: [JSONValue.Member] = [
            .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            .init("title", .string("Islet alert policy")),
        ]
        if case .object(let inner) = Shape.mapping(shape).schema { members += inner }
        return .object(members)
    }
}
