// A step of a finished session, and the ways it is written out.
//
// Guarantees: the same step is the same bytes everywhere; both formats have the columns of `StepColumn.all`, in their
// order; what a step doesn't have is an empty cell and a null, never a magic number.

package import ClosedLoop
package import SessionTime

/// One step, with where it comes from.
package struct LoggedStep: Sendable {
    /// Shared by all steps of a session.
    package final class Origin: Sendable {
        package let study: String
        package let key: String
        package let session: ResultSessions.Entry
        package let calendar: SessionCalendar

        init(study: String, key: String, session: ResultSessions.Entry, calendar: SessionCalendar) {
            self.study = study
            self.key = key
            self.session = session
            self.calendar = calendar
        }
    }

    package var origin: Origin
    package var record: StepRecord
    /// What a later step was told that the pump had delivered of this one's request.
    package var deliveredUnits: Double?

    /// The same for the same step, whoever exports it; letters, digits and hyphens.
    package var id: String { "\(origin.key)-\(origin.session.session)-\(record.requestID)" }
}

extension StepFormat {
    /// What stands before the first step.
    package var header: String { ExportTable.steps.header(self) }

    /// One step, without a newline.
    package func line(_ step: LoggedStep) -> String {
        var rows = StepRows(self)
        rows.append(step)
        return String(rows.text.text.dropLast())
    }
}
