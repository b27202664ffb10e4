// The project's sources as tidy tests see them: lines, and lines without comments and strings.

import Foundation

struct SourceFile: Sendable {
    /// From the project's root.
    var path: String
    var lines: [String]
    /// The same lines with comments and the contents of string literals blanked out.
    var code: [String]

    /// The target it belongs to: the folder within Sources.
    var target: String { String(path.split(separator: "/")[1]) }

    /// The folder within its target, where its target is made of folders with an order of their own.
    var folder: String? {
        let parts = path.split(separator: "/").map(String.init)
        guard let folders = Floors.folders[target] else { return nil }
        return parts.count > 3 && folders.contains(parts[2]) ? parts[2] : folders.last
    }

    /// The module it is compiled into.
    var module: String { path.hasPrefix("Benchmarks/") ? "islet-bench" : target }

    /// The modules that it imports, with their lines.
    var imports: [(line: Int, module: String)] {
        code.enumerated().compactMap { index, line in
            guard has(line, "import ") else { return nil }
            let pattern =
                #/(?:@\w+\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|func|protocol|typealias|var|let)\s+)?(\w+)[\w.]*\s*/#
            // What stands within `#if` is indented.
            return String(line.drop { $0 == " " }).wholeMatch(of: pattern).map {
                (index + 1, String($0.output.1))
            }
        }
    }
}

/// Whether `word` stands in `line`, byte by byte: sources are looked at some hundred times.
func has(_ line: String, _ word: String) -> Bool { strstr(line, word) != nil }

/// A word of a line, `\w+` to a pattern, with the byte before it, and whether a colon follows it at once. A pattern takes a
/// hundred times as long.
struct Word {
    var text: String
    var before: UInt8?
    var isBeforeColon: Bool

    static func all(in line: String) -> [Word] {
        var words: [Word] = []
        var letters: [UInt8] = []
        var before: UInt8?
        for byte in Array(line.utf8) + [0x20] {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                letters.append(byte)
            default:
                defer { before = byte }
                guard !letters.isEmpty else { continue }
                words.append(
                    Word(
                        text: String(decoding: letters, as: UTF8.self), before: before,
                        isBeforeColon: byte == UInt8(ascii: ":")))
                letters.removeAll()
            }
        }
        return words
    }
}

enum Project {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every Swift file below Sources, by path.
    static let sources = files(below: "Sources")

    /// Those of tests and benchmarks, too; the package that uses this one is not of it.
    static let all =
        sources
        + (files(below: "Tests") + files(below: "Benchmarks"))
        .filter { !$0.path.hasPrefix("Tests/LibraryUser/") }

    private static func files(below name: String) -> [SourceFile] {
        let folder = root.appending(path: name)
        let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let urls = (walker?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        return urls.sorted { $0.path < $1.path }.compactMap { url in
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            return SourceFile(
                path: String(url.path.dropFirst(root.path.count)).trimmingPrefix("/").description,
                lines: lines, code: blanked(lines))
        }
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Comments and string contents become nothing. Knows line and block comments, plain and multi-line strings;
    /// an interpolation counts as string.
    static func blanked(_ lines: [String]) -> [String] {
        var inBlock = 0
        var inLongString = false
        return lines.map { line in
            var code: [UInt8] = []
            var inString = false
            let bytes = Array(line.utf8)
            var index = 0
            func follows(_ text: StaticString) -> Bool {
                guard index + text.utf8CodeUnitCount <= bytes.count else { return false }
                for place in 0..<text.utf8CodeUnitCount where bytes[index + place] != text.utf8Start[place] {
                    return false
                }
                return true
            }
            scan: while index < bytes.count {
                if inBlock > 0 {
                    if follows("*/") {
                        inBlock -= 1
                        index += 1
                    } else if follows("/*") {
                        inBlock += 1
                        index += 1
                    }
                } else if inLongString {
                    if follows("\"\"\"") {
                        inLongString = false
                        index += 2
                    }
                } else if inString {
                    if follows("\\") { index += 1 } else if follows("\"") { inString = false }
                } else if follows("//") {
                    break scan
                } else if follows("/*") {
                    inBlock += 1
                    index += 1
                } else if follows("\"\"\"") {
                    inLongString = true
                    index += 2
                } else if follows("\"") {
                    inString = true
                } else {
                    code.append(bytes[index])
                }
                index += 1
            }
            return String(decoding: code, as: UTF8.self)
        }
    }
}
