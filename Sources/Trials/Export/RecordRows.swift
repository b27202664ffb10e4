// Recorded rows on their way to text.

import Records
import SessionTime

/// Rows of one session in one table.
struct RecordRows<Row> {
    private(set) var text: RowText
    private let instant: (Row) -> Instant
    private let calendar: SessionCalendar
    private let columns: [(column: RecordColumn<Row>, lead: [UInt8])]
    /// Whose rows they are: the same in all of them.
    private let origin: [UInt8]
    private let leads: (time: [UInt8], seconds: [UInt8])

    init(
        _ format: StepFormat, of about: LoggedStep.Origin, _ columns: [RecordColumn<Row>],
        at instant: @escaping (Row) -> Instant
    ) {
        text = RowText(format)
        self.instant = instant
        calendar = about.calendar
        self.columns = columns.map { ($0, RowText.lead(format, $0.name, isFirst: false)) }
        var origin = RowText(format)
        for (index, column) in RecordColumn<LoggedStep.Origin>.origin.enumerated() {
            origin.append(RowText.lead(format, column.name, isFirst: index == 0))
            origin.append(column.value(about, calendar))
        }
        self.origin = origin.bytes
        leads = (
            RowText.lead(format, "time", isFirst: false), RowText.lead(format, "time_s", isFirst: false)
        )
    }

    mutating func append(_ row: Row) {
        let time = instant(row)
        text.append(origin)
        text.append(leads.time)
        text.append(.instant(time, calendar))
        text.append(leads.seconds)
        text.append(number: Double(time.nanoseconds) / 1e9)
        for (column, lead) in columns {
            text.append(lead)
            text.append(column.value(row, calendar))
        }
        text.endRow()
    }

    mutating func removeAll() { text.removeAll() }
}
