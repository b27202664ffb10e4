// A file that is there whole or not at all.
//
// Guarantees: the bytes go to a hidden file beside the target, are synced, then renamed over it, then the directory is
// synced; a crash at any instant leaves the old file, or the new one, and at most one hidden leftover, which the next writer of the same file
// removes. Any failure, and
// letting go of the value without `commit`, removes the hidden file and leaves the target as it was. A symbolic link is
// followed: what it points at is replaced, and keeps its permissions. Something that is neither file nor directory (`/dev/stdout`, a pipe) is
// written directly, since there is nothing to rename.
// Does not: lock. Two writers of one path each write whole; the last rename stays.

package import IsletKernel
import Glibc
package import IsletDevices

/// One file being written; `commit()` makes it real.
package struct AtomicFile: ~Copyable {
    private let path: String
    /// The path with symbolic links resolved.
    private let target: String
    /// Empty where the target is written directly.
    private let temporary: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var hash = SHA256()
    private let isHashed: Bool
    private static let bufferBytes = 64 * 1024
    /// Bytes on their way to the file's system, and of those what the disk has been asked to take.
    private var (written, begun): (off_t, off_t) = (0, 0)
    /// Left to the sync at the end, gigabytes would all be waited for there.
    private static let begunBytes: off_t = 16 << 20

    /// Opens the hidden file. The directory of `path` must exist.
    /// - Parameter isHashed: false where nobody wants the SHA-256 of gigabytes.
    package init(_ path: String, isHashed: Bool = true) throws(OutputError) {
        let opened = try Self.opened(path)
        self.isHashed = isHashed
        self.path = path
        target = opened.target
        temporary = opened.temporary
        descriptor = opened.descriptor
    }

    private static func opened(
        _ path: String
    ) throws(OutputError) -> (target: String, temporary: String, descriptor: Int32) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw OutputError(.cannotCreate, path: path, message: "cannot create: not a file name")
        }
        let target = resolved(path)
        var status = stat()
        let exists = stat(target, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            guard status.st_mode & S_IFMT != S_IFDIR else {
                throw OutputError(path: path, doing: "create", errno: EISDIR)
            }
            let descriptor = open(target, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw OutputError(path: path, doing: "open", errno: errno) }
            return (target, "", descriptor)
        }
        let (directory, name) = folderAndName(target)
        removeLeftovers(directory, beginning: ".\(name.prefix(20)).")
        // Leftovers of a process that had our id are stepped over, not overwritten.
        for attempt in 0..<1000 {
            let candidate = "\(directory)/.\(name.prefix(20)).\(getpid())-\(attempt).partial"
            let descriptor = open(candidate, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor >= 0 {
                // As long as it is held, nobody takes this file for a leftover.
                flock(descriptor, LOCK_EX | LOCK_NB)
                if exists { fchmod(descriptor, status.st_mode & 0o777) }
                return (target, candidate, descriptor)
            }
            guard errno == EEXIST || errno == EINTR else {
                throw OutputError(path: path, doing: "create", errno: errno)
            }
        }
        throw OutputError(path: path, doing: "create a file beside it", errno: EEXIST)
    }

    /// Removes what killed processes left beside a target: files whose process is gone and which nobody holds.
    private static func removeLeftovers(_ directory: String, beginning: String) {
        guard let folder = opendir(directory) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(beginning), name.hasSuffix(".partial") else { continue }
            let writer = name.dropFirst(beginning.count).prefix { $0 != "-" }
            guard let process = pid_t(writer), kill(process, 0) != 0, errno == ESRCH else { continue }
            let path = directory + "/" + name
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(descriptor)
        }
    }

    deinit {
        close(descriptor)
        if !temporary.isEmpty { unlink(temporary) }
    }

    /// Adds bytes at the end.
    package mutating func append(_ bytes: some Sequence<UInt8>) throws(OutputError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// Adds a block at the end; a long one goes straight to the file.
    package mutating func append(_ block: [UInt8]) throws(OutputError) {
        guard block.count >= Self.bufferBytes else {
            buffer.append(contentsOf: block)
            if buffer.count >= Self.bufferBytes { try flush() }
            return
        }
        try flush()
        if isHashed { hash.update(block) }
        let failure = block.withUnsafeBytes { writeAll($0, to: descriptor) }
        if let failure { throw OutputError(path: path, doing: "write", errno: failure) }
        noteWritten(block.count)
    }

    /// Lets the disk begin; nothing is waited for.
    private mutating func noteWritten(_ bytes: Int) {
        written += off_t(bytes)
        guard written - begun >= Self.begunBytes, !temporary.isEmpty else { return }
        // What is not yet on disk is not dropped by this advice: its writing begins.
        posix_fadvise(descriptor, begun, written - begun, POSIX_FADV_DONTNEED)
        begun = written
    }

    /// Adds text at the end, as UTF-8.
    package mutating func append(_ text: String) throws(OutputError) {
        try append(text.utf8)
    }

    /// Syncs, renames, syncs the directory; returns the SHA-256 of what was written (of nothing where it isn't hashed).
    @discardableResult
    package consuming func commit() throws(OutputError) -> SHA256.Digest {
        try flush()
        let digest = hash.finished()
        guard !temporary.isEmpty else { return digest }
        while fsync(descriptor) != 0 {
            guard errno == EINTR else { throw OutputError(path: path, doing: "sync", errno: errno) }
        }
        guard rename(temporary, target) == 0 else {
            throw OutputError(path: path, doing: "rename into place", errno: errno)
        }
        try syncFolder(of: target)
        // The hidden name is gone by now; the `unlink` at the end of this value's life finds nothing.
        return digest
    }

    /// Writes a whole file at once.
    @discardableResult
    package static func write(
        _ bytes: some Sequence<UInt8>, to path: String
    ) throws(OutputError) -> SHA256.Digest {
        var file = try AtomicFile(path)
        try file.append(bytes)
        return try file.commit()
    }

    /// Writes a whole text file at once, as UTF-8.
    @discardableResult
    package static func write(_ text: String, to path: String) throws(OutputError) -> SHA256.Digest {
        try write(text.utf8, to: path)
    }

    private mutating func flush() throws(OutputError) {
        if isHashed { hash.update(buffer) }
        let failure = buffer.withUnsafeBytes { writeAll($0, to: descriptor) }
        defer { buffer.removeAll(keepingCapacity: true) }
        if let failure { throw OutputError(path: path, doing: "write", errno: failure) }
        noteWritten(buffer.count)
    }
}

/// `path` with symbolic links resolved, where it exists; else as it is.
private func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
}
