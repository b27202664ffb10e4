// A small HTTP server on this machine's loopback address: one request a connection.
//
// Guarantees: it listens on 127.0.0.1 only; a request takes at most so many seconds from its first byte to its last, however slowly they come, and so does the
// answer; so many connections at once, and no more; any bytes end in an answer or a closed connection. A `Host` that isn't this machine, and anything
// that a page of another site sends, is refused before anybody looks at it.
// Does not: TLS. What is to leave the machine goes through a tunnel of its owner's.

import Foundation
import Glibc
import Synchronization

package final class LoopbackServer: Sendable {
    /// A request that came whole and may be looked at.
    package struct Request: Sendable {
        package var method: String
        package var path: String
        /// What follows `Authorization: Bearer`; nil without it.
        package var token: String?
        package var body: [UInt8]
    }

    package struct Answer: Sendable {
        package var status: Int
        package var json: String

        package init(_ status: Int, json: String) {
            self.status = status
            self.json = json
        }
    }

    package static let mostConnections = 32

    package var port: UInt16 { listener.port }

    private let listener: LoopbackListener
    private let secondsPerRequest: Double
    private let handle: @Sendable (Request) -> Answer
    private let state = Mutex((connections: Set<Int32>(), isStopped: false))

    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - handle: called from many threads at once.
    package init(
        port: UInt16, secondsPerRequest: Double = 10, handle: @escaping @Sendable (Request) -> Answer
    ) throws {
        self.handle = handle
        self.secondsPerRequest = secondsPerRequest
        let listener = try LoopbackListener(port: port, backlog: 64)
        self.listener = listener
        Thread.detachNewThread { [weak self] in
            while let connection = listener.next() {
                guard let self else {
                    close(connection)
                    return
                }
                self.begin(connection)
            }
        }
    }

    deinit { stop() }

    package func stop() {
        state.withLock { state in
            state.isStopped = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
        listener.shutDown()
    }

    private func begin(_ connection: Int32) {
        let hasRoom = state.withLock { state in
            guard !state.isStopped, state.connections.count < Self.mostConnections else { return false }
            state.connections.insert(connection)
            return true
        }
        guard hasRoom else {
            send(
                HTTPText.answer(503, json: Self.problem("too many connections")), to: connection,
                until: Self.now() + 0.1)
            close(connection)
            return
        }
        Thread.detachNewThread {
            self.serve(connection)
            self.state.withLock { _ = $0.connections.remove(connection) }
            close(connection)
        }
    }

    /// `{"problem": ...}`; the reasons are this project's own words.
    package static func problem(_ reason: String) -> String {
        let text = reason.unicodeScalars.map { scalar in
            scalar == "\"" || scalar == "\\" || scalar.value < 0x20 ? "'" : String(scalar)
        }
        return "{\"problem\":\"\(text.joined())\"}"
    }

    private func serve(_ connection: Int32) {
        let deadline = Self.now() + secondsPerRequest
        let answer: Answer
        do {
            guard let request = try read(connection, until: deadline) else { return }
            answer = handle(try checked(request))
        } catch {
            answer = Answer(error.status, json: Self.problem("expected " + error.reason))
        }
        send(
            HTTPText.answer(answer.status, json: answer.json), to: connection,
            until: Self.now() + secondsPerRequest)
        // What the client still sends is not reset under it before it has read the answer.
        shutdown(connection, Int32(SHUT_WR))
        var rest = [UInt8](repeating: 0, count: 4096)
        let end = Self.now() + 0.5
        while wait(connection, Int16(POLLIN), until: end), recv(connection, &rest, rest.count, 0) > 0 {}
    }

    private func checked(_ request: HTTPRequest) throws(HTTPRefusal) -> Request {
        let hosts = ["127.0.0.1", "localhost", "127.0.0.1:\(port)", "localhost:\(port)"]
        guard let host = request.headers["host"], hosts.contains(host.lowercased()) else {
            throw HTTPRefusal(421, "a Host of this machine")
        }
        guard request.headers["origin"] == nil, request.headers["sec-fetch-site"] == nil else {
            throw HTTPRefusal(403, "a program, not a page in a browser")
        }
        var token: String?
        if let text = request.headers["authorization"], text.hasPrefix("Bearer ") {
            token = String(text.dropFirst("Bearer ".count))
        }
        return Request(method: request.method, path: request.path, token: token, body: request.body)
    }

    // MARK: Bytes

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func wait(_ connection: Int32, _ what: Int16, until deadline: Double) -> Bool {
        while true {
            let left = deadline - Self.now()
            guard left > 0 else { return false }
            var one = pollfd(fd: connection, events: what, revents: 0)
            let found = poll(&one, 1, Int32(left * 1000) + 1)
            if found > 0 { return true }
            if found < 0, errno != EINTR { return false }
        }
    }

    private func read(_ connection: Int32, until deadline: Double) throws(HTTPRefusal) -> HTTPRequest? {
        var reader = HTTPReader()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            guard wait(connection, Int16(POLLIN), until: deadline) else {
                throw HTTPRefusal(408, "a request within \(Int(secondsPerRequest.rounded(.up))) s")
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            if let request = try reader.take(chunk[..<count]) { return request }
        }
    }

    private func send(_ bytes: [UInt8], to connection: Int32, until deadline: Double) {
        var sent = 0
        while sent < bytes.count, wait(connection, Int16(POLLOUT), until: deadline) {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return }
            sent += count
        }
    }
}
