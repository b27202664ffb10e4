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
        while let row = next {
            let owner = try row.decode(Int.self, atIndex: 0)
            guard owner <= session else { break }
            if owner == session {
                var tally = AlertTally(
                    policy: try row.decode(atIndex: 1), code: AlertName(rawValue: try row.decode(atIndex: 2)))
                tally.raised = try row.decode(atIndex: 3)
                tally.raisedNight = try row.decode(atIndex: 4)
                tally.notified = try row.decode(atIndex: 5)
                tally.notifiedNight = try row.decode(atIndex: 6)
                tally.heard = try row.decode(atIndex: 7)
                tally.minutesActive = try row.decode(atIndex: 8)
                tally.minutesAnnunciating = try row.decode(atIndex: 9)
                tallies.append(tally)
            }
            next = try rows?.next()
        }
        return tallies
    }
}
