// Where a CSV file of the results isn't what it should be, row by row.

import IsletFiles
import Foundation
import IsletDevices

/// Compares a file with the rows that it should have, in their order.
struct RowDifferences {
    private let name: String
    private let columns: [String]
    /// nil where there is no file.
    private var rest: ArraySlice<UInt8>?
    private var number = 0
    private var found: [String] = []

    /// - Throws: `InputError` for a file that can't be read.
    init(_ folder: ResultFolder, _ name: String, _ columns: [String]) throws {
        self.name = name
        self.columns = columns
        let path = folder.file(name)
        if try isThere(path) {
            rest = try readInput(path, limitBytes: 2 << 30, onlyRegular: true)[...]
        }
        check(columns.joined(separator: ","), "the header")
    }

    /// The columns that a file has; nil without a file.
    static func header(_ folder: ResultFolder, _ name: String) throws -> [String]? {
        let path = folder.file(name)
        guard try isThere(path) else { return nil }
        let bytes = try readInput(path, limitBytes: 2 << 30, onlyRegular: true)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self).split(
            separator: ",", omittingEmptySubsequences: false
        ).map(String.init)
    }

    /// - Parameter what: whose row it is.
    mutating func check(_ row: String, _ what: String) {
        guard let bytes = rest else { return }
        number += 1
        let wanted = Array((row + "\n").utf8)
        if bytes.starts(with: wanted) {
            rest = bytes.dropFirst(wanted.count)
            return
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.endIndex
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        rest = bytes[end...]
        found.append("\(name):\(number): \(what): " + difference(line, row))
    }

    /// One line each, at most a few.
    func findings() -> [String] {
        var found = found
        if let rest, !rest.isEmpty { found.append("\(name):\(number + 1): more rows than study.sqlite has") }
        guard found.count > 20 else { return found }
        return found.prefix(20) + ["\(name): and \(found.count - 20) more rows"]
    }

    private func difference(_ line: String, _ row: String) -> String {
        let cells = line.split(separator: "\n", omittingEmptySubsequences: false).first ?? ""
        let (a, b) = (
            cells.split(separator: ",", omittingEmptySubsequences: false),
            row.split(separator: ",", omittingEmptySubsequences: false)
        )
        for index in b.indices
        where a.count == b.count && a[index] != b[index] && columns.indices.contains(index) {
            return
                "\(columns[index]) is \(printable(String(a[index]), limit: 80)), study.sqlite says "
                + printable(String(b[index]), limit: 80)
        }
        return "is not what study.sqlite says"
    }
}
