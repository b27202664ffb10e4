// Steps on their way to text, section by section.
//
// Guarantees: a row is the same whether it is written alone or after others: what a section says again is copied, nothing else is.

import IsletDevices
import IsletKernel

/// Rows of one table of steps.
final class StepRows {
    let text: RowText
    private let table: [Part]
    /// The row before, while its bytes stand in `text`.
    private var last: LoggedStep?
    /// Where each section of the row before begins, and where the last one ends.
    private var bounds: [Int]
    /// Rows in `text`.
    private(set) var count = 0

    /// A section, without the words about its columns: whatever is looked at a million times holds little else.
    private struct Part {
        var isEqual: @Sendable (LoggedStep, LoggedStep) -> Bool
        var cells: [Cell]
    }

    private struct Cell {
        var lead: [UInt8]
        /// Whether that is all of the lead, as in CSV.
        var isComma: Bool
        var value: StepColumn.Value
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
        bounds = Array(repeating: 0, count: table.count + 1)
    }

    func append(_ step: LoggedStep) {
        let calendar = step.origin.calendar
        withUnsafePointer(to: step) { place in
            // Taken out once, for all sections.
            if let before = last.take() {
                for index in table.indices {
                    append(index, of: place, calendar, isSame: table[index].isEqual(before, step))
                }
            } else {
                for index in table.indices { append(index, of: place, calendar, isSame: false) }
            }
        }
        bounds[table.count] = text.count
        text.endRow()
        last = step
        count += 1
    }

    private func append(
        _ index: Int, of step: StepColumn.Place, _ calendar: SessionCalendar, isSame: Bool
    ) {
        let start = text.count
        if isSame {
            text.repeatBytes(from: bounds[index], count: bounds[index + 1] - bounds[index])
        } else {
            for cell in table[index].cells.indices {
                if table[index].cells[cell].isComma {
                    text.appendComma()
                } else {
                    text.append(table[index].cells[cell].lead)
                }
                text.append(table[index].cells[cell].value, of: step, calendar)
            }
        }
        bounds[index] = start
    }

    /// Hands over what has been written.
    func take() -> (bytes: [UInt8], lines: Int) {
        defer {
            text.removeAll()
            last = nil
            count = 0
        }
        return (text.bytes, count)
    }
}
