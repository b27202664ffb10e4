// Glucose from a server that others write to: asked now and then.
//
// Guarantees: one question takes a bounded time and a bounded answer, whatever the server does; what is no reading is counted and left out; the newest are
// handed over oldest first. No secret is in a message. Redirects are not followed: a secret goes to the server that was named, and to no other.
// Does not: wait between questions, or know sessions.

import Foundation

package struct ServerReading: Hashable, Sendable {
    /// The stamp, milliseconds since 1970, UTC.
    package var milliseconds: Int64
    package var mgdl: Double

    package init(milliseconds: Int64, mgdl: Double) {
        self.milliseconds = milliseconds
        self.mgdl = mgdl
    }
}

/// What one question came to.
package struct ServerReadings: Sendable {
    /// Oldest first, each stamp once.
    package var readings: [ServerReading] = []
    /// How many entries of the answer were no readings.
    package var leftOut = 0
}

/// Why there is none. What the server said of it is not repeated: it may say in its answer what it was given.
package struct ServerRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package var reason: String
    /// As the server asked, s; nil where it didn't.
    package var retryAfterSeconds: Double?
    package var description: String { reason }
}

/// Asked by one task at a time.
package protocol GlucoseServer: Sendable {
    /// What people may be shown of it: nothing secret.
    var endpoint: String { get }
    /// Whether what is sent, a secret too, can be read on its way.
    var isReadableOnTheWay: Bool { get }
    /// - Parameter count: how many, at most.
    /// - Throws: `ServerRefusal`; `CancellationError` where the task was cancelled.
    func newest(_ count: Int) async throws -> ServerReadings
}

/// Values that a body and a sensor can have, mg/dL: below are codes of sensors that say why there is no value.
let plausibleServerMgdl = 20.0...1000.0

struct ServerConnection: Sendable {
    /// Without a slash at its end.
    let base: URL
    let timeoutSeconds: Double
    /// A day's entries, with whatever others keep beside them.
    static let bodyLimit = 4 << 20

    /// - Parameter text: `http` or `https` and a host, without a password, a query or a fragment.
    init?(_ text: String, timeoutSeconds: Double) {
        guard var parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.host?.isEmpty == false, parts.password == nil,
            parts.query == nil, parts.fragment == nil, !HTTPTransport.isImpossible(text)
        else { return nil }
        parts.user = nil
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        guard let url = parts.url else { return nil }
        base = url
        self.timeoutSeconds = timeoutSeconds
    }

    var isReadableOnTheWay: Bool {
        let here = ["localhost", "127.0.0.1", "::1", "[::1]"]
        return base.scheme?.lowercased() == "http" && !here.contains(base.host()?.lowercased() ?? "")
    }

    func request(_ path: String, _ query: [URLQueryItem] = [], post body: [String: String]? = nil)
        -> HTTPQuestion?
    {
        guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: false) else { return nil }
        parts.path += path
        if !query.isEmpty { parts.queryItems = query }
        // A plus would be read as a space.
        parts.percentEncodedQuery = parts.percentEncodedQuery?.replacing("+", with: "%2B")
        guard let url = parts.url else { return nil }
        var message = HTTPQuestion(url: url, headers: ["Accept": "application/json"])
        if let body {
            guard let json = try? JSONSerialization.data(withJSONObject: body, options: .sortedKeys) else {
                return nil
            }
            message.body = json
            message.headers["Content-Type"] = "application/json"
        }
        return message
    }

    /// - Returns: status and JSON of an answer; nil for what is no JSON.
    /// - Throws: as `GlucoseServer.newest`.
    func ask(_ message: HTTPQuestion?, now: Double) async throws -> (status: Int, json: Any?) {
        guard let message else { throw ServerRefusal(reason: "an address that can't be asked") }
        do {
            let answer = try await HTTPExchange.perform(
                message, timeoutSeconds: timeoutSeconds, bodyLimit: Self.bodyLimit, refusesMore: true)
            switch answer.status {
            case 300...399:
                throw ServerRefusal(
                    reason: "status \(answer.status), a redirect: name the address that it goes to")
            case 429, 503:
                throw ServerRefusal(
                    reason: "status \(answer.status)",
                    retryAfterSeconds: answer.retryAfter.flatMap {
                        DeviceLinks.retryAfterSeconds($0, nowEpochSeconds: now)
                    })
            default: break
            }
            return (
                answer.status,
                try? JSONSerialization.jsonObject(with: answer.body, options: .fragmentsAllowed)
            )
        } catch let none as NoAnswer {
            throw ServerRefusal(reason: none.reason)
        }
    }
}

/// Readings of rows that may be anything.
func serverReadings(
    _ rows: [Any], newest count: Int, _ read: ([String: Any]) -> ServerReading?
) -> ServerReadings {
    var found = ServerReadings()
    var stamps: Set<Int64> = []
    for row in rows {
        guard let row = row as? [String: Any], let reading = read(row), reading.milliseconds > 0,
            plausibleServerMgdl.contains(reading.mgdl)
        else {
            found.leftOut += 1
            continue
        }
        if stamps.insert(reading.milliseconds).inserted { found.readings.append(reading) }
    }
    found.readings.sort { $0.milliseconds < $1.milliseconds }
    found.readings = found.readings.suffix(count)
    return found
}

/// A whole number of JSON, whatever it was written as; nil for what is none.
func wholeNumber(_ value: Any?) -> Int64? {
    switch value {
    case let number as Double: number.magnitude < 9e15 ? Int64(number) : nil
    case let text as String: Int64(text)
    default: nil
    }
}
