// What a link's two ends say to each other: one JSON object a line.

import Foundation
import Glibc

/// What a driver asks first.
struct LinkHello: Codable {
    var link = "islet"
    var version = 1
    var challenge: UInt64
    /// What this connection is for: `pump` or `glucose`.
    var purpose: String
}

struct LinkWelcome: Codable {
    var link = "islet"
    var version = 1
    var proof: String
    /// What the peer's clock says, ns since 1970.
    var utcNanoseconds: Int64?
}

/// Goes on while the machine sleeps, and nobody can set it.
enum BootClock {
    static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

enum LinkWire {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<T: Decodable>(_ type: T.Type, _ line: String) throws -> T {
        try JSONDecoder().decode(type, from: Data(line.utf8))
    }

    /// Opens a connection to a peer that has proved to be this project's simulator.
    /// - Throws: `PumpDriverError.notSent`: nothing but the challenge has left.
    /// - Parameters:
    ///   - hold: gets the socket before anything is waited for, so that whoever has it can end the wait.
    /// - Returns: beside it by how much the peer's clock is ahead of the continuous one of this machine, ns; nil where it doesn't say.
    static func open(
        port: UInt16, purpose: String, timeoutSeconds: Double, hold: (LineSocket) -> Void = { _ in }
    ) throws(PumpDriverError) -> (socket: LineSocket, clockAhead: Int64?) {
        do {
            // The proof takes its time, once a connection.
            let due = ContinuousClock.now + .seconds(max(10, timeoutSeconds))
            let socket = try LineSocket.connect(port: port, timeoutSeconds: max(10, timeoutSeconds))
            hold(socket)
            let challenge = UInt64.random(in: 0...UInt64.max)
            if let failure = socket.write(try text(LinkHello(challenge: challenge, purpose: purpose))) {
                throw LineSocket.Failure(reason: failure.reason)
            }
            let welcome = try value(LinkWelcome.self, socket.readLine(by: due))
            guard welcome.link == "islet", welcome.version == 1,
                welcome.proof == SimulatorProof.answer(to: challenge)
            else {
                throw LineSocket.Failure(reason: "the peer has not proved to be this project's simulator")
            }
            socket.setTimeout(timeoutSeconds)
            return (socket, welcome.utcNanoseconds.map { $0 &- BootClock.nanoseconds() })
        } catch let failure as LineSocket.Failure {
            throw .notSent(failure.reason)
        } catch {
            throw .notSent("the peer doesn't speak as this project's simulator")
        }
    }
}
