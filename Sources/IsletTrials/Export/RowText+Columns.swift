// A recorded column's cells in CSV and JSON.
//
// Guarantees: a column's kind says how its cells are written in both formats, and what a row doesn't have is an empty cell and a null.

import IsletDevices
import IsletKernel

extension RowText {
    /// A row's cell.
    @inline(__always)
    func append<Row>(
        _ cell: RecordedColumn<Row>.Value, of row: RecordedColumn<Row>.Place, _ calendar: SessionCalendar
    ) {
        switch cell {
        case .real(let value): if let value = value(row) { append(number: value) } else { appendAbsent() }
        case .flag(let value): if let value = value(row) { append(value) } else { appendAbsent() }
        case .text(let value): if let value = value(row) { append(quoted: value) } else { appendAbsent() }
        case .whole(let value):
            if let value = value(row) { append(integer: Int64(value)) } else { appendAbsent() }
        case .instant(let value):
            if let value = value(row) { append(quoted: value, calendar) } else { appendAbsent() }
        case .seconds(let value):
            if let value = value(row) { append(secondsOf: value) } else { appendAbsent() }
        case .identifier(let name, let number): append(name(row), hyphen: number(row))
        case .object(let value): if let value = value(row) { append(object: value) } else { appendAbsent() }
        }
    }
}
