// What a scenario file may say: the key tables. The format is a public contract.

import IsletAlerts
import IsletDevices

extension AlertScenario {
    static let title = TextRule(
        expectation: "text of 1 to 300 characters on one line", pattern: #"^[^\x00-\x1F\x7F]{1,300}$"#,
        accepts: { text in
            !text.isEmpty && text.unicodeScalars.count <= 300
                && !text.unicodeScalars.contains(where: isUnprintable)
        })

    static let at = Shape.text(AlertPolicy.span)
    static func oneOf(_ noun: String, _ names: [String]) -> Shape {
        .choice(noun: noun, names.map { .init($0, $0) })
    }

    static let nativeShape = MappingShape(
        summary: "An alert of a device.",
        keys: [
            KeyShape("issue", .text(title), "Its identifier."),
            KeyShape("text", .text(title), "Its words.", leftOut: "none"),
            KeyShape("retract", .text(title), "The identifier that is withdrawn."),
        ], exactlyOne: ["issue", "retract"], onlyBeside: [(key: "text", other: "issue")])

    static let userShape = MappingShape(
        summary: "One thing that the person does.",
        keys: [
            KeyShape("acknowledge", .text(AlertPolicy.code), "Acknowledges it."),
            KeyShape("tap", .text(AlertPolicy.code), "Taps its notification or its banner."),
            KeyShape("dismiss", .text(AlertPolicy.code), "Puts its banner away."),
            KeyShape("snooze", .text(AlertPolicy.code), "Doesn't want to hear of it."),
            KeyShape(
                "for", .text(AlertPolicy.span), "For how long.", leftOut: "must be there beside `snooze`"),
        ], exactlyOne: ["acknowledge", "tap", "dismiss", "snooze"],
        onlyBeside: [(key: "for", other: "snooze"), (key: "snooze", other: "for")])

    static let caseShape = MappingShape(
        summary: "One case.",
        keys: [
            KeyShape("name", .text(title), "What it shows.", isRequired: true),
            KeyShape(
                "tags", .list(.text(title), count: 0...20), "What it shows, in words of your own.",
                defaultValue: .array([])),
            ScenarioSetup.policy.inCase(),
            ScenarioSetup.compare.inCase(),
            ScenarioSetup.world.inCase("Over the file's."),
            KeyShape(
                "series",
                .mapping(
                    MappingShape(
                        summary: "Samples from t = 0, by metric.",
                        keys: AlertMetric.measured.map {
                            KeyShape(
                                $0.rawValue, .text(SeriesNotation.rule), "Samples, \($0.unit).",
                                leftOut: "none")
                        })), "Samples in place of the held value.", leftOut: "none"),
            ScenarioSetup.interval.inCase("Of series."),
            KeyShape(
                "timeline", .list(.mapping(ScenarioEvent.shape), count: 0...10_000), "What happens.",
                defaultValue: .array([])),
            KeyShape("until", .text(AlertPolicy.span), "The last instant, included.", isRequired: true),
            KeyShape(
                "expect", .list(.mapping(expectShape), count: 0...10_000), "Every effect, in order.",
                isRequired: true),
            KeyShape(
                "states", .list(.mapping(stateShape), count: 0...10_000), "What is listed, and when.",
                defaultValue: .array([])),
        ])

    private static let expectShape = MappingShape(
        summary: "One effect.",
        keys: [
            KeyShape("at", at, "When.", isRequired: true)
        ]
            + AlertEffect.Kind.allCases.map {
                KeyShape($0.rawValue, .text(AlertPolicy.code), "The effect's code.")
            }
            + [
                KeyShape(
                    "severity", oneOf("a severity", AlertSeverity.allCases.map(\.name)), "Its severity."),
                KeyShape(
                    "reason", oneOf("a reason", AlertEffect.Reason.allCases.map(\.rawValue)), "Its reason."),
                KeyShape(
                    "message",
                    .mapping(
                        MappingShape(
                            summary: "The message.",
                            keys: [KeyShape("contains", .text(title), "A part of it.", isRequired: true)])),
                    "The message."),
                KeyShape("to", .text(title), "Where a tap leads."),
            ].map { $0.leavingOut("not compared") }, exactlyOne: AlertEffect.Kind.allCases.map(\.rawValue))

    private static let stateShape = MappingShape(
        summary: "What is listed at an instant.",
        keys: [
            KeyShape("at", at, "When.", isRequired: true),
            KeyShape("active", codes, "In the order of the list."),
            KeyShape("pending", codes, "In any order."),
            KeyShape("cleared", codes, "Newest first."),
            KeyShape("badge", .wholeNumber(0...10_000), "The number on the bell."),
            KeyShape("banner", .text(banner), "The code on the banner, or none."),
            KeyShape("quiet", .flag, "Whether the quiet-hours indicator is on."),
        ].map { $0.leavingOut("not compared") })

    static let noBanner = "none"
    private static let banner = TextRule(
        expectation: "\(noBanner), or \(AlertPolicy.code.expectation)",
        pattern: "^(\(noBanner)|[A-Z][A-Z0-9\\-]{0,79})$",
        accepts: { $0 == noBanner || AlertPolicy.code.accepts($0) })

    private static let codes = Shape.list(.text(AlertPolicy.code), count: 0...200)

    /// A length of time with an optional sign.
    static func signed(_ text: String) -> Int64? {
        let sign: Int64 = text.hasPrefix("-") ? -1 : 1
        let body = text.hasPrefix("-") || text.hasPrefix("+") ? String(text.dropFirst()) : text
        return TimeSpan(body).map { sign * $0.nanoseconds }
    }

    static let skew = TextRule(
        expectation: "a length of time such as 0s, 11m or -700s; or unavailable",
        pattern: #"^(unavailable|[+-]?([0-9]+[wdhms])+)$"#,
        accepts: { $0 == "unavailable" || signed($0) != nil })

    static let jump = TextRule(
        expectation: "a length of time with its sign, such as +1h or -1d",
        pattern: #"^[+-]?([0-9]+[wdhms])+$"#,
        accepts: { signed($0) != nil })
}

extension AlertScenario {
    /// The published JSON Schema (draft 2020-12) of a scenario file.
    package static var jsonSchema: JSONValue {
        var members: [JSONValue.Member] = [
            .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            .init("title", .string("Islet alert scenarios")),
        ]
        if case .object(let inner) = Shape.mapping(shape).schema { members += inner }
        return .object(members)
    }
}
