// Text made small for its way (RFC 1951, 1952): a page's parts say the same words again and again.
//
// Guarantees: the same bytes give the same bytes; whatever is given comes out again; one block with codes of its own, or with the fixed ones where those are shorter.
// Does not: read such text, or look back farther than 32 KB.

import IsletKernel
import IsletTrials

enum Gzip {
    /// A member of a gzip file.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        var bits = BitWriter(out: out)
        Deflate.write(bytes, to: &bits)
        out = bits.finished()
        for value in [CRC32.of(bytes[...]), UInt32(truncatingIfNeeded: bytes.count)] {
            for shift in stride(from: UInt32(0), through: 24, by: 8) {
                out.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
        return out
    }
}

/// Bits, the lowest of a byte first.
private struct BitWriter {
    private(set) var out: [UInt8]
    private var held: UInt64 = 0
    private var count = 0

    init(out: [UInt8]) { self.out = out }

    mutating func put(_ value: Int, _ bits: Int) {
        held |= UInt64(value) << UInt64(count)
        count += bits
        while count >= 8 {
            out.append(UInt8(truncatingIfNeeded: held))
            held >>= 8
            count -= 8
        }
    }

    mutating func finished() -> [UInt8] {
        if count > 0 { out.append(UInt8(truncatingIfNeeded: held)) }
        (held, count) = (0, 0)
        return out
    }
}

private enum Deflate {
    /// A byte, or a length with the distance to go back.
    struct Token {
        var length: Int
        var distance: Int
    }

    private static let lengthBase = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
        195, 227, 258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBase = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
        3073, 4097, 6145, 8193, 12289, 16385, 24577,
    ]
    private static let distanceExtra = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    /// In which order the lengths of the codes' own codes are written.
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    /// The place in `lengthBase` of each length.
    private static let lengthPlace: [Int] = (0...258).map { length in
        lengthBase.lastIndex { $0 <= length } ?? 0
    }

    private static func distancePlace(_ distance: Int) -> Int {
        guard distance > 4 else { return distance - 1 }
        let bits = Int.bitWidth - 1 - (distance - 1).leadingZeroBitCount
        return 2 * bits + ((distance - 1) >> (bits - 1) & 1)
    }

