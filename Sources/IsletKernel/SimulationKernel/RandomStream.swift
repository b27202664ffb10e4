// Counter-based randomness.
//
// Guarantees: a stream is a pure function of (study seed, subject, stream name, index); the n-th draw of a stream
// doesn't depend on any other stream, so a new draw in one component shifts no other, and arms that share keys
// share their luck. Philox4x32-10 after Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011; checked against the known answers of its authors.
// Does not: serve cryptography.

/// The random streams of one subject of a study.
///
///     var meals = RandomStreams(seed: 1, subject: 0).stream("meals")
///     let grams = 20 + 60 * meals.uniform()
///
/// Another name is another stream: what one part draws shifts no number of another.
public struct RandomStreams: Sendable {
    public let seed: UInt64
    public let subject: UInt64

    public init(seed: UInt64, subject: UInt64) {
        self.seed = seed
        self.subject = subject
    }

    /// The stream of this name and index, from its first draw.
    public func stream(_ name: StaticString, index: UInt64 = 0) -> RandomStream {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a over the name's bytes
        name.withUTF8Buffer { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
        let key = Self.mix(Self.mix(Self.mix(seed) ^ subject) ^ hash)
        return RandomStream(key: key, index: index)
    }

    /// The streams of the same subject with other luck: one set for each `offset`, these themselves for 0.
    public func offset(by offset: UInt64) -> RandomStreams {
        offset == 0 ? self : RandomStreams(seed: Self.mix(seed ^ Self.mix(offset)), subject: subject)
    }

    /// The finaliser of SplitMix64: a bijection of 64-bit words that spreads every bit.
    static func mix(_ word: UInt64) -> UInt64 {
        var z = word &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// One stream: 2⁶⁴ blocks of two 64-bit words.
public struct RandomStream: RandomNumberGenerator, Sendable {
    @usableFromInline let key: UInt64
    @usableFromInline let index: UInt64
    @usableFromInline var block: UInt64 = 0
    @usableFromInline var spare: UInt64 = 0
    @usableFromInline var hasSpare = false

    @inlinable public init(key: UInt64, index: UInt64) {
        self.key = key
        self.index = index
    }

    /// The stream of the same name and another index, from its first draw.
    @inlinable public func at(_ index: UInt64) -> RandomStream { RandomStream(key: key, index: index) }

    /// Uniform in [0, 1), in steps of 2⁻⁵³; one word.
    @inlinable public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    @inlinable public mutating func next() -> UInt64 {
        if hasSpare {
            hasSpare = false
            return spare
        }
        let (low, high) = Philox.block(key: key, counterLow: block, counterHigh: index)
        block &+= 1
        spare = high
        hasSpare = true
        return low
    }
}

/// Philox4x32 with ten rounds.
public enum Philox {
    /// Encrypts a 128-bit counter under a 64-bit key; answers with the four 32-bit words as two 64-bit ones.
    @inlinable public static func block(
        key: UInt64, counterLow: UInt64, counterHigh: UInt64
    ) -> (low: UInt64, high: UInt64) {
        var c0 = UInt32(truncatingIfNeeded: counterLow)
        var c1 = UInt32(truncatingIfNeeded: counterLow >> 32)
        var c2 = UInt32(truncatingIfNeeded: counterHigh)
        var c3 = UInt32(truncatingIfNeeded: counterHigh >> 32)
        var k0 = UInt32(truncatingIfNeeded: key)
        var k1 = UInt32(truncatingIfNeeded: key >> 32)
        for _ in 0..<10 {
            let p0 = UInt64(c0) &* 0xD251_1F53
            let p1 = UInt64(c2) &* 0xCD9E_8D57
            c0 = UInt32(truncatingIfNeeded: p1 >> 32) ^ c1 ^ k0
            c1 = UInt32(truncatingIfNeeded: p1)
            c2 = UInt32(truncatingIfNeeded: p0 >> 32) ^ c3 ^ k1
            c3 = UInt32(truncatingIfNeeded: p0)
            k0 &+= 0x9E37_79B9
            k1 &+= 0xBB67_AE85
        }
        return (UInt64(c0) | UInt64(c1) << 32, UInt64(c2) | UInt64(c3) << 32)
    }
}
