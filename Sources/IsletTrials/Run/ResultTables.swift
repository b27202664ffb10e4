// `sessions.csv` and `alerts.csv`: the store's tables of the same names, for those who open a spreadsheet.
//
// Guarantees: rows stand by session index; what is undefined is an empty field; every row names its session, subject and arm by
// index and by name, as the store does, so that tables join without parsing text. Both files appear whole or not at all.

import IsletFiles
import IsletKernel
import IsletDevices

struct ResultTables {
    let folder: ResultFolder
    /// When the sessions start, ISO 8601; equal for all of a study.
    let start: String
    /// The outcomes of the study's kind of subject.
    let outcomes: [Outcome]
    /// Whether `alerts.csv` has the policies in shadow too.
    let hasShadows: Bool

    /// The columns of `sessions.csv`, people's by default.
    static func sessionColumns(_ outcomes: [Outcome] = Outcome.all) -> [String] {
        ResultTable.sessions.columns.map(\.name).filter { !ResultTable.storeOnly.contains($0) }
            + outcomes.map(\.name)
    }

    private var sessionColumns: [String] { Self.sessionColumns(outcomes) }

    /// The columns of `alerts.csv`.
    static let alertColumns: [String] =
        ResultTable.origin.map(\.name) + ResultTable.alerts.columns.map(\.name)

    /// - Returns: the hashes of both files.
    func write(_ store: any ResultStore) throws -> (sessions: SHA256.Digest, alerts: SHA256.Digest) {
        var sessions = try AtomicFile(folder.file("sessions.csv"))
        var alerts = try AtomicFile(folder.file("alerts.csv"))
        let columns = sessionColumns
        try sessions.append(columns.joined(separator: ",") + "\n")
        try alerts.append(Self.alertColumns.joined(separator: ",") + "\n")
        try store.forEachSummary { session in
            try sessions.append(row(session, columns) + "\n")
            try alerts.append(alertRows(session).joined())
        }
        return (try sessions.commit(), try alerts.commit())
    }

    /// Where the files aren't what the store makes of them.
    func differences(_ store: any ResultStore) throws -> [String] {
        let columns = try foundColumns()
        var lacking: [String] = []
        var sessions = try RowDifferences(folder, "sessions.csv", columns)
        let alertColumns = try alertColumns()
        var alerts = try RowDifferences(folder, "alerts.csv", alertColumns)
        try store.forEachSummary { session in
            sessions.check(row(session, columns), "session \(session.session)")
            for outcome in outcomes
            where session.outcomes[outcome.name] != nil && !columns.contains(outcome.name)
                && !lacking.contains(outcome.name)
            {
                lacking.append(outcome.name)
            }
            for (tally, row) in zip(listed(session), alertRows(session, alertColumns)) {
                alerts.check(
                    String(row.dropLast()), "session \(session.session), \(tally.policy), \(tally.code)")
            }
        }
        return sessions.findings()
            + lacking.map { "sessions.csv: no column \($0), which study.sqlite has" } + alerts.findings()
    }

    /// Those of the file, where it has the ones that every version has: another version may know other outcomes.
    private func foundColumns() throws -> [String] {
        guard let found = try RowDifferences.header(folder, "sessions.csv") else { return sessionColumns }
        let names = Set(outcomes.map(\.name))
        let needed = sessionColumns.filter { !names.contains($0) }
        return needed.allSatisfy(found.contains) ? found : sessionColumns
    }

    private func row(_ session: SessionSummary, _ columns: [String]) -> String {
        let fields = Self.origin(session).merging([
            "start": start, "lived_days": "\(session.days)",
            "ended_early": csvField(session.end.reason ?? ""),
            "not_finite": session.outcomes.notFiniteText ?? "", "digest": session.digest,
        ]) { first, _ in first }
        return columns.map { column in
            fields[column] ?? session.outcomes[column].map { "\($0)" } ?? ""
        }.joined(separator: ",")
    }

    /// Those of the file: earlier versions had no `in_shadow`.
    private func alertColumns() throws -> [String] {
        guard let found = try RowDifferences.header(folder, "alerts.csv"),
            found.count < Self.alertColumns.count
        else { return Self.alertColumns }
        return Self.alertColumns.starts(with: found) ? found : Self.alertColumns
    }

    /// What `alerts.csv` has of a session: with `record: summary` the store alone has what was heard in shadow.
    private func listed(_ session: SessionSummary) -> [AlertTally] {
        hasShadows ? session.alerts : session.alerts.filter { !$0.isInShadow }
    }

    /// Lines: a study with many policies in shadow has hundreds of thousands.
    private func alertRows(
        _ session: SessionSummary, _ columns: [String] = alertColumns
    ) -> [String] {
        let origin = Self.origin(session)
        let lead = columns.prefix { origin[$0] != nil }.map { origin[$0] ?? "" }.joined(separator: ",")
        let own = RecordedTables.alerts.columns.filter { columns.contains($0.column.name) }
        return listed(session).map { tally in
            var line = lead
            withUnsafePointer(to: tally) { place in
                for column in own {
                    line += ","
                    switch column.value.stored(place) {
                    case .whole(let value): line += "\(value)"
                    case .real(let value): line += "\(value)"
                    case .text(let text): line += csvField(text)
                    case nil: break
                    }
                }
            }
            return line + "\n"
        }
    }

    private static func origin(_ session: SessionSummary) -> [String: String] {
        [
            "session": "\(session.session)", "subject_index": "\(session.subjectIndex)",
            "subject": csvField(session.subject), "arm_index": "\(session.armIndex)",
            "arm": csvField(session.arm),
        ]
    }
}
