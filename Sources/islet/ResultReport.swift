// What `run` and `merge` print when they are done.

import IsletCommands
import IsletFiles
import IsletTrials

struct ResultReport {
    let summary: StudySummary
    let study: Study
    let folder: ResultFolder
    let unit: GlucoseUnit

    init(_ summary: StudySummary, study: Study, folder: ResultFolder, unit: GlucoseUnit) {
        self.summary = summary
        self.study = study
        self.folder = folder
        self.unit = unit
    }

    /// As wide as the terminal; on one, the rows of declared outcomes are bold.
    private var table: String {
        let output = StandardStream.output
        let text = summary.table(in: unit, width: output.tableColumns)
        guard output.allowsColor else { return text }
        let declared = study.primary.map { unit.text(ofName: $0) }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            declared.contains { line.hasPrefix($0 + " ") || line.hasPrefix($0 + ",") }
                ? "\u{1b}[1m\(line)\u{1b}[0m" : String(line)
        }.joined(separator: "\n")
    }

    func print() throws {
        try StandardStream.output.write(
            """
            \(study.name): \(summary.sessions) sessions, \(SummaryText.decimal(summary.patientDays)) patient-days, \
            seed \(study.seed)

            \(table)
            digest   \(summary.digest)
            results  \(folder.path)

            """)
    }
}
