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

    func print() throws {
        try StandardStream.output.write(
            """
            \(study.name): \(summary.sessions) sessions, \(SummaryText.decimal(summary.patientDays)) patient-days, \
            seed \(study.seed)

            \(summary.table(in: unit))
            digest   \(summary.digest)
            results  \(folder.path)

            """)
    }
}
