// `sessions.csv` and `alerts.csv`: the store's tables of the same names, for those who open a spreadsheet.
//
// Guarantees: rows stand by session index; what is undefined is an empty field; every row names its session, subject and arm by
// index and by name, as the store does, so that tables join without parsing text. Both files appear whole or not at all.

import Documents
import Checksums
import Records

struct ResultTables {
    let folder: ResultFolder
    /// Of every session, ISO 8601.
    let start: String

    /// The columns of `sessions.csv`.
    static let sessionColumns: [String] =
        ResultTable.sessions.columns.map(\.name).filter { !ResultTable.storeOnly.contains($0) }
        + Outcome.all.map(\.name)

    /// The columns of `alerts.csv`.
    static let alertColumns: [String] =
        ResultTable.origin.map(\.name) + ResultTable.alerts.columns.map(\.name)

    /// - Returns: the hashes of both files.
    func write(_ store: any ResultStore) throws -> (sessions: SHA256.Digest, alerts: SHA256.Digest) {
        var sessions = try AtomicFile(folder.file("sessions.csv"))
        var alerts = try AtomicFile(folder.file("alerts.csv"))
        try sessions.append(Self.sessionColumns.joined(separator: ",") + "\n")
        try alerts.append(Self.alertColumns.joined(separator: ",") + "\n")
        try store.forEachSummary { session in
            try sessions.append(row(session) + "\n")
            for tally in session.alerts { try alerts.append(Self.row(session, tally) + "\n") }
        }
        return (try sessions.commit(), try alerts.commit())
    }

    /// Where the files aren't what the store makes of them.
    func differences(_ store: any ResultStore) throws -> [String] {
        let columns = try sessionColumns()
        var lacking: [String] = []
        var sessions = try RowDifferences(folder, "sessions.csv", columns)
        var alerts = try RowDifferences(folder, "alerts.csv", Self.alertColumns)
        try store.forEachSummary { session in
            sessions.check(row(session, columns), "session \(session.session)")
            for outcome in Outcome.all
            where session.outcomes[outcome.name] != nil && !columns.contains(outcome.name)
                && !lacking.contains(outcome.name)
            {
                lacking.append(outcome.name)
            }
            for tally in session.alerts {
                alerts.check(Self.row(session, tally), "session \(session.session), \(tally.code)")
            }
        }
        return sessions.findings()
            + lacking.map { "sessions.csv: no column \($0), which study.sqlite has" } + alerts.findings()
    }

    /// Those of the file, where it has the ones that every version has: another version may know other outcomes.
    private func sessionColumns() throws -> [String] {
        guard let found = try RowDifferences.header(folder, "sessions.csv") else {
            return Self.sessionColumns
        }
        let outcomes = Set(Outcome.all.map(\.name))
        let needed = Self.sessionColumns.filter { !outcomes.contains($0) }
        return needed.allSatisfy(found.contains) ? found : Self.sessionColumns
    }

    private func row(_ session: SessionSummary, _ columns: [String] = sessionColumns) -> String {
        let fields = Self.origin(session).merging([
            "start": start, "lived_days": "\(session.days)",
            "ended_early": csvField(session.end.reason ?? ""),
            "not_finite": session.outcomes.notFiniteText ?? "", "digest": session.digest,
        ]) { first, _ in first }
        return columns.map { column in
            fields[column] ?? session.outcomes[column].map { "\($0)" } ?? ""
        }.joined(separator: ",")
    }

    private static func row(_ session: SessionSummary, _ tally: AlertTally) -> String {
        let fields = origin(session).merging([
            "policy": csvField(tally.policy), "code": csvField(tally.code.rawValue),
            "raised": "\(tally.raised)",
            "raised_night": "\(tally.raisedNight)", "notified": "\(tally.notified)",
            "notified_night": "\(tally.notifiedNight)", "heard": tally.heard.map { "\($0)" } ?? "",
            "minutes_active": "\(tally.minutesActive)",
            "minutes_annunciating": "\(tally.minutesAnnunciating)",
        ]) { first, _ in first }
        return alertColumns.map { fields[$0] ?? "" }.joined(separator: ",")
    }

    private static func origin(_ session: SessionSummary) -> [String: String] {
        [
            "session": "\(session.session)", "subject_index": "\(session.subjectIndex)",
            "subject": csvField(session.subject), "arm_index": "\(session.armIndex)",
            "arm": csvField(session.arm),
        ]
    }
}
