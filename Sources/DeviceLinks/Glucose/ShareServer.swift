// Glucose from Dexcom Share.
//
// Guarantees: the password goes into the log-in's body, and nowhere else; a log-in that is over is made anew, once a question.

import Foundation
import Synchronization

package final class ShareServer: GlucoseServer {
    package let endpoint: String
    private let connection: ServerConnection
    private let account: String
    private let password: String
    /// The session ID that the log-in gave; nil before one.
    private let login = Mutex<String?>(nil)

    /// What Share's own followers say that they are.
    private static let application = "d89443d2-327c-4a6f-89e5-496bbb0317db"
    private static let services = "/ShareWebServices/Services"

    /// - Parameters:
    ///   - url: `http` or `https`, the account's name before the host: `https://NAME@share2.dexcom.com`.
    ///   - password: of the account.
    package init?(url: String, password: String, timeoutSeconds: Double = 20) {
        guard let connection = ServerConnection(url, timeoutSeconds: timeoutSeconds),
            let account = URLComponents(string: url)?.user, !account.isEmpty
        else { return nil }
        self.connection = connection
        self.account = account
        self.password = password
        endpoint = withoutSecrets(connection.base.absoluteString)
    }

    package var isReadableOnTheWay: Bool { connection.isReadableOnTheWay }

    package func newest(_ count: Int) async throws -> ServerReadings {
        if let known = login.withLock({ $0 }), let found = try await readings(known, count) { return found }
        let made = try await logIn()
        login.withLock { $0 = made }
        guard let found = try await readings(made, count) else {
            login.withLock { $0 = nil }
            throw ServerRefusal(reason: "a log-in that is over as soon as it was made")
        }
        return found
    }

    private func logIn() async throws -> String {
        let id = try await text(
            "/General/AuthenticatePublisherAccount",
            ["accountName": account, "password": password, "applicationId": Self.application])
        return try await text(
            "/General/LoginPublisherAccountById",
            ["accountId": id, "password": password, "applicationId": Self.application])
    }

    private func text(_ path: String, _ body: [String: String]) async throws -> String {
        let (status, json) = try await connection.ask(
            connection.request(Self.services + path, post: body), now: SystemSyncClock().epochSeconds)
        let nobody = "00000000-0000-0000-0000-000000000000"
        guard status == 200, let text = json as? String, !text.isEmpty, text.utf8.count <= 100, text != nobody
        else {
            throw ServerRefusal(
                reason: status == 200
                    ? "a log-in's answer that is none"
                    : "status \(status) to the log-in: the account's name, or its password (ISLET_SHARE_PASSWORD)"
            )
        }
        return text
    }

    /// nil where the log-in is over.
    private func readings(_ login: String, _ count: Int) async throws -> ServerReadings? {
        let message = connection.request(
            Self.services + "/Publisher/ReadPublisherLatestGlucoseValues",
            [
                URLQueryItem(name: "sessionId", value: login), URLQueryItem(name: "minutes", value: "1440"),
                URLQueryItem(name: "maxCount", value: "\(min(count, 288))"),
            ], post: [:])
        let (status, json) = try await connection.ask(message, now: SystemSyncClock().epochSeconds)
        if status != 200, let code = (json as? [String: Any])?["Code"] as? String, code.hasPrefix("Session") {
            return nil
        }
        guard status == 200 else { throw ServerRefusal(reason: "status \(status)") }
        guard let rows = json as? [Any] else {
            throw ServerRefusal(reason: "an answer that is no list of values")
        }
        return serverReadings(rows, newest: count) { row in
            guard let mgdl = row["Value"] as? Double, let stamp = Self.stamp(row["WT"] ?? row["ST"]) else {
                return nil
            }
            return ServerReading(milliseconds: stamp, mgdl: mgdl)
        }
    }

    /// `Date(1700000000000)`, with or without slashes and an offset, which only says where it was.
    private static func stamp(_ value: Any?) -> Int64? {
        guard let text = value as? String, let open = text.firstIndex(of: "(") else { return nil }
        return Int64(text[text.index(after: open)...].prefix { $0.isNumber })
    }
}
