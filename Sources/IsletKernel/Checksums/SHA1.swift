// SHA-1 (FIPS 180-4), for what Nightscout asks for of a secret.
//
// Guarantees: the standard's digest. Does not: protect anything: collisions of it are known, and nothing else here goes by it.

/// SHA-1 of a whole message.
public enum SHA1 {
    /// The digest as lower-case hexadecimal digits.
    public static func hex(_ message: [UInt8]) -> String {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        func rotate(_ value: UInt32, _ by: UInt32) -> UInt32 { value << by | value >> (32 - by) }
        for block in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { place in
                bytes[block + 4 * place..<block + 4 * place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for place in 16..<80 {
                words.append(
                    rotate(words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16], 1))
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for place in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch place {
                    case 0..<20: (b & c | ~b & d, 0x5a82_7999)
                    case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
                    case 40..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
                    default: (b ^ c ^ d, 0xca62_c1d6)
                    }
                let next = rotate(a, 5) &+ mixed &+ e &+ constant &+ words[place]
                (e, d, c, b, a) = (d, c, rotate(b, 30), a, next)
            }
            state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
        }
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }
}
