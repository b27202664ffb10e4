// The seal of a live session's journal: beside it stands JOURNAL.seal, a line for each line of the journal.
//
// Guarantees: line n of the seal is an HMAC-SHA256 of line n of the journal and of the seal's line before: what was changed, taken out, put in or moved is named by its
// line, and so is a tail that was cut off, as far as the seal goes. A seal that lacks the last lines is one of a process that died between the two writes.
// Does not: notice that journal and seal were cut at the same line, unless the session had ended. Whoever wants to exclude that keeps the seal elsewhere.

package import IsletDevices
import IsletFiles
import IsletKernel

package enum JournalSeal {
    package static func path(of journal: String) -> String { journal + ".seal" }

    private static let beginning = "islet journal seal 1"

    /// The code of nothing.
    package static func start(_ key: SealKey) -> String { key.chained("", beginning) }

    /// What is off, one line each, and up to which line of the journal the seal goes.
    /// - Parameters:
    ///   - lines: of the journal, whole, without their ends.
    package static func findings(
        _ journal: String, lines: [Substring], key: SealKey
    ) throws(InputError) -> (findings: [String], sealed: Int) {
        let path = path(of: journal)
        let bytes = try readInput(path, limitBytes: 1 << 30)
        let text = String(decoding: bytes, as: UTF8.self)
        // A line without an end was being written.
        var codes = text.split(separator: "\n", omittingEmptySubsequences: false)
        codes.removeLast()
        var last = start(key)
        for (number, line) in lines.enumerated() {
            guard number < codes.count else { return ([], number) }
            last = key.chained(last, line)
            guard HMAC.equal(String(codes[number]), last) else {
                let what =
                    number == 0
                    ? "the seal is of another key, or the opening has been changed"
                    : "has been changed, taken out or put in since it was sealed"
                return (["\(printable(journal, limit: 4096)):\(number + 1): \(what)"], number)
            }
        }
        guard codes.count > lines.count else { return ([], lines.count) }
        return (
            [
                "\(printable(journal, limit: 4096)): ends on line \(lines.count), and was sealed up to line \(codes.count): its last \(codes.count - lines.count) lines were cut off"
            ], lines.count
        )
    }
}
