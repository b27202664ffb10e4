// What the API answers, as schemas: one name for each kind of thing, and what each route answers with.
//
// Guarantees: of each object all members are named, and no other comes; what isn't known is null, not left out, but where `optional` says so. Tests hold what is
// answered to them.

import IsletAlerts
import IsletFiles
import IsletLive
import IsletDevices
import IsletTrials

/// What an answer has, as JSON Schema says it.
indirect enum AnswerSchema: Sendable {
    case text, number, whole, flag
    case oneOf([String])
    case list(AnswerSchema)
    case orNull(AnswerSchema)
    /// A name of `all`.
    case named(String)
    case object([(String, AnswerSchema)], optional: [String] = [])

    var json: JSONValue {
        switch self {
        case .text: Self.type("string")
        case .number: Self.type("number")
        case .whole: Self.type("integer")
        case .flag: Self.type("boolean")
        case .oneOf(let names):
            ["type": "string", "enum": .array(names.map { .string($0) })]
        case .list(let items):
            ["type": "array", "items": items.json]
        case .orNull(let schema): ["anyOf": .array([schema.json, Self.type("null")])]
        case .named(let name): ["$ref": .string("#/components/schemas/\(name)")]
        case .object(let members, let optional):
            [
                "type": "object", "additionalProperties": .bool(false),
                "required": .array(members.filter { !optional.contains($0.0) }.map { .string($0.0) }),
                "properties": .object(members.map { JSONValue.Member($0.0, $0.1.json) }),
            ]
        }
    }

    private static func type(_ name: String) -> JSONValue { ["type": .string(name)] }

    private static func joined(_ parts: [(String, AnswerSchema)]..., optional: [String] = []) -> AnswerSchema
    {
        .object(Array(parts.joined()), optional: optional)
    }
}

extension AnswerSchema {
    /// Seconds since the session's start, and the session's local time.
    private static let time: [(String, AnswerSchema)] = [("t", .number), ("at", .text)]
    private static let instant = AnswerSchema.named("Instant")
    private static let phase: [(String, AnswerSchema)] = [
        ("phase", .oneOf(["running", "returning", "ended", "failed"])), ("reason", .orNull(.text)),
    ]
    private static let severity = AnswerSchema.oneOf(AlertSeverity.allCases.map { "\($0)" })

    /// A new session, or one that goes on.
    static let id = AnswerSchema.object([("id", .text)])

    /// What was said, and that it was taken. `said`: of a test, whether it reaches somebody; `note`: what is not done yet.
    static let taken = AnswerSchema.object(
        [
            ("number", .orNull(.whole)), ("repeated", .flag), ("said", .orNull(.text)), ("note", .text),
        ], optional: ["note"])

    /// Where a session stands for its driver; `driver`: by name.
    private static let stand: [(String, AnswerSchema)] =
        time + phase + [("driver", .orNull(.text)), ("step", .orNull(.named("Step"))), ("digest", .text)]
    static let driven = AnswerSchema.object(stand)
    static let sat = AnswerSchema.object([("token", .text)] + stand)

    /// A step, as `islet-step/1` has it; what is absent is left out.
    private static let step = AnswerSchema.object(
        StepFields.step.map { field -> (String, AnswerSchema) in
            switch field.kind {
            case .whole: (field.name, .whole)
            case .real: (field.name, .number)
            // Seconds, with nine places.
            case .instant, .text: (field.name, .text)
            }
        }, optional: StepFields.step.filter { $0.absence != nil }.map(\.name))

    /// How many sessions the ward has then.
    static let begun = AnswerSchema.object([("sessions", .whole)])

    static let events = AnswerSchema.object([("missing", .whole), ("events", .list(.named("Event")))])

    static let forked = AnswerSchema.object([
        ("id", .text),
        (
            "left_out",
            .list(.object([("number", .whole), ("t", .number), ("text", .text), ("reason", .text)]))
        ),
    ])

    static let begunAnew = AnswerSchema.object([
        ("id", .text),
        ("refused", .list(.object([("code", .text), ("reason", .text), ("reason_parts", .named("Parts"))]))),
    ])

    static let preview = AnswerSchema.object([
        ("would_ring", .whole), ("hours", .whole),
        (
            "episodes",
            .list(
                .object([
                    ("side", .oneOf(["low", "high"])), ("from", instant), ("rings", instant),
                    ("to", .orNull(instant)),
                ]))
        ),
    ])

    static let comparison = AnswerSchema.object([
        ("from", instant), ("to", instant),
        (
            "rows",
            .list(
                .object([
                    ("name", .text), ("unit", .text), ("left", .orNull(.number)), ("right", .orNull(.number)),
                ]))
        ),
    ])

    static let studies = AnswerSchema.object([
        ("studies", .list(.text)),
        ("results", .list(.object([("name", .text), ("study", .text), ("sessions", .whole)]))),
    ])

