// The API's routes.
//
// Guarantees: a look changes nothing; a command is on the session's disk before it is answered, and answered with its number or with why it was refused.

import IsletAlerts
import IsletFiles
import IsletLive
import Pages
import IsletDevices
import IsletKernel

struct WardAPI: Sendable {
    let ward: Ward
    let news: WardNews
    let counters: Counters
    let screens: Screens
    let door: WebDoor
    let rings: WardRings

    static let id = Route.Parameter(name: "id", kind: .text, isRequired: true, meaning: "a session's id")
    private static let seconds = 0.0...1e9
    /// `since` for a page, which shows the last hour where nothing is said.
    static let sinceStart = Route.Parameter(
        name: "t", kind: .number(seconds), meaning: "seconds since the session's start")
    private static let from = Route.Parameter(
        name: "from", kind: .number(seconds), meaning: "seconds since the session's start")
    private static let at = Route.Parameter(
        name: "t", kind: .number(seconds), isRequired: true, meaning: "seconds since the session's start")
    private static let page = Route.Parameter(
        name: "page", kind: .wholeNumber(0...1000), meaning: "from 0")
    private static let after = Route.Parameter(
        name: "from", kind: .wholeNumber(0...Int(Int32.max)), meaning: "the events after this number")
    private static let fork: [WardCommand.Field] = [
        .init(name: "t", kind: .number(seconds), unit: "s"),
        .init(name: "policy", kind: .text("a policy's name"), isRequired: false),
        .init(name: "algorithm", kind: .text("an algorithm's name"), isRequired: false),
        .init(name: "name", kind: .text("what people call it"), isRequired: false),
    ]
    private static let preview: [WardCommand.Field] = [
        .init(name: "metric", kind: .text("a metric's name")),
        .init(name: "low", kind: .number(LiveInput.sides), isRequired: false, canBeNull: true),
        .init(name: "high", kind: .number(LiveInput.sides), isRequired: false, canBeNull: true),
        .init(name: "sensitivity_minutes", kind: .number(0...1440), isRequired: false, unit: "min"),
    ]

    var routes: [Route] { looks + changes + [goOn, anew, seen, demonstration] + driving + follows }

    static func json(_ value: JSONValue, _ status: Int = 200) -> WebResponse {
        .text(status, value.compactText, type: "application/json")
    }

    static func json(_ refusal: LiveRefusal) -> WebResponse {
        json(
            SessionJSON.reason(refusal, as: "error"),
            refusal.code == RefusalCode.frozen.rawValue ? 423 : 409)
    }

    func view(_ names: [String: String]) throws -> SessionView {
        guard let id = names["id"], let view = ward.view(id, screens) else { throw Ward.Refusal.unknown }
        return view
    }

    private func instant(_ request: WebRequest, _ parameter: Route.Parameter = from) throws -> Instant {
        Instant(nanoseconds: Int64((try parameter.number(request) ?? 0) * Double(Nanoseconds.second)))
    }

    // MARK: Looks

