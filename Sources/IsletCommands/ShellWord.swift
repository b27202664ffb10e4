// Commands that are told to people, and written into scripts.

/// A word as a shell takes it for one.
package func shellWord(_ word: String) -> String {
    let isSafe =
        !word.isEmpty
        && word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./=:,+@%".utf8.contains(byte)
            }
        }
    if isSafe { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
