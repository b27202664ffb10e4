// What apps that know Nightscout or Dexcom Share ask for: a session's glucose, in their words.
//
// Guarantees: read only; what these protocols call a secret is derived from the token and opens nothing else; without a token (loopback) none is asked for.
// A session's root is `/ns/ID`; Share's account name is the session's id. Does not: take uploads, and says so.

import IsletDevices
import IsletFiles
import Foundation
import IsletLive
import IsletKernel

struct NightscoutRoutes: Sendable {
    let ward: Ward
    let door: WebDoor

    private static let largestCount = 1000

    var routes: [Route] { nightscout + share }

    // MARK: Nightscout

    private var nightscout: [Route] {
        [
            get("/ns/{id}/api/v1/status.json") { view, _ in
                [
                    "status": "ok", "name": "Islet",
                    "version": "15.0.0",
                    "serverTime": .string(Self.utc(view.now, view.calendar)),
                    "apiEnabled": .bool(true),
                    "settings": ["units": "mg/dl", "customTitle": .string(view.name)],
                ]
            },
            get("/ns/{id}/api/v1/entries.json") { view, request in try entries(view, request) },
            get("/ns/{id}/api/v1/entries/sgv.json") { view, request in try entries(view, request) },
            get("/ns/{id}/api/v1/entries/current.json") { view, _ in
                .array(view.log.readings.suffix(1).map { Self.entry($0, view) })
            },
            get("/ns/{id}/api/v3/entries") { view, request in
                ["status": .integer(200), "result": try entries(view, request)]
            },
            get("/ns/{id}/api/v1/devicestatus.json") { view, _ in
                .array([
                    [
                        "device": .string("islet://\(view.id)"),
                        "created_at": .string(Self.utc(view.now, view.calendar)),
                        "pump": [
                            "reservoir": SessionJSON.number(view.live.pump?.reservoir.units),
                            "status": [
                                "status": .string("\(view.live.pump?.condition ?? .noPod)")
                            ],
                        ],
                    ]
                ])
            },
            Route(
                method: "GET", path: "/ns/{id}/api/v2/authorization/request/{token}",
                summary: "Nightscout's log-in.",
                isOpen: true, isDocumented: false, isRated: true
            ) { request, names in
                guard let id = names["id"], ward.has(id) else { throw Ward.Refusal.unknown }
                guard
                    try !door.needsToken
                        || door.isRight(names["token"] ?? "", [door.apiSecret], from: request.address)
                else {
                    return .text(401, "{\"status\":401}", type: "application/json")
                }
                return Self.json(
                    [
                        "token": .string(door.apiSecret), "sub": .string(id),
                        "permissionGroups": .array([.array([.string("api:*:read")])]),
                        "iat": .integer(0), "exp": .integer(4_102_444_800),
                    ])
            },
        ]
    }

    private func get(
        _ path: String, _ body: @escaping @Sendable (SessionView, WebRequest) throws -> JSONValue
    ) -> Route {
        // The door is this protocol's own: its clients know no bearer token.
        Route(method: "GET", path: path, summary: "As Nightscout has it.", isOpen: true, isDocumented: false)
        {
            request, names in
            guard try isKnown(request) else {
                return .text(401, "{\"status\":401}", type: "application/json")
            }
            guard let id = names["id"], let view = ward.view(id) else { throw Ward.Refusal.unknown }
            return Self.json(try body(view, request))
        }
    }

    private func isKnown(_ request: WebRequest) throws -> Bool {
        guard door.needsToken, !door.isLoggedIn(request) else { return true }
        let address = request.address
        if let said = request.headers["api-secret"] {
            // Some clients send its hash, in either case.
            return try door.isRight(
                said.count == 40 ? said.lowercased() : said, [door.apiSecret, door.apiSecretHash],
                from: address)
        }
        if let said = request.bearer {
            return try door.isTokenOr(door.apiSecret, said, from: address)
        }
        return try request.query("token").map { try door.isRight($0, [door.apiSecret], from: address) }
            ?? false
    }

    /// Newest first.
    private func entries(_ view: SessionView, _ request: WebRequest) throws -> JSONValue {
        func count(_ name: String) throws -> Int? {
            try Route.Parameter(
                name: name, kind: .wholeNumber(1...Self.largestCount), meaning: "how many entries"
            ).wholeNumber(request)
        }
        let count = try count("count") ?? count("limit") ?? 10
        var rows = view.log.readings[...]
        func milliseconds(_ name: String) -> Double? { request.query(name).flatMap { Double($0) } }
        if let from = milliseconds("find[date][$gte]") ?? milliseconds("date$gte") {
            rows = rows.drop { Self.milliseconds($0.instant, view.calendar) < from }
        }
        if let after = milliseconds("find[date][$gt]") ?? milliseconds("date$gt") {
            rows = rows.drop { Self.milliseconds($0.instant, view.calendar) <= after }
        }
        return .array(rows.suffix(count).reversed().map { Self.entry($0, view) })
    }

    private static func entry(_ row: ReadingRow, _ view: SessionView) -> JSONValue {
        let time = milliseconds(row.instant, view.calendar)
        let known = view.log.readings.prefix { $0.instant <= row.instant }
        let trend = SessionView.trend(Array(known.suffix(5)), at: row.instant)
        return [
            "_id": .string("\(view.id)-\(Int64(time))"),
            "identifier": .string("\(view.id)-\(Int64(time))"),
            "type": "sgv", "sgv": .integer(Int64(row.mgdl.rounded())),
            "date": .integer(Int64(time)),
            "dateString": .string(utc(row.instant, view.calendar)),
            "sysTime": .string(utc(row.instant, view.calendar)), "utcOffset": .integer(0),
            "direction": .string(direction(trend)), "device": "islet",
        ]
    }

