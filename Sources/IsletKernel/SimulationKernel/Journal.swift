// What crossed a session's boundary, and what the session did.
//
// Guarantees: every recorded event enters a rolling digest as canonical 64-bit words, in order; two sessions with
// equal digests did the same things at the same instants (up to a 128-bit coincidence). Checkpoints of the digest
// stand every 1024 events, so that a difference is found by bisection. Inputs are kept whole; events go to an
// observer where there is one and are otherwise only counted and hashed.
// Does not: resist an adversary. The digest is a checksum, not a signature.

/// The kind of an event. Each target declares its own, in its own range of codes.
public struct EventKind: Hashable, Sendable, CustomStringConvertible {
    public let code: UInt16
    public let name: StaticString

    public init(_ code: UInt16, _ name: StaticString) {
        self.code = code
        self.name = name
    }

    public var description: String { "\(name)" }
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Something that came through the input queue.
    public static let input = EventKind(1, "input")
}

/// An input from outside the session: what kind, and its canonical bytes.
public struct ExternalInput: Hashable, Sendable, Codable {
    public var kind: String
    public var bytes: [UInt8]

    public init(kind: String, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// An input with the instant at which it entered.
public struct StampedInput: Hashable, Sendable, Codable {
    public var instant: Instant
    public var input: ExternalInput

    public init(instant: Instant, input: ExternalInput) {
        self.instant = instant
        self.input = input
    }
}

/// An event as an observer of the journal sees it.
public struct JournalEvent: Hashable, Sendable {
    public var instant: Instant
    public var kind: EventKind
    public var words: [UInt64]
}

public final class Journal {
    /// The digest after `count` events.
    public struct Checkpoint: Hashable, Sendable, Codable {
        public var count: Int
        public var digest: Digest128

        /// `count:digest` words, separated by spaces.
        public static func text(_ checkpoints: [Checkpoint]) -> String {
            checkpoints.map { "\($0.count):\($0.digest)" }.joined(separator: " ")
        }

        /// Reads what `text` wrote; words that are not a checkpoint are left out.
        public static func list(_ text: String) -> [Checkpoint] {
            text.split(separator: " ").compactMap { (word: Substring) -> Checkpoint? in
                let parts: [Substring] = word.split(separator: ":")
                guard parts.count == 2, let count = Int(parts[0]), let digest = Digest128(parts[1]) else {
                    return nil
                }
                return Checkpoint(count: count, digest: digest)
            }
        }
    }

    public static let checkpointInterval = 1024

    private var rolling = Digest128()
    private var recorded = 0
    /// Over every event so far.
    public var digest: Digest128 { rolling }
    /// Events so far.
    public var count: Int { recorded }
    public private(set) var checkpoints: [Checkpoint] = []
    public private(set) var inputs: [StampedInput] = []
    /// Sees every event; nil in ordinary runs, which hash and forget.
    public var observer: ((JournalEvent) -> Void)?

    public init() {}

    public func record(_ kind: EventKind, at instant: Instant, _ a: UInt64) {
        begin(kind, at: instant, count: 1)
        absorb(a)
        if isRemarkable() { remark(kind, at: instant, a, 0, 0, 0, count: 1) }
    }

    public func record(_ kind: EventKind, at instant: Instant, _ a: UInt64, _ b: UInt64) {
        begin(kind, at: instant, count: 2)
        absorb(a)
        absorb(b)
        if isRemarkable() { remark(kind, at: instant, a, b, 0, 0, count: 2) }
    }

    public func record(
        _ kind: EventKind, at instant: Instant, _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64
    ) {
        begin(kind, at: instant, count: 4)
        absorb(a)
        absorb(b)
        absorb(c)
        absorb(d)
        if isRemarkable() { remark(kind, at: instant, a, b, c, d, count: 4) }
    }

    public func record(_ kind: EventKind, at instant: Instant, words: [UInt64]) {
        begin(kind, at: instant, count: words.count)
        for word in words { absorb(word) }
        if isRemarkable() { remark(kind, at: instant, words) }
    }

    /// Keeps an input that is to come, and gives it its index.
    func keep(_ stamped: StampedInput) -> Int {
        inputs.append(stamped)
        return inputs.count - 1
    }

    /// Records a kept input among the events, when its instant has come: there, a live run and its replay agree.
    func recordInput(_ index: Int) {
        let (instant, input) = (inputs[index].instant, inputs[index].input)
        record(
            .input, at: instant, words: Self.words(of: Array(input.kind.utf8)) + Self.words(of: input.bytes))
    }

    /// Bytes as canonical words: their count, then eight to a word, little-endian, the last one padded with zeros.
    public static func words(of bytes: [UInt8]) -> [UInt64] {
        var words = [UInt64(bytes.count)]
        for start in stride(from: 0, to: bytes.count, by: 8) {
            var word: UInt64 = 0
            for (offset, byte) in bytes[start..<min(start + 8, bytes.count)].enumerated() {
                word |= UInt64(byte) << (8 * UInt64(offset))
            }
            words.append(word)
        }
        return words
    }

    /// The number of words stands beside the kind, so that no two lists of events give the same words.
    @inline(__always) private func begin(_ kind: EventKind, at instant: Instant, count: Int) {
        rolling.absorb(UInt64(bitPattern: instant.nanoseconds))
        rolling.absorb(UInt64(kind.code) | UInt64(count) << 16)
    }

    @inline(__always) private func absorb(_ word: UInt64) { rolling.absorb(word) }

    /// Counts an event. Says whether that isn't all: it stands at a checkpoint, or somebody looks.
    @inline(__always) private func isRemarkable() -> Bool {
        recorded += 1
        return recorded % Self.checkpointInterval == 0 || observer != nil
    }

    // Out of line, and of plain numbers: ordinary events neither allocate nor save registers for it.
    @inline(never) private func remark(
        _ kind: EventKind, at instant: Instant, _ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64, count: Int
    ) {
        remark(kind, at: instant, Array([a, b, c, d].prefix(count)))
    }

    @inline(never) private func remark(_ kind: EventKind, at instant: Instant, _ words: [UInt64]) {
        if recorded % Self.checkpointInterval == 0 {
            checkpoints.append(Checkpoint(count: recorded, digest: rolling))
        }
        observer?(JournalEvent(instant: instant, kind: kind, words: words))
    }
}

/// A rolling 128-bit checksum over 64-bit words.
public struct Digest128: Hashable, Sendable, Codable, CustomStringConvertible {
    public private(set) var a: UInt64 = 0x243f_6a88_85a3_08d3
    public private(set) var b: UInt64 = 0x1319_8a2e_0370_7344

    public init() {}

    /// Reads 32 hexadecimal digits.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, let a = UInt64(text.prefix(16), radix: 16),
            let b = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        (self.a, self.b) = (a, b)
    }

    @inlinable @inline(__always)
    public mutating func absorb(_ word: UInt64) { _absorb(word) }

    @usableFromInline @inline(__always)
    mutating func _absorb(_ word: UInt64) {
        // Each step is a bijection of the state for a given word, and of the word for a given state.
        var x = (a ^ word) &* 0x9e37_79b9_7f4a_7c15
        x ^= x >> 32
        b = ((b << 23 | b >> 41) &+ x) &* 0xd6e8_feb8_6659_fd93
        a = x &+ (b >> 29)
    }

    /// 32 hexadecimal digits.
    public var description: String { Self.hex(a) + Self.hex(b) }

    private static func hex(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
