// A port of this machine's loopback address that takes connections.
//
// Guarantees: its descriptor is closed when nobody holds it any more, and not before: the system gives a closed one's number to the next that is opened, so that
// whoever still waited on it would take, or end, somebody else's connections.

import Glibc

package final class LoopbackListener: Sendable {
    package let port: UInt16
    private let descriptor: Int32

    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - backlog: how many may wait to be taken.
    /// - Throws: `LineSocket.Failure` where the port isn't free.
    package init(port: UInt16 = 0, backlog: Int32) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw LineSocket.Failure(reason: LineSocket.text(errno)) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = LineSocket.address(port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isOpen else {
            let reason = LineSocket.text(errno)
            close(descriptor)
            throw LineSocket.Failure(reason: "port \(port): \(reason)")
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// The descriptor of the next connection, which is the caller's to close; nil once `shutDown` was called.
    package func next() -> Int32? {
        while true {
            let connection = accept(descriptor, nil, nil)
            if connection >= 0 { return connection }
            switch errno {
            case EINTR, ECONNABORTED: break
            // None is free for now.
            case EMFILE, ENFILE: usleep(50_000)
            default: return nil
            }
        }
    }

    /// Nothing is taken from now on, and whoever waits is told so.
    package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
