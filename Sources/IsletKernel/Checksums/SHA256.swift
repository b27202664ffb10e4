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
            String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
                for (index, byte) in bytes.enumerated() {
                    text[2 * index] = Self.digit(byte >> 4)
                    text[2 * index + 1] = Self.digit(byte & 15)
                }
                return 2 * bytes.count
            }
        }

        private static func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
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
        // The end that the standard adds: at most one block and eight bytes.
        withUnsafeTemporaryAllocation(byteCount: zeros + 9, alignment: 1) { end in
            end.initializeMemory(as: UInt8.self, repeating: 0)
            end[0] = 0x80
            for place in 0..<8 {
                end[zeros + 1 + place] = UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * place))
            }
            copy.update(UnsafeRawBufferPointer(end))
        }
        let state = copy.state
        let bytes = [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            for place in 0..<32 {
                bytes[place] = UInt8(truncatingIfNeeded: state[place / 4] >> UInt32(24 - place % 4 * 8))
            }
            count = 32
        }
        return Digest(bytes: bytes)
    }

    /// - Parameter blocks: a multiple of 64 bytes.
    private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
        let bytes = blocks.assumingMemoryBound(to: UInt8.self)
        withUnsafeMutableBytes(of: &state) {
            islet_sha256_compress(
                $0.assumingMemoryBound(to: UInt32.self).baseAddress, bytes.baseAddress, bytes.count / 64)
        }
    }
}
