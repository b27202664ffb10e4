// SHA-256 (FIPS 180-4), for the hashes in a manifest.
//
// Guarantees: the standard's digest for any input, however it is cut into updates.
// Does not: resist timing attacks. Nothing secret is hashed here.

/// An SHA-256 in progress.
public struct SHA256: Sendable {
    /// 32 bytes; `description` is their lower-case hex.
    public struct Digest: Hashable, Sendable, CustomStringConvertible {
        public let bytes: [UInt8]

        public var description: String {
            var text = ""
            for byte in bytes { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
            return text
        }
    }

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var length: UInt64 = 0
    private var schedule = [UInt32](repeating: 0, count: 64)

    public init() {}

    /// The digest of one piece of data.
    public static func digest(of bytes: [UInt8]) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finished()
    }

    public mutating func update(_ bytes: [UInt8]) {
        length &+= UInt64(bytes.count)
        var start = 0
        if !pending.isEmpty {
            start = min(64 - pending.count, bytes.count)
            pending.append(contentsOf: bytes[..<start])
            guard pending.count == 64 else { return }
            let block = pending
            pending.removeAll(keepingCapacity: true)
            block.withUnsafeBytes { compress($0, at: 0) }
        }
        bytes.withUnsafeBytes { buffer in
            while buffer.count - start >= 64 {
                compress(buffer, at: start)
                start += 64
            }
        }
        pending.append(contentsOf: bytes[start...])
    }

    /// The digest of everything so far; more may follow.
    public func finished() -> Digest {
        var copy = self
        let bits = length &* 8
        let zeros = (119 - Int(length % 64)) % 64
        copy.update([0x80] + [UInt8](repeating: 0, count: zeros))
        copy.update((0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) })
        var bytes: [UInt8] = []
        for word in copy.state {
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return Digest(bytes: bytes)
    }

    private mutating func compress(_ buffer: UnsafeRawBufferPointer, at start: Int) {
        func rotated(_ x: UInt32, _ by: UInt32) -> UInt32 { x >> by | x << (32 - by) }
        for i in 0..<16 {
            schedule[i] = UInt32(
                bigEndian: buffer.loadUnaligned(fromByteOffset: start + 4 * i, as: UInt32.self))
        }
        for i in 16..<64 {
            let a = schedule[i - 15]
            let b = schedule[i - 2]
            let sigma0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)
            let sigma1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10)
            schedule[i] = schedule[i - 16] &+ sigma0 &+ schedule[i - 7] &+ sigma1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for i in 0..<64 {
            let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let choice = (e & f) ^ (~e & g)
            let t1 = h &+ sum1 &+ choice &+ Self.constants[i] &+ schedule[i]
            let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ sum0 &+ majority)
        }
        for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] &+= word }
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585,
        0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]
}
