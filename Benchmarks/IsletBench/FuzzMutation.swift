// Broken inputs: mutation K of a seed is the same one every time.

/// What mutations are drawn with: SplitMix64.
struct FuzzLuck {
    private var state: UInt64

    init(seed: UInt64, number: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 ^ number &* 0xD1B5_4A32_D192_ED03
        _ = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to, and without, `bound`; 0 for none.
    mutating func below(_ bound: Int) -> Int { bound > 0 ? Int(next() % UInt64(bound)) : 0 }

    mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}

enum FuzzMutation {
    private static let odd: [String] = [
        "NaN", "-1", "0", "-0", "1e308", "-1e308", "1e400", "inf", "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808", "18446744073709551616", "99999999999999999999999999",
        String(repeating: "9", count: 100), "0x10", "1_000", "",
        "null", "~",
        "true", "[]", "{}", "''", "\"", "*a", "&a x", "<<", "!!binary x", "|", ">", "@", "%", "%00", "%zz",
        "+", "&", "=",
        ";", "\t", "\u{202E}", "\0", "\u{FEFF}", "\u{FFFE}", "\\ud800", "\\u0000", "3650d", "0s",
        "99999999999d", "24:00",
        "-5m", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59+14:00", "../../etc/passwd",
        "[[[[[[[[[[[[[[[[[[[[",
        "{\"a\":{\"a\":{\"a\":",
    ]

    /// Bytes, broken once or a few times.
    static func broken(_ data: [UInt8], _ luck: inout FuzzLuck) -> [UInt8] {
        var data = data
        for _ in 0..<luck.pick([1, 1, 1, 2, 3, 8]) { breakOnce(&data, &luck) }
        return data
    }

    private static func breakOnce(_ data: inout [UInt8], _ luck: inout FuzzLuck) {
        let at = luck.below(data.count + 1)
        let end = min(data.count, at + luck.pick([1, 2, 10, 200]))
        switch luck.below(10) {
        case 0, 1: if at < data.count { data[at] ^= 1 << UInt8(luck.below(8)) }
        case 2: data.removeSubrange(at...)
        case 3: data.removeSubrange(at..<end)
        case 4:
            data.insert(contentsOf: (0..<luck.pick([1, 4, 64])).map { _ in UInt8(luck.below(256)) }, at: at)
        case 5: data.insert(contentsOf: Array(luck.pick(odd).utf8), at: at)
        case 6:
            let part = Array(data[at..<end])
            for _ in 0..<luck.pick([1, 2, 50]) { data.insert(contentsOf: part, at: at) }
        default: exchangeWord(&data, around: at, &luck)
        }
    }

    /// A number or a word becomes another one.
    private static func exchangeWord(_ data: inout [UInt8], around place: Int, _ luck: inout FuzzLuck) {
        func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case 48...57, 65...90, 97...122, 0x5F, 0x2E, 0x2B, 0x2D: true
            default: false
            }
        }
        guard let start = data[min(place, data.count)...].firstIndex(where: isWord) else { return }
        let end = data[start...].firstIndex { !isWord($0) } ?? data.count
        data.replaceSubrange(start..<end, with: Array(luck.pick(odd).utf8))
    }

    /// A file of pages, which keeps its length: SQLite refuses any other at once.
    static func brokenPages(_ data: [UInt8], _ luck: inout FuzzLuck) -> [UInt8] {
        var data = data
        // Most of a page is empty: what is there is found by looking for it.
        let used = data.indices.filter { data[$0] != 0 }
        guard !used.isEmpty else { return data }
        for _ in 0..<luck.pick([1, 1, 2, 4, 16]) {
            let at = luck.below(3) == 0 ? luck.below(min(200, data.count)) : luck.pick(used)
            let text: [UInt8]
            switch luck.below(6) {
            case 0: text = [data[at] ^ 1 << UInt8(luck.below(8))]
            case 1: text = [UInt8(luck.below(256))]
            case 2: text = luck.pick([[0], [0xFF], [0x7F], [0x80, 0x01], [0xFF, 0xFF, 0xFF, 0xFF]])
            case 3: text = Array(luck.pick(odd).utf8)
            case 4: text = Array(data[luck.pick(used)...].prefix(luck.pick([1, 2, 8, 64])))
            default: text = [UInt8](repeating: 0, count: luck.pick([1, 2, 8, 100]))
            }
            for (offset, byte) in text.enumerated() where at + offset < data.count {
                data[at + offset] = byte
            }
        }
        return data
    }
}
