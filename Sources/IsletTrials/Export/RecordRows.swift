// Recorded rows on their way to text.

import IsletDevices
import IsletKernel

/// Rows of one session in one table.
struct RecordRows<Row> {
    private let text: RowText
    private let instant: (Row) -> Instant
    private let calendar: SessionCalendar
    private let columns: [(lead: [UInt8], cell: ExportColumn<Row>.Cell)]
    /// Whose rows they are: the same in all of them.
    private let origin: [UInt8]
    private let leads: (time: [UInt8], seconds: [UInt8])

    init(
        _ format: StepFormat, of about: LoggedStep.Origin, _ columns: [ExportColumn<Row>],
        at instant: @escaping (Row) -> Instant
    ) {
        text = RowText(format)
        self.instant = instant
        calendar = about.calendar
        self.columns = columns.map { (RowText.lead(format, $0.name, isFirst: false), $0.cell) }
        let origin = RowText(format)
        withUnsafePointer(to: about) { about in
            for (index, column) in ExportColumn<LoggedStep.Origin>.origin.enumerated() {
                origin.append(RowText.lead(format, column.name, isFirst: index == 0))
                origin.append(column.cell, of: about, about.pointee.calendar)
            }
        }
        self.origin = origin.bytes
        leads = (
            RowText.lead(format, "time", isFirst: false), RowText.lead(format, "time_s", isFirst: false)
        )
    }

    /// The text of some rows.
    func bytes(_ rows: some Sequence<Row>) -> [UInt8] {
        text.removeAll()
        for row in rows {
            let time = instant(row)
            text.append(origin)
            text.append(leads.time)
            text.append(quoted: time, calendar)
            text.append(leads.seconds)
            text.append(secondsOf: time)
            withUnsafePointer(to: row) { row in
                for column in columns {
                    text.append(column.lead)
                    text.append(column.cell, of: row, calendar)
                }
            }
            text.endRow()
        }
        return text.bytes
    }
}
