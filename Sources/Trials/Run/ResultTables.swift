// `sessions.csv` and `alerts.csv`: the store's tables of the same names, for those who open a spreadsheet.
//
// Guarantees: rows stand by session index; what is undefined is an empty field; every row names its session, subject and arm by
// index and by name, as the store does, so that tables join without parsing text. Both files appear whole or not at all.

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
        var (sessionBlock, alertBlock) = ("", "")
        try store.forEachSummary { session in
            sessionBlock += row(session) + "\n"
            for tally in session.alerts { alertBlock += Self.row(session, tally) + "\n" }
            if sessionBlock.utf8.count > 1 << 16 {
                try sessions.append(sessionBlock)
                sessionBlock = ""
            }
            if alertBlock.utf8.count > 1 << 16 {
                try alerts.append(alertBlock)
                alertBlock = ""
            }
        }
        try sessions.append(sessionBlock)
        try alerts.append(alertBlock)
        return (try sessions.commit(), try alerts.commit())
    }

    private func row(_ session: SessionSummary) -> String {
        let fields = Self.origin(session).merging([
            "start": start, "lived_days": "\(session.days)",
            "ended_early": csvField(session.end.reason ?? ""),
            "not_finite": session.outcomes.notFiniteText ?? "", "digest": session.digest,
        ]) { first, _ in first }
        return Self.sessionColumns.map { column in
            fields[column] ?? session.outcomes[column].map { "\($0)" } ?? ""
        }.joined(separator: ",")
    }

    private static func row(_ session: SessionSummary, _ tally: AlertTally) -> String {
        let fields = origin(session).merging([
            "policy": csvField(tally.policy), "code": csvField(tally.code), "raised": "\(tally.raised)",
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
