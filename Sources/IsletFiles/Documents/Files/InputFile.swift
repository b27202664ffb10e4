// Reading what a user names.
//
// Guarantees: at most `limitBytes` + 1 bytes are ever held, also of a device or pipe without end; every failure is one
// `InputError`: not there, a directory, unreadable (all exit code 66), too large, not UTF-8 (exit code 65).

import Glibc
package import IsletDevices

/// Opens a file for reading that has to be one: a pipe, a device or a directory is refused, also behind a symbolic link, and nothing is waited for.
/// - Returns: a descriptor, which is the caller's to close.
package func openRegular(_ path: String) throws(InputError) -> Int32 {
    // A pipe that nobody writes to would be waited for without end.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw InputError(file: path, errno: errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
        let code = errno
        close(descriptor)
        throw InputError(file: path, errno: code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
        close(descriptor)
        throw irregular(path, status)
    }
    return descriptor
}

/// Reads a regular file of any length through, a block at a time.
package struct BlockReader: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private static let blockBytes = 1 << 18

    package init(_ path: String) throws(InputError) {
        descriptor = try openRegular(path)
        self.path = path
    }

    deinit { close(descriptor) }

    /// The next bytes; nil at the end.
    package func next() throws(InputError) -> [UInt8]? {
        var got = 0
        var code: Int32 = 0
        let block = [UInt8](unsafeUninitializedCapacity: Self.blockBytes) { bytes, count in
            repeat {
                got = read(descriptor, bytes.baseAddress, bytes.count)
                code = errno
            } while got < 0 && code == EINTR
            count = max(0, got)
        }
        guard got >= 0 else { throw InputError(file: path, errno: code) }
        return got > 0 ? block : nil
    }
}

/// Refuses what is there and no regular file, without opening it; says nothing of what isn't there.
package func checkRegular(_ path: String) throws(InputError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    throw irregular(path, status)
}

private func irregular(_ path: String, _ status: stat) -> InputError {
    let what =
        switch status.st_mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    return InputError(file: path, found: what, expected: "a regular file")
}

/// The bytes of the file at `path`.
/// - Parameter onlyRegular: for what a folder of ours holds: a pipe or a device there is refused, and never waited for.
package func readInput(
    _ path: String, limitBytes: Int, onlyRegular: Bool = false
) throws(InputError) -> [UInt8] {
    if onlyRegular { try checkRegular(path) }
    guard !path.utf8.contains(0) else {
        throw InputError(
            .missing, file: printable(path, limit: 200), found: "a NUL in the path",
            expected: "a readable file")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw InputError(file: path, errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw InputError(file: path, errno: errno) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw InputError(file: path, errno: EISDIR) }
    func tooLarge(_ size: String) -> InputError {
        InputError(file: path, found: size, expected: "at most \(limitBytes) bytes")
    }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    if isRegular, status.st_size > limitBytes { throw tooLarge("\(status.st_size) bytes") }

    var bytes: [UInt8] = []
    if isRegular { bytes.reserveCapacity(Int(status.st_size)) }
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
        let wanted = min(chunk.count, limitBytes + 1 - bytes.count)
        let got = read(descriptor, &chunk, wanted)
        if got == 0 { return bytes }
        if got < 0 {
            if errno == EINTR { continue }
            throw InputError(file: path, errno: errno)
        }
        bytes.append(contentsOf: chunk[..<got])
        guard bytes.count <= limitBytes else { throw tooLarge("more than \(limitBytes) bytes") }
    }
}

/// The text of the UTF-8 file at `path`, without a byte order mark.
package func readTextInput(_ path: String, limitBytes: Int) throws(InputError) -> String {
    try text(of: try readInput(path, limitBytes: limitBytes), file: path)
}

/// `bytes` as text, without a byte order mark; a problem that names the line where they stop being UTF-8.
package func text(of bytes: [UInt8], file: String) throws(InputError) -> String {
    guard var text = String(validating: bytes, as: UTF8.self) else {
        let line = lineOfInvalidUTF8(bytes)
        throw InputError(file: file, line: line, found: "bytes that are not UTF-8", expected: "UTF-8 text")
    }
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    return text
}

/// The first line that is not UTF-8 by itself: no UTF-8 sequence contains a newline byte.
private func lineOfInvalidUTF8(_ bytes: [UInt8]) -> Int {
    var line = 1
    for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        if String(validating: part, as: UTF8.self) == nil { return line }
        line += 1
    }
    return line
}

extension InputError {
    /// From an error number. What ends by itself, such as a disk's or a network's failure, is no fault of what was asked for.
    package init(file: String, errno code: Int32) {
        let found =
            switch code {
            case ENOENT, ENOTDIR: "no such file"
            case EISDIR: "a directory"
            case EACCES, EPERM: "a file without permission to read it"
            default: "an unreadable file (\(systemMessage(code)))"
            }
        self.init(
            OutputError.kind(of: code) == .temporary ? .temporary : .missing, file: file, found: found,
            expected: "a readable file")
    }
}

/// Whether something is at a path. Only "no such file" says that nothing is: what can't be looked at for a moment is neither there nor gone.
/// - Throws: `InputError` where that can't be told.
package func isThere(_ path: String) throws(InputError) -> Bool {
    var status = stat()
    guard stat(path, &status) != 0 else { return true }
    let code = errno
    guard code == ENOENT || code == ENOTDIR else { throw InputError(file: path, errno: code) }
    return false
}

/// The names in a directory, in no order, without `.` and `..`.
/// - Throws: `InputError` where it isn't there, or can't be read to its end.
package func names(inDirectory path: String) throws(InputError) -> [String] {
    guard let folder = opendir(path) else { throw InputError(file: path, errno: errno) }
    defer { closedir(folder) }
    var found: [String] = []
    while true {
        errno = 0
        guard let entry = readdir(folder) else {
            let code = errno
            if code != 0 { throw InputError(file: path, errno: code) }
            return found
        }
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { found.append(name) }
    }
}

package func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Whether a path is a file's: results stand in folders, and each file is taken for a live session's journal, however damaged.
package func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}
