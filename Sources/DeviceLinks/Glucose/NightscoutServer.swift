// Glucose from a Nightscout site, by its API v1.
//
// Guarantees: the secret goes as a token and as the hash that an API secret is asked for, and nowhere else.

import IsletKernel
import Foundation

package struct NightscoutServer: GlucoseServer {
    package let endpoint: String
    private let connection: ServerConnection
    private let token: String?

    /// - Parameters:
    ///   - url: of the site: `http` or `https` and a host.
    ///   - token: an access token, or the site's API secret; nil for a site that anybody may read.
    package init?(url: String, token: String?, timeoutSeconds: Double = 20) {
        guard let connection = ServerConnection(url, timeoutSeconds: timeoutSeconds) else { return nil }
        self.connection = connection
        self.token = token.flatMap { $0.isEmpty ? nil : $0 }
        endpoint = withoutSecrets(url)
    }

    package var isReadableOnTheWay: Bool { connection.isReadableOnTheWay }

    package func newest(_ count: Int) async throws -> ServerReadings {
        var query = [URLQueryItem(name: "count", value: "\(count)")]
        if let token { query.append(URLQueryItem(name: "token", value: token)) }
        var message = connection.request("/api/v1/entries/sgv.json", query)
        if let token { message?.headers["api-secret"] = SHA1.hex(Array(token.utf8)) }
        let (status, json) = try await connection.ask(message, now: SystemSyncClock().epochSeconds)
        guard status == 200 else {
            throw ServerRefusal(
                reason: status == 401 || status == 403
                    ? "status \(status): the site asks for a token (ISLET_NIGHTSCOUT_TOKEN)"
                    : "status \(status)")
        }
        guard let rows = json as? [Any] else {
            throw ServerRefusal(reason: "an answer that is no list of entries")
        }
        return serverReadings(rows, newest: count) { row in
            if let type = row["type"] as? String, type != "sgv" { return nil }
            guard let stamp = wholeNumber(row["date"] ?? row["mills"]), let mgdl = row["sgv"] as? Double
            else {
                return nil
            }
            return ServerReading(milliseconds: stamp, mgdl: mgdl)
        }
    }
}
