// The outcomes of policies in sessions that are read by rising index.

import GRDB
import IsletDevices

/// Walks through the policies' outcomes beside `sessions`; stores of before version 5 have none.
struct PolicyCursor {
    private var rows: RowCursor
    private let words: StringTable
    private let count: Int

    init(_ db: Database, keys: [String], words: StringTable) throws {
        self.words = words
        count = keys.count
        let columns = keys.map { ", \"\($0)\"" }.joined()
        rows = try RowCursor(
            db, of: "policy_outcomes",
            keys.isEmpty
                ? nil
                : "SELECT session, in_shadow, policy\(columns) FROM policy_outcomes_coded ORDER BY session, in_shadow, policy"
        )
    }

    /// Those of the arm's own policy first. Sessions must be asked for by rising index.
    mutating func values(ofSession session: Int) throws -> [PolicyValues] {
        var policies: [PolicyValues] = []
        while try rows.isAt(session: session) {
            guard let policy = words.word(try rows.whole(2)) else { throw rows.damage }
            policies.append(
                PolicyValues(
                    policy: policy, isInShadow: try rows.whole(1) != 0,
                    values: try (0..<count).map {
                        let column = Int32(3 + $0)
                        return rows.isNull(column) ? nil : try rows.number(column)
                    }))
            try rows.step()
        }
        return policies
    }
}
