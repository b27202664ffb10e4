// Text in columns that fits a terminal.
//
// Guarantees: no line is longer than the width that is asked for, 40 to 200, whatever stands in it: what has blanks is folded at them.

package enum TextGrid {
    /// Columns of a line at most: 100, unless somebody says otherwise for what is made in between.
    @TaskLocal static var width = 100

    /// Widths that tables are made for.
    package static let widths = 40...200

    /// What `make` makes, with lines of at most so many columns.
    static func within(_ width: Int, _ make: () -> String) -> String {
        $width.withValue(max(widths.lowerBound, min(widths.upperBound, width))) { folded(make()) }
    }

    /// Lines that are too long, folded at blanks; what follows is as far in as the line itself, and two more.
    static func folded(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.count > width else { return String(line) }
            let indent = line.prefix { $0 == " " }.count
            let inner = String(repeating: " ", count: min(indent + 2, width / 3))
            var lines = [String(repeating: " ", count: min(indent, width / 3))]
            var isFresh = true
            for word in line.split(separator: " ").flatMap({ pieces(String($0)) }) {
                if !isFresh, (lines.last?.count ?? 0) + 1 + word.count > width {
                    lines.append(inner)
                    isFresh = true
                }
                lines[lines.count - 1] += (isFresh ? "" : " ") + word
                isFresh = false
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    static func fits(_ text: String) -> Bool {
        text.split(separator: "\n").allSatisfy { $0.count <= width }
    }

    /// Cells below each other, two blanks between columns; the first `left` of them begin at the left, the others end at the right.
    /// A cell that would make its line too long stands on a line of its own.
    static func aligned(_ rows: [[String]], left: Int = 2) -> String {
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in
            // What stands alone in its row needs no column.
            rows.filter { row in column > 0 || row.dropFirst().contains { !$0.isEmpty } }
                .map { $0[column].count }.max() ?? 0
        }
        let isNarrow = widths.reduce(2 * (columns - 1), +) <= width
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
                if column > 0 { line += "  " }
                line += column < left ? cell + padding : padding + cell
                // Too wide as a whole: the name has its line, the rest the next.
                if !isNarrow, column == 0, row.dropFirst().contains(where: { !$0.isEmpty }) {
                    line += "\n   "
                }
            }
            return line.split(separator: "\n", omittingEmptySubsequences: false).map(trimmed).joined(
                separator: "\n") + "\n"
        }.joined()
    }

    /// A list after its head, folded at commas.
    static func wrapped(_ head: String, _ items: [String]) -> String {
        fold(head, items.enumerated().map { $0.offset < items.count - 1 ? $0.element + "," : $0.element })
    }

    /// A text after its head, folded at blanks.
    static func wrapped(_ head: String, words text: String) -> String {
        fold(head, text.split(separator: " ").map(String.init))
    }

    private static func fold(_ head: String, _ words: [String]) -> String {
        var lines = [head]
        var isFresh = true
        for word in words.flatMap(pieces) {
            if !isFresh, (lines.last?.count ?? 0) + 1 + word.count > width {
                lines.append("    ")
                isFresh = true
            }
            lines[lines.count - 1] += (isFresh ? "" : " ") + word
            isFresh = false
        }
        return lines.map { trimmed(Substring($0)) + "\n" }.joined()
    }

    /// A word that no line could hold, in parts.
    private static func pieces(_ word: String) -> [String] {
        let limit = width - 10
        guard word.count > limit else { return [word] }
        return [String(word.prefix(limit))] + pieces(String(word.dropFirst(limit)))
    }

    private static func trimmed(_ line: Substring) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
