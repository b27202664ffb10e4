// A table of people that is read by rows, however many it has.
//
// Guarantees: the file is read through once, for where its rows begin and for its SHA-256; a row is read when somebody asks for it, from the file that was
// opened then, by any thread. Memory is 12 bytes a row, and 12 more where all names are looked at. A checked table is one in which every row is a person and
// has a name of its own: what runs later finds no surprise in it.
// Does not: take a pipe, in which nobody can go back; notice a file that is written to in place meanwhile.

import IsletFiles
package import IsletDevices
import IsletKernel
package import IsletModels
import Glibc

package final class TableFile: Sendable {
    /// The most bytes that a row may have.
    private static let rowBytes = 1 << 16
    /// The most people that a table may have.
    package static let maximumRows = Study.maximumSessions

    let path: String
    /// SHA-256 of the whole file.
    package let sha256: String
    private let descriptor: Int32
    /// Where each row that isn't blank begins, the header's first, and at the end where the last one is over.
    private let offsets: [Int]
    /// 1-based.
    private let lines: [UInt32]
    private let reader: ParameterTable.RowReader

    package var count: Int { lines.count - 1 }

    deinit { close(descriptor) }

    /// - Throws: `InputError` for what can't be read, or has no header of `model`'s table.
    package init(_ path: String, model: ModelKind, derived: DerivedColumns) throws(InputError) {
        self.path = path
        let descriptor = try openRegular(path)
        let rows: Rows
        let reader: ParameterTable.RowReader
        do throws(InputError) {
            rows = try Rows(of: descriptor, path)
            guard rows.starts.count > 0 else {
                throw InputError(file: path, found: "an empty file", expected: "a header row")
            }
            let header = try Self.bytes(descriptor, path, rows.starts[0], rows.end(0), rows.lines[0])
            reader = try ParameterTable.RowReader(
                header: header, line: Int(rows.lines[0]), file: path, model: model, derived: derived)
            guard rows.starts.count > 1 else {
                throw InputError(file: path, found: "no subject", expected: "a row for each subject")
            }
        } catch {
            close(descriptor)
            throw error
        }
        (self.descriptor, self.reader) = (descriptor, reader)
        (offsets, lines, sha256) = (rows.starts + [rows.length], rows.lines, rows.sha256)
    }

    package func entry(_ row: Int) throws(InputError) -> ParameterTable.Entry {
        try reader.entry(bytes(row), line: line(row))
    }

    func name(_ row: Int) throws(InputError) -> String { try reader.name(bytes(row), line: line(row)) }

    func line(_ row: Int) -> Int { Int(lines[row + 1]) }

    private func bytes(_ row: Int) throws(InputError) -> [UInt8] {
        try Self.bytes(descriptor, path, offsets[row + 1], offsets[row + 2], lines[row + 1])
    }

    /// Refuses a table in which a row isn't a person, or two have one name.
    package func check() throws(InputError) {
        var known: [UInt64: UInt32] = [:]
        known.reserveCapacity(count)
        for row in 0..<count {
            let name = try entry(row).name
            guard let other = known.updateValue(UInt32(row), forKey: Self.key(name)) else { continue }
            // Two names may have one key.
            guard try self.name(Int(other)) == name else { continue }
            throw InputError(
                file: path, line: line(row), found: "\(quoted(name)) again",
                expected: "a name once (first on line \(line(Int(other))))")
        }
    }

    private static func key(_ name: String) -> UInt64 {
        var digest = Digest128()
        for word in Journal.words(of: Array(name.utf8)) { digest.absorb(word) }
        return digest.a
    }

    /// Where the rows of these names are, in their order.
    /// - Throws: `InputError` that says which names there are.
    func rows(named names: [String]) throws(InputError) -> [Int] {
        var wanted: [String: Int] = [:]
        for name in names { wanted[name] = -1 }
        for row in 0..<count {
            let name = try name(row)
            if let place = wanted[name], place < 0 { wanted[name] = row }
        }
        var rows: [Int] = []
        for name in names {
            guard let row = wanted[name], row >= 0 else {
                var known: [String] = []
                for row in 0..<min(3, count) { known.append(quoted(try self.name(row))) }
                let more = count > 3 ? " … (\(count) subjects)" : ""
                throw InputError(
                    file: path, found: "no subject \(quoted(name))",
                    expected: "one of \(known.joined(separator: ", "))\(more)")
            }
            rows.append(row)
        }
        return rows
    }

    private static func bytes(
        _ descriptor: Int32, _ path: String, _ start: Int, _ end: Int, _ line: UInt32
    ) throws(InputError) -> [UInt8] {
        func problem(_ found: String, _ expected: String) -> InputError {
            InputError(file: path, line: Int(line), found: found, expected: expected)
        }
        guard end - start <= rowBytes else {
            throw problem("a row of \(end - start) bytes", "at most \(rowBytes)")
        }
        var bytes = [UInt8](repeating: 0, count: end - start)
        var got = 0
        while got < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + got }, $0.count - got, off_t(start + got))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputError(file: path, errno: errno) }
            guard count > 0 else { throw problem("a file that is being changed", "a table at rest") }
            got += count
        }
        // What ends the row, and blank rows after it, are nobody's.
        if let over = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) { bytes.removeSubrange(over...) }
        return bytes
    }

    /// Where rows begin, found in one pass.
    private struct Rows {
        var starts: [Int] = []
        var lines: [UInt32] = []
        var length = 0
        var sha256 = ""

        func end(_ row: Int) -> Int { row + 1 < starts.count ? starts[row + 1] : length }

        init(of descriptor: Int32, _ path: String) throws(InputError) {
            var hash = SHA256()
            var block = [UInt8](repeating: 0, count: 1 << 20)
            var line: UInt32 = 1
            var start = 0
            var isBlank = true
            var endedInReturn = false
            while true {
                let got = block.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress, $0.count, off_t(length))
                }
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else {
                    throw InputError(file: path, errno: errno)
                }
                guard got > 0 else { break }
                block.withUnsafeBytes { all in
                    let bytes = UnsafeRawBufferPointer(rebasing: all[..<got])
                    hash.update(bytes)
                    for (place, byte) in bytes.enumerated() {
                        if byte > 0x20 {
                            isBlank = false
                            endedInReturn = false
                            continue
                        }
                        guard byte == 0x0A || byte == 0x0D else {
                            endedInReturn = false
                            continue
                        }
                        // A return and the feed after it are one end.
                        if byte == 0x0A, endedInReturn {
                            endedInReturn = false
                            if start == length + place { start += 1 }
                            continue
                        }
                        endedInReturn = byte == 0x0D
                        if !isBlank {
                            starts.append(start)
                            lines.append(line)
                        }
                        line &+= 1
                        start = length + place + 1
                        isBlank = true
                    }
                }
                length += got
                guard starts.count <= TableFile.maximumRows + 1 else {
                    throw InputError(
                        file: path, line: Int(line), found: "more rows",
                        expected: "at most \(TableFile.maximumRows)")
                }
            }
            if !isBlank {
                starts.append(start)
                lines.append(line)
            }
            sha256 = hash.finished().description
        }
    }
}
