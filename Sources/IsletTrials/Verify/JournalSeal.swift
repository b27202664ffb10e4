// The seal of a live session's journal: beside it stands JOURNAL.seal, a line for each line of the journal.
//
// Guarantees: line n of the seal is an HMAC-SHA256 of line n of the journal and of the seal's line before: what was changed, taken out, put in or moved is named by its
// line, and so is a tail that was cut off, as far as the seal goes. A seal lacks the last lines after a kill, a power cut or a full disk: nobody is accused of them. A session
// that goes on seals them with a code that says so, so that whoever reads the seal knows which lines somebody else may have written.
// Does not: notice that journal and seal were cut at the same line, unless the session had ended. Whoever wants to exclude that keeps the seal elsewhere.

package import IsletDevices
import IsletFiles
import IsletKernel

package enum JournalSeal {
    package static func path(of journal: String) -> String { journal + ".seal" }

    private static let beginning = "islet journal seal 1"

    /// The code of nothing.
    package static func start(_ key: SealKey) -> String { key.chained("", beginning) }

    /// - Parameter isLate: the line was not sealed as it was written. No line has a break in it, so neither code is another line's.
    package static func code(
        of line: some StringProtocol, after last: String, isLate: Bool, key: SealKey
    ) -> String {
        isLate ? key.chained(last, "late\n\(line)") : key.chained(last, line)
    }

    /// What a seal says of its journal.
    package struct Reading: Sendable {
        /// What is off, one line each.
        package var findings: [String] = []
        /// Up to which line of the journal it goes.
        package var sealed = 0
        /// Lines that were sealed later than they were written.
        package var late: [ClosedRange<Int>] = []
        /// The code of the last sealed line, and where it ends in the seal.
        package var last: String
        package var bytes = 0

        /// Of a seal without a line.
        package init(_ key: SealKey) { last = JournalSeal.start(key) }

        mutating func take(_ code: String, isLate: Bool) {
            sealed += 1
            (last, bytes) = (code, bytes + code.utf8.count + 1)
            guard isLate else { return }
            if let range = late.last, range.upperBound == sealed - 1 {
                late[late.count - 1] = range.lowerBound...sealed
            } else {
                late.append(sealed...sealed)
            }
        }

        /// Lines that somebody without the key may have written: nil for none.
        /// - Parameter count: how many lines the journal has.
        package func loose(of count: Int) -> String? {
            var ranges = late
            if count > sealed {
                let first =
                    ranges.last.map { $0.upperBound == sealed } ?? false
                    ? ranges.removeLast().lowerBound : sealed + 1
                ranges.append(first...count)
            }
            guard !ranges.isEmpty else { return nil }
            let isOne = ranges.count == 1 && ranges[0].count == 1
            return (isOne ? "line " : "lines ")
                + ranges.map {
                    $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
                }.joined(separator: ", ")
        }
    }

    /// Holds a journal against its seal.
    /// - Parameters:
    ///   - lines: of the journal, whole, without their ends.
    package static func read(
        _ journal: String, lines: [Substring], key: SealKey
    ) throws(InputError) -> Reading {
        let path = path(of: journal)
        let bytes = try readInput(path, limitBytes: 1 << 30)
        let text = String(decoding: bytes, as: UTF8.self)
        // A line without an end was being written.
        var codes = text.split(separator: "\n", omittingEmptySubsequences: false)
        codes.removeLast()
        var reading = Reading(key)
        for (number, line) in lines.enumerated() {
            guard number < codes.count else { return reading }
            let found = String(codes[number])
            func fits(isLate: Bool) -> Bool {
                HMAC.equal(found, code(of: line, after: reading.last, isLate: isLate, key: key))
            }
            let isInTime = fits(isLate: false)
            guard isInTime || fits(isLate: true) else {
                let what =
                    number == 0
                    ? "the seal is of another key, or the opening has been changed"
                    : "has been changed, taken out or put in since it was sealed"
                reading.findings = ["\(printable(journal, limit: 4096)):\(number + 1): \(what)"]
                return reading
            }
            reading.take(found, isLate: !isInTime)
        }
        guard codes.count > lines.count else { return reading }
        reading.findings = [
            "\(printable(journal, limit: 4096)): ends on line \(lines.count), and was sealed up to line \(codes.count): its last \(codes.count - lines.count) lines were cut off"
        ]
        return reading
    }
}
