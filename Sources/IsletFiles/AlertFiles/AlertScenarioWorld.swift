// The world of a scenario, and what happens in it: each key once.
//
// Guarantees: a key of the world says what may stand there, which property it sets at t = 0, and which event it is at any other instant; a key of a timeline
// alone says what may stand there and which event it is. Shapes, schema, pages and reader take keys from these rows.

import IsletAlerts
import IsletDevices
import IsletKernel

/// The world at t = 0, as a file says it.
struct ScenarioWorld: Keyed {
    var start = "2026-03-02T08:00:00-05:00"
    var app = AlertWorldEvent.AppState.foreground
    var zone = "America/New_York"
    var stepsRun = true
    /// ns from t = 0.
    var podExpires = AlertWorld.podLife
    var glucose = 120.0
    var environment = AppEnvironment()

    static let zoneKey = "timeZone"

    /// A key that may change at any instant.
    struct Key: Sendable {
        let row: KeyRow<ScenarioWorld>
        let event: ScenarioEvent
        /// What it is called in words where it is the one of a flag of the environment.
        let words: @Sendable (EnvironmentFlag) -> String?

        /// A yes or no of the environment, which is its property and this row.
        init(_ name: String, flag path: EnvironmentFlag.Path, _ codec: Codec<Bool>, _ summary: String) {
            let shape = KeyShape(
                name, codec.shape, summary,
                defaultValue: codec.encode(ScenarioWorld().environment[keyPath: path]))
            row = KeyRow(shape) { reader, world throws(InputError) in
                world.environment[keyPath: path] = try codec.decode(reader)
            } encode: {
                codec.encode($0.environment[keyPath: path])
            }
            event = ScenarioEvent(shape.leavingOut("as it was")) { reader, _ throws(InputError) in
                .environment(EnvironmentFlag(path, try codec.decode(reader)))
            }
            words = { flag in
                guard flag == EnvironmentFlag(path, flag.value) else { return nil }
                guard case .string(let text) = codec.encode(flag.value) else {
                    return "\(name): \(flag.value)"
                }
                return "\(name): \(text)"
            }
        }

        /// - Parameters:
        ///   - usual: as the pages have the default, where the codec has it otherwise.
        ///   - event: what it is in a timeline.
        init<Value: Sendable>(
            _ name: String, _ path: any WritableKeyPath<ScenarioWorld, Value> & Sendable,
            _ codec: Codec<Value>, _ summary: String, usual: JSONValue? = nil,
            event: @escaping @Sendable (Value, YAMLReader) throws(InputError) -> AlertWorldEvent
        ) {
            let shape = KeyShape(
                name, codec.shape, summary,
                defaultValue: usual ?? codec.encode(ScenarioWorld()[keyPath: path]))
            row = KeyRow(shape) { reader, world throws(InputError) in
                world[keyPath: path] = try codec.decode(reader)
            } encode: {
                codec.encode($0[keyPath: path])
            }
            self.event = ScenarioEvent(shape.leavingOut("as it was")) {
                reader, _ throws(InputError) in try event(try codec.decode(reader), reader)
            }
            words = { _ in nil }
        }
    }

    static let keys = KeyTable<ScenarioWorld>(
        "The world at t = 0.",
        [
            KeyRow("start", \.start, .text(StudyStart.rule), "Wall time at t = 0."),
            KeyRow(
                "app", \.app,
                .choice(
                    "an app state",
                    [("foreground", .foreground), ("background", .background), ("quit", .quit)]),
                "The app."),
            KeyRow("loop", \.environment.isArmed, .either("armed", "disarmed"), "The loop."),
        ] + changing.map(\.row))

    static let changing: [Key] = [
        Key(zoneKey, \.zone, .text(ZoneTable.rule), "The phone's zone.") {
            name, reader throws(InputError) in
            guard let zone = ZoneTable.named(name, around: 946_684_800, years: 100) else {
                throw reader.problem(expected: ZoneTable.rule.expectation)
            }
            return .zone(zone)
        },
        Key("firstStepDone", flag: \.isFirstStepDone, .flag, "Whether a step ever succeeded."),
        Key("steps", \.stepsRun, .either("running", "stopped"), "A successful step every 5 min.") {
            run, _ in .steps(isRunning: run)
        },
        Key("pod", \.environment.hasPod, .either("active", "none"), "The pod.") { isOn, _ in .pod(isOn) },
        Key("podExpiresIn", \.podExpires, .span, "From this instant.", usual: .string("72h")) {
            span, _ in .podExpires(in: span)
        },
        Key("pumpSession", flag: \.hasPumpSession, .either("established", "none"), "The pump session."),
        Key("pumpStatus", flag: \.isPumpStatusKnown, .either("known", "missing"), "The pump's status."),
        Key(
            "cgmState", \.environment.cgmState,
            .choice(
                "a sensor state",
                [
                    ("ok", .ok), ("warmup", .warmup), ("temporaryError", .temporaryError),
                    ("noReliableGlucose", .noReliableGlucose), ("failed", .failed), ("expired", .expired),
                ]), "The sensor's algorithm."
        ) { state, _ in .cgmState(state) },
        Key(
            "cgmLifecycle", \.environment.cgmLifecycle,
            .choice("a life-cycle", [("ok", .ok), ("failed", .failed), ("expired", .expired)]),
            "The sensor's life."
        ) { life, _ in .cgmLifecycle(life) },
        Key("glucose", \.glucose, .number(0...2000), "The held value, mg/dL.") { value, _ in .glucose(value)
        },
        Key("auth", flag: \.isSignedIn, .either("signedIn", "signedOut"), "The account."),
        Key("subjectClaim", flag: \.isClaimOk, .either("ok", "conflict"), "What the cloud says."),
        Key(
            "clockSkew", \.environment.clockSkewSeconds, .skew, "What a UTC check would return.",
            usual: .string("0s")
        ) { seconds, _ in .clockSkew(seconds: seconds) },
    ]
}

