// Steps on their way to text, section by section.
//
// Guarantees: a row is the same whether it is written alone or after others: what a section says again is copied, nothing else is.

/// Rows of one table of steps.
struct StepRows: Sendable {
    private(set) var text: RowText
    private let table: [Part]
    private var last: LoggedStep?
    /// The bytes of each section in the row before.
    private var sections: [[UInt8]]

    /// A section, without the words about its columns: whatever is looked at a million times holds little else.
    private struct Part {
        var isEqual: @Sendable (LoggedStep, LoggedStep) -> Bool
        var cells: [Cell]
    }

    private struct Cell {
        var lead: [UInt8]
        /// Whether that is all of the lead, as in CSV.
        var isComma: Bool
        var value: @Sendable (LoggedStep) -> StepValue
    }

    init(_ format: StepFormat) {
        text = RowText(format)
        var isFirst = true
        table = StepColumn.sections.map { section in
            Part(
                isEqual: section.isEqual,
                cells: section.columns.map { column in
                    defer { isFirst = false }
                    let lead = RowText.lead(format, column.name, isFirst: isFirst)
                    return Cell(lead: lead, isComma: lead == [UInt8(ascii: ",")], value: column.value)
                })
        }
        sections = table.map { _ in [] }
    }

    mutating func append(_ step: LoggedStep) {
        // Taken out once: a step has many parts, and each look through the optional would copy them.
        if let before = last.take() {
            for index in table.indices {
                append(index, of: step, isSame: table[index].isEqual(before, step))
            }
        } else {
            for index in table.indices { append(index, of: step, isSame: false) }
        }
        text.endRow()
        last = step
    }

    private mutating func append(_ index: Int, of step: LoggedStep, isSame: Bool) {
        guard !isSame else { return text.append(sections[index]) }
        let start = text.bytes.count
        for cell in table[index].cells.indices {
            if table[index].cells[cell].isComma {
                text.appendComma()
            } else {
                text.append(table[index].cells[cell].lead)
            }
            text.append(table[index].cells[cell].value(step))
        }
        sections[index].removeAll(keepingCapacity: true)
        sections[index].append(contentsOf: text.bytes[start...])
    }

    mutating func removeAll() { text.removeAll() }
}
