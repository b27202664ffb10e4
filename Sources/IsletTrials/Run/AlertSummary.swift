// What the alerts of a policy came to in one arm.
//
// Guarantees: one summary a policy and code that some session's policy had; a code that a policy doesn't have is absent, never zero.
// Totals are over the arm's sessions; what is per day is a mean over its subjects, with Student's interval.

package import IsletDevices

extension StudySummary {
    /// One code of one policy in one arm.
    @dynamicMemberLookup
    package struct AlertSummary: Hashable, Sendable {
        /// Over all sessions.
        package var total: AlertTally
        /// Whose policy has the code.
        package var sessions = 0
        /// How many of these raised it.
        package var sessionsRaised = 0
        package var raisedPerDay: Estimate?
        package var notifiedPerDay: Estimate?
        package var notifiedNightPerDay: Estimate?

        package subscript<Value>(dynamicMember path: KeyPath<AlertTally, Value>) -> Value {
            total[keyPath: path]
        }
    }

    /// Adds up the tallies of an arm's sessions.
    struct AlertSums {
        private struct Sum {
            var summary: AlertSummary
            /// Columns of the spool.
            var raised: Int
            var notified: Int
            var notifiedNight: Int
        }

        private let spool: ColumnSpool
        private var sums: [Sum] = []
        private(set) var policies: PolicySums

        init(_ spool: ColumnSpool) { (self.spool, policies) = (spool, PolicySums(spool)) }

        mutating func add(_ session: SessionSummary) throws {
            for (place, tally) in session.alerts.enumerated() {
                let sum = self.place(of: tally, near: place)
                sums[sum].summary.sessions += 1
                if tally.raised > 0 { sums[sum].summary.sessionsRaised += 1 }
                sums[sum].summary.total += tally
                if session.days > 0 {
                    for (count, column) in [
                        (tally.raised, sums[sum].raised), (tally.notified, sums[sum].notified),
                        (tally.notifiedNight, sums[sum].notifiedNight),
                    ] {
                        try spool.append(Double(count) / session.days, of: session.subjectIndex, to: column)
                    }
                }
            }
            try policies.add(session)
        }

        /// Sessions of one arm have the same tallies in the same order.
        private mutating func place(of tally: AlertTally, near place: Int) -> Int {
            func isIt(_ sum: Int) -> Bool {
                let total = sums[sum].summary.total
                return total.code == tally.code && total.policy == tally.policy
                    && total.isInShadow == tally.isInShadow
            }
            if sums.indices.contains(place), isIt(place) { return place }
            if let found = sums.indices.first(where: isIt) { return found }
            var empty = AlertTally(policy: tally.policy, code: tally.code)
            empty.isInShadow = tally.isInShadow
            sums.append(
                Sum(
                    summary: AlertSummary(total: empty), raised: spool.add(), notified: spool.add(),
                    notifiedNight: spool.add()))
            return sums.count - 1
        }

        /// The arm's own policy first, then by policy and code.
        func summaries() throws -> [AlertSummary] {
            try sums.map { sum in
                func estimate(_ column: Int) throws -> Estimate? {
                    StudySummary.estimate(try spool.values(column).map(\.value), within: 0 ... .infinity)
                }
                var summary = sum.summary
                summary.raisedPerDay = try estimate(sum.raised)
                summary.notifiedPerDay = try estimate(sum.notified)
                summary.notifiedNightPerDay = try estimate(sum.notifiedNight)
                return summary
            }.sorted {
                ($0.total.isInShadow ? 1 : 0, $0.policy, $0.code) < (
                    $1.total.isInShadow ? 1 : 0, $1.policy, $1.code
                )
            }
        }
    }
}
