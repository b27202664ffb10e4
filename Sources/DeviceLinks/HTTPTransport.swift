// Posting over HTTP.
//
// Guarantees: one exchange takes at most `timeoutSeconds`, however slowly its bytes come; a redirect is handed back, not followed;
// no cookies, no cache, no stored credentials; the token is in one header of the request and in no message.

import Foundation

public final class HTTPTransport: SyncTransport {
    public let endpoint: String
    private let url: URL
    private let token: String?
    private let timeoutSeconds: Double

    /// - Parameters:
    ///   - url: with `http` or `https` and a host; nil is returned for anything else.
    ///   - token: sent as `Authorization: Bearer`.
    public init?(url text: String, token: String? = nil, timeoutSeconds: Double = 30) {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = url.host(), !host.isEmpty, url.user == nil,
            url.password == nil
        else { return nil }
        self.url = url
        self.token = token
        self.timeoutSeconds = timeoutSeconds
        endpoint = withoutSecrets(text)
    }

    /// What this machine lacks to reach any server; nil where it lacks nothing.
    package static var lack: String? { HTTPExchange.lack }

    /// Whether no server can be meant: no URL at all, one without a host, or a port that doesn't exist.
    public static func isImpossible(_ text: String) -> Bool {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty else { return true }
        let authority = text.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        // Past the brackets of an IPv6 address.
        let name = place.lastIndex(of: "]").map { place[$0...] } ?? place
        let port = name.drop { $0 != ":" }.dropFirst()
        if !port.isEmpty { return !(1...65_535).contains(Int(port) ?? 0) }
        return false
    }

    public func post(_ request: SyncRequest) async throws -> SyncResponse {
        var message = HTTPQuestion(url: url, body: Data(request.body.utf8))
        message.headers = ["Content-Type": "application/json", "Idempotency-Key": request.idempotencyKey]
        if let token { message.headers["Authorization"] = "Bearer " + token }
        let answer = try await HTTPExchange.perform(
            message, timeoutSeconds: timeoutSeconds, bodyLimit: Self.bodyLimit, refusesMore: false)
        var body = String(decoding: answer.body, as: UTF8.self)
        // An endpoint may say in its answer what it was given.
        if let token { body = body.replacing(token, with: "[token]") }
        return SyncResponse(
            status: answer.status, retryAfter: answer.retryAfter, location: answer.location, body: body)
    }

    /// More of an answer is not read.
    private static let bodyLimit = 4096

    /// Whether what is sent, the token too, can be read on its way: `http` to another machine.
    public var isReadableOnTheWay: Bool {
        let here = ["localhost", "127.0.0.1", "::1", "[::1]"]
        return url.scheme?.lowercased() == "http" && !here.contains(url.host()?.lowercased() ?? "")
    }
}

/// The system's clock.
public struct SystemSyncClock: SyncClock {
    public init() {}
    public var epochSeconds: Double { Date().timeIntervalSince1970 }
    public func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds)) }
}
