// What single sessions came to, as far as a report needs it.
//
// Guarantees: rows stand by session index; only the outcomes that were asked for are held, so that a million sessions fit into memory.

package import IsletDevices

package struct SubjectColumns: Sendable {
    package struct Row: Sendable {
        package var session: Int
        package var subjectIndex: Int
        package var subject: String
        package var armIndex: Int
        package var digest: String
        package var days: Double
        package var hasEndedEarly: Bool
        /// In the order of `names`.
        fileprivate var values: [Double?]
        /// The arm's own policy first, then those in shadow.
        package var policies: [Policy]
    }

    /// What a policy came to in one session.
    package struct Policy: Sendable {
        package var name: String
        package var isInShadow: Bool
        package var notifiedPerDay: Double
        package var notifiedNightPerDay: Double
    }

    package let names: [String]
    package private(set) var rows: [Row] = []

    /// - Parameter names: outcomes.
    package init(_ names: [String], store: any ResultStore) throws {
        self.names = names
        try store.forEachSummary { session in
            rows.append(
                Row(
                    session: session.session, subjectIndex: session.subjectIndex, subject: session.subject,
                    armIndex: session.armIndex, digest: session.digest, days: session.days,
                    hasEndedEarly: session.end != .completed,
                    values: names.map { session.outcomes[$0] },
                    policies: Self.policies(session)))
        }
    }

    private static func policies(_ session: SessionSummary) -> [Policy] {
        guard session.days > 0 else { return [] }
        var found: [Policy] = []
        for tally in session.alerts {
            if found.last?.name != tally.policy || found.last?.isInShadow != tally.isInShadow {
                found.append(
                    Policy(
                        name: tally.policy, isInShadow: tally.isInShadow, notifiedPerDay: 0,
                        notifiedNightPerDay: 0))
            }
            found[found.count - 1].notifiedPerDay += Double(tally.notified) / session.days
            found[found.count - 1].notifiedNightPerDay += Double(tally.notifiedNight) / session.days
        }
        return found
    }

    /// An outcome of a row; nil where it is undefined, or was not asked for.
    package func value(_ name: String, _ row: Row) -> Double? {
        names.firstIndex(of: name).flatMap { row.values[$0] }
    }

    /// People with a session at least.
    package var subjects: Int { Set(rows.map(\.subjectIndex)).count }

    package func rows(ofArm arm: Int) -> [Row] { rows.filter { $0.armIndex == arm } }
}
