// What a link's two ends say to each other: one JSON object a line.

import Foundation
import LinkedDevices

/// What a driver asks first.
struct LinkHello: Codable {
    var link = "islet"
    var version = 1
    var challenge: UInt64
    /// Of what this connection is: `pump` or `glucose`.
    var purpose: String
}

struct LinkWelcome: Codable {
    var link = "islet"
    var version = 1
    var proof: String
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
    static func open(port: UInt16, purpose: String, timeoutSeconds: Double) throws(PumpDriverError)
        -> LineSocket
    {
        do {
            // The proof takes its time, once a connection.
            let socket = try LineSocket.connect(port: port, timeoutSeconds: max(10, timeoutSeconds))
            let challenge = UInt64.random(in: 0...UInt64.max)
            if let failure = socket.write(try text(LinkHello(challenge: challenge, purpose: purpose))) {
                throw LineSocket.Failure(reason: failure.reason)
            }
            let welcome = try value(LinkWelcome.self, socket.readLine())
            guard welcome.link == "islet", welcome.version == 1,
                welcome.proof == SimulatorProof.answer(to: challenge)
            else {
                throw LineSocket.Failure(reason: "the peer has not proved to be this project's simulator")
            }
            socket.setTimeout(timeoutSeconds)
            return socket
        } catch let failure as LineSocket.Failure {
            throw .notSent(failure.reason)
        } catch {
            throw .notSent("the peer doesn't speak as this project's simulator")
        }
    }
}
