// Sessions to look at, and the rule by which they were picked.
//
// Guarantees: the rule is fixed before anybody has seen a session, and stands beside the figure; of equals the first by index is taken.
// Does not: show what is typical of anything but the outcome that the rule names.

import IsletAlerts
package import IsletFiles
import IsletPeople
import IsletDevices
import IsletKernel
package import IsletTrials

package struct ExampleSession: Sendable {
    /// `the median one`.
    package var kind: String
    /// The rule, as a sentence.
    package var rule: String
    /// One, or the two that part.
    package var told: [ToldSession]
    /// Minutes since the session's start: a day.
    package var window: ClosedRange<Double>

    /// Whether it shows two that part.
    var isParting: Bool { told.count > 1 }
}

package struct ExampleChoice {
    private let study: Study
    private let columns: SubjectColumns
    private let again: SessionsAgain
    private let words: OutcomeWords
    private let arms: [String]

    package init(_ study: Study, columns: SubjectColumns, again: SessionsAgain, unit: GlucoseUnit) {
        (self.study, self.columns, self.again) = (study, columns, again)
        words = OutcomeWords(unit)
        arms = study.arms.map(\.name)
    }

    /// What has to be in the columns.
    package static func outcomes(_ study: Study) -> [String] {
        study.primary + ["tbr_54_percent", "tbr_70_percent", "tir_70_180_percent", "mean_mgdl"]
            + ["alerts_notifications_per_day", "alerts_notifications_night_per_day", ParetoFigures.missed]
    }

    /// The outcome that sessions are ranked by: the first declared one of true glucose, else time below 54, else whatever differs.
    private func ranking(_ rows: [SubjectColumns.Row]) -> Outcome? {
        let names =
            study.primary.filter { Outcome.named($0)?.kind == .truth }
            + ["tbr_54_percent", "tbr_70_percent", "tir_70_180_percent", "mean_mgdl"]
        let known = names.compactMap { Outcome.named($0) }
        return known.first { outcome in
            Set(rows.compactMap { columns.value(outcome.name, $0) }).count > 1
        } ?? known.first
    }

    private var reference: Int { study.reference.flatMap { arms.firstIndex(of: $0) } ?? 0 }

    /// - Throws: `DigestMismatch`, `CancellationError`.
    package func examples() throws -> [ExampleSession] {
        let own = columns.rows(ofArm: reference)
        guard let outcome = ranking(columns.rows) else { return [] }
        /// Larger is worse.
        func badness(_ row: SubjectColumns.Row) -> Double? {
            columns.value(outcome.name, row).map { outcome.better == .higher ? -$0 : $0 }
        }
        var found: [ExampleSession] = []
        let ranked = own.filter { !$0.hasEndedEarly }.compactMap { row in badness(row).map { (row, $0) } }
            .sorted { ($0.1, $0.0.session) < ($1.1, $1.0.session) }
        if !ranked.isEmpty {
            let row = ranked[(ranked.count - 1) / 2].0
            let told = try again.told(row)
            found.append(
                ExampleSession(
                    kind: ranked.count == 1 ? "The lowest day" : "The median one",
                    rule:
                        ranked.count == 1
                        ? "The one person\(arms.count > 1 ? " in \(arms[reference])" : ""); the day around their lowest glucose."
                        : "Of the \(ranked.count) people in \(arms[reference]) who lived to the end, the middle one by \(words.name(outcome.name)); the day around their lowest glucose.",
                    told: [told], window: Self.day(around: told.lowest, told)))
        }
        // A session that has been told is not told again.
        let all = columns.rows.compactMap { row in badness(row).map { (row, $0) } }
        if let worst = all.max(by: { ($0.1, -$0.0.session) < ($1.1, -$1.0.session) })?.0,
            !found.contains(where: { $0.told[0].row.session == worst.session })
        {
            let told = try again.told(worst)
            found.append(
                ExampleSession(
                    kind: "The worst one",
                    rule:
                        "Of all \(all.count) sessions\(arms.count > 1 ? " in all arms" : ""), the one with the \(outcome.better == .higher ? "lowest" : "highest") \(words.name(outcome.name)); the day around its lowest glucose.",
                    told: [told], window: Self.day(around: told.lowest, told)))
        }
        if let parting = try parting() { found.append(parting) }
        return found
    }

    // MARK: Two that part

    private func parting() throws -> ExampleSession? {
        try arms.count > 1 ? ofTwoArms() : ofTwoPolicies()
    }

    /// The reference, and of the other arms, whose phones somebody hears if there are such, the one that differs most from it in anybody.
    private func ofTwoArms() throws -> ExampleSession? {
        let others = study.arms.indices.filter { $0 != reference }
        let heard = others.filter { study.person(in: study.arms[$0])?.isDeafToAlerts != true }
        let burden = "alerts_notifications_per_day"
        let own = Dictionary(
            columns.rows(ofArm: reference).map { ($0.subjectIndex, $0) },
            uniquingKeysWith: { first, _ in first })
        let pairs = (heard.isEmpty ? others : heard).flatMap { other in
            columns.rows(ofArm: other).compactMap {
                row -> (SubjectColumns.Row, SubjectColumns.Row, Double)? in
                guard let first = own[row.subjectIndex], let a = columns.value(burden, first),
                    let b = columns.value(burden, row)
                else { return nil }
                return (first, row, abs(a - b))
            }
        }
        guard let most = pairs.max(by: { ($0.2, -$0.0.session) < ($1.2, -$1.0.session) }), most.2 > 0
        else { return nil }
        let told = [try again.told(most.0), try again.told(most.1)]
        return ExampleSession(
            kind: "One in which two arms part",
            rule:
                "The person whose rings a day differ most between \(arms[reference]) and \(heard.count > 1 ? "another arm, here " : "")\(arms[most.1.armIndex]); the day around the first ring that one gave and not the other.",
            told: told, window: Self.day(around: Self.parting(told[0], told[1]), told[0]))
    }

    /// The arm's own policy, and the policy in shadow that differs most from it.
    private func ofTwoPolicies() throws -> ExampleSession? {
        var most: (row: SubjectColumns.Row, policy: String, difference: Double)?
        for row in columns.rows {
            guard let own = row.policies.first(where: { !$0.isInShadow }) else { continue }
            for policy in row.policies where policy.isInShadow {
                let difference = abs(policy.notifiedPerDay - own.notifiedPerDay)
                if difference > most?.difference ?? 0 { most = (row, policy.name, difference) }
            }
        }
        guard let most, let policy = study.shadowPolicies.first(where: { $0.name == most.policy }) else {
            return nil
        }
        let told = [try again.told(most.row), try again.told(most.row, shadow: policy)]
        return ExampleSession(
            kind: "One in which two policies part",
            rule:
                "The session in which the rings a day of the arm's own policy and of one in shadow differ most (\(policy.name)); the day around the first ring that one gave and not the other.",
            told: told, window: Self.day(around: Self.parting(told[0], told[1]), told[0]))
    }

    /// The first notification of one without one of the other within 10 min; the lowest glucose where there is none.
    static func parting(_ a: ToldSession, _ b: ToldSession) -> Instant {
        let near = 10 * Nanoseconds.minute
        func alone(_ some: [Instant], _ others: [Instant]) -> Instant? {
            some.first { instant in !others.contains { abs($0.nanoseconds - instant.nanoseconds) <= near } }
        }
        let (first, second) = (a.notifications.map(\.instant), b.notifications.map(\.instant))
        return [alone(first, second), alone(second, first)].compactMap(\.self).min() ?? a.lowest
    }

    /// 12 h before and after, in whole hours, as far as the session goes.
    static func day(around instant: Instant, _ told: ToldSession) -> ClosedRange<Double> {
        let end = max(60, told.endedAt.minutes)
        let length = min(1440, end)
        let wanted = ((instant.minutes - 720) / 60).rounded(.down) * 60
        let from = max(0, min(wanted, ((end - length) / 60).rounded(.up) * 60))
        return from...min(end, from + length)
    }
}
