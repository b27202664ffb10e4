// Where a pump is that may be commanded. There is one kind: a port of this machine.

/// `loopback:PORT`. No other transport, host or device can be written down.
public struct PumpAddress: Hashable, Sendable {
    public let port: UInt16

    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "loopback", !parts[1].isEmpty, parts[1].utf8.count <= 5,
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = UInt16(parts[1]), port > 0
        else { return nil }
        self.port = port
    }

    public init(port: UInt16) { self.port = port }
}
