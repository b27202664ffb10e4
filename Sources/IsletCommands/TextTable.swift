// Columns of text for people.

package enum TextTable {
    /// Rows with every column but the last padded to its widest cell.
    package static func aligned(_ rows: [[String]]) -> String {
        let columns = rows.first?.count ?? 0
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                column == columns - 1
                    ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ") + "\n"
        }.joined()
    }
}

/// Numbers in what is printed when a command is done.
package enum SummaryText {
    /// One place after the point.
    package static func decimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
