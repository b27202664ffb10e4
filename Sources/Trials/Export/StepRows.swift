// Steps on their way to text, section by section.
//
// Guarantees: a row is the same whether it is written alone or after others: what a section says again is copied, nothing else is.

/// Rows of one table of steps.
struct StepRows: Sendable {
    private(set) var text: RowText
    private let table = StepColumn.sections
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
        // Taken once: a step has many parts, and each look through the optional would copy them.
        if let last {
            appendSections(step) { $0.isEqual(last, step) }
        } else {
            appendSections(step) { _ in false }
        }
        text.endRow()
        last = step
    }

    private mutating func appendSections(_ step: LoggedStep, isSame: (StepColumn.Section) -> Bool) {
        for index in table.indices {
            if isSame(table[index]) {
                text.append(sections[index])
                continue
            }
            let start = text.bytes.count
            for column in table[index].columns.indices {
                text.append(leads[index][column])
                text.append(table[index].columns[column].value(step))
            }
            sections[index].removeAll(keepingCapacity: true)
            sections[index].append(contentsOf: text.bytes[start...])
        }
    }

    mutating func removeAll() { text.removeAll() }
}
