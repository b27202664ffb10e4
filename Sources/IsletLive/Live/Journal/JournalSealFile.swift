// The seal that grows beside a journal: `JournalSeal` says what it is, and checks it.
//
// Guarantees: a line of the journal is sealed once it is on disk, so that no seal is of a line that a power cut took. The journal never waits for its seal: what can't be
// written now is written with the next line, behind the last whole code. What stood there unsealed when the session goes on is sealed as such.
// Does not: know who wrote what it finds unsealed.

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
    /// Up to the last code that was written whole, bytes.
    private var length = 0
    /// There may be a part of a code behind it.
    private var isTorn = false
    /// Lines that were added since the last sync.
    private(set) var unsynced = 0
    /// Replaced where a test has a full disk.
    var write: (UnsafeRawBufferPointer, Int32) -> Int32? = { writeAll($0, to: $1) }

    /// How a journal that is to go on and its seal stand to each other.
    package struct Standing: Sendable {
        fileprivate var reading: JournalSeal.Reading
        fileprivate var lineCount: Int
        /// Another engine puts another journal in its place.
        fileprivate var file: UInt64

        /// Which lines stood there unsealed; nil for none.
        package var note: String? {
            guard reading.sealed < lineCount else { return nil }
            var unsealed = reading
            unsealed.late = []
            return unsealed.loose(of: lineCount).map {
                "\($0) stood there unsealed, as after a kill, a power cut or a full disk: the seal says so"
            }
        }
    }

    /// - Parameter standing: of a journal that goes on, by `check`; nil for a new one.
    package init(of journal: String, key: SealKey, after standing: Standing? = nil) throws {
        self.key = key
        let path = JournalSeal.path(of: journal)
        let lines = try Self.lines(of: journal)
        if let standing, standing.file == Self.file(journal) {
            descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw OutputError(path: path, doing: "open", errno: errno) }
            (last, length, isTorn) = (standing.reading.last, standing.reading.bytes, true)
            for (number, line) in lines.enumerated().dropFirst(standing.reading.sealed) {
                add(line, isLate: number < standing.lineCount)
            }
            sync()
            return
        }
        last = JournalSeal.start(key)
        // Whole or as it was: a process that is killed here leaves a seal that fits.
        var file = try AtomicFile(path, isHashed: false)
        for line in lines {
            last = JournalSeal.code(of: line, after: last, isLate: false, key: key)
            let code = Array((last + "\n").utf8)
            length += code.count
            try file.append(code)
        }
        _ = try file.commit()
        chmod(path, 0o600)
        descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputError(path: path, doing: "open", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Checks the seal of a journal that is to go on. One that is not there has sealed nothing: whatever ended the process before it was made.
    /// - Throws: `InputError` for a seal that doesn't fit.
    @discardableResult
    package static func check(_ journal: String, key: SealKey) throws -> Standing {
        let lines = try lines(of: journal)
        let path = JournalSeal.path(of: journal)
        let reading =
            try isThere(path)
            ? JournalSeal.read(journal, lines: lines, key: key) : JournalSeal.Reading(key)
        if let finding = reading.findings.first {
            throw InputError(
                file: path, found: "a seal that does not fit: \(finding)",
                expected: "the seal of this journal, made with this key")
        }
        return Standing(reading: reading, lineCount: lines.count, file: file(journal))
    }

    private static func file(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    private static func lines(of journal: String) throws(InputError) -> [Substring] {
        let bytes = try readInput(journal, limitBytes: JournalContent.byteLimit)
        let text = String(decoding: bytes, as: UTF8.self)
        // What has no end was torn.
        return Array(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast())
    }

    /// Seals a line, when `sync` says that it is on disk.
    func add(_ line: some StringProtocol, isLate: Bool = false) {
        last = JournalSeal.code(of: line, after: last, isLate: isLate, key: key)
        waiting += Array((last + "\n").utf8)
        unsynced += 1
    }

    /// Writes what waits: its lines are on disk.
    func sync() {
        unsynced = 0
        guard !waiting.isEmpty, cut() else { return }
        if waiting.withUnsafeBytes({ write($0, descriptor) }) != nil {
            isTorn = true
            _ = cut()
            return
        }
        length += waiting.count
        waiting = []
        _ = fdatasync(descriptor)
    }

    /// What a write left that failed is no code: nothing is written behind it.
    private func cut() -> Bool {
        if isTorn, ftruncate(descriptor, off_t(length)) == 0 { isTorn = false }
        return !isTorn
    }

    /// A journal that stays under another name takes its seal along.
    static func move(with journal: String, to name: String) throws(OutputError) {
        let kept = JournalSeal.path(of: name)
        guard rename(JournalSeal.path(of: journal), kept) == 0 || errno == ENOENT else {
            throw OutputError(path: kept, doing: "rename", errno: errno)
        }
    }
}

extension LiveSession {
    /// Seals its journal from now on.
    /// - Parameter standing: of one that goes on, by `JournalSealFile.check`.
    package func seal(with key: SealKey, after standing: JournalSealFile.Standing? = nil) throws {
        guard let journal else { return }
        try journal.sync()
        journal.seal = try JournalSealFile(of: journal.path, key: key, after: standing)
    }
}