    private var looks: [Route] {
        [
            Route(
                method: "GET", path: "/api/sessions", summary: "All sessions, worst first.",
                answer: .sessions
            ) { _, _ in
                Self.json(
                    ["sessions": .array(ward.cards(screens).map { SessionJSON.card($0) })])
            },
            Route(
                method: "GET", path: "/api/sessions/{id}", summary: "One session, as it stands.",
                answer: .named("Session")
            ) {
                _, names in
                Self.json(SessionJSON.snapshot(try view(names)))
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/readings", summary: "Readings of the last day.",
                query: [Self.from], refusals: [422], answer: .readings
            ) { request, names in
                let (view, from) = (try view(names), try instant(request))
                let rows = view.log.readings.filter { $0.instant >= from }
                return Self.json(
                    ["readings": .array(rows.map { SessionJSON.reading($0, view.calendar) })])
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/steps", summary: "Steps of the last day.",
                query: [Self.from], refusals: [422], answer: .steps
            ) { request, names in
                let (view, from) = (try view(names), try instant(request))
                let rows = view.log.steps.filter { $0.instant >= from }
                return Self.json(
                    ["steps": .array(rows.map { SessionJSON.step($0, view.calendar) })])
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/alerts/active",
                summary: "Active alerts, worst first.", answer: .activeAlerts
            ) { _, names in
                let view = try view(names)
                return Self.json(
                    [
                        "alerts": .array(view.alerts.map { SessionJSON.alert($0, view.calendar) })
                    ])
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/alerts/cleared",
                summary: "Recently cleared alerts, newest first, ten a page.",
                query: [Self.page],
                refusals: [422],
                answer: .clearedAlerts
            ) { request, names in
                let view = try view(names)
                let page = try Self.page.wholeNumber(request) ?? 0
                let rows = view.cleared.dropFirst(page * 10).prefix(10)
                return Self.json(
                    [
                        "page": .integer(Int64(page)),
                        "count": .integer(Int64(view.cleared.count)),
                        "alerts": .array(rows.map { SessionJSON.alert($0, view.calendar) }),
                    ])
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/timeline",
                summary: "What happened, by the events' numbers, a thousand at a time.",
                query: [Self.after], refusals: [422], answer: .events
            ) { request, names in
                let view = try view(names)
                let from = try Self.after.wholeNumber(request) ?? 0
                let found = ward.events(of: view.id, after: from, atMost: 1000)
                return Self.json(
                    [
                        "missing": .integer(Int64(found?.missing ?? 0)),
                        "events": .array((found?.events ?? []).map { SessionJSON.event($0, view.calendar) }),
                    ])
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/settings",
                summary: "Target, thresholds, quiet hours.", answer: .named("Settings")
            ) {
                _, names in
                Self.json(SessionJSON.settings(try view(names)))
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/past",
                summary: "A session as it was, t seconds after its start.",
                query: [Self.at], refusals: [409, 422, 503], answer: .named("Session"), work: .livesAgain
            ) { request, names in
                guard let id = names["id"], ward.has(id) else { throw Ward.Refusal.unknown }
                return Self.json(
                    SessionJSON.snapshot(
                        try ward.past(id, at: try instant(request, Self.at), isWanted: request.isWanted).view)
                )
            },
            Route(
                method: "GET", path: "/api/sessions/{id}/compare/{other}",
                summary: "Two sessions beside each other.",
                answer: .comparison
            ) { _, names in
                let found = try ward.compare(names["id"] ?? "", names["other"] ?? "")
                let calendar = ward.calendar(of: names["id"] ?? "")
                return Self.json(
                    [
                        "from": .object(SessionJSON.time(found.from, calendar)),
                        "to": .object(SessionJSON.time(found.to, calendar)),
                        "rows": .array(
                            found.rows.map {
                                [
                                    "name": .string($0.name.text), "unit": .string($0.unit),
                                    "left": SessionJSON.number($0.left),
                                    "right": SessionJSON.number($0.right),
                                ]
                            }),
                    ])
            },
            Route(
                method: "GET", path: "/api/studies",
                summary: "Study files that can be begun, and results that can be watched.", answer: .studies
            ) { _, _ in
                Self.json(
                    [
                        "studies": .array(ward.options.studyFiles.map { .string($0.name) }),
                        "results": .array(
                            ward.options.studyFolders.map {
                                [
                                    "name": .string($0.name), "study": .string($0.study),
                                    "sessions": .integer(Int64($0.sessionCount)),
                                ]
                            }),
                    ])
            },
            Route(
                method: "GET", path: "/healthz",
                summary: "Whether the server answers, and how many sessions are frozen.",
                answer: .serverHealth, isOpen: true,
                work: .atOnce
            ) { _, _ in
                Self.json(
                    [
                        "status": "ok",
                        "sessions_frozen": .integer(Int64(ward.host.watch().count)),
                    ])
            },
            Route(
                method: "GET", path: "/metrics",
                summary: "Figures about the server, in Prometheus' text format.",
                type: "text/plain"
            ) { _, _ in
                .text(
                    200, MetricsText.text(ward, news, counters),
                    type: "text/plain; version=0.0.4; charset=utf-8")
            },
        ]
    }

    // MARK: Changes