    static let sessions = AnswerSchema.object([("sessions", .list(.named("Card")))])
    static let readings = AnswerSchema.object([
        ("readings", .list(.joined(time, [("mgdl", .number), ("came_late", .flag)])))
    ])
    static let steps = AnswerSchema.object([
        (
            "steps",
            .list(
                .joined(
                    time,
                    [
                        ("algorithm_time", .whole), ("cgm_mgdl", .orNull(.number)),
                        ("is_pump_available", .flag), ("basal_units", .number),
                        ("correction_units", .number), ("meal_units", .number), ("accepted_units", .number),
                        ("failure", .text),
                    ]))
        )
    ])
    static let activeAlerts = AnswerSchema.object([("alerts", .list(.named("Alert")))])
    static let clearedAlerts = AnswerSchema.object([
        ("page", .whole), ("count", .whole), ("alerts", .list(.named("Alert"))),
    ])
    static let serverHealth = AnswerSchema.object([("status", .text), ("sessions_frozen", .whole)])

    // MARK: Named

    static let all: [(String, AnswerSchema)] = [
        // The code is of a command that was not taken, or has no answer yet.
        (
            "Error",
            .object(
                [
                    ("error", .text), ("error_parts", .named("Parts")),
                    ("code", .oneOf(RefusalCode.allCases.map(\.rawValue))),
                ], optional: ["code", "error_parts"])
        ),
        ("Instant", .object(time)), ("Parts", parts), ("Health", health), ("Alert", alert),
        ("Settings", settings), ("Card", card), ("Session", session), ("Event", event), ("Step", step),
    ]

    /// Joined, the texts of the parts are the sentence.
    private static let parts = AnswerSchema.list(
        .object(
            [
                ("text", .text), ("is_time_of_day", .flag), ("value", .number), ("unit", .text),
                ("compared_with", .orNull(.number)), ("shows_unit", .flag),
            ], optional: ["is_time_of_day", "value", "unit", "compared_with", "shows_unit"]))

    private static let health = AnswerSchema.object([
        ("is_well", .flag),
        (
            "concerns",
            .list(
                .object([
                    ("part", .oneOf(["session", "glucose", "loop", "pump", "values", "alerts"])),
                    ("severity", severity), ("text", .text), ("text_parts", .named("Parts")),
                    ("is_acknowledged", .flag),
                ]))
        ),
    ])

    private static let alert = AnswerSchema.object([
        ("code", .text), ("severity", severity), ("source", .text), ("message", .text),
        ("message_parts", .named("Parts")), ("action", .text), ("acknowledgement", .text),
        ("reviewed", .orNull(instant)), ("raised", instant), ("updated", instant),
        ("counts_down_to", .orNull(instant)), ("cleared", .orNull(instant)), ("cleared_by", .orNull(.text)),
        ("is_preview", .flag), ("has_banner", .flag), ("notified", .orNull(instant)),
        ("told", .orNull(instant)), ("route", .text),
        (
            "story",
            .list(
                .joined(
                    time, [("effect", .text), ("reason", .text), ("severity", .text), ("count", .whole)]))
        ),
    ])

    private static let settings = AnswerSchema.object([
        ("target_mgdl", .orNull(.number)), ("subject", .orNull(.text)), ("kilograms", .orNull(.number)),
        ("next_subject", .orNull(.text)), ("next_kilograms", .orNull(.number)),
        ("quiet_hours", .orNull(.object([("from", .text), ("to", .text)]))), ("policy", .orNull(.text)),
        ("owner", .orNull(.text)), ("owner_problem", .orNull(.text)),
        (
            "thresholds",
            .list(
                .object([
                    ("metric", .text), ("unit", .text), ("enabled", .flag), ("low", .orNull(.number)),
                    ("high", .orNull(.number)), ("sensitivity_minutes", .number), ("range", .list(.number)),
                    (
                        "recommended",
                        .list(
                            .object([
                                ("stage", .text), ("from", .number), ("to", .number), ("source", .text),
                            ]))
                    ), ("critical_below", .orNull(.number)), ("critical_above", .orNull(.number)),
                ]))
        ),
    ])

    private static let card = AnswerSchema.joined(
        [
            ("id", .text), ("name", .text), ("kind", .text), ("pace", .text), ("number", .whole),
            ("is_frozen", .flag), ("is_sounding", .flag), ("local_time", .text),
            ("glucose_mgdl", .orNull(.number)), ("is_stale", .flag), ("alerts", .whole), ("has_phone", .flag),
            ("is_untold", .flag),
            ("top_alert", .orNull(.text)), ("top_severity", .orNull(severity)), ("health", .named("Health")),
            ("group", .oneOf(WardStanding.Group.allCases.map(\.rawValue))),
            ("danger", .oneOf(WardStanding.Danger.allCases.map { "\($0)" })), ("harm", .orNull(.text)),
            ("minutes_to_harm", .orNull(.number)), ("no_insulin_since", .orNull(instant)),
            ("insulin_on_board_units", .orNull(.number)),
        ], phase)

