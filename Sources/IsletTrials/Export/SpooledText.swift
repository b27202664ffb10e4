// A text of any length that must be whole before anybody reads it.
//
// Guarantees: up to a few megabytes stay in memory, the rest goes to a file that has no name from the moment it is made, so that nothing
// is left behind however the process ends. A full disk is an `OutputError`, temporary.
// Does not: serve two threads at once.

import IsletFiles
import Glibc
package import IsletDevices

package final class SpooledText: @unchecked Sendable {
    /// Bytes that stay in memory.
    static let memoryLimit = 8 << 20
    private static let blockBytes = 1 << 16

    private var head: [[UInt8]] = []
    private var headBytes = 0
    private var descriptor: Int32 = -1
    /// Where reading goes on: an offset in the file; where all is in memory, the index of a part.
    private var position = 0
    private var block: [UInt8] = []
    private var lineStart = 0
    /// How many rows the text has.
    package private(set) var lines = 0

    package init() {}

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Adds what the rows hold, and counts them.
    func append(_ bytes: [UInt8], lines count: Int) throws(OutputError) {
        lines += count
        if descriptor < 0 {
            guard headBytes + bytes.count > Self.memoryLimit else {
                if !bytes.isEmpty { head.append(bytes) }
                headBytes += bytes.count
                return
            }
            descriptor = try TemporaryFile.nameless()
            for part in head { try Self.write(part, to: descriptor) }
            head = []
        }
        try Self.write(bytes, to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(OutputError) {
        if let failure = bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) {
            throw OutputError(path: TemporaryFile.directory, doing: "write a temporary file", errno: failure)
        }
    }

    /// The next block from the beginning on; nil at the end.
    package func nextBlock() throws(OutputError) -> [UInt8]? {
        guard descriptor >= 0 else {
            guard position < head.count else { return nil }
            defer { position += 1 }
            return head[position]
        }
        var block = [UInt8](repeating: 0, count: Self.blockBytes)
        while true {
            let got = pread(descriptor, &block, block.count, off_t(position))
            if got < 0 {
                if errno == EINTR { continue }
                throw OutputError(path: TemporaryFile.directory, doing: "read a temporary file", errno: errno)
            }
            guard got > 0 else { return nil }
            position += got
            block.removeLast(block.count - got)
            return block
        }
    }

    /// The next line without its newline; nil at the end. Lines and blocks are read from one position: one of them only.
    package func nextLine() throws(OutputError) -> String? {
        while true {
            if let end = block[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { lineStart = end + 1 }
                return String(decoding: block[lineStart..<end], as: UTF8.self)
            }
            let rest = block[lineStart...]
            guard let more = try nextBlock() else {
                block = []
                lineStart = 0
                return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
            }
            block = rest + more
            lineStart = 0
        }
    }
}
