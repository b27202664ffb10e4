// SHA-256 (FIPS 180-4), for the hashes in a manifest.
//
// Guarantees: the standard's digest for any input, however it is cut into updates; quick in debug builds, too (in C).
// Does not: resist timing attacks. Nothing secret is hashed here.

import CIslet

/// An SHA-256 in progress.
public struct SHA256: Sendable {
    /// 32 bytes; `description` is their lower-case hex.
    public struct Digest: Hashable, Sendable, CustomStringConvertible {
        public let bytes: [UInt8]

        public var description: String {
            let digits = Array("0123456789abcdef".utf8)
            return String(
                decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }
    }

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
    ]
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
        let bytes = blocks.assumingMemoryBound(to: UInt8.self)
        state.withUnsafeMutableBufferPointer {
            islet_sha256_compress($0.baseAddress, bytes.baseAddress, bytes.count / 64)
        }
    }
}