    private static let origin = AnswerSchema.joined(
        [
            ("kind", .oneOf(["own", "study", "fork"])), ("results", .text), ("session", .whole),
            ("is_same", .orNull(.flag)), ("of", .text), ("change", .text),
        ], time, optional: ["results", "session", "is_same", "of", "change", "t", "at"])

    private static let loop = AnswerSchema.object([
        ("status", .oneOf(["no session", "open loop", "closed loop"])), ("is_pump_available", .flag),
        ("is_degraded", .flag), ("late_steps", .whole), ("last_step", .orNull(instant)),
        ("last_delivering", .orNull(instant)), ("next_step", .orNull(instant)),
        ("under_way_units", .orNull(.number)), ("owed_units", .orNull(.number)),
        ("owed_until", .orNull(instant)), ("temporary_basal_percent", .number),
        ("temporary_basal_ends", .orNull(instant)),
        (
            "requested_bolus",
            .orNull(
                .object([
                    ("request", .whole), ("units", .number), ("until", instant),
                    ("insulin_on_board_units", .number), ("foreseen_mgdl", .orNull(.number)),
                    ("asks_again", .orNull(.text)),
                    ("asks_again_parts", .orNull(.named("Parts"))),
                ]))
        ), ("forecast", .orNull(.joined([("mgdl", .orNull(.number))], time))),
    ])

    private static let pump = AnswerSchema.object([
        ("condition", .text), ("is_connected", .flag), ("reservoir_units", .orNull(.number)),
        ("is_reservoir_exact", .flag), ("pod", .text), ("pod_expires", .orNull(instant)),
        ("temporary_basal_units_per_hour", .orNull(.number)),
    ])

    private static let session = AnswerSchema.joined(
        [("id", .text), ("name", .text), ("kind", .text), ("origin", origin), ("number", .whole)], time,
        [("ends", instant), ("pace", .text)], phase,
        [
            ("is_frozen", .flag), ("is_sounding", .flag), ("is_read_only", .flag),
            ("are_controls_disabled", .flag),
            ("is_fed", .flag), ("is_app_alive", .flag), ("is_in_foreground", .flag), ("has_phone", .flag),
            ("is_signed_in", .flag), ("subject", .text), ("arm", .text),
            (
                "glucose",
                .orNull(
                    .joined(
                        [
                            ("mgdl", .orNull(.number)), ("is_stale", .flag),
                            ("mgdl_per_minute", .orNull(.number)),
                        ], time))
            ), ("loop", .orNull(loop)), ("pump", .orNull(pump)), ("sensor", .orNull(.text)),
            (
                "values",
                .list(.joined([("metric", .text), ("value", .number), ("unit", .text)], time))
            ),
            (
                "last_24_hours",
                .orNull(
                    .object([
                        ("insulin_units", .number), ("lowest_mgdl", .orNull(.number)),
                        ("highest_mgdl", .orNull(.number)), ("mean_mgdl", .orNull(.number)),
                    ]))
            ),
            ("driver", .orNull(.object([("name", .orNull(.text)), ("waiting_step", .orNull(.whole))]))),
            ("is_quiet", .flag), ("settings", .named("Settings")),
            ("insulin_on_board_units", .orNull(.number)),
            ("snoozes", .list(.object([("alert", .text), ("until", instant)]))), ("waiting", .list(.text)),
            ("health", .named("Health")), ("alerts", .list(.named("Alert"))), ("cleared_count", .whole),
            ("digest", .text),
        ])

    /// What happened: one of a timeline, or the data of a `happened` event.
    private static let event = AnswerSchema.joined(
        [("number", .whole)], time,
        [
            ("kind", .text), ("outcome", .oneOf(LiveEvent.Outcome.allCases.map(\.rawValue))),
            ("code", .orNull(.text)), ("reason", .orNull(.text)),
            ("reason_parts", .orNull(.named("Parts"))),
            (
                "input",
                .orNull(
                    .object([("number", .whole), ("name", .orNull(.text)), ("alert", .orNull(.text))]))
            ),
            (
                "values",
                .list(.object([("name", .text), ("value", .number), ("unit", .text)]))
            ), ("text", .text),
            (
                "alert",
                .orNull(
                    .object([
                        ("code", .text), ("effect", .text), ("reason", .text), ("severity", .text),
                        ("message", .text), ("message_parts", .named("Parts")), ("action", .text),
                        ("route", .text),
                    ]))
            ),
        ])
}
