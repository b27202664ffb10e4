// The alert counts of sessions that are read by rising index.

import GRDB
import Records

/// Walks through `alerts` beside `sessions`; stores of before version 3 have none.
struct AlertCursor {
    private let rows: RowCursor?
    private var next: Row?

    init(_ db: Database) throws {
        rows =
            try db.tableExists("alerts")
            ? Row.fetchCursor(
                db,
                sql: """
                    SELECT session, policy, code, raised, raised_night, notified, notified_night, heard, minutes_active, \
                    minutes_annunciating FROM alerts ORDER BY session, policy, code
                    """) : nil
        next = try rows?.next()
    }

    /// By policy and code. Sessions must be asked for by rising index.
    mutating func tallies(ofSession session: Int) throws -> [AlertTally] {
        var tallies: [AlertTally] = []
        while let row = next, case let owner:Int = row[0], owner <= session {
            if owner == session {
                var tally = AlertTally(policy: row[1], code: row[2])
                tally.raised = row[3]
                tally.raisedNight = row[4]
                tally.notified = row[5]
                tally.notifiedNight = row[6]
                tally.heard = row[7]
                tally.minutesActive = row[8]
                tally.minutesAnnunciating = row[9]
                tallies.append(tally)
            }
            next = try rows?.next()
        }
        return tallies
    }
}
