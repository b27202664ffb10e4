// What a scenario file may say: the key tables. The format is a public contract.

import IsletAlerts
import IsletDevices

extension AlertScenario {
    /// The shape of a scenario file.
    package static let shape = MappingShape(
        summary: "Unit tests of an alert policy.",
        keys: [
            KeyShape("suite", .text(title), "What the cases are about.", isRequired: true),
            KeyShape("policy", policy, "The policy under test.", defaultValue: .string("bionicloop")),
            KeyShape(
                "compare", compare, "Which effects must be as expected, all of them.",
                defaultValue: defaultEffects),
            KeyShape("defaults", .mapping(worldShape), "The world at t = 0.", leftOut: "each key's own"),
            KeyShape(
                "interval", .text(.timeSpan(upTo: TimeSpan(seconds: 86_400), saying: "1d")), "Of series.",
                defaultValue: .string("5m")),
            KeyShape("cases", .list(.mapping(caseShape), count: 1...10_000), "The cases.", isRequired: true),
        ])

    private static let title = TextRule(
        expectation: "text of 1 to 300 characters on one line", pattern: #"^[^\x00-\x1F\x7F]{1,300}$"#,
        accepts: { text in
            !text.isEmpty && text.unicodeScalars.count <= 300
                && !text.unicodeScalars.contains(where: isUnprintable)
        })

    private static let policy = Shape.either([
        .text(
            TextRule(
                expectation:
                    "a preset: \(AlertPreset.allCases.map(\.rawValue).joined(separator: ", ")); or a path",
                pattern: TextRule.path.pattern, accepts: TextRule.path.accepts)),
        .mapping(AlertPolicy.shape),
    ])

    private static let compare = Shape.list(
        .choice(noun: "an effect", AlertEffect.Kind.allCases.map { .init($0.rawValue, "the effect") }),
        count: 0...AlertEffect.Kind.allCases.count)

    static let at = Shape.text(AlertPolicy.span)
    private static let flag = Shape.flag

    private static func oneOf(_ noun: String, _ names: [String]) -> Shape {
        .choice(noun: noun, names.map { .init($0, $0) })
    }

    private static let defaultEffects = JSONValue.array(defaultCompare.map { .string($0.rawValue) })

    static let sensorStates = ["ok", "warmup", "temporaryError", "noReliableGlucose", "failed", "expired"]

    /// The keys of the world that may change at any instant.
    private static let worldKeys = [
        KeyShape(
            "timeZone", .text(ZoneTable.rule), "The phone's zone.", defaultValue: .string("America/New_York")),
        KeyShape("firstStepDone", flag, "Whether a step ever succeeded.", defaultValue: .bool(true)),
        KeyShape(
            "steps", oneOf("running or stopped", ["running", "stopped"]), "A successful step every 5 min.",
            defaultValue: .string("running")),
        KeyShape(
            "pod", oneOf("active or none", ["active", "none"]), "The pod.", defaultValue: .string("active")),
        KeyShape("podExpiresIn", .text(AlertPolicy.span), "From this instant.", defaultValue: .string("72h")),
        KeyShape(
            "pumpSession", oneOf("established or none", ["established", "none"]), "The pump session.",
            defaultValue: .string("established")),
        KeyShape(
            "pumpStatus", oneOf("known or missing", ["known", "missing"]), "The pump's status.",
            defaultValue: .string("known")),
        KeyShape(
            "cgmState", oneOf("a sensor state", sensorStates), "The sensor's algorithm.",
            defaultValue: .string("ok")),
        KeyShape(
            "cgmLifecycle", oneOf("a life-cycle", ["ok", "failed", "expired"]), "The sensor's life.",
            defaultValue: .string("ok")),
        KeyShape("glucose", .number(0...2000), "The held value, mg/dL.", defaultValue: .number(120)),
        KeyShape(
            "auth", oneOf("signedIn or signedOut", ["signedIn", "signedOut"]), "The account.",
            defaultValue: .string("signedIn")),
        KeyShape(
            "subjectClaim", oneOf("ok or conflict", ["ok", "conflict"]), "What the cloud says.",
            defaultValue: .string("ok")),
        KeyShape("clockSkew", .text(skew), "What a UTC check would return.", defaultValue: .string("0s")),
    ]

