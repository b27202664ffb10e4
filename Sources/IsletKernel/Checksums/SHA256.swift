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

        public var description: String { hex(bytes: bytes.count) }

        /// The first so many bytes, at most 32, as lower-case hex.
        public func hex(bytes count: Int) -> String {
            String(unsafeUninitializedCapacity: 2 * count) { text in
                for (index, byte) in bytes.prefix(count).enumerated() {
                    text[2 * index] = Self.digit(byte >> 4)
                    text[2 * index + 1] = Self.digit(byte & 15)
                }
                return 2 * count
            }
        }

        private static func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
        }
    }

    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19)
    /// What has not filled a block yet: the first `pendingCount` bytes.
    private var pending = SIMD64<UInt8>()
    private var pendingCount = 0
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
        if pendingCount > 0 {
            start = min(64 - pendingCount, bytes.count)
            keep(bytes[..<start])
            guard pendingCount == 64 else { return }
            let block = pending
            pendingCount = 0
            withUnsafeBytes(of: block) { compress($0) }
        }
        let end = bytes.count - (bytes.count - start) % 64
        if end > start { compress(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) }
        keep(bytes[end...])
    }

    /// - Parameter bytes: no more than there is room for.
    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let place = pendingCount
        withUnsafeMutableBytes(of: &pending) {
            UnsafeMutableRawBufferPointer(rebasing: $0[place...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
        }
        pendingCount += bytes.count
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
