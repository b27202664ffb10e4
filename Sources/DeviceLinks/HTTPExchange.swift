// One exchange by this machine's libcurl.
//
// Guarantees: it takes at most so long, however slowly its bytes come, and no more of an answer is kept than a limit; while an answer is awaited a thread
// of its own sleeps, and nothing else runs; a redirect is handed back, not followed; no cookies, no cache, no stored credentials, no connection that is
// kept; certificates are checked by the system's. Reasons name nothing that was sent. A proxy is what the variables of libcurl say (`https_proxy`).

import CCurl
import Foundation
import Glibc
import Synchronization

/// What is asked: a POST where there is a body, else a GET.
struct HTTPQuestion: Sendable {
    /// With `http` or `https`.
    var url: URL
    var headers: [String: String] = [:]
    var body: Data?
}

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
    /// What this machine lacks to ask any server; nil where it lacks nothing. No program is linked with libcurl: it is looked for when a server is asked.
    static let lack: String? =
        islet_curl_load() ? nil : "libcurl.so.4 of 7.68 or later, which Debian has in libcurl4"

    /// - Parameter refusesMore: whether an answer beyond `bodyLimit` bytes is none; else its beginning is handed back.
    /// - Throws: `NoAnswer`; `CancellationError` where the task was cancelled.
    static func perform(
        _ request: HTTPQuestion, timeoutSeconds: Double, bodyLimit: Int, refusesMore: Bool
    ) async throws -> HTTPAnswer {
        if let lack { throw NoAnswer(reason: "this machine lacks \(lack)") }
        try Task.checkCancellation()
        let exchange = try Exchange(
            request, timeoutSeconds: timeoutSeconds, bodyLimit: bodyLimit, refusesMore: refusesMore)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { exchange.begin($0) }
        } onCancel: {
            exchange.cancel()
        }
    }
}

/// One transfer, and the thread that waits for it.
///
/// Its handle of libcurl is that thread's alone, but for `cancel`, which libcurl lets anybody do while there is one.
private final class Exchange: @unchecked Sendable {
    private let request: HTTPQuestion
    private let timeoutSeconds: Double
    private let bodyLimit: Int
    private let refusesMore: Bool
    private let multi: UnsafeMutableRawPointer
    private let isCancelled = Atomic(false)
    private var continuation: CheckedContinuation<HTTPAnswer, any Error>?

    init(_ request: HTTPQuestion, timeoutSeconds: Double, bodyLimit: Int, refusesMore: Bool) throws(NoAnswer)
    {
        guard let multi = islet_curl_multi_init() else { throw CurlCode.noMemory.answer }
        self.multi = multi
        self.request = request
        self.timeoutSeconds = min(max(0.001, timeoutSeconds), 1e6)
        self.bodyLimit = bodyLimit
        self.refusesMore = refusesMore
    }

