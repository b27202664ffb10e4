// The tables that `islet export` writes: names, columns and their order are a public contract.
//
// Guarantees: every table begins with whose row it is (study, session, subject, arm) and when it happened; what a row doesn't have is an
// empty cell and a null. Rows stand as they were recorded; events by time.

import IsletDevices
import IsletKernel

/// What to export of a session.
package enum ExportTable: String, Sendable, CaseIterable {
    case steps, readings, truth
    case alertEffects = "alert-effects"
    case events, deliveries

    /// - Parameter name: as the command line has it; `alerts` is the older name of `alert-effects`, and stands for tallies elsewhere.
    package init?(named name: String) { self.init(rawValue: name == "alerts" ? "alert-effects" : name) }

    /// One line for the command line's help.
    package var meaning: String {
        switch self {
        case .steps:
            "each run of the dosing algorithm: what it was given, what it answered, what became of that"
        case .readings: "each reading of the sensor"
        case .truth: "every 5 min the true plasma glucose, and what the sensor made of it"
        case .alertEffects:
            "each effect of the alert center, with its reason; those of the arm's own policy, then of each in shadow"
        case .events: "meals, announcements, boluses that the person asked for, and faults"
        case .deliveries: "each delivery of the pump that was asked for"
        }
    }

    /// Its columns and what they hold.
    package var columns: [(name: String, meaning: String)] {
        switch self {
        case .steps: Self.said(StepColumn.all)
        case .readings: Self.common + Self.said(RecordedTables.readings.columns)
        case .truth: Self.common + Self.said(RecordedTables.truth.columns)
        case .alertEffects:
            Self.common + Self.said(RecordedTables.alertEffects.columns) + Self.said(ExportedPolicy.columns)
        case .events: Self.common + Self.said(EventRow.columns)
        case .deliveries: Self.common + Self.said(RecordedTables.deliveries.columns)
        }
    }

    private static func said<Row>(_ columns: [RecordedColumn<Row>]) -> [(name: String, meaning: String)] {
        columns.flatMap(\.exports).map { ($0.name, $0.meaning) }
    }

    /// What every row but a step begins with.
    private static let common =
        said(LoggedStep.Origin.columns) + [
            ("time", "when, ISO 8601 with the study's offset"),
            ("time_s", "when, in seconds since the session's start"),
        ]

    /// What stands before the first row.
    package func header(_ format: StepFormat) -> String {
        format == .csv ? columns.map(\.name).joined(separator: ",") + "\n" : ""
    }
}

/// Whose effects stand in some rows.
struct ExportedPolicy: Sendable {
    var policy: String
    var isInShadow: Bool

    static let columns: [RecordedColumn<Self>] = [
        .text("policy", "whose decision it is") { $0.pointee.policy },
        .flag("in_shadow", "true where the policy listened in shadow") { $0.pointee.isInShadow },
    ]
}

/// Something that happened to the person.
struct EventRow: Sendable {
    var instant: Instant
    var event: String
    var grams: Double?
    var units: Double?
    var fault: String?
    var end: Instant?

    static let columns: [RecordedColumn<Self>] = [
        .text("event", "meal, announcement, manual_bolus or fault") { $0.pointee.event },
        .real("amount_g", "carbohydrate") { $0.pointee.grams },
        .real("amount_u", "insulin") { $0.pointee.units },
        .text("fault", "the kind of fault") { $0.pointee.fault },
        .instant("end", "when the fault was over") { $0.pointee.end },
    ]

    /// By time; what happened at one instant as it was recorded, the person's doings first.
    static func rows(_ recorder: SessionRecorder) -> [EventRow] {
        let person = recorder.person.map {
            EventRow(
                instant: $0.instant, event: $0.kind.rawValue,
                grams: $0.kind.unit == "g" ? $0.amount : nil,
                units: $0.kind.unit == "U" ? $0.amount : nil)
        }
        let faults = recorder.faults.map {
            EventRow(instant: $0.instant, event: "fault", fault: $0.kind, end: $0.end)
        }
        return (person + faults).enumerated().sorted {
            $0.element.instant != $1.element.instant
                ? $0.element.instant < $1.element.instant : $0.offset < $1.offset
        }.map(\.element)
    }
}

extension LoggedStep.Origin {
    /// What every row begins with, but for its instant.
    static let columns: [RecordedColumn<LoggedStep.Origin>] =
        [.text("study", "the study's name") { $0.pointee.study }]
        + zip(
            ResultTable.origin,
            [
                ("the session's index", .whole { $0.pointee.session.session }),
                ("the person's place in the cohort", .whole { $0.pointee.session.subjectIndex }),
                ("the person's name", .text { $0.pointee.session.subject }),
                ("the arm's place in the study", .whole { $0.pointee.session.armIndex }),
                ("the arm's name", .text { $0.pointee.session.arm }),
            ] as [(String, RecordedColumn<LoggedStep.Origin>.Value)]
        ).map { RecordedColumn($0, $1.1).exported($1.0) }
}
