// The tables that `islet export` writes: names, columns and their order are a public contract.
//
// Guarantees: every table begins with whose row it is (study, session, subject, arm) and when it happened; what a row doesn't have is an
// empty cell and a null. Rows stand as they were recorded; events by time.

import Records
import SessionTime

/// What to export of a session.
package enum ExportTable: String, Sendable, CaseIterable {
    case steps, readings, truth, alerts, events, deliveries

    /// One line for the command line's help.
    package var meaning: String {
        switch self {
        case .steps:
            "each run of the dosing algorithm: what it was given, what it answered, what became of that"
        case .readings: "each reading of the sensor"
        case .truth: "every 5 min the true plasma glucose, and what the sensor made of it"
        case .alerts: "each effect of the alert center, with its reason"
        case .events: "meals, announcements, boluses that the person asked for, and faults"
        case .deliveries: "each delivery of the pump that was asked for"
        }
    }

    /// Its columns and what they hold.
    package var columns: [(name: String, meaning: String)] {
        self == .steps
            ? StepColumn.all.map { ($0.name, $0.meaning) } : RecordColumn<LoggedStep.Origin>.common + own
    }

    /// What stands before the first row.
    package func header(_ format: StepFormat) -> String {
        format == .csv ? columns.map(\.name).joined(separator: ",") + "\n" : ""
    }

    private var own: [(name: String, meaning: String)] {
        switch self {
        case .steps: []
        case .readings: Self.readingColumns.map { ($0.name, $0.meaning) }
        case .truth: Self.truthColumns.map { ($0.name, $0.meaning) }
        case .alerts: Self.alertColumns.map { ($0.name, $0.meaning) }
        case .events: Self.eventColumns.map { ($0.name, $0.meaning) }
        case .deliveries: Self.deliveryColumns.map { ($0.name, $0.meaning) }
        }
    }

    static let readingColumns: [RecordColumn<ReadingRow>] =
        [
            RecordColumn("glucose_mgdl", "what the sensor measured") { row, _ in StepValue(row.mgdl) }
        ]
        + RecordColumn.instant("backfilled", "when it arrived, where a loss of signal held it back") {
            $0.backfilledAt
        }

    static let truthColumns: [RecordColumn<TruthRow>] = [
        RecordColumn("plasma_mgdl", "the true plasma glucose, from which glucose outcomes are computed") {
            row, _ in StepValue(row.plasmaMgdl)
        },
        RecordColumn("sensor_mgdl", "what the sensor measured in the five minutes up to this instant") {
            row, _ in StepValue(row.sensorMgdl)
        },
        RecordColumn("sensor_backfilled", "true where that came late, and nobody saw it at that time") {
            row, _ in row.sensorMgdl == nil ? .absent : .flag(row.isBackfilled)
        },
    ]

    static let alertColumns: [RecordColumn<AlertRow>] = [
        RecordColumn("effect", "what the alert center did") { row, _ in .text(row.effect) },
        RecordColumn("code", "the alert") { row, _ in .text(row.code) },
        RecordColumn("severity", "how grave it is") { row, _ in .text(row.severity) },
        RecordColumn("reason", "why") { row, _ in .text(row.reason) },
    ]

    static let eventColumns: [RecordColumn<EventRow>] =
        [
            RecordColumn("event", "meal, announcement, manual_bolus or fault") { row, _ in .text(row.event) },
            RecordColumn("amount_g", "carbohydrate") { row, _ in StepValue(row.grams) },
            RecordColumn("amount_u", "insulin") { row, _ in StepValue(row.units) },
            RecordColumn("fault", "the kind of fault") { row, _ in
                row.fault.map { .text($0) } ?? .absent
            },
        ] + RecordColumn.instant("end", "when the fault was over") { $0.end }

    static let deliveryColumns: [RecordColumn<DeliveryRow>] = [
        RecordColumn("request_id", "the request that it was for") { row, _ in .integer(row.requestID) },
        RecordColumn("delivered_u", "how much of it was delivered") { row, _ in StepValue(row.units) },
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

    /// By time; what happened at one instant as it was recorded, the person's doings first.
    static func rows(_ recorder: SessionRecorder) -> [EventRow] {
        let person = recorder.person.map {
            EventRow(
                instant: $0.instant, event: $0.kind.rawValue,
                grams: $0.kind == .manualBolus ? nil : $0.amount,
                units: $0.kind == .manualBolus ? $0.amount : nil)
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

/// One column of a table of recorded rows.
struct RecordColumn<Row>: Sendable {
    let name: String
    let meaning: String
    let value: @Sendable (Row, SessionCalendar) -> StepValue

    init(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Row, SessionCalendar) -> StepValue)
    {
        self.name = name
        self.meaning = meaning
        self.value = value
    }

    /// An instant is two columns: wall-clock time, and seconds since the session's start.
    static func instant(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Instant?
    ) -> [RecordColumn] {
        [
            RecordColumn(name, meaning) { row, calendar in
                value(row).map { .instant($0, calendar) } ?? .absent
            },
            RecordColumn(name + "_s", meaning + ", in seconds since the session's start") { row, _ in
                StepValue(value(row).map { Double($0.nanoseconds) / 1e9 })
            },
        ]
    }
}

extension RecordColumn where Row == LoggedStep.Origin {
    /// What every row begins with, but for its instant.
    static let origin: [RecordColumn] = [
        RecordColumn("study", "the study's name") { row, _ in .text(row.study) },
        RecordColumn("session", "the session's index") { row, _ in .integer(Int64(row.session.session)) },
        RecordColumn("subject_index", "the person's place in the cohort") { row, _ in
            .integer(Int64(row.session.subjectIndex))
        },
        RecordColumn("subject", "the person's name") { row, _ in .text(row.session.subject) },
        RecordColumn("arm_index", "the arm's place in the study") { row, _ in
            .integer(Int64(row.session.armIndex))
        },
        RecordColumn("arm", "the arm's name") { row, _ in .text(row.session.arm) },
    ]

    static let common: [(name: String, meaning: String)] =
        origin.map { ($0.name, $0.meaning) } + [
            ("time", "when, ISO 8601 with the study's offset"),
            ("time_s", "when, in seconds since the session's start"),
        ]
}
