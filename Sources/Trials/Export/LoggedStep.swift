// A step of a finished session, and the ways it is written out.
//
// Guarantees: the same step is the same bytes everywhere; both formats have the columns of `StepColumn.all`, in their
// order; what a step doesn't have is an empty cell and a null, never a magic number.

public import ClosedLoop
public import SessionTime

/// One step, with where it comes from.
public struct LoggedStep: Sendable {
    public struct Origin: Sendable {
        public var study: String
        public var key: String
        public var session: ResultSessions.Entry
        public var calendar: SessionCalendar
    }

    public var origin: Origin
    public var record: StepRecord
    /// What a later step was told that the pump had delivered of this one's request.
    public var deliveredUnits: Double?

    /// The same for the same step, whoever exports it; letters, digits and hyphens.
    public var id: String { "\(origin.key)-\(origin.session.session)-\(record.requestID)" }
}

/// How step logs are written.
public enum StepFormat: String, Sendable, CaseIterable {
    /// RFC 4180, with a header and a newline after each row.
    case csv
    /// One JSON object a line.
    case jsonl

    /// What stands before the first step.
    public var header: String {
        switch self {
        case .csv: StepColumn.all.map(\.name).joined(separator: ",") + "\n"
        case .jsonl: ""
        }
    }

    /// One step, without a newline.
    public func line(_ step: LoggedStep) -> String {
        var text = self == .jsonl ? "{" : ""
        for (index, column) in StepColumn.all.enumerated() {
            if index > 0 { text += "," }
            let value = column.value(step)
            switch self {
            case .csv: text += value.field
            case .jsonl:
                text += "\"" + column.name + "\":"
                text += value.json
            }
        }
        return text + (self == .jsonl ? "}" : "")
    }
}

/// What stands in a cell.
public enum StepValue: Hashable, Sendable {
    case absent
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    /// An object in JSON, its text in CSV.
    case object(JSONValue)

    init(_ number: Double?) { self = number.map { $0.isFinite ? .number($0) : .absent } ?? .absent }

    var json: String {
        switch self {
        case .absent: "null"
        case .text(let text): JSONValue.quoted(text)
        case .integer(let value): String(value)
        case .number(let value): JSONValue.numberText(value)
        case .flag(let value): value ? "true" : "false"
        case .object(let value): value.compactText
        }
    }

    var field: String {
        switch self {
        case .absent: ""
        case .text(let text): csvField(text)
        case .object(let value): csvField(value.compactText)
        default: json
        }
    }
}
