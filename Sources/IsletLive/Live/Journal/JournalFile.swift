// A journal on disk: one file a session, append-only, each line with a checksum.
//
// Guarantees: a line is `CHECK TEXT`, where the check is of the text and of the line before, so that a line which was changed, left out,
// doubled or moved is found. An append that failed leaves the file as it was, or the journal takes nothing more. A line without
// an end is one that was being written when the process or the machine died: it is cut when the journal is opened. Any other damage is refused
// with its place. One process at a time has a journal open.
// Does not: resist an adversary. The checks are checksums, not signatures: a seal (`JournalSealFile`) is.

package import IsletKernel
import IsletFiles
import Glibc
package import IsletDevices

/// A journal that is being written.
package final class JournalFile {
    package let path: String
    private let descriptor: Int32
    /// The check of the last line.
    private(set) var check: String
    /// Up to the last line's end, bytes.
    private(set) var length: Int
    private var isBroken = false
    /// Told before and after each write, and after each sync: where a test lets the process die.
    package var observer: ((_ bytesWritten: Int, _ isSynced: Bool) -> Void)?
    /// Seals each line that is on disk; nil for a journal without a seal.
    var seal: JournalSealFile?

    private init(path: String, descriptor: Int32, check: String, length: Int) {
        self.path = path
        self.descriptor = descriptor
        self.check = check
        self.length = length
    }

    deinit {
        // A child that is just being made has a copy of the descriptor, and with it the lock: letting go of it is not left to the last copy.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// A new journal with its first line, on disk when this returns. What stands there of one that was never begun is replaced.
    /// - Throws: `OutputError`, also where there is any other file of that name.
    package static func create(_ path: String, opening: String) throws(OutputError) -> JournalFile {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw OutputError(path: path, doing: "create", errno: errno) }
        let file = JournalFile(path: path, descriptor: descriptor, check: "", length: 0)
        try file.lock()
        guard JournalContent.isUnbegun(path) else {
            throw OutputError(path: path, doing: "create", errno: EEXIST)
        }
        guard ftruncate(descriptor, 0) == 0 else {
            throw OutputError(path: path, doing: "create", errno: errno)
        }
        try file.append(.open(opening), sync: true)
        try syncFolder(of: path)
        return file
    }

    /// Opens a journal to go on with it; a torn last line is cut.
    /// - Throws: `InputError` for damage; `OutputError` where another process has it open, or it can't be written.
    package static func reopen(_ path: String) throws -> (file: JournalFile, content: JournalContent) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_APPEND)
        guard descriptor >= 0 else {
            if errno == ENOENT { _ = try JournalContent.read(path) }
            throw OutputError(path: path, doing: "open", errno: errno)
        }
        let file = JournalFile(path: path, descriptor: descriptor, check: "", length: 0)
        try file.lock()
        // Whoever had it may have put another in its place just now.
        guard Self.isSame(descriptor, path) else {
            throw OutputError(
                .temporary, path: path, message: "another process has just replaced this journal")
        }
        let content = try JournalContent.read(path)
        file.check = content.lastCheck
        file.length = content.goodBytes
        if content.isTorn {
            guard ftruncate(descriptor, off_t(file.length)) == 0 else {
                throw OutputError(path: path, doing: "cut its torn last line", errno: errno)
            }
            try file.sync()
        }
        return (file, content)
    }

    private func lock() throws(OutputError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw OutputError(.temporary, path: path, message: "another process has this journal open")
        }
    }

    /// - Parameter sync: whether it must be on disk when this returns; else it is with the system, and outlives the process.
    /// - Throws: `OutputError`. The line counts as never written then, and if it can't be taken back the journal takes nothing more.
    package func append(_ line: JournalLine, sync isSynced: Bool) throws(OutputError) {
        guard !isBroken else {
            throw OutputError(.temporary, path: path, message: "cannot be written since an earlier failure")
        }
        // What is not on disk is not sealed: that is not to grow for hours.
        let isSynced = isSynced || seal.map { $0.unsynced >= Self.mostUnsealed } ?? false
        let text = line.text
        let next = JournalContent.check(of: text, after: check)
        var bytes = Array("\(next) \(text)\n".utf8)
        observer?(length, false)
        let failure = bytes.withUnsafeMutableBytes { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
        if let failure {
            isBroken = true
            if ftruncate(descriptor, off_t(length)) == 0, fsync(descriptor) == 0 { isBroken = false }
            throw OutputError(path: path, doing: "write", errno: failure)
        }
        observer?(length + bytes.count, false)
        if isSynced {
            do {
                try syncLines()
            } catch {
                // What the disk has of it nobody knows.
                isBroken = true
                _ = ftruncate(descriptor, off_t(length))
                throw error
            }
        }
        check = next
        length += bytes.count
        seal?.add("\(next) \(text)")
        if isSynced { seal?.sync() }
    }

    /// Everything so far is on disk when this returns.
    package func sync() throws(OutputError) {
        try syncLines()
        seal?.sync()
    }

    private static let mostUnsealed = 1000

    private func syncLines() throws(OutputError) {
        while fdatasync(descriptor) != 0 {
            guard errno == EINTR else { throw OutputError(path: path, doing: "sync", errno: errno) }
        }
        observer?(length, true)
    }

    private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
        var (open, named) = (stat(), stat())
        return fstat(descriptor, &open) == 0 && stat(path, &named) == 0 && open.st_ino == named.st_ino
            && open.st_dev == named.st_dev
    }

    /// Whether two names are of one file.
    static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    /// A journal that is there whole, on disk, or not at all: `write` fills a file beside it, which then takes its name, also from another one.
    static func whole<Result>(at path: String, _ write: (_ hidden: String) throws -> Result) throws -> Result
    {
        let hidden = path + ".new"
        unlink(hidden)
        do {
            let result = try write(hidden)
            guard rename(hidden, path) == 0 else {
                throw OutputError(path: path, doing: "rename", errno: errno)
            }
            try syncFolder(of: path)
            return result
        } catch {
            unlink(hidden)
            throw error
        }
    }
}

