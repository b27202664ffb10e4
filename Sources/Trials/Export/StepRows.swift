// Steps on their way to text, section by section.
//
// Guarantees: a row is the same whether it is written alone or after others: what a section says again is copied, nothing else is.

/// Rows of one table of steps.
struct StepRows: Sendable {
    private(set) var text: RowText
    private let leads: [[[UInt8]]]
    private var last: LoggedStep?
    /// The bytes of each section in the row before.
    private var sections: [[UInt8]]

    init(_ format: StepFormat) {
        text = RowText(format)
        var isFirst = true
        var leads: [[[UInt8]]] = []
        for section in StepColumn.sections {
            leads.append(
                section.columns.map { column in
                    defer { isFirst = false }
                    return RowText.lead(format, column.name, isFirst: isFirst)
                })
        }
        self.leads = leads
        sections = leads.map { _ in [] }
    }

    mutating func append(_ step: LoggedStep) {
        for (index, section) in StepColumn.sections.enumerated() {
            if let last, section.isEqual(last, step) {
                text.append(sections[index])
                continue
            }
            let start = text.bytes.count
            for (column, lead) in zip(section.columns, leads[index]) {
                text.append(lead)
                text.append(column.value(step))
            }
            sections[index].removeAll(keepingCapacity: true)
            sections[index].append(contentsOf: text.bytes[start...])
        }
        text.endRow()
        last = step
    }

    mutating func removeAll() { text.removeAll() }
}
