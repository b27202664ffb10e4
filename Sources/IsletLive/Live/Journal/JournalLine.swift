// The lines of a live session's journal, as values and as text.
//
// Guarantees: any line reads back to the value that it was written from; whatever else stands in a line is refused. Words stand last, behind a code
// in brackets (`answer 3 refused [not-active] ...`): a replay compares the code. What no replay comes to again, a refusal of what never reached the session, has marks
// behind its code that say where its values stand (`ValueText.marks`). Lines of before there were codes are read and written as they are.
// Does not: know checksums or files. `JournalFile` does.

import IsletDevices
package import IsletKernel

/// How a session ended before its time.
package struct EarlyEnd: Hashable, Sendable {
    /// Empty for a journal's line of before there were codes.
    package var code: String
    package var reason: String

    /// The code of a session that this program lived.
    package static let code = "early"

    /// nil for a session that lived to its end.
    init?(_ outcome: SessionEnd) {
        guard case .endedEarly(let reason) = outcome else { return nil }
        self.init(code: Self.code, reason: JournalLine.line(reason))
    }

    package init(code: String = Self.code, reason: String) { (self.code, self.reason) = (code, reason) }
}

package enum JournalLine: Hashable, Sendable {
    /// The first line: who lives, in which study (`LiveOpening`), as JSON.
    case open(String)
    /// From this instant on session time goes so fast against the wall clock.
    /// - Parameters:
    ///   - utc: nanoseconds since 1970 at that instant.
    ///   - boot: the continuous clock then; nil where nobody knows.
    case pace(Instant, LivePace, utc: Int64, boot: LiveBoot? = nil)
    /// An input that takes effect at its instant; the bytes are `LiveInput`'s. On disk before it does.
    case input(number: Int, StampedInput, key: String)
    /// What the session made of it.
    case answer(number: Int, LiveOutcome)
    /// An input that was refused before it reached the session.
    case refusal(Instant, key: String, LiveRefusal)
    /// What was taken under a key and is no input: how fast time goes. Said again it does nothing.
    case said(Instant, key: String, text: String)
    /// The algorithm gave no answer in time for the step of this instant. On disk before the step goes on without.
    case late(Instant)
    /// From here on somebody drives the session step by step; nil for nobody.
    case driver(Instant, LiveDriver?)
    /// What the driver answered the step that the session waits at (`RecordedSteps.Step.text`). On disk before it counts.
    case act(Instant, step: Int64, String)
    /// The session has come to this instant, and did so much on the way. Written before anybody is shown what happened.
    case mark(Instant, events: Int, Digest128)
    /// What a device outside is told: `LinkCommand`, as JSON. On disk before a driver gets it.
    case command(Instant, String)
    /// At the end of this instant alerts go on under another policy, dosing by another algorithm, or both: `LiveFork.Change`, as JSON.
    case exchange(Instant, String)
    /// Nobody lived from the one instant to the other.
    case leap(from: Instant, to: Instant)
    /// The session is over. Its digest is the whole session's; `early` is nil where it lived to its end.
    case end(Instant, events: Int, Digest128, early: EarlyEnd?)

    /// Without a line's end. Texts of several words stand last.
    package var text: String {
        switch self {
        case .open(let json): "open \(json)"
        case .pace(let at, let pace, let utc, let boot):
            "pace \(at.nanoseconds) \(pace) \(utc)"
                + (boot.map { " \($0.id) \($0.continuousNanoseconds)" } ?? "")
        case .input(let number, let stamped, let key):
            "input \(number) \(stamped.instant.nanoseconds) \(key.isEmpty ? "-" : key) "
                + String(decoding: stamped.input.bytes, as: UTF8.self)
        case .answer(let number, let outcome): "answer \(number) \(outcome.text)"
        case .refusal(let at, let key, let refusal):
            "refusal \(at.nanoseconds) \(key.isEmpty ? "-" : key) "
                + Self.coded(refusal.code, refusal.reason.text, refusal.reason.marks)
        case .said(let at, let key, let text): "said \(at.nanoseconds) \(key) \(Self.line(text))"
        case .late(let at): "late \(at.nanoseconds)"
        case .driver(let at, let driver):
            "driver \(at.nanoseconds)" + (driver.map { " \($0.hash) \(Self.line($0.name))" } ?? "")
        case .act(let at, let step, let dose): "act \(at.nanoseconds) \(step) \(dose)"
        case .mark(let at, let events, let digest): "mark \(at.nanoseconds) \(events) \(digest)"
        case .command(let at, let json): "command \(at.nanoseconds) \(json)"
        case .exchange(let at, let json): "exchange \(at.nanoseconds) \(json)"
        case .leap(let from, let to): "leap \(from.nanoseconds) \(to.nanoseconds)"
        case .end(let at, let events, let digest, let early):
            "end \(at.nanoseconds) \(events) \(digest) "
                + (early.map { Self.coded($0.code, $0.reason) } ?? "")
        }
    }

    /// Reads what `text` wrote.
    package init?(_ text: Substring) {
        var rest = text
        func word() -> Substring {
            // By bytes: to look for characters takes as long as all else that a line is read for.
            let end = rest.utf8.firstIndex(of: UInt8(ascii: " "))
            defer { rest = end.map { rest[rest.utf8.index(after: $0)...] } ?? rest[rest.endIndex...] }
            return rest[..<(end ?? rest.endIndex)]
        }
        func instant() -> Instant? { Int64(word()).flatMap { $0 >= 0 ? Instant(nanoseconds: $0) : nil } }
        switch word() {
        case "open": self = .open(String(rest))
        case "pace":
            guard let at = instant(), let pace = LivePace(word()), let utc = Int64(word()) else { return nil }
            let boot = LiveBoot(rest)
            guard boot != nil || rest.isEmpty else { return nil }
            self = .pace(at, pace, utc: utc, boot: boot)
        case "input":
            guard let number = Int(word()), let at = instant() else { return nil }
            let key = word()
            let input = ExternalInput(kind: LiveInput.kind, bytes: Array(rest.utf8))
            self = .input(
                number: number, StampedInput(instant: at, input: input), key: key == "-" ? "" : String(key))
        case "answer":
            guard let number = Int(word()), let outcome = Self.outcome(rest) else { return nil }
            self = .answer(number: number, outcome)
        case "refusal":
            guard let at = instant() else { return nil }
            let key = word()
            let (code, reason) = Self.uncoded(rest)
            self = .refusal(
                at, key: key == "-" ? "" : String(key), LiveRefusal(code: code, reason: reason))
        case "said":
            guard let at = instant() else { return nil }
            let key = word()
            guard !key.isEmpty, !rest.isEmpty else { return nil }
            self = .said(at, key: String(key), text: String(rest))
        case "late":
            guard let at = instant() else { return nil }
            self = .late(at)
        case let kind where kind == "driver" || kind == "act":
            guard let at = instant(), let line = Self.driven(kind, at, word(), rest) else { return nil }
            self = line
        case "mark":
            guard let at = instant(), let events = Int(word()), let digest = Digest128(word()) else {
                return nil
            }
            self = .mark(at, events: events, digest)
        case "command":
            guard let at = instant() else { return nil }
            self = .command(at, String(rest))
        case "exchange":
            guard let at = instant() else { return nil }
            self = .exchange(at, String(rest))
        case "leap":
            guard let from = instant(), let to = instant(), from < to else { return nil }
            self = .leap(from: from, to: to)
        case "end":
            guard let at = instant(), let events = Int(word()), let digest = Digest128(word()) else {
                return nil
            }
            let (code, reason) = Self.uncoded(rest)
            self = .end(
                at, events: events, digest,
                early: rest.isEmpty ? nil : EarlyEnd(code: code, reason: reason.text))
        default: return nil
        }
    }

    /// A line about a driver, or by one.
    private static func driven(
        _ kind: Substring, _ at: Instant, _ word: Substring, _ rest: Substring
    ) -> JournalLine? {
        guard word.isEmpty == rest.isEmpty else { return nil }
        guard kind == "act" else {
            return .driver(at, word.isEmpty ? nil : LiveDriver(name: String(rest), hash: String(word)))
        }
        return Int64(word).map { .act(at, step: $0, String(rest)) }
    }

    init(_ anchor: LiveAnchor) {
        self = .pace(anchor.instant, anchor.pace, utc: anchor.utcNanoseconds, boot: anchor.boot)
    }

    /// How session time and wall time belong together; nil for a line that doesn't say it.
    var anchor: LiveAnchor? {
        guard case .pace(let at, let pace, let utc, let boot) = self else { return nil }
        return LiveAnchor(instant: at, pace: pace, utcNanoseconds: utc, boot: boot)
    }

    /// Reads `LiveOutcome.text`.
    static func outcome(_ text: Substring) -> LiveOutcome? {
        let word = text.prefix { $0 != " " }
        switch word {
        case "taken": return .taken
        case "refused":
            let (code, reason) = uncoded(text.dropFirst(word.count).dropFirst())
            return .refused(LiveRefusal(code: code, reason: reason))
        default: return nil
        }
    }

    /// `[not-active] words`, with marks of the words behind the code; the words alone where there is no code.
    static func coded(_ code: String, _ words: String, _ marks: [String] = []) -> String {
        (code.isEmpty ? "" : "[\(([code] + marks).joined(separator: " "))] ") + line(words)
    }

    /// Reads what `coded` wrote, and words without a code.
    private static func uncoded(_ text: Substring) -> (code: String, words: ValueText) {
        let plain = ("", ValueText(String(text)))
        guard text.first == "[", let end = text.firstIndex(of: "]") else { return plain }
        let inside = text[text.index(after: text.startIndex)..<end]
            .split(separator: " ", omittingEmptySubsequences: false)
        let rest = text[text.index(after: end)...]
        guard let code = inside.first, !code.isEmpty,
            code.utf8.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == 0x2d }),
            rest.first == " ",
            let words = ValueText(String(rest.dropFirst()), marks: inside.dropFirst())
        else { return plain }
        return (String(code), words)
    }

    /// Reasons come from errors, and those may have any text.
    static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}

