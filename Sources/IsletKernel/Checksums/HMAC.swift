// HMAC-SHA256 (RFC 2104), for seals: who has no key can't make one.
//
// Guarantees: the standard's code for any key and text.
// Does not: keep keys, or wipe them from memory.

/// A code that proves that whoever made it had the key.
public enum HMAC {
    /// 32 bytes.
    public static func code(of text: [UInt8], key: [UInt8]) -> SHA256.Digest {
        var block = key.count > 64 ? SHA256.digest(of: key).bytes : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        var inner = SHA256()
        inner.update(block.map { $0 ^ 0x36 })
        inner.update(text)
        var outer = SHA256()
        outer.update(block.map { $0 ^ 0x5C })
        outer.update(inner.finished().bytes)
        return outer.finished()
    }

    /// Takes as long for any two codes: how many bytes agree is nobody's business.
    public static func equal(_ a: String, _ b: String) -> Bool {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        var difference = a.count ^ b.count
        for (place, byte) in b.enumerated() { difference |= Int(byte ^ (place < a.count ? a[place] : 0xFF)) }
        return difference == 0
    }
}
