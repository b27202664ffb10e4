// SHA-256 (FIPS 180-4), for the hashes in a manifest.
//
// Guarantees: the standard's digest for any input, however it is cut into updates. This target is optimized in debug builds too: they hash
// programs of 40 MB.
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

    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19)
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    public init() {}

    /// The digest of one piece of data.
    public static func digest(of bytes: [UInt8]) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finished()
    }

    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var start = 0
        if !pending.isEmpty {
            start = min(64 - pending.count, bytes.count)
            pending.append(contentsOf: bytes[..<start])
            guard pending.count == 64 else { return }
            let block = pending
            pending.removeAll(keepingCapacity: true)
            block.withUnsafeBytes { compress($0) }
        }
        let end = bytes.count - (bytes.count - start) % 64
        if end > start { compress(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
        pending.append(contentsOf: bytes[end...])
    }

    /// The digest of everything so far; more may follow.
    public func finished() -> Digest {
        var copy = self
        let bits = length &* 8
        let zeros = (119 - Int(length % 64)) % 64
        copy.update([0x80] + [UInt8](repeating: 0, count: zeros))
        copy.update((0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) })
        var bytes: [UInt8] = []
        for index in 0..<8 {
            let word = copy.state[index]
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return Digest(bytes: bytes)
    }

    /// - Parameter blocks: a multiple of 64 bytes.
    private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
        let state = state
        self.state = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            Self.constants.withUnsafeBufferPointer { constants in
                var sum = state
                for start in stride(from: 0, to: blocks.count, by: 64) {
                    Self.fill(schedule, blocks, start)
                    sum &+= Self.rounds(sum, schedule, constants)
                }
                return sum
            }
        }
    }

    private static func fill(
        _ schedule: UnsafeMutableBufferPointer<UInt32>, _ blocks: UnsafeRawBufferPointer, _ start: Int
    ) {
        for i in 0..<16 {
            schedule[i] = UInt32(
                bigEndian: blocks.loadUnaligned(fromByteOffset: start &+ 4 &* i, as: UInt32.self))
        }
        for i in 16..<64 {
            let a = schedule[i &- 15]
            let b = schedule[i &- 2]
            let sigma0 = rotated(a, 7) ^ rotated(a, 18) ^ (a &>> 3)
            let sigma1 = rotated(b, 17) ^ rotated(b, 19) ^ (b &>> 10)
            schedule[i] = schedule[i &- 16] &+ sigma0 &+ schedule[i &- 7] &+ sigma1
        }
    }

    private static func rounds(
        _ start: SIMD8<UInt32>, _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt32>
    ) -> SIMD8<UInt32> {
        var (a, b, c, d) = (start[0], start[1], start[2], start[3])
        var (e, f, g, h) = (start[4], start[5], start[6], start[7])
        for i in stride(from: 0, to: 64, by: 8) {
            // Eight rounds at once: the names turn, nothing is moved.
            round(a, b, c, &d, e, f, g, &h, constants[i] &+ schedule[i])
            round(h, a, b, &c, d, e, f, &g, constants[i &+ 1] &+ schedule[i &+ 1])
            round(g, h, a, &b, c, d, e, &f, constants[i &+ 2] &+ schedule[i &+ 2])
            round(f, g, h, &a, b, c, d, &e, constants[i &+ 3] &+ schedule[i &+ 3])
            round(e, f, g, &h, a, b, c, &d, constants[i &+ 4] &+ schedule[i &+ 4])
            round(d, e, f, &g, h, a, b, &c, constants[i &+ 5] &+ schedule[i &+ 5])
            round(c, d, e, &f, g, h, a, &b, constants[i &+ 6] &+ schedule[i &+ 6])
            round(b, c, d, &e, f, g, h, &a, constants[i &+ 7] &+ schedule[i &+ 7])
        }
        return SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ word: UInt32
    ) {
        let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        let t1 = h &+ sum1 &+ (g ^ (e & (f ^ g))) &+ word
        let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
        d = d &+ t1
        h = t1 &+ sum0 &+ ((a & b) | (c & (a | b)))
    }

    @inline(__always)
    private static func rotated(_ x: UInt32, _ by: UInt32) -> UInt32 { x &>> by | x &<< (32 &- by) }

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