/// A moment of a machine's continuous clock, from one start of the machine to the next.
package struct LiveBoot: Hashable, Sendable {
    package var id: String
    package var continuousNanoseconds: Int64

    package init(id: String, continuousNanoseconds: Int64) {
        self.id = id
        self.continuousNanoseconds = continuousNanoseconds
    }
}

/// How fast session time goes.
package enum LivePace: Hashable, Sendable, CustomStringConvertible {
    case paused
    /// Session seconds per second of the wall clock, from 0.01 to 100 000.
    case scaled(Double)
    /// As fast as it can.
    case max
    /// Never by itself: somebody drives it, step by step (`LiveDriver`).
    case step

    package static let real = LivePace.scaled(1)
    package static let range = 0.01...100_000.0

    package init?(_ text: some StringProtocol) {
        if text == "max" {
            self = .max
        } else if text == "step" {
            self = .step
        } else if text == "0" {
            self = .paused
        } else if let speed = Double(text), Self.range.contains(speed) {
            self = .scaled(speed)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .paused: "0"
        case .scaled(let speed): speed == speed.rounded() ? "\(Int(speed))" : "\(speed)"
        case .max: "max"
        case .step: "step"
        }
    }
}

extension LiveBoot {
    /// Reads the end of a line of pace.
    fileprivate init?(_ text: Substring) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, !words[0].isEmpty, let continuous = Int64(words[1]) else { return nil }
        self.init(id: String(words[0]), continuousNanoseconds: continuous)
    }
}