    deinit { islet_curl_multi_cleanup(multi) }

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        islet_curl_multi_wakeup(multi)
    }

    /// To be called once.
    func begin(_ continuation: CheckedContinuation<HTTPAnswer, any Error>) {
        self.continuation = continuation
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Exchange>.fromOpaque(context).takeRetainedValue().live() }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            return finish(.failure(NoAnswer(reason: "no thread to wait on (error \(code))")))
        }
        pthread_detach(thread)
    }

    /// Nothing after the first time.
    private func finish(_ result: Result<HTTPAnswer, any Error>) {
        let continuation = self.continuation
        self.continuation = nil
        continuation?.resume(with: result)
    }

    // MARK: On its thread

    private func live() {
        // A connection that the server has closed is an error, and no signal to the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard let easy = islet_curl_easy_init() else { return finish(.failure(CurlCode.noMemory.answer)) }
        let incoming = Incoming(bodyLimit: bodyLimit, refusesMore: refusesMore)
        var headers: UnsafeMutableRawPointer?
        let result = Result { () throws -> HTTPAnswer in
            headers = try slist()
            try configure(easy, headers, incoming)
            return try transfer(easy, incoming)
        }
        // Without this option, which libcurl has since 7.87, it waits below for a name that it still asks for.
        if islet_curl_set_number(easy, ISLET_CURLOPT_QUICK_EXIT, 1) != 0 { finish(result) }
        islet_curl_multi_remove_handle(multi, easy)
        islet_curl_easy_cleanup(easy)
        islet_curl_slist_free_all(headers)
        withExtendedLifetime(incoming) {}
        finish(result)
    }

    /// The header's lines; libcurl's own that nobody needs are off.
    private func slist() throws -> UnsafeMutableRawPointer? {
        var lines = ["Expect:"]
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            guard !(name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw NoAnswer(reason: "a header that can't be sent")
            }
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        var list: UnsafeMutableRawPointer?
        for line in lines {
            guard let longer = islet_curl_slist_append(list, line) else {
                islet_curl_slist_free_all(list)
                throw CurlCode.noMemory.answer
            }
            list = longer
        }
        return list
    }

    private func configure(
        _ easy: UnsafeMutableRawPointer, _ headers: UnsafeMutableRawPointer?, _ incoming: Incoming
    ) throws(NoAnswer) {
        func check(_ code: Int32) throws(NoAnswer) { if code != 0 { throw CurlCode(code).answer } }
        func set(_ option: islet_curl_option, _ value: Int) throws(NoAnswer) {
            try check(islet_curl_set_number(easy, option, value))
        }
        // `transfer` is the first to say that the time is over: libcurl would wait for a name that it still asks for.
        let later = Int(timeoutSeconds * 1000) + 1000
        try set(ISLET_CURLOPT_TIMEOUT_MS, later)
        try set(ISLET_CURLOPT_CONNECTTIMEOUT_MS, later)
        try set(ISLET_CURLOPT_NOSIGNAL, 1)
        try set(ISLET_CURLOPT_PROTOCOLS, ISLET_CURLPROTO_HTTP | ISLET_CURLPROTO_HTTPS)
        try set(ISLET_CURLOPT_FOLLOWLOCATION, 0)
        try set(ISLET_CURLOPT_NETRC, 0)
        // Where a kept connection turns out to be dead libcurl starts over by itself.
        try set(ISLET_CURLOPT_FRESH_CONNECT, 1)
        try set(ISLET_CURLOPT_FORBID_REUSE, 1)
        try set(ISLET_CURLOPT_SSL_VERIFYPEER, 1)
        try set(ISLET_CURLOPT_SSL_VERIFYHOST, 2)
        try set(ISLET_CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try check(islet_curl_set_string(easy, ISLET_CURLOPT_URL, request.url.absoluteString))
        try check(islet_curl_set_string(easy, ISLET_CURLOPT_USERAGENT, "islet"))
        // All that this libcurl can unpack.
        try check(islet_curl_set_string(easy, ISLET_CURLOPT_ACCEPT_ENCODING, ""))
        try check(islet_curl_set_pointer(easy, ISLET_CURLOPT_HTTPHEADER, headers))
        if let body = request.body {
            try set(ISLET_CURLOPT_POST, 1)
            try check(islet_curl_set_size(easy, ISLET_CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)))
            // One byte more, which isn't sent: there is no address of nothing.
            let code = (body + [0]).withUnsafeBytes { bytes in
                islet_curl_set_pointer(
                    easy, ISLET_CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
            try check(code)
        }
        let data = Unmanaged.passUnretained(incoming).toOpaque()
        try check(islet_curl_set_pointer(easy, ISLET_CURLOPT_WRITEDATA, data))
        try check(islet_curl_set_pointer(easy, ISLET_CURLOPT_HEADERDATA, data))
        try check(
            islet_curl_set_receiver(easy, ISLET_CURLOPT_WRITEFUNCTION) { bytes, size, count, data in
                Incoming.take(bytes, size, count, data) { $0.takeBody($1) }
            })
        try check(
            islet_curl_set_receiver(easy, ISLET_CURLOPT_HEADERFUNCTION) { bytes, size, count, data in
                Incoming.take(bytes, size, count, data) { $0.takeHeader($1) }
            })
    }

    private func transfer(_ easy: UnsafeMutableRawPointer, _ incoming: Incoming) throws -> HTTPAnswer {
        guard islet_curl_multi_add_handle(multi, easy) == 0 else { throw CurlCode.noMemory.answer }
        let end = ContinuousClock.now + .seconds(timeoutSeconds)
        let late = NoAnswer(reason: "no answer within \(Int(timeoutSeconds.rounded(.up))) s")
        var running: Int32 = 1
        while true {
            if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
            guard islet_curl_multi_perform(multi, &running) == 0 else { throw CurlCode.noMemory.answer }
            if running == 0 { break }
            // Who cancels wakes it.
            let rest = min(60, (end - .now) / .milliseconds(1) / 1000)
            guard rest > 0 else { throw late }
            guard islet_curl_multi_poll(multi, Int32((rest * 1000).rounded(.up))) == 0 else {
                throw CurlCode.noMemory.answer
            }
            if ContinuousClock.now >= end { throw late }
        }
        let code = CurlCode(islet_curl_multi_result(multi))
        if code == .timedOut { throw late }
        if incoming.isTooLong { throw NoAnswer(reason: "an answer of more than \(bodyLimit) bytes") }
        let status = islet_curl_status(easy)
        guard code == .done else { throw code.answer }
        guard status > 0 else { throw CurlCode.notHTTP.answer }
        return HTTPAnswer(
            status: status, retryAfter: incoming.headers["retry-after"],
            location: incoming.headers["location"],
            body: incoming.body)
    }
}

/// What libcurl says of a transfer.
private struct CurlCode: Equatable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    static let done = Self(0)
    static let notHTTP = Self(8)
    static let noMemory = Self(27)
    static let timedOut = Self(28)

    var answer: NoAnswer { NoAnswer(reason: words) }

    private var words: String {
        switch number {
        case 1, 8: "an answer that is not HTTP"
        case 3: "an address that can't be asked"
        case 5: "no such proxy"
        case 6: "no such host"
        case 7: "no connection"
        case 18, 52, 55, 56: "the connection was lost"
        case 27: "no memory for it"
        case 35, 51, 53, 54, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91, 98: "no secure connection"
        case 61: "an answer that can't be unpacked"
        default: "a network error (\(number))"
        }
    }
}

