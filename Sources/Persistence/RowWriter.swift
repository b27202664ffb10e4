// One record's rows, through prepared statements that the connection keeps.

import GRDB
import Records
import SessionTime

struct RowWriter {
    let db: Database
    let outcomeKeys: [String]

    func write(_ record: SessionRecord) throws {
        let columns = outcomeKeys.map { "\"\($0)\"" }.joined(separator: ", ")
        let marks = String(repeating: ", ?", count: outcomeKeys.count)
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO sessions (session, subject_index, subject, arm_index, arm, ended_early, lived_days, digest, events, \
                \(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?\(marks))
                """)
        var values: [(any DatabaseValueConvertible)?] = [
            record.session, record.subjectIndex, record.subject, record.armIndex, record.arm,
            record.end.reason,
            Double(record.endedAt.nanoseconds) / Double(Span.day), record.digest, record.events,
        ]
        for outcome in record.outcomes { values.append(outcome) }
        try insert.execute(arguments: StatementArguments(values))

        let rows = record.recorder
        try insertRows(record, rows.person, into: "person_events", "kind, amount", count: 2) {
            ($0.instant, [$0.kind.rawValue, $0.amount])
        }
        try insertRows(record, rows.alerts, into: "alert_effects", "effect, code, severity, reason", count: 4)
        {
            ($0.instant, [$0.effect, $0.code, $0.severity, $0.reason])
        }
        try insertRows(record, rows.faults, into: "faults", "end_ns, kind", count: 2) {
            ($0.instant, [$0.end.nanoseconds, $0.kind])
        }
        try insertRows(
            record, rows.steps, into: "steps",
            "algorithm_time, cgm_mgdl, pump_available, basal_u, correction_u, meal_u, accepted_u, failure",
            count: 8
        ) {
            (
                $0.instant,
                [
                    $0.algorithmTime, $0.cgmMgdl, $0.isPumpAvailable, $0.basalUnits, $0.correctionUnits,
                    $0.mealUnits,
                    $0.acceptedUnits, $0.failure,
                ]
            )
        }
        try insertRows(record, rows.readings, into: "readings", "glucose_mgdl", count: 1) {
            ($0.instant, [$0.mgdl])
        }
        try insertRows(record, rows.deliveries, into: "deliveries", "request_id, delivered_u", count: 2) {
            ($0.instant, [$0.requestID, $0.units])
        }
    }

    private func insertRows<Row>(
        _ record: SessionRecord, _ rows: [Row], into table: String, _ columns: String, count: Int,
        _ values: (Row) -> (Instant, [(any DatabaseValueConvertible)?])
    ) throws {
        guard !rows.isEmpty else { return }
        let marks = String(repeating: ", ?", count: count)
        let insert = try db.cachedStatement(
            sql: "INSERT INTO \(table) (session, seq, time_ns, \(columns)) VALUES (?, ?, ?\(marks))")
        for (index, row) in rows.enumerated() {
            let (instant, rest) = values(row)
            try insert.execute(
                arguments: StatementArguments([record.session, index, instant.nanoseconds] + rest))
        }
    }
}
