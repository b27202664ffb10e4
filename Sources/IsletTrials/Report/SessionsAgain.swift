// Stored sessions, run again for a report: what no table keeps of them.
//
// Guarantees: a session that is not the stored one, by its digest, is refused; what is found doesn't depend on threads. So every
// folder has profiles and example sessions, whatever it recorded.
// **Which sessions** a profile is of: all of the arms that are drawn, where they come to no more than 600 days; else people spread evenly over the cohort, the same in every
// arm, at least 15 of them. So a report costs a small part of its run.

package import IsletAlerts
import IsletFiles
import IsletModels
package import IsletDevices
package import IsletKernel

package struct SessionsAgain: Sendable {
    /// Days of the sessions that profiles are made of, over all arms.
    package static let profileDays = 600.0
    package static let fewestPeople = 15

    let study: Study
    let people: PeopleCohort
    let jobs: Int
    let isInterrupted: @Sendable () -> Bool

    package init(
        _ study: Study, people: PeopleCohort, jobs: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.study, self.people, self.jobs) = (study, people, jobs)
        self.isInterrupted = isInterrupted
    }

    private func session(_ row: SubjectColumns.Row, record: RecordLevel, shadow: AlertPolicy? = nil) throws
        -> Session
    {
        guard study.arms.indices.contains(row.armIndex) else {
            throw InputError(
                file: "study.sqlite", found: "arm \(row.armIndex) of \(study.arms.count)",
                expected: "the arms that the study was run with")
        }
        let person = try people.member(row.subjectIndex, "study.sqlite")
        var study = study
        study.record = record
        return try Session(
            study: study, subject: person, index: row.subjectIndex,
            arm: study.arms[row.armIndex], shadows: shadow.map { ShadowPlan([$0]) })
    }

    private static func check(_ outcome: SessionOutcome, _ row: SubjectColumns.Row) throws {
        let digest = outcome.digest.description
        guard digest == row.digest else {
            throw DigestMismatch(session: row.session, stored: row.digest, here: digest)
        }
    }

    /// What a day is like in some arms, by their indices; empty where an arm has no session.
    /// - Throws: `DigestMismatch`, `CancellationError`.
    package func days(_ columns: SubjectColumns, arms: [Int]) throws -> [Int: ArmDays] {
        let people = Set(columns.rows.map(\.subjectIndex)).sorted()
        let days = max(0.01, Double(study.duration.nanoseconds) / Double(Nanoseconds.day))
        let wanted = max(
            Self.fewestPeople, Int(Self.profileDays / (days * Double(max(1, arms.count)))))
        let count = min(people.count, wanted)
        let chosen = Set((0..<count).map { people[$0 * people.count / max(1, count)] })
        let rows = columns.rows.filter { chosen.contains($0.subjectIndex) && arms.contains($0.armIndex) }
        let made = try InOrder(count: rows.count, jobs: jobs) { [self] index in
            if isInterrupted() { throw CancellationError() }
            // Where it rang is known from its effects.
            let session = try session(rows[index], record: .events)
            let outcome = session.run()
            try Self.check(outcome, rows[index])
            let rang = session.recorder.alerts.filter { $0.effect == "notify" }.map(\.instant)
            return (session.plasmaTruth, rang)
        }
        var found = Dictionary(uniqueKeysWithValues: arms.map { ($0, ArmDays()) })
        for row in rows {
            guard let (plasma, rang) = try made.next() else { break }
            found[row.armIndex]?.add(
                plasma, every: VirtualPatient.truthInterval, subject: row.subjectIndex, rang: rang,
                days: row.days, calendar: study.start.calendar, keepsTraces: people.count == 1)
        }
        return found
    }

    /// What happened in a session.
    /// - Parameter shadow: a policy that listened in shadow, whose alerts are wanted in place of the arm's.
    /// - Throws: `DigestMismatch`.
    package func told(_ row: SubjectColumns.Row, shadow: AlertPolicy? = nil) throws -> ToldSession {
        if isInterrupted() { throw CancellationError() }
        let session = try session(row, record: .full, shadow: shadow)
        let outcome = session.run()
        try Self.check(outcome, row)
        let effects = shadow.map { policy in
            (session.shadowEffects.first ?? []).map { AlertRow($0, of: policy) }
        }
        return ToldSession(
            row: row, endedAt: outcome.endedAt, truth: session.recorder.truth,
            readings: session.recorder.readings, person: session.recorder.person,
            alerts: effects ?? session.recorder.alerts,
            policy: shadow?.name ?? study.arms[row.armIndex].alerts.name, isInShadow: shadow != nil)
    }
}

/// One session, as it went.
package struct ToldSession: Sendable {
    package var row: SubjectColumns.Row
    package var endedAt: Instant
    package var truth: [TruthRow]
    package var readings: [ReadingRow]
    package var person: [PersonRow]
    /// Effects of `policy`.
    package var alerts: [AlertRow]
    package var policy: String
    package var isInShadow: Bool
    /// Its own, where that isn't the study's.
    package var calendar: SessionCalendar?

    package init(
        row: SubjectColumns.Row, endedAt: Instant, truth: [TruthRow], readings: [ReadingRow],
        person: [PersonRow] = [], alerts: [AlertRow], policy: String, isInShadow: Bool,
        calendar: SessionCalendar? = nil
    ) {
        (self.row, self.endedAt, self.truth, self.readings) = (row, endedAt, truth, readings)
        (self.person, self.alerts, self.policy) = (person, alerts, policy)
        (self.isInShadow, self.calendar) = (isInShadow, calendar)
    }

    /// When a person was to hear something.
    package var notifications: [AlertRow] { alerts.filter { $0.effect == "notify" } }

    /// The lowest true glucose, the first of equals; the start for a session without a truth.
    package var lowest: Instant {
        truth.min { ($0.plasmaMgdl, $0.instant) < ($1.plasmaMgdl, $1.instant) }?.instant ?? .start
    }
}
