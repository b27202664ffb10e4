// What apps that know Dexcom Share ask for: a session's glucose, in their words.
//
// Guarantees: read only; the password is derived from the token and opens glucose and nothing else; without a token (loopback) any is taken. The account's name is
// the session's id. Does not: say how old a reading would be at a real server: it is there when the session shows it.

import Foundation
import IsletDevices
import IsletFiles
import IsletKernel
import IsletLive

struct ShareRoutes: Sendable {
    let ward: Ward
    let door: WebDoor

    private static let minutes = Route.Parameter(
        name: "minutes", kind: .wholeNumber(1...1440), meaning: "how far back, min")
    private static let maxCount = Route.Parameter(
        name: "maxCount", kind: .wholeNumber(1...288), meaning: "how many readings")

    var routes: [Route] {
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
                    throw ShareProblem.unknownAccount("AccountId")
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
                guard let said = request.query("sessionId"), let id = session("session", said), ward.has(id)
                else { throw ShareProblem(code: "SessionIdNotFound") }
                let view = try ward.followed(id)
                let minutes = try Self.minutes.wholeNumber(request) ?? 1440
                let count = try Self.maxCount.wholeNumber(request) ?? 288
                let from = view.now.adding(-Int64(minutes) * Nanoseconds.minute)
                let rows = view.log.readings
                let places = rows.indices.filter { rows[$0].instant >= from }.suffix(count).reversed()
                return Self.json(.array(places.map { Self.value($0, rows, view) }))
            },
        ]
    }

    /// `Date(1700000000000)`, in local time `Date(1700000000000-0500)`.
    private static func value(_ at: Int, _ rows: [ReadingRow], _ view: SessionView) -> JSONValue {
        let row = rows[at]
        let milliseconds = NightscoutDocuments.milliseconds(row.instant, view.calendar)
        let trend = SessionView.trend(Array(rows[max(0, at - 4)...at]), at: row.instant)
        return [
            "WT": .string("Date(\(milliseconds))"), "ST": .string("Date(\(milliseconds))"),
            "DT": .string("Date(\(milliseconds)\(offset(view.calendar, row.instant)))"),
            "Value": .integer(Int64(row.mgdl.rounded())),
            "Trend": .string(trend.map { NightscoutDocuments.direction($0) } ?? "NotComputable"),
        ]
    }

    /// `-0500`
    private static func offset(_ calendar: SessionCalendar, _ instant: Instant) -> String {
        let minutes = calendar.offsetSeconds(at: instant) / 60
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return (minutes < 0 ? "-" : "+") + two(abs(minutes) / 60) + two(abs(minutes) % 60)
    }

    private static func json(_ value: JSONValue) -> WebResponse {
        .text(200, value.compactText, type: "application/json")
    }

    /// The session's id, where name and password are right.
    private func account(_ name: String, _ password: String, _ address: String) throws -> String {
        guard try !door.needsToken || door.isRight(password, [door.sharePassword], from: address) else {
            throw ShareProblem(code: "AccountPasswordInvalid")
        }
        guard ward.has(name) else { throw ShareProblem.unknownAccount("AccountName") }
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
struct ShareProblem: AnsweredProblem {
    var code: String
    var message: String?

    /// As Share says it: a client takes it for a wrong account, and not for a broken server.
    static func unknownAccount(_ by: String) -> ShareProblem {
        ShareProblem(code: "SSO_InternalError", message: "Cannot Authenticate by \(by)")
    }

    var response: WebResponse {
        .text(
            401,
            JSONValue.object([.init("Code", .string(code)), .init("Message", .string(message ?? code))])
                .compactText,
            type: "application/json")
    }
}
