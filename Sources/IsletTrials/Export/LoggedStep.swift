// A step of a finished session, and the ways it is written out.
//
// Guarantees: the same step is the same bytes everywhere; both formats have the columns of `StepColumn.all`, in their
// order; what a step doesn't have is an empty cell and a null, never a magic number.

package import IsletLoop
package import IsletKernel

/// One step, with where it comes from.
package struct LoggedStep {
    /// Shared by all steps of a session.
    package final class Origin: Sendable {
        package let study: String
        package let key: String
        package let session: ResultSessions.Entry
        package let calendar: SessionCalendar
        /// What the ids of its steps begin with.
        let stepKey: String

        init(study: String, key: String, session: ResultSessions.Entry, calendar: SessionCalendar) {
            self.study = study
            self.key = key
            self.session = session
            self.calendar = calendar
            stepKey = "\(key)-\(session.session)"
        }
    }

    package var origin: Origin
    /// Shared with whoever else holds this step: rows are made of it in place.
    let entry: StepLog.Entry

    init(origin: Origin, entry: StepLog.Entry) {
        self.origin = origin
        self.entry = entry
    }

    init(origin: Origin, record: StepRecord, deliveredUnits: Double?) {
        self.init(origin: origin, entry: StepLog.Entry(record, deliveredUnits: deliveredUnits))
    }

    package var record: StepRecord { entry.record }

    /// Names the step; whoever exports it gives it the same ID. Letters, digits and hyphens.
    package var id: String { "\(origin.stepKey)-\(record.requestID)" }
}

extension StepFormat {
    /// What stands before the first step.
    package var header: String { ExportTable.steps.header(self) }

    /// One step, without a newline.
    package func line(_ step: LoggedStep) -> String {
        let rows = StepRows(self)
        rows.append(step)
        return String(rows.text.text.dropLast())
    }
}
