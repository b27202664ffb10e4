// A sentence that keeps the values that stand in it.
//
// Guarantees: `text` is the sentence as files, journals and the API have it, each amount in its own unit; `parts` joined are `text`. Whoever shows it in
// another unit, or its times by another clock, goes by the parts: no word of it is read.
// Does not: know another unit. `GlucoseUnit.text` shows one. Two sentences are equal when their `text` is.

/// Words, amounts with their units, and times of day.
///
///     let low: ValueText = "Glucose \(65, unit: "mg/dL", comparedWith: 70), below \(70, unitless: "mg/dL", comparedWith: 65)"
///     low.text    // Glucose 65 mg/dL, below 70
public struct ValueText: Sendable {
    /// A number in its unit.
    public struct Amount: Hashable, Sendable, Codable {
        public var number: Double
        /// As in `AlertMetric.unit`: `mg/dL`, `mg/dL/min`, `%`.
        public var unit: String
        /// What the sentence compares it with, in the same unit; nil for nothing. Shown in any unit, it stays on its side of that.
        public var comparedWith: Double?
        /// False where the unit stands beside another amount of the sentence.
        public var showsUnit: Bool
    }

    public enum Part: Hashable, Sendable {
        case words(String)
        /// An amount, and how `text` has it.
        case amount(Amount, String)
        /// A time of day on the session's clock, as `02:05`.
        case timeOfDay(String)
    }

    private enum Kind: Hashable, Sendable, Codable {
        case amount(Amount)
        case timeOfDay
    }

    /// UTF-8 places of `text`.
    private struct Place: Hashable, Sendable, Codable {
        var begin: Int
        var end: Int
        var kind: Kind
    }

    public private(set) var text: String
    private var places: [Place] = []

    public init(_ text: String = "") { self.text = text }

    /// A sentence that is one amount.
    public init(_ amount: Amount) {
        self.init()
        append(
            Self.digits(amount.number) + (amount.showsUnit ? " " + amount.unit : ""), as: .amount(amount))
    }

    public var isEmpty: Bool { text.isEmpty }

    /// In their order; neighbours that are words are one part.
    public var parts: [Part] {
        var (parts, from) = ([Part](), 0)
        for place in places {
            if place.begin > from { parts.append(.words(piece(from, place.begin))) }
            let piece = piece(place.begin, place.end)
            switch place.kind {
            case .amount(let amount): parts.append(.amount(amount, piece))
            case .timeOfDay: parts.append(.timeOfDay(piece))
            }
            from = place.end
        }
        let end = text.utf8.count
        if end > from { parts.append(.words(piece(from, end))) }
        return parts
    }

    private func piece(_ begin: Int, _ end: Int) -> String {
        let utf8 = text.utf8
        return String(
            text[utf8.index(utf8.startIndex, offsetBy: begin)..<utf8.index(utf8.startIndex, offsetBy: end)])
    }

    /// A number as sentences show it: without decimals where it is whole.
    public static func digits(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e9 ? "\(Int64(number))" : "\(number)"
    }

    /// The sentence without the first occurrence of words, in which no value stands.
    public func removingFirst(_ words: String) -> ValueText {
        guard !words.isEmpty, let found = text.firstRange(of: words) else { return self }
        let begin = text.utf8.distance(from: text.startIndex, to: found.lowerBound)
        let length = words.utf8.count
        guard !places.contains(where: { $0.begin < begin + length && begin < $0.end }) else { return self }
        var rest = self
        rest.text.removeSubrange(found)
        for index in rest.places.indices where rest.places[index].begin >= begin + length {
            rest.places[index].begin -= length
            rest.places[index].end -= length
        }
        return rest
    }

    public static func += (text: inout ValueText, more: ValueText) {
        let offset = text.text.utf8.count
        text.text += more.text
        for place in more.places {
            text.places.append(Place(begin: place.begin + offset, end: place.end + offset, kind: place.kind))
        }
    }

    public static func + (a: ValueText, b: ValueText) -> ValueText {
        var sum = a
        sum += b
        return sum
    }

