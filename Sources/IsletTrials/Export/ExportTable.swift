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
        self == .steps
            ? StepColumn.all.map { ($0.name, $0.meaning) } : ExportColumn<LoggedStep.Origin>.common + own
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
        case .alertEffects: Self.alertColumns.map { ($0.name, $0.meaning) }
        case .events: Self.eventColumns.map { ($0.name, $0.meaning) }
        case .deliveries: Self.deliveryColumns.map { ($0.name, $0.meaning) }
        }
    }

    static let readingColumns: [ExportColumn<ReadingRow>] =
        [
            .number("glucose_mgdl", "what the sensor measured") { $0.pointee.mgdl }
        ]
        + ExportColumn.instant(
            "backfilled", "when it arrived, where a loss of signal held it back",
            inSeconds:
                "when it arrived, where a loss of signal held it back, in seconds since the session's start"
        ) {
            $0.pointee.backfilledAt
        }

    static let truthColumns: [ExportColumn<TruthRow>] = [
        .number("plasma_mgdl", "the true plasma glucose, from which glucose outcomes are computed") {
            $0.pointee.plasmaMgdl
        },
        .number("sensor_mgdl", "what the sensor measured in the five minutes up to this instant") {
            $0.pointee.sensorMgdl
        },
        .flag("sensor_backfilled", "true where that came late, and nobody saw it at that time") {
            $0.pointee.sensorMgdl == nil ? nil : $0.pointee.isBackfilled
        },
    ]

    static let alertColumns: [ExportColumn<PolicyAlertRow>] = [
        .text("effect", "what the alert center did") { $0.pointee.row.effect },
        .text("code", "the alert") { $0.pointee.row.code.rawValue },
        .text("severity", "how grave it is") { $0.pointee.row.severity },
        .text("reason", "why") { $0.pointee.row.reason },
        .text("policy", "whose decision it is") { $0.pointee.policy },
        .flag("in_shadow", "true where the policy listened in shadow") { $0.pointee.isInShadow },
    ]

    static let eventColumns: [ExportColumn<EventRow>] =
        [
            .text("event", "meal, announcement, manual_bolus or fault") { $0.pointee.event },
            .number("amount_g", "carbohydrate") { $0.pointee.grams },
            .number("amount_u", "insulin") { $0.pointee.units },
            .text("fault", "the kind of fault") { $0.pointee.fault },
        ]
        + ExportColumn.instant(
            "end", "when the fault was over",
            inSeconds: "when the fault was over, in seconds since the session's start"
        ) { $0.pointee.end }

    static let deliveryColumns: [ExportColumn<DeliveryRow>] = [
        .integer("request_id", "the request that it was for") { $0.pointee.requestID },
        .number("delivered_u", "how much of it was delivered") { $0.pointee.units },
    ]
}

/// An effect of one policy.
struct PolicyAlertRow: Sendable {
    var policy: String
    var isInShadow: Bool
    var row: AlertRow
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

extension ExportColumn where Row == LoggedStep.Origin {
    /// What every row begins with, but for its instant.
    static let origin: [ExportColumn] = [
        .text("study", "the study's name") { $0.pointee.study },
        .integer("session", "the session's index") { Int64($0.pointee.session.session) },
        .integer("subject_index", "the person's place in the cohort") {
            Int64($0.pointee.session.subjectIndex)
        },
        .text("subject", "the person's name") { $0.pointee.session.subject },
        .integer("arm_index", "the arm's place in the study") { Int64($0.pointee.session.armIndex) },
        .text("arm", "the arm's name") { $0.pointee.session.arm },
    ]

    static let common: [(name: String, meaning: String)] =
        origin.map { ($0.name, $0.meaning) } + [
            ("time", "when, ISO 8601 with the study's offset"),
            ("time_s", "when, in seconds since the session's start"),
        ]
}