    private var changes: [Route] {
        [
            Route(
                method: "POST", path: "/api/sessions", summary: "Begins a session.", body: .create,
                status: 201,
                refusals: [422, 503, 507], answer: .id, work: .livesAgain
            ) { request, _ in
                let id = try ward.create(
                    try SessionRequest(try JSONBody(request.body)), isWanted: request.isWanted)
                return WebResponse(
                    201, "application/json",
                    .bytes(Array(JSONValue.object([.init("id", .string(id))]).compactText.utf8)),
                    headers: [("location", "/api/sessions/\(id)")])
            },
            Route(
                method: "DELETE", path: "/api/sessions/{id}", summary: "Deletes a session, and its journal.",
                status: 204, refusals: [503, 507]
            ) { _, names in
                try ward.delete(names["id"] ?? "")
                return WebResponse(204, nil, .bytes([]))
            },
            Route(
                method: "POST", path: "/api/sessions/{id}/commands", summary: "Tells a session something.",
                body: .command, status: 202, refusals: [409, 422, 423, 503], answer: .taken
            ) { request, names in
                guard let id = names["id"], ward.has(id) else { throw Ward.Refusal.unknown }
                let command = try WardCommand(try JSONBody(request.body))
                if let answer = try heard(command, of: id) { return answer }
                let answer = try ward.tell(id, command)
                switch answer.outcome {
                case .refused(let refusal): return Self.json(refusal)
                case .taken:
                    return Self.json(
                        .object(
                            [
                                .init("number", answer.number.map { .integer(Int64($0)) } ?? .null),
                                .init("repeated", .bool(answer.isRepeated)),
                                .init("said", SessionJSON.text(said(command, of: id))),
                            ] + (answer.note.isEmpty ? [] : [.init("note", .string(answer.note))])), 202)
                }
            },
            Route(
                method: "POST", path: "/api/sessions/{id}/forks",
                summary: "Another session that is this one up to t, and goes on otherwise.",
                body: .fields(Self.fork, limit: 2 << 20),
                status: 201,
                refusals: [409, 422, 503, 507], answer: .forked, work: .livesAgain
            ) { request, names in
                guard let id = names["id"], ward.has(id) else { throw Ward.Refusal.unknown }
                let fields = try JSONBody(request.body).object("a fork", Self.fork)
                let seconds = try fields.number("t")
                let name = try SessionRequest.name(fields)
                let found = try ward.fork(
                    id, at: Instant(nanoseconds: Int64(seconds * Double(Nanoseconds.second))),
                    change: try LiveFork.Change(
                        policy: try fields.optionalText("policy"),
                        algorithm: try fields.optionalText("algorithm")),
                    name: name, isWanted: request.isWanted)
                let answer = JSONValue.object([
                    .init("id", .string(found.id)),
                    .init(
                        "left_out",
                        .array(
                            found.leftOut.map {
                                [
                                    "number": .integer(Int64($0.number)),
                                    "t": SessionJSON.seconds($0.instant),
                                    "text": .string($0.text), "reason": .string($0.reason),
                                ]
                            })),
                ])
                return WebResponse(
                    201, "application/json", .bytes(Array(answer.compactText.utf8)),
                    headers: [("location", "/api/sessions/\(found.id)")])
            },
            Route(
                method: "POST", path: "/api/sessions/{id}/preview",
                summary: "What a threshold's setting would have rung on the last day's readings.",
                body: .fields(Self.preview, limit: Route.formLimit),
                refusals: [422], answer: .preview
            ) { request, names in
                let view = try view(names)
                let fields = try JSONBody(request.body).object("a threshold", Self.preview)
                let metric = try fields.text("metric")
                guard let threshold = view.thresholds.first(where: { $0.metric.rawValue == metric }) else {
                    throw Ward.Refusal.invalid("metric: expected one of the session's thresholds")
                }
                let minutes = try fields.optionalNumber("sensitivity_minutes") ?? 0
                let (low, high) = (try fields.optionalNumber("low"), try fields.optionalNumber("high"))
                let preview = ThresholdPreview(
                    threshold.series, low: low, high: high,
                    sensitivity: Int64(minutes * Double(Nanoseconds.minute)))
                return Self.json(
                    [
                        "would_ring": .integer(Int64(preview.episodes.count)),
                        "hours": .integer(24),
                        "episodes": .array(
                            preview.episodes.map {
                                [
                                    "side": .string($0.isLow ? "low" : "high"),
                                    "from": .object(SessionJSON.time($0.from, view.calendar)),
                                    "rings": .object(SessionJSON.time($0.rings, view.calendar)),
                                    "to": SessionJSON.optional($0.to, view.calendar),
                                ]
                            }),
                    ])
            },
        ]
    }
}
