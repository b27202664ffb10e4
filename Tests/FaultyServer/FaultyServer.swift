// An HTTP/1.1 server on a real socket of this machine that keeps steps, and fails the way it is told to.
//
// Guarantees: a step is kept once, by its id, in the order of arrival; what a request met is decided by the test, request by request.
// Does not: speak more HTTP than GET, and POST with a Content-Length.

import DeviceLinks
import Foundation
import Glibc
import Synchronization

/// What a request meets.
public enum Fate: Hashable, Sendable {
    /// The steps are kept and acknowledged.
    case accepted
    /// The steps are kept; the connection is closed without an answer.
    case acceptedButAnswerLost
    /// The steps are kept; the answer breaks off in its header.
    case acceptedButAnswerCut
    /// The steps are kept; nothing is ever answered.
    case acceptedButSilent
    /// The steps are not kept; the connection is closed without an answer.
    case dropped
    /// The answer's body breaks off half-way.
    case halfAnswered
    /// Something that isn't HTTP is answered.
    case garbled
    /// The answer's body comes a byte every now and then.
    case dripped
    case refused(Int, headers: [String: String] = [:], body: String = "")
}

/// One request as it arrived.
public struct Arrival: Sendable {
    public var path: String
    /// By lower-case name.
    public var headers: [String: String]
    public var stepIDs: [String]
    public var body = ""
}

public final class FaultyServer: Sendable {
    private struct State {
        var arrivals: [Arrival] = []
        var kept: [String] = []
        var bodies: [String: Data] = [:]
        var repeats = 0
        var problems: [String] = []
        var connections: [Int32] = []
        var isStopped = false
    }

    private let listener: LoopbackListener
    private let state = Mutex(State())
    private let fate: @Sendable (Int, Arrival) -> Fate

