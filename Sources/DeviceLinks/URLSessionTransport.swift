// Posting by URLSession.
//
// Guarantees: one exchange takes at most `timeoutSeconds`, however slowly its bytes come; a redirect is handed back, not followed;
// no cookies, no cache, no stored credentials; the token is in one header of the request and in no message.

import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
import Synchronization

public final class URLSessionTransport: SyncTransport {
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

    /// A session of one exchange, and so a connection of its own: where a kept connection turns out to be dead, the library
    /// below starts over by itself and then waits for a body that it has already sent.
    private func session(_ exchange: Exchange) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
    }

    public func post(_ request: SyncRequest) async throws -> SyncResponse {
        var message = URLRequest(url: url, timeoutInterval: timeoutSeconds)
        message.httpMethod = "POST"
        message.httpBody = Data(request.body.utf8)
        message.setValue("application/json", forHTTPHeaderField: "Content-Type")
        message.setValue(request.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
        if let token { message.setValue("Bearer " + token, forHTTPHeaderField: "Authorization") }
        let exchange = Exchange()
        let session = session(exchange)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: message)
        let timeout = Timeout()
        let deadline = Task { [timeoutSeconds] in
            try await Task.sleep(for: .seconds(timeoutSeconds))
            timeout.isOver.store(true, ordering: .relaxed)
            task.cancel()
        }
        defer { deadline.cancel() }
        do {
            var response = try await withTaskCancellationHandler {
                // Cancelled before it began, the task would end before anybody waits for it.
                try Task.checkCancellation()
                return try await withCheckedThrowingContinuation { exchange.begin(task, $0) }
            } onCancel: {
                task.cancel()
            }
            // An endpoint may say in its answer what it was given.
            if let token { response.body = response.body.replacing(token, with: "[token]") }
            return response
        } catch let error as URLError {
            if timeout.isOver.load(ordering: .relaxed) || error.code == .timedOut {
                throw NoAnswer(reason: "no answer within \(Int(timeoutSeconds.rounded(.up))) s")
            }
            try Task.checkCancellation()
            throw NoAnswer(reason: Self.words(for: error.code))
        }
    }

    /// Whether what is sent, the token too, can be read on its way: `http` to another machine.
    public var isReadableOnTheWay: Bool {
        let here = ["localhost", "127.0.0.1", "::1", "[::1]"]
        return url.scheme?.lowercased() == "http" && !here.contains(url.host()?.lowercased() ?? "")
    }

    private static func words(for code: URLError.Code) -> String {
        switch code {
        case .cannotFindHost, .dnsLookupFailed: "no such host"
        case .cannotConnectToHost: "no connection"
        case .networkConnectionLost: "the connection was lost"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            "no secure connection"
        case .badServerResponse, .cannotParseResponse: "an answer that is not HTTP"
        default: "a network error (\(code.rawValue))"
        }
    }
}

private final class Timeout: Sendable {
    let isOver = Atomic(false)
}

/// Collects the answer of one task.
private final class Exchange: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var continuation: CheckedContinuation<SyncResponse, any Error>?
        var body = Data()
    }

    /// More of an answer is not read.
    private static let bodyLimit = 4096
    private let state = Mutex(State())

    func begin(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<SyncResponse, any Error>) {
        state.withLock { $0.continuation = continuation }
        task.resume()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.body.append(data.prefix(max(0, Self.bodyLimit - $0.body.count))) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, body) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.body)
        }
        if let error {
            continuation?.resume(throwing: (error as? URLError) ?? URLError(.unknown))
        } else if let response = task.response as? HTTPURLResponse {
            continuation?.resume(
                returning: SyncResponse(
                    status: response.statusCode,
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
                    location: response.value(forHTTPHeaderField: "Location"),
                    body: String(decoding: body, as: UTF8.self)))
        } else {
            continuation?.resume(throwing: URLError(.badServerResponse))
        }
    }
}

/// The system's clock.
public struct SystemSyncClock: SyncClock {
    public init() {}
    public var epochSeconds: Double { Date().timeIntervalSince1970 }
    public func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds)) }
}