    private mutating func append(_ words: String, as kind: Kind) {
        let begin = text.utf8.count
        text += words
        places.append(Place(begin: begin, end: text.utf8.count, kind: kind))
    }
}

extension ValueText {
    /// Where its values stand, each in a word: with them a line of text reads back as the sentence that it was. An amount whose unit is no word has none.
    package var marks: [String] {
        places.compactMap { place in
            switch place.kind {
            case .timeOfDay: return "\(place.begin):\(place.end)"
            case .amount(let amount):
                guard amount.unit.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "]") }) else {
                    return nil
                }
                let bound = amount.comparedWith.map { "\($0)" } ?? "-"
                return
                    "\(place.begin):\(place.end):\(amount.number):\(bound):\(amount.showsUnit ? 1 : 0):\(amount.unit)"
            }
        }
    }

    /// Reads back what `text` and `marks` were; nil where a mark is none of this text.
    package init?(_ text: String, marks: some Sequence<Substring>) {
        self.init(text)
        var from = 0
        for mark in marks {
            guard let place = Self.place(mark), place.begin >= from, place.end > place.begin,
                place.end <= text.utf8.count, Self.isBorder(place.begin, of: text),
                Self.isBorder(place.end, of: text)
            else { return nil }
            places.append(place)
            from = place.end
        }
    }

    private static func place(_ mark: Substring) -> Place? {
        let fields = mark.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
        guard fields.count == 2 || fields.count == 6, let begin = Int(fields[0]), let end = Int(fields[1])
        else { return nil }
        guard fields.count == 6 else { return Place(begin: begin, end: end, kind: .timeOfDay) }
        let bound = fields[3] == "-" ? nil : Double(fields[3])
        guard let number = Double(fields[2]), fields[3] == "-" || bound != nil,
            ["0", "1"].contains(fields[4])
        else { return nil }
        let amount = Amount(
            number: number, unit: String(fields[5]), comparedWith: bound, showsUnit: fields[4] == "1")
        return Place(begin: begin, end: end, kind: .amount(amount))
    }

    /// Whether a character begins or the text ends there.
    private static func isBorder(_ place: Int, of text: String) -> Bool {
        let utf8 = text.utf8
        return utf8.index(utf8.startIndex, offsetBy: place).samePosition(in: text) != nil
    }
}

extension Sequence where Element == ValueText {
    public func joined(separator: ValueText) -> ValueText {
        var (joined, isFirst) = (ValueText(), true)
        for text in self {
            if !isFirst { joined += separator }
            joined += text
            isFirst = false
        }
        return joined
    }
}

extension ValueText: Hashable {
    public static func == (a: ValueText, b: ValueText) -> Bool { a.text == b.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ValueText: Codable {}

extension ValueText: CustomStringConvertible {
    public var description: String { text }
}

extension ValueText: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(value) }
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.text }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ValueText()

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.text.reserveCapacity(literalCapacity + 8 * interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) { text.text += literal }
        public mutating func appendInterpolation(_ words: String) { text.text += words }
        public mutating func appendInterpolation(_ number: some BinaryInteger) { text.text += "\(number)" }
        public mutating func appendInterpolation(_ other: ValueText) { text += other }

        /// An amount with its unit behind it.
        public mutating func appendInterpolation(
            _ number: Double, unit: String, comparedWith: Double? = nil
        ) {
            text += ValueText(
                Amount(number: number, unit: unit, comparedWith: comparedWith, showsUnit: !unit.isEmpty))
        }

        /// An amount whose unit stands elsewhere in the sentence.
        public mutating func appendInterpolation(
            _ number: Double, unitless unit: String, comparedWith: Double? = nil
        ) {
            text += ValueText(
                Amount(number: number, unit: unit, comparedWith: comparedWith, showsUnit: false))
        }

        /// A time of day on the session's clock, as `02:05`.
        public mutating func appendInterpolation(timeOfDay: String) { text.append(timeOfDay, as: .timeOfDay) }
    }
}