    /// - Parameter fate: asked for each request, with its number from 0.
    public init(_ fate: @escaping @Sendable (Int, Arrival) -> Fate = { _, _ in .accepted }) throws {
        self.fate = fate
        _ = Self.setUp
        let listener = try LoopbackListener(backlog: 64)
        self.listener = listener
        Thread.detachNewThread { [weak self] in
            while let connection = listener.next() {
                guard let self, self.open(connection) else {
                    close(connection)
                    return
                }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    deinit { stop() }

    public func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            listener.shutDown()
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    public var port: UInt16 { listener.port }
    public var url: String { "\(root)/steps" }
    public var root: String { "http://127.0.0.1:\(port)" }
    /// Ids in the order of their first arrival.
    public var kept: [String] { state.withLock { $0.kept } }
    /// How many steps came again.
    public var repeats: Int { state.withLock { $0.repeats } }
    public var arrivals: [Arrival] { state.withLock { $0.arrivals } }
    /// What no client should ever send: broken JSON, or another step under a known id.
    public var problems: [String] { state.withLock { $0.problems } }
    /// A kept step.
    public func step(_ id: String) -> [String: Any]? {
        state.withLock { $0.bodies[id] }.flatMap {
            (try? JSONSerialization.jsonObject(with: $0)) as? [String: Any]
        }
    }

    /// Once a process: no proxy between client and server, and no death by a closed pipe.
    private static let setUp: Void = {
        signal(SIGPIPE, SIG_IGN)
        setenv("no_proxy", "127.0.0.1,localhost,islet.invalid", 1)
    }()

    // MARK: Connections

    private func open(_ connection: Int32) -> Bool {
        state.withLock { state in
            if !state.isStopped { state.connections.append(connection) }
            return !state.isStopped
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { $0.connections.removeAll { $0 == connection } }
            close(connection)
        }
        var buffer = Data()
        while let end = readHeader(connection, &buffer) {
            let lines = String(decoding: buffer[..<end], as: UTF8.self).components(separatedBy: "\r\n")
            buffer = Data(buffer[(end + 4)...])
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                if parts.count == 2 { headers[parts[0].lowercased()] = parts[1] }
            }
            let words = lines[0].split(separator: " ")
            var arrival = Arrival(
                path: words.count > 1 ? String(words[1]) : "", headers: headers, stepIDs: [])
            if headers["expect"] != nil { send(connection, "HTTP/1.1 100 Continue\r\n\r\n") }
            let isGet = words.first == "GET"
            guard let length = headers["content-length"].flatMap({ Int($0) }) ?? (isGet ? 0 : nil),
                let body = readBody(connection, &buffer, length)
            else { return }
            arrival.body = String(decoding: body, as: UTF8.self)
            let isOfSteps = !isGet && !arrival.path.contains("/ShareWebServices/")
            let steps = isOfSteps ? parse(body) : []
            arrival.stepIDs = steps.map(\.id)
            let number = state.withLock { state in
                state.arrivals.append(arrival)
                return state.arrivals.count - 1
            }
            guard meet(fate(number, arrival), steps, connection) else { return }
        }
    }

    /// Says whether the connection stays.
    private func meet(_ fate: Fate, _ steps: [(id: String, body: Data)], _ connection: Int32) -> Bool {
        switch fate {
        case .accepted:
            keep(steps)
            return send(connection, Self.answer(200, body: "{\"accepted\":\(steps.count)}"))
        case .acceptedButAnswerLost:
            keep(steps)
            return false
        case .acceptedButAnswerCut:
            keep(steps)
            send(connection, "HTTP/1.1 200 O")
            return false
        case .acceptedButSilent:
            keep(steps)
            while !state.withLock({ $0.isStopped }) { usleep(10_000) }
            return false
        case .dropped: return false
        case .halfAnswered:
            send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{\"sgv\":120")
            return false
        case .garbled:
            send(connection, "220 mail.example.org ESMTP\r\n")
            return false
        case .dripped:
            send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while !state.withLock({ $0.isStopped }) {
                usleep(100_000)
                guard send(connection, ".") else { return false }
            }
            return false
        case .refused(let status, let headers, let body):
            return send(connection, Self.answer(status, headers: headers, body: body))
        }
    }

    private static func answer(_ status: Int, headers: [String: String] = [:], body: String) -> String {
        var text = "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.utf8.count)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return text + "\r\n" + body
    }

    private func keep(_ steps: [(id: String, body: Data)]) {
        state.withLock { state in
            for step in steps {
                if let before = state.bodies[step.id] {
                    state.repeats += 1
                    if before != step.body { state.problems.append("another step under \(step.id)") }
                } else {
                    state.bodies[step.id] = step.body
                    state.kept.append(step.id)
                }
            }
        }
    }

    private func parse(_ body: Data) -> [(id: String, body: Data)] {
        guard let root = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any],
            let steps = root["steps"] as? [[String: Any]]
        else {
            state.withLock { $0.problems.append("a body that isn't a batch") }
            return []
        }
        return steps.compactMap { step in
            guard let id = step["step_id"] as? String,
                let text = try? JSONSerialization.data(withJSONObject: step, options: .sortedKeys)
            else {
                state.withLock { $0.problems.append("a step without id") }
                return nil
            }
            return (id, text)
        }
    }

    // MARK: Bytes

    private func readHeader(_ connection: Int32, _ buffer: inout Data) -> Int? {
        while true {
            if let range = buffer.range(of: Data("\r\n\r\n".utf8)) { return range.lowerBound }
            guard receive(connection, &buffer) else { return nil }
        }
    }

    private func readBody(_ connection: Int32, _ buffer: inout Data, _ length: Int) -> Data? {
        while buffer.count < length { guard receive(connection, &buffer) else { return nil } }
        defer { buffer = Data(buffer.dropFirst(length)) }
        return Data(buffer.prefix(length))
    }

    private func receive(_ connection: Int32, _ buffer: inout Data) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let got = recv(connection, &chunk, chunk.count, 0)
        guard got > 0 else { return false }
        buffer.append(contentsOf: chunk[..<got])
        return true
    }

    @discardableResult
    private func send(_ connection: Int32, _ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}
