// A device's talk with the hub: what it wrote goes out, what others wrote comes in.
//
// Guarantees: a write is forgotten as unsent only after the hub's answer, in one transaction with all that the answer brought; whatever is lost on the way is sent
// again. It goes to 127.0.0.1 only. What the hub refuses stays here, and the reason with it.
// Does not: try again by itself: the next call does.

package import IsletAlerts
import Foundation
import IsletDevices

package struct SettingsLink: Sendable {
    /// What one sync came to.
    package struct Outcome: Hashable, Sendable {
        package var sent = 0
        package var received = 0
        /// Key and reason of what the hub doesn't take.
        package var refused: [String] = []
    }

    private let port: UInt16
    private let token: String
    private let timeoutSeconds: Double

    package init(port: UInt16, token: String, timeoutSeconds: Double = 15) {
        self.port = port
        self.token = token
        self.timeoutSeconds = timeoutSeconds
    }

    /// The port of `http://127.0.0.1:8090` or `http://localhost:8090`; nil for anything else.
    package static func port(of url: String) -> UInt16? {
        guard let match = url.wholeMatch(of: #/http://(?:127\.0\.0\.1|localhost):(\d{1,5})/?/#),
            let port = UInt16(match.output.1), port > 0
        else { return nil }
        return port
    }

    /// Sends and receives until there is nothing more of either.
    /// - Parameter clock: seconds since 1970 as this device shows them.
    package func sync(_ store: any OwnerStore, clock: Int64) throws -> Outcome {
        var outcome = Outcome()
        // A page of each a round, and a hub that is changed meanwhile: enough for any settings of one owner.
        for round in 0..<1000 {
            let request = try store.update { ledger in
                ledger.restampRefused(clock: clock)
                return ledger.request(resending: round == 0)
            }
            let answer = try exchange(request, owner: store.owner)
            let (news, isDone) = try store.update { ledger in
                let before = ledger
                ledger.take(answer, to: request)
                let news = answer.writes.count { before.row($0.key)?.write != $0 }
                // What was refused for a clock that is right again goes out once more, with a time of now.
                ledger.restampRefused(clock: clock)
                return (news, !answer.hasMore && !ledger.hasUnsent)
            }
            outcome.sent += request.writes.count - answer.refused.count
            outcome.received += news
            if isDone { break }
        }
        outcome.refused = try store.ledger().refused.map { "\($0.write.key): \($0.refusal ?? "")" }
        return outcome
    }

    private func exchange(_ request: SettingsRequest, owner: String) throws -> SettingsAnswer {
        let place = "http://127.0.0.1:\(port)"
        func fail(_ reason: String) -> OutputError {
            OutputError(
                .temporary, path: place, message: "\(reason); nothing is lost, the same command goes on")
        }
        let body = try JSONEncoder().encode(request)
        let answer: (status: Int, body: [UInt8])
        do {
            let connection = try LineSocket.connect(port: port, timeoutSeconds: timeoutSeconds)
            let header =
                "POST /owners/\(owner)/settings HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
            answer = try connection.exchange(Array(header.utf8) + body, timeoutSeconds: timeoutSeconds)
        } catch let failure as LineSocket.Failure {
            throw fail(failure.reason)
        }
        switch answer.status {
        case 200: break
        case 401:
            throw InputError(
                file: place, found: "HTTP 401", expected: "the token of \(owner), as the server keeps it")
        case 408, 503: throw fail("HTTP \(answer.status)")
        default:
            throw InputError(
                file: place, found: "HTTP \(answer.status)", expected: "an endpoint that takes these settings"
            )
        }
        do {
            return try JSONDecoder().decode(SettingsAnswer.self, from: Data(answer.body))
        } catch {
            throw InputError(
                file: place, found: "an answer that can't be read here",
                expected: "settings that this version knows")
        }
    }
}

extension LineSocket {
    private static let answerLimit = 8 << 20

    /// One HTTP exchange: `bytes` out, the answer in, to the connection's end.
    func exchange(_ bytes: [UInt8], timeoutSeconds: Double) throws -> (status: Int, body: [UInt8]) {
        try write(bytes)
        let deadline = Date().addingTimeInterval(timeoutSeconds)
        var got: [UInt8] = []
        while let chunk = try read() {
            got += chunk
            guard got.count <= Self.answerLimit else { throw Failure(reason: "an answer without an end") }
            guard Date() < deadline else {
                throw Failure(reason: "no answer within \(Int(timeoutSeconds)) s")
            }
        }
        guard let split = got.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Failure(reason: "an answer that broke off")
        }
        let lines = String(decoding: got[..<split.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        let lengths = lines.compactMap { line -> Int? in
            guard line.lowercased().hasPrefix("content-length:") else { return nil }
            return Int(line.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces))
        }
        let body = Array(got[split.upperBound...])
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw Failure(reason: "an answer that is not HTTP")
        }
        guard lengths == [body.count] else { throw Failure(reason: "an answer that broke off") }
        return (status, body)
    }
}