    static let worldShape = MappingShape(
        summary: "The world at t = 0.",
        keys: [
            KeyShape(
                "start", .text(StudyStart.rule), "Wall time at t = 0.",
                defaultValue: .string("2026-03-02T08:00:00-05:00")),
            KeyShape(
                "app", oneOf("an app state", ["foreground", "background", "quit"]), "The app.",
                defaultValue: .string("foreground")),
            KeyShape(
                "loop", oneOf("armed or disarmed", ["armed", "disarmed"]), "The loop.",
                defaultValue: .string("armed")),
        ] + worldKeys)

    static let eventShape = MappingShape(
        summary: "What changes, and what happens, at one instant.",
        keys: [
            KeyShape("at", at, "When.", isRequired: true),
            KeyShape(
                "app", oneOf("an app state", ["foreground", "background", "quit", "relaunch"]), "The app."),
            KeyShape("loop", oneOf("a loop state", ["armed", "disarmed", "reset"]), "The loop."),
            KeyShape("pumpAlert", .mapping(nativeShape), "The pump issues or retracts an alert."),
            KeyShape("cgmAlert", .mapping(nativeShape), "The sensor's driver issues or retracts a message."),
            KeyShape(
                "reading",
                .mapping(
                    MappingShape(
                        summary: "One reading.",
                        keys: [
                            KeyShape("glucose", .number(0...2000), "mg/dL.", isRequired: true),
                            KeyShape("reliable", flag, "Whether it counts.", defaultValue: .bool(true)),
                            KeyShape(
                                "age", .text(AlertPolicy.span), "How old it is.", defaultValue: .string("0s")),
                        ])), "One reading."),
            KeyShape(
                "readings", oneOf("running or stopped", ["running", "stopped"]), "The regular readings."),
            KeyShape("step", oneOf("ok or failed", ["ok", "failed"]), "One step."),
            KeyShape("user", .mapping(userShape), "The person does something."),
            KeyShape(
                "handlers",
                .mapping(
                    MappingShape(
                        summary: "Who takes acknowledgements.",
                        keys: ["pump", "cgm"].map {
                            KeyShape(
                                $0, oneOf("registered or unregistered", ["registered", "unregistered"]),
                                "The handler.", leftOut: "as it was")
                        })), "The sources' handlers."),
            KeyShape("settingsSaved", flag, "Clinical settings are saved."),
            KeyShape("settingsOpened", flag, "Clinical settings are opened."),
            KeyShape("timeChange", .text(jump), "The wall clock jumps."),
            KeyShape("preview", .text(AlertPolicy.code), "An alert is injected."),
            KeyShape("testAlert", .text(AlertPolicy.code), "The person asks for a test."),
        ].map { $0.leavingOut("nothing") } + worldKeys.map { $0.leavingOut("as it was") }
            + AlertMetric.measured.filter { $0 != .glucose }.map {
                KeyShape(
                    $0.rawValue, .number(-100_000...100_000), "One sample, \($0.unit).", leftOut: "no sample")
            })

    private static let nativeShape = MappingShape(
        summary: "An alert of a device.",
        keys: [
            KeyShape("issue", .text(title), "Its identifier."),
            KeyShape("text", .text(title), "Its words.", leftOut: "none"),
            KeyShape("retract", .text(title), "The identifier that is withdrawn."),
        ], exactlyOne: ["issue", "retract"], onlyBeside: [(key: "text", other: "issue")])

    private static let userShape = MappingShape(
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

    private static let caseShape = MappingShape(
        summary: "One case.",
        keys: [
            KeyShape("name", .text(title), "What it shows.", isRequired: true),
            KeyShape(
                "tags", .list(.text(title), count: 0...20), "What it shows, in words of your own.",
                defaultValue: .array([])),
            KeyShape("policy", policy, "In place of the file's.", leftOut: "the file's"),
            KeyShape("compare", compare, "In place of the file's.", leftOut: "the file's"),
            KeyShape("defaults", .mapping(worldShape), "Over the file's.", leftOut: "the file's"),
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
            KeyShape(
                "interval", .text(.timeSpan(upTo: TimeSpan(seconds: 86_400), saying: "1d")), "Of series.",
                leftOut: "the file's"),
            KeyShape(
                "timeline", .list(.mapping(eventShape), count: 0...10_000), "What happens.",
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

    private static let skew = TextRule(
        expectation: "a length of time such as 0s, 11m or -700s; or unavailable",
        pattern: #"^(unavailable|[+-]?([0-9]+[wdhms])+)$"#,
        accepts: { $0 == "unavailable" || signed($0) != nil })

    private static let jump = TextRule(
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
