// A TCP connection on this machine's loopback address that speaks in lines.
//
// Guarantees: the other end is 127.0.0.1, by the kernel's own word; a line is whole or an error; no read of a line or write takes longer than its
// timeout, however its bytes drip.
// Does not: connect to any other address: there is no parameter for one.

import Glibc

final class LineSocket: @unchecked Sendable {
    struct Failure: Error { var reason: String }

    static let loopback = UInt32(0x7f00_0001)
    /// The most bytes that a line may have.
    private static let limit = 1 << 16

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    static func connect(port: UInt16, timeoutSeconds: Double) throws -> LineSocket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(reason: text(errno)) }
        let connection = LineSocket(descriptor: descriptor)
        connection.setTimeout(timeoutSeconds)
        var address = Self.address(port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, length) }
        }
        guard code == 0 else { throw Failure(reason: text(errno)) }
        guard connection.isLoopback else { throw Failure(reason: "the peer is not on this machine") }
        return connection
    }

    static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = loopback.bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    /// Both ends are 127.0.0.1.
    var isLoopback: Bool {
        func name(_ get: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32)
            -> UInt32?
        {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { get(descriptor, $0, &length) }
            }
            guard code == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
            return UInt32(bigEndian: address.sin_addr.s_addr)
        }
        return name { getpeername($0, $1, $2) } == Self.loopback
            && name { getsockname($0, $1, $2) } == Self.loopback
    }

    func setTimeout(_ seconds: Double) {
        var time = timeval()
        time.tv_sec = Int(seconds)
        time.tv_usec = Int((seconds - Double(Int(seconds))) * 1e6)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
    }

    /// Ends whatever waits on it.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// - Returns: how many bytes were handed to the system before it failed; nil where all were.
    func write(_ line: String) -> (sent: Int, reason: String)? {
        handOver(Array(line.utf8) + [UInt8(ascii: "\n")])
    }

    /// Writes all of it.
    func write(_ bytes: [UInt8]) throws {
        if let (_, reason) = handOver(bytes) { throw Failure(reason: reason) }
    }

    private func handOver(_ bytes: [UInt8]) -> (sent: Int, reason: String)? {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (sent, Self.text(errno)) }
            sent += count
        }
        return nil
    }

    /// The next bytes; nil at the end.
    func read() throws -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(reason: Self.text(errno)) }
            return count == 0 ? nil : Array(chunk[..<count])
        }
    }

    /// - Parameter due: when the line must have come, whole; nil for whenever it comes.
    func readLine(by due: ContinuousClock.Instant? = nil) throws -> String {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(validating: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                guard let line else { throw Failure(reason: "a line that is no text") }
                return line
            }
            guard buffer.count <= Self.limit else { throw Failure(reason: "a line without an end") }
            if let due {
                let left = ContinuousClock.now.duration(to: due) / .seconds(1)
                guard left > 0 else { throw Failure(reason: "no line in time") }
                setTimeout(max(0.001, left))
            }
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(reason: count == 0 ? "closed" : Self.text(errno)) }
            buffer += chunk[..<count]
        }
    }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