/// A key of a timeline: what may stand there, and the event that it is.
struct ScenarioEvent: Sendable {
    let shape: KeyShape
    /// nil for what is no event.
    let decode: @Sendable (YAMLReader, AlertPolicy) throws(InputError) -> AlertWorldEvent?

    init(
        _ shape: KeyShape,
        decode: @escaping @Sendable (YAMLReader, AlertPolicy) throws(InputError) -> AlertWorldEvent?
    ) { (self.shape, self.decode) = (shape, decode) }

    /// One that says nothing where it is left out.
    private init<Value: Sendable>(
        _ name: String, _ codec: Codec<Value>, _ summary: String,
        _ event: @escaping @Sendable (Value) -> AlertWorldEvent
    ) {
        self.init(KeyShape(name, codec.shape, summary, leftOut: "nothing")) {
            reader, _ throws(InputError) in event(try codec.decode(reader))
        }
    }

    /// An alert that a person speaks of.
    private static func about(
        _ name: String, _ summary: String, _ input: @escaping @Sendable (AlertName) -> AlertInput
    ) -> ScenarioEvent {
        ScenarioEvent(KeyShape(name, .text(AlertPolicy.code), summary, leftOut: "nothing")) {
            reader, policy throws(InputError) in .user(input(try AlertScenario.code(reader, policy)))
        }
    }

    /// What happens, happens: `false` would say nothing.
    private static func happens(_ name: String, _ summary: String, _ input: AlertInput) -> ScenarioEvent {
        ScenarioEvent(KeyShape(name, .flag, summary, leftOut: "nothing")) {
            reader, _ throws(InputError) in
            guard try reader.flag() else { throw reader.problem(expected: "true, or no such entry") }
            return .user(input)
        }
    }

    /// What a device issues or withdraws.
    private static func native(
        _ name: String, _ summary: String, _ known: [String],
        issue: @escaping @Sendable (String, String) -> AlertInput,
        retract: @escaping @Sendable (String) -> AlertInput
    ) -> ScenarioEvent {
        ScenarioEvent(KeyShape(name, .mapping(AlertScenario.nativeShape), summary, leftOut: "nothing")) {
            value, _ throws(InputError) in
            if let reader = value["issue"] {
                let code = try AlertScenario.issue(reader, known)
                return .user(issue(code, try value["text"]?.text() ?? ""))
            }
            guard let reader = value["retract"] else { return nil }
            return .user(retract(try AlertScenario.issue(reader, known)))
        }
    }

    private static let user = ScenarioEvent(
        KeyShape("user", .mapping(AlertScenario.userShape), "The person does something.", leftOut: "nothing")
    ) { value, policy throws(InputError) in
        func code(_ reader: YAMLReader) throws(InputError) -> AlertName {
            try AlertScenario.code(reader, policy)
        }
        if let name = value["acknowledge"] { return .user(.acknowledge(try code(name))) }
        if let name = value["dismiss"] { return .user(.dismiss(try code(name))) }
        if let name = value["tap"] { return .user(.tap(try code(name))) }
        guard let name = value["snooze"], let span = value["for"] else { return nil }
        guard let length = try Optional(span).span(), length > 0 else {
            throw span.problem(expected: "a length of time above 0s")
        }
        return .user(.snooze(try code(name), for: length))
    }