/// All that a journal says.
package struct JournalContent: Sendable {
    package var path: String
    /// The n-th stands on line n + 1.
    package var lines: [JournalLine]
    /// Up to the last line's end.
    package var goodBytes: Int
    /// Whether there was more: a line that has no end.
    package var isTorn: Bool
    var lastCheck: String

    /// The most bytes that a journal may have.
    package static let byteLimit = 1 << 30

    /// The opening's check stands on nothing; every other one on the line before.
    static func check(of text: String, after last: String) -> String {
        var text = text
        return text.withUTF8 { check(of: UnsafeRawBufferPointer($0), after: last) }
    }

    private static func check(of text: UnsafeRawBufferPointer, after last: String) -> String {
        var hash = SHA256()
        var before = last
        before.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        withUnsafeBytes(of: UInt8(ascii: " ")) { hash.update($0) }
        hash.update(text)
        return hash.finished().hex(bytes: 8)
    }

    /// As far as it goes by its lines.
    package var end: Instant { lines.lazy.compactMap(\.instant).max() ?? .start }

    package static func read(_ path: String) throws(InputError) -> JournalContent {
        try parse(try readInput(path, limitBytes: byteLimit), path: path)
    }

    package static func parse(_ bytes: [UInt8], path: String) throws(InputError) -> JournalContent {
        var content = JournalContent(path: path, lines: [], goodBytes: 0, isTorn: false, lastCheck: "")
        func damage(_ found: String) -> InputError {
            InputError(
                file: path, line: content.lines.count + 1, found: found,
                expected: "the line that Islet wrote: this journal is damaged from here on")
        }
        let newline = UInt8(ascii: "\n")
        while content.goodBytes < bytes.count {
            let rest = bytes[content.goodBytes...]
            guard let end = rest.firstIndex(of: newline) else {
                // A whole line whose end is something else was not torn: it was complete, and may have been answered.
                if rest.count > 1, let whole = text(rest.dropLast(), after: content.lastCheck), whole.isRight
                {
                    throw damage("a line with another end")
                }
                content.isTorn = true
                break
            }
            guard let found = text(bytes[content.goodBytes..<end], after: content.lastCheck), found.isRight
            else { throw damage("a line that its checksum doesn't fit") }
            guard let line = JournalLine(found.text) else {
                throw damage("a line of another version: `\(printable(String(found.text), limit: 60))`")
            }
            if case .open = line {
                guard content.lines.isEmpty else { throw damage("a second opening") }
            } else if content.lines.isEmpty {
                throw damage("no opening")
            }
            content.lines.append(line)
            content.lastCheck = found.check
            content.goodBytes = end + 1
        }
        guard !content.lines.isEmpty else { throw damage(bytes.isEmpty ? "nothing" : "a torn opening") }
        return content
    }

    private static func text(
        _ bytes: ArraySlice<UInt8>, after last: String
    ) -> (check: String, text: Substring, isRight: Bool)? {
        guard bytes.count > 17, let text = String(validating: bytes.dropFirst(17), as: UTF8.self) else {
            return nil
        }
        var check = bytes.withUnsafeBytes {
            Self.check(of: UnsafeRawBufferPointer(rebasing: $0[17...]), after: last)
        }
        let isRight = check.withUTF8 { check in
            bytes.prefix(16).elementsEqual(check) && bytes[bytes.startIndex + 16] == UInt8(ascii: " ")
        }
        return (check, text[...], isRight)
    }

    /// Whether a file is nothing but the first line that a process didn't get to write whole: no session has begun in it, and nobody was
    /// answered. False for what can't be read.
    package static func isUnbegun(_ path: String) -> Bool {
        guard let bytes = try? readInput(path, limitBytes: byteLimit) else { return false }
        // A machine that dies may leave a length, and no bytes.
        if bytes.allSatisfy({ $0 == 0 }) { return true }
        let isHex = bytes.prefix(16).allSatisfy {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        }
        guard isHex, Array(" open ".utf8).starts(with: bytes.dropFirst(16).prefix(6)),
            !bytes.contains(UInt8(ascii: "\n"))
        else { return false }
        // Whole, and with another end: damaged, not torn.
        return text(bytes.dropLast(), after: "")?.isRight != true
    }
}
