// Names that a store keeps as numbers: policies, codes, and what an alert center decides and why.
//
// Guarantees: the words of a study have the same numbers in every store of it; a word that comes later has the next one.

/// Strings and their numbers, from 1.
public struct StringTable: Sendable {
    /// The word of number n stands at n − 1.
    public private(set) var words: [String] = []
    private var numbers: [String: Int] = [:]

    public init(_ words: [String] = []) {
        for word in words { _ = add(word) }
    }

    /// nil for a word that isn't there.
    public func number(of word: String) -> Int? { numbers[word] }

    /// nil for a number that isn't there.
    public func word(_ number: Int) -> String? {
        words.indices.contains(number - 1) ? words[number - 1] : nil
    }

    /// The number of a word, which is there from now on.
    public mutating func add(_ word: String) -> Int {
        if let number = numbers[word] { return number }
        words.append(word)
        numbers[word] = words.count
        return words.count
    }
}

/// What one policy in shadow decided in one session, as a store keeps it.
public struct ShadowLogRow: Sendable {
    /// The number of the policy's name.
    public var policy: Int
    /// JSON: of each decision a list of `time_ns`, and the numbers of effect, code, severity and reason.
    public var log: [UInt8]

    public init(policy: Int, log: [UInt8]) {
        self.policy = policy
        self.log = log
    }
}