    private static let own: [ScenarioEvent] = [
        ScenarioEvent(
            "app",
            .choice(
                "an app state",
                [
                    ("foreground", AlertWorldEvent.AppState.foreground), ("background", .background),
                    ("quit", .quit), ("relaunch", nil),
                ]), "The app."
        ) { state in state.map { .app($0) } ?? .relaunch },
        ScenarioEvent(
            "loop",
            .choice("a loop state", [("armed", .armed), ("disarmed", .disarmed), ("reset", .reset)]),
            "The loop."
        ) { .loop($0) },
        native(
            "pumpAlert", "The pump issues or retracts an alert.", AlertCode.pumpIssues,
            issue: { .pumpIssue($0, text: $1) }, retract: { .pumpRetract($0) }),
        native(
            "cgmAlert", "The sensor's driver issues or retracts a message.", AlertCode.cgmIssues,
            issue: { .cgmIssue($0, text: $1) }, retract: { .cgmRetract($0) }),
        ScenarioEvent("reading", Codec<ScenarioReading>.mapping(), "One reading.") {
            .reading($0.glucose, isReliable: $0.isReliable, age: $0.age)
        },
        ScenarioEvent("readings", .either("running", "stopped"), "The regular readings.") {
            .readings(isRunning: $0)
        },
        ScenarioEvent("step", .either("ok", "failed"), "One step.") { .step(succeeded: $0) },
        user,
        ScenarioEvent("handlers", Codec<ScenarioHandlers>.mapping(), "The sources' handlers.") {
            .handlers(pump: $0.pump, cgm: $0.cgm)
        },
        happens("settingsSaved", "Clinical settings are saved.", .settingsSaved),
        happens("settingsOpened", "Clinical settings are opened.", .settingsOpened),
        ScenarioEvent("timeChange", .jump, "The wall clock jumps.") { .timeChange($0) },
        about("preview", "An alert is injected.") { .preview($0) },
        about("testAlert", "The person asks for a test.") { .testAlert($0) },
    ]

    private static let samples = AlertMetric.measured.filter { $0 != .glucose }.map { metric in
        ScenarioEvent(
            KeyShape(
                metric.rawValue, .number(-100_000...100_000), "One sample, \(metric.unit).",
                leftOut: "no sample")
        ) { reader, _ throws(InputError) in .value(metric, try reader.number(in: -100_000...100_000)) }
    }

    static let all = own + ScenarioWorld.changing.map(\.event) + samples
    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.shape.name, $0) })

    static let shape = MappingShape(
        summary: "What changes, and what happens, at one instant.",
        keys: [KeyShape("at", AlertScenario.at, "When.", isRequired: true)] + all.map(\.shape))
}

/// One reading of a timeline.
private struct ScenarioReading: Keyed {
    var glucose = 0.0
    var isReliable = true
    /// ns.
    var age: Int64 = 0

    static let keys = KeyTable<ScenarioReading>(
        "One reading.",
        [
            KeyRow("glucose", \.glucose, .number(0...2000), "mg/dL.", isRequired: true),
            KeyRow("reliable", \.isReliable, .flag, "Whether it counts."),
            KeyRow("age", \.age, .span, "How old it is."),
        ])
}

/// Who takes acknowledgements from then on; nil for as before.
private struct ScenarioHandlers: Keyed {
    var pump: Bool?
    var cgm: Bool?

    static let keys = KeyTable<ScenarioHandlers>(
        "Who takes acknowledgements.",
        [
            KeyRow(
                "pump", optional: \.pump, .either("registered", "unregistered"), "The handler.",
                leftOut: "as it was"),
            KeyRow(
                "cgm", optional: \.cgm, .either("registered", "unregistered"), "The handler.",
                leftOut: "as it was"),
        ])
}

// MARK: How values stand in a scenario

extension Codec where Value: Equatable {
    /// One of several names, and what each stands for.
    fileprivate static func choice(_ noun: String, _ all: [(String, Value)]) -> Codec {
        Codec(AlertScenario.oneOf(noun, all.map(\.0))) { reader throws(InputError) in
            let name = try reader.text()
            guard let found = all.first(where: { $0.0 == name }) else { throw reader.problem(expected: noun) }
            return found.1
        } encode: { value in
            .string(all.first { $0.1 == value }?.0 ?? "")
        }
    }
}

extension Codec where Value == Bool {
    /// One name for yes, another for no.
    fileprivate static func either(_ yes: String, _ no: String) -> Codec {
        .choice("\(yes) or \(no)", [(yes, true), (no, false)])
    }
}

extension Codec where Value == Int64 {
    /// One with its sign, ns.
    fileprivate static var jump: Codec {
        .text(AlertScenario.jump, AlertScenario.signed) { TimeSpan(nanoseconds: $0).description }
    }
}

extension Codec where Value == Double? {
    /// s; nil for `unavailable`.
    fileprivate static var skew: Codec {
        Codec(.text(AlertScenario.skew)) { reader throws(InputError) in
            AlertScenario.signed(try reader.text()).map { Double($0) / 1e9 }
        } encode: { seconds in
            .string(seconds.map { TimeSpan(nanoseconds: Int64($0 * 1e9)).description } ?? "unavailable")
        }
    }
}