    static func write(_ bytes: [UInt8], to bits: inout BitWriter) {
        let tokens = tokens(of: bytes)
        var (letters, distances) = ([Int](repeating: 0, count: 286), [Int](repeating: 0, count: 30))
        letters[256] = 1
        for token in tokens {
            if token.distance == 0 {
                letters[token.length] += 1
            } else {
                letters[257 + lengthPlace[token.length]] += 1
                distances[distancePlace(token.distance)] += 1
            }
        }
        let own = (lengths(letters, most: 15), lengths(distances, most: 15))
        let head = Head(own.0, own.1)
        let fixed = (
            (0..<286).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }, [Int](repeating: 5, count: 30)
        )
        func cost(_ codes: ([Int], [Int])) -> Int {
            zip(letters, codes.0).reduce(0) { $0 + $1.0 * $1.1 }
                + zip(distances, codes.1).reduce(0) { $0 + $1.0 * $1.1 }
        }
        bits.put(1, 1)
        let isFixed = cost(fixed) <= cost(own) + head.bits
        bits.put(isFixed ? 1 : 2, 2)
        if !isFixed { head.write(to: &bits) }
        let chosen = isFixed ? fixed : own
        // The fixed codes are those of 288 letters, of which two never come.
        let code = codes(isFixed ? chosen.0 + [8, 8] : chosen.0)
        let far = codes(chosen.1)
        for token in tokens {
            if token.distance == 0 {
                bits.put(code[token.length], chosen.0[token.length])
                continue
            }
            let place = lengthPlace[token.length]
            bits.put(code[257 + place], chosen.0[257 + place])
            bits.put(token.length - lengthBase[place], lengthExtra[place])
            let back = distancePlace(token.distance)
            bits.put(far[back], chosen.1[back])
            bits.put(token.distance - distanceBase[back], distanceExtra[back])
        }
        bits.put(code[256], chosen.0[256])
    }

    // MARK: Repetitions

    private static let window = 32_768
    private static let longest = 258
    private static let tries = 24

    private static func tokens(of bytes: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        tokens.reserveCapacity(bytes.count / 3)
        var newest = [Int32](repeating: -1, count: 1 << 15)
        var before = [Int32](repeating: -1, count: bytes.count)
        bytes.withUnsafeBufferPointer { bytes in
            func key(_ place: Int) -> Int {
                let word =
                    UInt32(bytes[place]) << 16 | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2])
                return Int((word &* 0x9e37_79b1) >> 17)
            }
            func note(_ place: Int) {
                guard place + 2 < bytes.count else { return }
                let key = key(place)
                before[place] = newest[key]
                newest[key] = Int32(place)
            }
            var place = 0
            while place < bytes.count {
                var best = Token(length: 2, distance: 0)
                if place + 2 < bytes.count {
                    let most = min(longest, bytes.count - place)
                    var (other, left) = (Int(newest[key(place)]), tries)
                    while other >= 0, place - other <= window, left > 0 {
                        var length = 0
                        while length < most, bytes[other + length] == bytes[place + length] { length += 1 }
                        if length > best.length { best = Token(length: length, distance: place - other) }
                        if length == most { break }
                        other = Int(before[other])
                        left -= 1
                    }
                }
                if best.distance == 0 {
                    tokens.append(Token(length: Int(bytes[place]), distance: 0))
                    note(place)
                    place += 1
                } else {
                    tokens.append(best)
                    for one in place..<place + best.length { note(one) }
                    place += best.length
                }
            }
        }
        return tokens
    }

    // MARK: Codes

    /// Lengths of codes by how often each letter comes, none longer than `most`: what is too long is shortened, and what is
    /// short made longer, until they fit.
    fileprivate static func lengths(_ counts: [Int], most: Int) -> [Int] {
        var result = [Int](repeating: 0, count: counts.count)
        let used = counts.indices.filter { counts[$0] > 0 }
        guard used.count > 1 else {
            if let only = used.first { result[only] = 1 }
            return result
        }
        // Two queues, both in order: letters, and what was joined of them.
        let leaves = used.sorted { (counts[$0], $0) < (counts[$1], $1) }
        var weights = leaves.map { counts[$0] }
        var parents = [Int](repeating: -1, count: 2 * leaves.count - 1)
        var (leaf, joined) = (0, leaves.count)
        func next() -> Int {
            if leaf < leaves.count, joined >= weights.count || weights[leaf] <= weights[joined] {
                leaf += 1
                return leaf - 1
            }
            joined += 1
            return joined - 1
        }
        while weights.count < 2 * leaves.count - 1 {
            let (a, b) = (next(), next())
            parents[a] = weights.count
            parents[b] = weights.count
            weights.append(weights[a] + weights[b])
        }
        var depths = [Int](repeating: 0, count: parents.count)
        for node in stride(from: parents.count - 2, through: 0, by: -1) {
            depths[node] = depths[parents[node]] + 1
        }
        var found = leaves.indices.map { min(most, depths[$0]) }
        // The sum of 2^-length is 1 at most.
        var over = found.reduce(0) { $0 + 1 << (most - $1) } - 1 << most
        while over > 0 {
            // The rarest of those that can still be longer.
            guard let place = found.indices.first(where: { found[$0] < most }) else { break }
            over -= 1 << (most - found[place] - 1)
            found[place] += 1
        }
        // And no less: readers refuse a code that leaves some unused.
        for place in found.indices.reversed() {
            while over < 0, found[place] > 1, 1 << (most - found[place]) <= -over {
                over += 1 << (most - found[place])
                found[place] -= 1
            }
        }
        for (place, letter) in leaves.enumerated() { result[letter] = found[place] }
        return result
    }

    /// Canonical codes, turned round as they are written.
    fileprivate static func codes(_ lengths: [Int]) -> [Int] {
        var counts = [Int](repeating: 0, count: 17)
        for length in lengths where length > 0 { counts[length] += 1 }
        var next = [Int](repeating: 0, count: 17)
        var code = 0
        for length in 1...15 {
            code = (code + counts[length - 1]) << 1
            next[length] = code
        }
        return lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[length] += 1 }
            var (code, turned) = (next[length], 0)
            for _ in 0..<length {
                turned = turned << 1 | code & 1
                code >>= 1
            }
            return turned
        }
    }

    /// What says which codes a block has.
    private struct Head {
        /// A length, or a repetition with its extra bits.
        private var parts: [(letter: Int, extra: Int, bits: Int)] = []
        private let letters: Int
        private let distances: Int
        private let own: [Int]
        private let count: Int

        init(_ lettersOf: [Int], _ distancesOf: [Int]) {
            letters = max(257, (lettersOf.lastIndex { $0 > 0 } ?? 0) + 1)
            distances = max(1, (distancesOf.lastIndex { $0 > 0 } ?? 0) + 1)
            let all = lettersOf.prefix(letters) + distancesOf.prefix(distances)
            parts = Self.parts(Array(all))
            var counts = [Int](repeating: 0, count: 19)
            for part in parts { counts[part.letter] += 1 }
            own = Deflate.lengths(counts, most: 7)
            let lengths = own
            count = max(4, (Deflate.order.lastIndex { lengths[$0] > 0 } ?? 0) + 1)
        }

        private static func parts(_ lengths: [Int]) -> [(letter: Int, extra: Int, bits: Int)] {
            var parts: [(letter: Int, extra: Int, bits: Int)] = []
            var place = 0
            while place < lengths.count {
                let length = lengths[place]
                var run = 1
                while place + run < lengths.count, lengths[place + run] == length { run += 1 }
                if length == 0, run >= 3 {
                    let most = min(run, 138)
                    parts.append(most < 11 ? (17, most - 3, 3) : (18, most - 11, 7))
                    place += most
                } else if length > 0, run >= 4 {
                    parts.append((length, 0, 0))
                    let most = min(run - 1, 6)
                    parts.append((16, most - 3, 2))
                    place += most + 1
                } else {
                    parts.append((length, 0, 0))
                    place += 1
                }
            }
            return parts
        }

        var bits: Int { 14 + 3 * count + parts.reduce(0) { $0 + own[$1.letter] + $1.bits } }

        func write(to out: inout BitWriter) {
            out.put(letters - 257, 5)
            out.put(distances - 1, 5)
            out.put(count - 4, 4)
            for letter in Deflate.order.prefix(count) { out.put(own[letter], 3) }
            let code = Deflate.codes(own)
            for part in parts {
                out.put(code[part.letter], own[part.letter])
                out.put(part.extra, part.bits)
            }
        }
    }
}
