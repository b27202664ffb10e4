// The seal that grows beside a journal: `JournalSeal` says what it is, and checks it.
//
// Guarantees: a line of the journal is sealed after it was written, so that a process that dies between the two leaves one line unsealed, and no seal of a line that is
// not there. What can't be written now is written with the next line; the journal never waits for its seal.
// Does not: seal what stood there unsealed before, beyond that one line: it is refused.

import Glibc
import IsletDevices
import IsletFiles
package import IsletTrials

package final class JournalSealFile {
    private let descriptor: Int32
    private let key: SealKey
    private var last: String
    /// Codes that have yet to be written.
    private var waiting: [UInt8] = []

    /// Begins the seal of a journal that is new, or whose seal `check` has found to fit.
    package init(of journal: String, key: SealKey) throws {
        self.key = key
        last = JournalSeal.start(key)
        let path = JournalSeal.path(of: journal)
        // Whole or as it was: a process that is killed here leaves a seal that fits.
        var file = try AtomicFile(path, isHashed: false)
        for line in try Self.lines(of: journal) {
            last = key.chained(last, line)
            try file.append(Array((last + "\n").utf8))
        }
        _ = try file.commit()
        chmod(path, 0o600)
        descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputError(path: path, doing: "open", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Checks the seal of a journal that is to go on.
    /// - Throws: `InputError` for a seal that doesn't fit, and for lines that somebody else has added.
    package static func check(_ journal: String, key: SealKey) throws {
        let lines = try lines(of: journal)
        let (findings, sealed) = try JournalSeal.findings(journal, lines: lines, key: key)
        if let finding = findings.first {
            throw InputError(
                file: JournalSeal.path(of: journal), found: "a seal that does not fit: \(finding)",
                expected: "the seal of this journal, made with this key")
        }
        guard lines.count - sealed <= 1 else {
            throw InputError(
                file: journal, line: sealed + 1, found: "\(lines.count - sealed) lines that nobody sealed",
                expected: "one at most: what was being written when the process died")
        }
    }

    private static func lines(of journal: String) throws(InputError) -> [Substring] {
        let bytes = try readInput(journal, limitBytes: JournalContent.byteLimit)
        let text = String(decoding: bytes, as: UTF8.self)
        // What has no end was torn.
        return Array(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast())
    }

    /// Seals a line that has been written.
    func add(_ line: some StringProtocol) {
        last = key.chained(last, line)
        waiting += Array((last + "\n").utf8)
        let failure = waiting.withUnsafeMutableBytes {
            writeAll(UnsafeRawBufferPointer($0), to: descriptor)
        }
        if failure == nil { waiting = [] }
    }

    func sync() { _ = fdatasync(descriptor) }
}

extension LiveSession {
    /// Seals its journal from now on: a new one, or one whose seal was checked.
    package func seal(with key: SealKey) throws {
        guard let journal else { return }
        journal.seal = try JournalSealFile(of: journal.path, key: key)
    }
}
