// Columns of one value a subject that are filled row by row, and read one at a time.
//
// Guarantees: a column comes back as it was filled; up to `memoryLimit` all of it stays in memory, beyond it goes to a file that has no name, so that what
// a study of any size comes to is computed in memory that doesn't grow with it. A full disk is an `OutputError`, temporary.
// Does not: serve two threads at once.

import Glibc
import IsletDevices
import IsletFiles

final class ColumnSpool {
    /// Bytes that stay in memory.
    static let memoryLimit = 96 << 20
    /// Values that are written at once.
    private static let chunk = 2048

    private typealias Cell = (subject: Int, value: Double)

    private struct Column {
        /// What is in memory; the last of the column.
        var cells: SubjectValues = []
        /// Where chunks are in the file.
        var offsets: [Int] = []
    }

    private var columns: [Column] = []
    private let limit: Int
    private var held = 0
    private var length = 0
    private var descriptor: Int32 = -1

    init(memoryLimit: Int = ColumnSpool.memoryLimit) { limit = memoryLimit }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// - Returns: the number of a new column.
    func add() -> Int {
        columns.append(Column())
        return columns.count - 1
    }

    func append(_ value: Double, of subject: Int, to column: Int) throws(OutputError) {
        columns[column].cells.append((subject, value))
        held += MemoryLayout<Cell>.stride
        if held > limit, columns[column].cells.count >= Self.chunk { try spill() }
    }

    /// The values of a column, in the order in which they came.
    func values(_ column: Int) throws(OutputError) -> SubjectValues {
        let column = columns[column]
        var all: SubjectValues = []
        all.reserveCapacity(column.offsets.count * Self.chunk + column.cells.count)
        var block = [Cell](repeating: (0, 0), count: Self.chunk)
        for offset in column.offsets {
            var got = 0
            while got < Self.chunk * MemoryLayout<Cell>.stride {
                let count = block.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress.map { $0 + got }, $0.count - got, off_t(offset + got))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw OutputError(
                        path: TemporaryFile.directory, doing: "read a temporary file", errno: errno)
                }
                got += count
            }
            all += block
        }
        return all + column.cells
    }

    /// Writes whole chunks of every column away.
    private func spill() throws(OutputError) {
        if descriptor < 0 { descriptor = try TemporaryFile.nameless() }
        for place in columns.indices {
            var cells = columns[place].cells[...]
            while cells.count >= Self.chunk {
                let failure = Array(cells.prefix(Self.chunk)).withUnsafeBytes { writeAll($0, to: descriptor) }
                if let failure {
                    throw OutputError(
                        path: TemporaryFile.directory, doing: "write a temporary file", errno: failure)
                }
                columns[place].offsets.append(length)
                length += Self.chunk * MemoryLayout<Cell>.stride
                cells = cells.dropFirst(Self.chunk)
                held -= Self.chunk * MemoryLayout<Cell>.stride
            }
            columns[place].cells = Array(cells)
        }
    }
}

/// Files that nobody else can open, and that are gone when they are closed.
enum TemporaryFile {
    /// TMPDIR, or /tmp.
    static var directory: String {
        if let value = getenv("TMPDIR"), value[0] != 0 { return String(cString: value) }
        return "/tmp"
    }

    static func nameless() throws(OutputError) -> Int32 {
        var template = Array((directory + "/.islet-rows-" + String(repeating: "X", count: 6)).utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            throw OutputError(path: directory, doing: "make a temporary file", errno: errno)
        }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
