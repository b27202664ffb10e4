// One exchange by URLSession.
//
// Guarantees: it takes at most so long, however slowly its bytes come, and no more of an answer is kept than a limit; a redirect is handed back, not
// followed; no cookies, no cache, no stored credentials, no connection that is kept. Reasons name nothing that was sent.

import Foundation
#if canImport(FoundationNetworking)
    import FoundationNetworking
    import Glibc
#endif
import Synchronization

/// What came back.
struct HTTPAnswer: Sendable {
    var status: Int
    /// As sent; nil without the header.
    var retryAfter: String?
    /// Where a redirect points.
    var location: String?
    var body: Data
}

enum HTTPExchange {
    /// What URLSession lacks on this machine; nil where it lacks nothing. A program that was built here is linked with libcurl; a packaged one finds it
    /// when it asks a server, and without it URLSession would end the process.
    static let lack: String? = {
        #if canImport(FoundationNetworking)
            if dlopen("libcurl.so.4", RTLD_NOW) == nil { return "libcurl.so.4, which Debian has in libcurl4" }
        #endif
        return nil
    }()

    /// - Parameter refusesMore: whether an answer beyond `bodyLimit` bytes is none; else its beginning is handed back.
    /// - Throws: `NoAnswer`; `CancellationError` where the task was cancelled.
    static func perform(
        _ message: URLRequest, timeoutSeconds: Double, bodyLimit: Int, refusesMore: Bool
    ) async throws -> HTTPAnswer {
        if let lack { throw NoAnswer(reason: "this machine lacks \(lack)") }
        let exchange = Exchange(bodyLimit: bodyLimit, refusesMore: refusesMore)
        let session = session(exchange)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: message)
        let timeout = Timeout()
        let deadline = Task {
            try await Task.sleep(for: .seconds(timeoutSeconds))
            timeout.isOver.store(true, ordering: .relaxed)
            task.cancel()
        }
        defer { deadline.cancel() }
        do {
            return try await withTaskCancellationHandler {
                // Cancelled before it began, the task would end before anybody waits for it.
                try Task.checkCancellation()
                return try await withCheckedThrowingContinuation { exchange.begin(task, $0) }
            } onCancel: {
                task.cancel()
            }
        } catch let error as URLError {
            if timeout.isOver.load(ordering: .relaxed) || error.code == .timedOut {
                throw NoAnswer(reason: "no answer within \(Int(timeoutSeconds.rounded(.up))) s")
            }
            try Task.checkCancellation()
            if exchange.isTooLong { throw NoAnswer(reason: "an answer of more than \(bodyLimit) bytes") }
            throw NoAnswer(reason: words(for: error.code))
        }
    }

    /// A session of one exchange, and so a connection of its own: where a kept connection turns out to be dead, the library
    /// below starts over by itself and then waits for a body that it has already sent.
    private static func session(_ exchange: Exchange) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
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
        var continuation: CheckedContinuation<HTTPAnswer, any Error>?
        var body = Data()
        var isTooLong = false
    }

    private let bodyLimit: Int
    private let refusesMore: Bool
    private let state = Mutex(State())

    init(bodyLimit: Int, refusesMore: Bool) {
        self.bodyLimit = bodyLimit
        self.refusesMore = refusesMore
    }

    var isTooLong: Bool { state.withLock { $0.isTooLong } }

    func begin(_ task: URLSessionDataTask, _ continuation: CheckedContinuation<HTTPAnswer, any Error>) {
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
        let isTooMuch = state.withLock { state in
            let room = max(0, bodyLimit - state.body.count)
            state.body.append(data.prefix(room))
            if refusesMore, data.count > room { state.isTooLong = true }
            return state.isTooLong
        }
        if isTooMuch { dataTask.cancel() }
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
                returning: HTTPAnswer(
                    status: response.statusCode,
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
                    location: response.value(forHTTPHeaderField: "Location"), body: body))
        } else {
            continuation?.resume(throwing: URLError(.badServerResponse))
        }
    }
}