/// Collects the answer of one transfer, on its thread.
private final class Incoming {
    private let bodyLimit: Int
    private let refusesMore: Bool
    private(set) var body = Data()
    private(set) var isTooLong = false
    /// The last answer's, by lower-case name, of those that are asked for.
    private(set) var headers: [String: String] = [:]

    init(bodyLimit: Int, refusesMore: Bool) {
        self.bodyLimit = bodyLimit
        self.refusesMore = refusesMore
    }

    /// - Returns: how many bytes were taken: all or none.
    static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ data: UnsafeMutableRawPointer?,
        _ body: (Incoming, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        let (length, overflows) = size.multipliedReportingOverflow(by: count)
        guard !overflows, length > 0, let bytes, let data else { return 0 }
        let incoming = Unmanaged<Incoming>.fromOpaque(data).takeUnretainedValue()
        return body(incoming, UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
    }

    /// - Returns: whether more is wanted.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let room = max(0, bodyLimit - body.count)
        body.append(contentsOf: bytes.prefix(room))
        if refusesMore, bytes.count > room { isTooLong = true }
        return !isTooLong
    }

    /// One line of a header. Each answer begins with its status: one that came before it (100, 103) is over then.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") { headers = [:] }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].lowercased()
        if parts.count == 2, name == "retry-after" || name == "location", headers[name] == nil {
            headers[name] = parts[1].trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return true
    }
}
