// What the alerts of a policy came to in one arm.
//
// Guarantees: one summary a policy and code that some session's policy had; a code that a policy doesn't have is absent, never zero.
// Totals are over the arm's sessions; what is per day is a mean over its subjects, with Student's interval.

package import Records

extension StudySummary {
    /// One code of one policy in one arm.
    @dynamicMemberLookup
    package struct AlertSummary: Hashable, Sendable {
        /// Over all sessions.
        package var total: AlertTally
        /// Whose policy has the code.
        package var sessions = 0
        /// Of these, those that raised it.
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
        private struct Key: Hashable {
            var policy: String
            var code: AlertName
        }

        private struct Rates {
            var raised: [Double] = []
            var notified: [Double] = []
            var notifiedNight: [Double] = []
        }

        private var sums: [Key: (summary: AlertSummary, rates: Rates)] = [:]

        mutating func add(_ session: SessionSummary) {
            for tally in session.alerts {
                let key = Key(policy: tally.policy, code: tally.code)
                var (sum, rates) =
                    sums[key]
                    ?? (AlertSummary(total: AlertTally(policy: tally.policy, code: tally.code)), Rates())
                sum.sessions += 1
                if tally.raised > 0 { sum.sessionsRaised += 1 }
                sum.total += tally
                if session.days > 0 {
                    rates.raised.append(Double(tally.raised) / session.days)
                    rates.notified.append(Double(tally.notified) / session.days)
                    rates.notifiedNight.append(Double(tally.notifiedNight) / session.days)
                }
                sums[key] = (sum, rates)
            }
        }

        /// By policy and code.
        var summaries: [AlertSummary] {
            sums.values.map { sum, rates in
                var summary = sum
                summary.raisedPerDay = StudySummary.estimate(rates.raised)
                summary.notifiedPerDay = StudySummary.estimate(rates.notified)
                summary.notifiedNightPerDay = StudySummary.estimate(rates.notifiedNight)
                return summary
            }.sorted { ($0.policy, $0.code) < ($1.policy, $1.code) }
        }
    }
}

extension AlertTally {
    /// Counts what `other` counts too, of the same code.
    fileprivate static func += (sum: inout Self, other: Self) {
        sum.raised += other.raised
        sum.raisedNight += other.raisedNight
        sum.notified += other.notified
        sum.notifiedNight += other.notifiedNight
        if let heard = other.heard { sum.heard = (sum.heard ?? 0) + heard }
        sum.minutesActive += other.minutesActive
        sum.minutesAnnunciating += other.minutesAnnunciating
    }
}
