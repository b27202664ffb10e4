// Recorded rows on their way to text.

import IsletDevices
import IsletKernel

/// Rows of one session in one table.
struct RecordRows<Row> {
    private let text: RowText
    private let instant: (Row) -> Instant
    private let calendar: SessionCalendar
    private let columns: [(lead: [UInt8], cell: RecordedColumn<Row>.Value)]
    /// Whose rows they are, and what all of them end with.
    private let origin: [UInt8]
    private let end: [UInt8]
    private let leads: (time: [UInt8], seconds: [UInt8])

    init(
        _ format: StepFormat, of about: LoggedStep.Origin, _ columns: [RecordedColumn<Row>],
        at instant: @escaping (Row) -> Instant, by listener: ExportedPolicy? = nil
    ) {
        text = RowText(format)
        self.instant = instant
        calendar = about.calendar
        self.columns = columns.flatMap(\.exports).map {
            (RowText.lead(format, $0.name, isFirst: false), $0.value)
        }
        origin = Self.bytes(format, about, LoggedStep.Origin.columns, about.calendar, isFirst: true)
        end = listener.map { Self.bytes(format, $0, ExportedPolicy.columns, about.calendar) } ?? []
        leads = (
            RowText.lead(format, "time", isFirst: false), RowText.lead(format, "time_s", isFirst: false)
        )
    }

    /// What is the same in all rows.
    private static func bytes<Same>(
        _ format: StepFormat, _ same: Same, _ columns: [RecordedColumn<Same>], _ calendar: SessionCalendar,
        isFirst: Bool = false
    ) -> [UInt8] {
        let text = RowText(format)
        withUnsafePointer(to: same) { place in
            for (index, column) in columns.enumerated() {
                text.append(RowText.lead(format, column.name, isFirst: isFirst && index == 0))
                text.append(column.value, of: place, calendar)
            }
        }
        return text.bytes
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
            text.append(end)
            text.endRow()
        }
        return text.bytes
    }
}
