// A part of a study: some of its people, each in all arms.
//
// Guarantees: the N shards of a study have everybody once. People stand in blocks: shard I of N has those from ⌊(I−1)P/N⌋ to ⌊IP/N⌋ − 1 of P, counted in
// groups where an algorithm is asked about a group at once. Results of before were dealt otherwise, every N-th person to a shard; they are read, resumed
// and joined as what they are. Several shards that were joined are a part too: `1-500/1000`.

package struct Shard: Hashable, Sendable, CustomStringConvertible {
    /// Who gets whom.
    package enum Dealing: String, Sendable {
        /// People in a row.
        case blocks
        /// Whoever leaves the shard's index after division by the number of shards: of before there were blocks.
        case strides
    }

    /// From 1 on, rising and apart.
    package let indices: [ClosedRange<Int>]
    package let count: Int
    package let dealing: Dealing

    package static let whole = Shard(index: 0, count: 1)

    /// One of `count`.
    /// - Parameter index: 0 ..< count.
    package init(index: Int, count: Int, dealing: Dealing = .blocks) {
        (indices, self.count, self.dealing) = ([index + 1...index + 1], count, dealing)
    }

    /// Several shards of one dealing.
    private init(_ indices: some Sequence<Int>, count: Int, dealing: Dealing) {
        self.indices = IndexRanges.joined(indices)
        (self.count, self.dealing) = (count, dealing)
    }

    /// Reads `I/N`, with I from 1 to N.
    package init?(_ text: String) {
        guard let shard = Shard(recorded: text, dealing: .blocks), shard.single != nil else { return nil }
        self = shard
    }

    /// Reads what a manifest has: `I/N`, or `1-3,7/10`.
    package init?(recorded text: String, dealing: Dealing) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = IndexRanges.number(parts[1]), count <= Study.maximumSessions,
            let ranges = IndexRanges.read(String(parts[0])), let last = ranges.last, last.upperBound <= count
        else { return nil }
        (indices, self.count, self.dealing) = (ranges, count, dealing)
    }

    package var description: String { "\(IndexRanges.text(indices))/\(count)" }

    /// Whether all people are in it.
    package var isWhole: Bool { indices == [1...count] }

    /// Which of the shards it is, from 1; nil for several.
    package var single: Int? {
        indices.count == 1 && indices[0].count == 1 ? indices[0].lowerBound : nil
    }

    /// Both; nil where the two are of other dealings, or one is in the other.
    package func joined(with other: Shard) -> Shard? {
        guard count == other.count, dealing == other.dealing else { return nil }
        let all = (indices + other.indices).flatMap { Array($0) }
        guard Set(all).count == all.count else { return nil }
        return Shard(all.sorted(), count: count, dealing: dealing)
    }

    /// The people of all shards that aren't in it.
    package var lacking: [ClosedRange<Int>] {
        var rest: [ClosedRange<Int>] = []
        var next = 1
        for range in indices {
            if range.lowerBound > next { rest.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= count { rest.append(next...count) }
        return rest
    }

    /// Its subjects, by rising index.
    /// - Parameters:
    ///   - all: how many the study has.
    ///   - group: subjects in a row that stay together (`Study.block`).
    package func subjects(of all: Int, group: Int = 1) -> [Range<Int>] {
        switch dealing {
        case .blocks:
            let groups = (all + group - 1) / group
            // Shares of at most 2 million among as many: no overflow.
            return indices.map { range in
                let begin = (range.lowerBound - 1) * groups / count * group
                return min(all, begin)..<min(all, range.upperBound * groups / count * group)
            }.filter { !$0.isEmpty }
        case .strides:
            var found: [Range<Int>] = []
            for begin in stride(from: 0, to: all, by: group) where has(begin / group % count + 1) {
                let end = min(all, begin + group)
                if let last = found.last, last.upperBound == begin {
                    found[found.count - 1] = last.lowerBound..<end
                } else {
                    found.append(begin..<end)
                }
            }
            return found
        }
    }

    private func has(_ index: Int) -> Bool { indices.contains { $0.contains(index) } }
}

/// Whole numbers from 1 on, as schedulers write them: `1-3,7`.
package enum IndexRanges {
    package static func text(_ ranges: [ClosedRange<Int>]) -> String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }

    /// - Returns: nil for anything but rising numbers and ranges that are apart.
    package static func read(_ text: String) -> [ClosedRange<Int>]? {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { number($0) }
            guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last,
                first > ranges.last?.upperBound ?? 0
            else { return nil }
            if let before = ranges.last, before.upperBound == first - 1 {
                ranges[ranges.count - 1] = before.lowerBound...last
            } else {
                ranges.append(first...last)
            }
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// A number from 1 on, of digits alone.
    static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 9, text.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(text), number >= 1
        else { return nil }
        return number
    }

    /// Rising numbers as ranges.
    package static func joined(_ numbers: some Sequence<Int>) -> [ClosedRange<Int>] {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges
    }
}
