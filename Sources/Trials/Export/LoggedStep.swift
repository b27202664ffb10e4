// A step of a finished session, and the ways it is written out.
//
// Guarantees: the same step is the same bytes everywhere; both formats have the columns of `StepColumn.all`, in their
// order; what a step doesn't have is an empty cell and a null, never a magic number.

public import ClosedLoop
public import SessionTime

/// One step, with where it comes from.
public struct LoggedStep: Sendable {
    /// Shared by all steps of a session.
    public final class Origin: Sendable {
        public let study: String
        public let key: String
        public let session: ResultSessions.Entry
        public let calendar: SessionCalendar

        init(study: String, key: String, session: ResultSessions.Entry, calendar: SessionCalendar) {
            self.study = study
            self.key = key
            self.session = session
            self.calendar = calendar
        }
    }

    public var origin: Origin
    public var record: StepRecord
    /// What a later step was told that the pump had delivered of this one's request.
    public var deliveredUnits: Double?

    /// The same for the same step, whoever exports it; letters, digits and hyphens.
    public var id: String { "\(origin.key)-\(origin.session.session)-\(record.requestID)" }
}

extension StepFormat {
    /// What stands before the first step.
    public var header: String { ExportTable.steps.header(self) }

    /// One step, without a newline.
    public func line(_ step: LoggedStep) -> String {
        var rows = StepRows(self)
        rows.append(step)
        return String(rows.text.text.dropLast())
    }
}
