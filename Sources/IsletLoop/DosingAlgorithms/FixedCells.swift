// A row of numbers of fixed length, as algorithms keep them in their states.
//
// Guarantees: plain values, so that a step that changes some of them allocates nothing.

/// `count` numbers, the newest first.
public struct FixedCells<let count: Int>: Hashable, Sendable, Codable {
    /// Loops over many read its `span`, and what holds a row is told `inout` to whoever reads it, or by a `mutating` function: of a
    /// borrowed value the compiler copies all before its rows are read.
    private(set) var values = InlineArray<count, Double>(repeating: 0)
    /// While it is false all of them are 0: a row of what nobody has asked for yet ages for nothing.
    private var isUsed = false

    public init() {}

    public subscript(index: Int) -> Double {
        @inline(__always) get { values[index] }
        @inline(__always) set {
            values[index] = newValue
            if newValue != 0 { isUsed = true }
        }
    }

    /// Everything is so many places older; what comes in is `filling`.
    mutating func age(by places: Int, filling: Double = 0) {
        if filling != 0 { isUsed = true }
        guard places > 0, isUsed else { return }
        let (before, places) = (values, min(places, count))
        let old = before.span
        for index in 0..<places { values[index] = filling }
        for index in places..<count { values[index] = old[index - places] }
    }

    var sum: Double {
        var sum = 0.0
        for index in 0..<count { sum += values[index] }
        return sum
    }

    public static func == (a: Self, b: Self) -> Bool {
        for index in 0..<count where a.values[index] != b.values[index] { return false }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        for index in 0..<count { hasher.combine(values[index]) }
    }

    /// Zeros at the end are left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        var last = count
        while last > 0, values[last - 1] == 0 { last -= 1 }
        for index in 0..<last { try container.encode(values[index]) }
    }

    /// - Throws: `DecodingError` where there are more than `count`.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var index = 0
        while !container.isAtEnd {
            let value = try container.decode(Double.self)
            guard index < count else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "more than \(count) numbers")
            }
            self[index] = value
            index += 1
        }
    }
}
