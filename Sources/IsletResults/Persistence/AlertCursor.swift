// The alert counts of sessions that are read by rising index.

import GRDB
import IsletDevices

/// Walks through the counts beside `sessions`; stores of before version 3 have none.
struct AlertCursor {
    private var rows: RowCursor
    private let words: StringTable
    private let hasWords: Bool

    init(_ db: Database, words: StringTable) throws {
        self.words = words
        hasWords = try db.hasTable("alerts_coded")
        let columns =
            "raised, raised_night, notified, notified_night, heard, minutes_active, minutes_annunciating"
        let query: String? =
            if hasWords {
                "SELECT session, policy, code, \(columns), in_shadow FROM alerts_coded ORDER BY session, in_shadow, policy, code"
            } else if try db.hasTable("alerts") {
                "SELECT session, policy, code, \(columns), 0 FROM alerts ORDER BY session, policy, code"
            } else {
                nil
            }
        rows = try RowCursor(db, of: "alerts", query)
    }

    /// Those of the arm's own policy first. Sessions must be asked for by rising index.
    mutating func tallies(ofSession session: Int) throws -> [AlertTally] {
        var tallies: [AlertTally] = []
        while try rows.isAt(session: session) {
            var tally = AlertTally(policy: try word(1), code: AlertName(rawValue: try word(2)))
            tally.raised = try rows.whole(3)
            tally.raisedNight = try rows.whole(4)
            tally.notified = try rows.whole(5)
            tally.notifiedNight = try rows.whole(6)
            tally.heard = rows.isNull(7) ? nil : try rows.whole(7)
            tally.minutesActive = try rows.number(8)
            tally.minutesAnnunciating = try rows.number(9)
            tally.isInShadow = try rows.whole(10) != 0
            tallies.append(tally)
            try rows.step()
        }
        // By name, also where the words came in another order.
        if !zip(tallies, tallies.dropFirst()).allSatisfy(Self.isInOrder) {
            tallies.sort { Self.isInOrder($0, $1) }
        }
        return tallies
    }

    private static func isInOrder(_ a: AlertTally, _ b: AlertTally) -> Bool {
        if a.isInShadow != b.isInShadow { return b.isInShadow }
        return a.policy == b.policy ? a.code < b.code : a.policy < b.policy
    }

    private func word(_ column: Int32) throws -> String {
        guard hasWords else { return try rows.text(column) }
        guard let word = words.word(try rows.whole(column)) else { throw rows.damage }
        return word
    }
}