    static func direction(_ trend: Double?) -> String {
        guard let trend else { return "NOT COMPUTABLE" }
        return switch trend {
        case 3...: "DoubleUp"
        case 2..<3: "SingleUp"
        case 1..<2: "FortyFiveUp"
        case -1..<1: "Flat"
        case -2 ..< -1: "FortyFiveDown"
        case -3 ..< -2: "SingleDown"
        default: "DoubleDown"
        }
    }

    static func milliseconds(_ instant: Instant, _ calendar: SessionCalendar) -> Double {
        Double(calendar.startEpochSeconds) * 1000 + (Double(instant.nanoseconds) / 1e6).rounded()
    }

    private static func utc(_ instant: Instant, _ calendar: SessionCalendar) -> String {
        SessionCalendar(startEpochSeconds: calendar.startEpochSeconds, offsetSeconds: 0).iso8601(
            at: Instant(nanoseconds: instant.nanoseconds / 1_000_000 * 1_000_000))
    }

    private static func json(_ value: JSONValue) -> WebResponse {
        .text(200, value.compactText, type: "application/json")
    }

    // MARK: Dexcom Share

    private static let minutes = Route.Parameter(
        name: "minutes", kind: .wholeNumber(1...1440), meaning: "how far back, min")
    private static let maxCount = Route.Parameter(
        name: "maxCount", kind: .wholeNumber(1...288), meaning: "how many readings")

    private var share: [Route] {
        let root = "/ShareWebServices/Services"
        return [
            post(root + "/General/AuthenticatePublisherAccount") { fields, address in
                .string(
                    key(
                        "account",
                        try account(try fields.text("accountName"), try fields.text("password"), address)))
            },
            post(root + "/General/LoginPublisherAccountById") { fields, address in
                guard let id = session("account", try fields.text("accountId")) else {
                    throw ShareProblem(code: "SSO_AuthenticateAccountNotFound")
                }
                return .string(key("session", try account(id, try fields.text("password"), address)))
            },
            post(root + "/General/LoginPublisherAccountByName") { fields, address in
                .string(
                    key(
                        "session",
                        try account(try fields.text("accountName"), try fields.text("password"), address)))
            },
            Route(
                method: "POST", path: root + "/Publisher/ReadPublisherLatestGlucoseValues",
                summary: "As Share has it.",
                isOpen: true, isDocumented: false
            ) { request, _ in
                guard let said = request.query("sessionId"), let id = session("session", said),
                    let view = ward.view(id)
                else { throw ShareProblem(code: "SessionIdNotFound") }
                let minutes = try Self.minutes.wholeNumber(request) ?? 1440
                let count = try Self.maxCount.wholeNumber(request) ?? 288
                let from = view.now.adding(-Int64(minutes) * Nanoseconds.minute)
                let rows = view.log.readings.filter { $0.instant >= from }.suffix(count).reversed()
                return Self.json(.array(rows.map { Self.value($0, view) }))
            },
        ]
    }

    private static func value(_ row: ReadingRow, _ view: SessionView) -> JSONValue {
        let time = "Date(\(Int64(milliseconds(row.instant, view.calendar))))"
        let known = view.log.readings.prefix { $0.instant <= row.instant }
        let trend = SessionView.trend(Array(known.suffix(5)), at: row.instant)
        return [
            "WT": .string("/\(time)/"), "ST": .string("/\(time)/"),
            "DT": .string("/\(time)/"),
            "Value": .integer(Int64(row.mgdl.rounded())),
            "Trend": .string(trend.map { direction($0) } ?? "NotComputable"),
        ]
    }

    /// The session's id, where name and password are right.
    private func account(_ name: String, _ password: String, _ address: String) throws -> String {
        guard try !door.needsToken || door.isRight(password, [door.sharePassword], from: address) else {
            throw ShareProblem(code: "AccountPasswordInvalid")
        }
        guard ward.has(name) else { throw ShareProblem(code: "SSO_AuthenticateAccountNotFound") }
        return name
    }

    /// What Share calls a session of the ward for one purpose, in the shape of its ids. Nobody knows it who has not shown the password.
    private func key(_ purpose: String, _ id: String) -> String {
        let hex = WebDoor.derived(door.sharePassword, "\(purpose) \(id)")
        var rest = hex[...]
        return [8, 4, 4, 4, 12].map { length in
            defer { rest = rest.dropFirst(length) }
            return String(rest.prefix(length))
        }.joined(separator: "-")
    }

    private func session(_ purpose: String, _ said: String) -> String? {
        ward.ids.first { WebDoor.equal(said.lowercased(), key(purpose, $0)) }
    }

    private func post(
        _ path: String, _ body: @escaping @Sendable (JSONFields, _ address: String) throws -> JSONValue
    ) -> Route {
        Route(
            method: "POST", path: path, summary: "As Share has it.", isOpen: true, isDocumented: false,
            isRated: true
        ) { request, _ in
            Self.json(try body(try JSONBody(request.body).object("a log-in"), request.address))
        }
    }
}

/// What Share's clients read of an error.
struct ShareProblem: Error {
    var code: String
    var response: WebResponse {
        .text(
            401,
            JSONValue.object([.init("Code", .string(code)), .init("Message", .string(code))]).compactText,
            type: "application/json")
    }
}
