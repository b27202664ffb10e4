// Runs the sessions of a study that a store lacks.
//
// Guarantees: what is stored doesn't depend on the number of workers, on shards or on interruptions; one writer stores
// whole batches of whole sessions; when it can't write, workers stop and the store stays good to resume from.

import IsletAlerts
package import IsletFiles
package import IsletModels
package import IsletDevices
import IsletKernel
import Synchronization

package struct TrialRunner: Sendable {
    package let study: Study
    package let cohort: any StudyCohort
    package let shard: Shard
    package let jobs: Int
    /// Who listens in shadow, by arm; nil for nobody.
    let scoring: [PolicyScoring?]
    private let numbers: [ShadowNumbers?]
    /// The numbers of the policies' names.
    private let policyNumbers: [Int]

    /// Rows that wait to be written at most, beside those of the sessions that run: about 30 MB.
    static let queueCapacity = 250_000

    /// - Parameter words: as the store has them that keeps the results.
    package init(
        study: Study, cohort: any StudyCohort, shard: Shard = .whole, jobs: Int,
        words: StringTable = StringTable()
    ) {
        let listeners = study.shadowPolicies
        scoring = Self.scoring(of: study)
        let number = { (word: String) in words.number(of: word) ?? 0 }
        numbers = scoring.map { $0.map { ShadowNumbers($0.plan, number: number) } }
        policyNumbers = listeners.map { number($0.name) }
        self.study = study
        self.cohort = cohort
        self.shard = shard
        self.jobs = jobs
    }

    /// Runs a study of people.
    package init(
        study: Study, subjects: [VirtualSubject], shard: Shard = .whole, jobs: Int,
        words: StringTable = StringTable()
    ) {
        self.init(study: study, cohort: PeopleCohort(subjects), shard: shard, jobs: jobs, words: words)
    }

    /// Arms of one policy share theirs.
    private static func scoring(of study: Study) -> [PolicyScoring?] {
        var made: [(policy: AlertPolicy, scoring: PolicyScoring?)] = []
        return study.arms.map { arm in
            if let known = made.first(where: { $0.policy == arm.alerts }) { return known.scoring }
            let scoring = PolicyScoring(study, arm: arm)
            made.append((arm.alerts, scoring))
            return scoring
        }
    }

    /// The indices of this shard's sessions. A session is subject index × arms + arm index.
    package var sessions: [Int] {
        let arms = study.arms.count
        return subjects.flatMap { Array($0.lowerBound * arms..<$0.upperBound * arms) }
    }

    /// The subjects of this shard.
    package var subjects: [Range<Int>] { shard.subjects(of: cohort.count, group: study.block) }

    /// Runs one session.
    package func run(_ session: Int) throws -> SessionRecord { try run(session, until: nil).record }

    /// Runs one session, and counts the work.
    /// - Parameter until: where to stop before the end.
    func run(_ session: Int, until: Instant?) throws -> (record: SessionRecord, work: RunCost.Work) {
        let subjectIndex = session / study.arms.count
        let armIndex = session % study.arms.count
        let arm = study.arms[armIndex]
        let live = try cohort.session(
            study, index: subjectIndex, arm: arm, shadows: nil, scoring: scoring[armIndex])
        let outcome = live.run(until: until)
        if let failure = (live as? Session)?.failure { try check(failure, session) }
        return try record(session, live, outcome)
    }

    /// A program that it asks has failed: the session is none, where the study tolerates none that failed.
    /// - Throws: `PluginFailure`; `OutputError` where it took too long, since a time must not pick who counts.
    func check(_ failure: any Error, _ session: Int) throws {
        if let failure = failure as? PluginFailure, study.tolerate == nil { throw failure.at(session) }
        if let late = failure as? PluginTimeout {
            throw OutputError(.temporary, path: "session \(session)", message: late.description)
        }
    }

    /// What a session came to, and the work that it was.
    func record(_ session: Int, _ live: any StudySession, _ outcome: SessionOutcome) throws -> (
        record: SessionRecord, work: RunCost.Work
    ) {
        let subjectIndex = session / study.arms.count
        let armIndex = session % study.arms.count
        let arm = study.arms[armIndex]
        var alerts = outcome.alerts
        for tallies in live.shadowTallies {
            for var tally in tallies {
                tally.isInShadow = true
                alerts.append(tally)
            }
        }
        let record = SessionRecord(
            session: session, subjectIndex: subjectIndex, subject: try cohort.name(subjectIndex),
            armIndex: armIndex,
            arm: arm.name,
            end: outcome.end, endedAt: outcome.endedAt, digest: outcome.digest.description,
            events: outcome.events, checkpoints: Journal.Checkpoint.text(outcome.checkpoints),
            outcomes: outcome.outcomes, alerts: alerts, policies: outcome.policies,
            shadows: logs(of: live, armIndex),
            recorder: live.recorder)
        let days = Double(outcome.endedAt.nanoseconds) / Double(Nanoseconds.day)
        let work = RunCost.Work(
            patientDays: days, heardDays: study.person(in: arm) == nil ? 0 : days,
            faultyDays: study.faults == .none ? 0 : days,
            evaluations: live.evaluations, jobs: outcome.jobs, events: outcome.events,
            judgements: live.shadowJudgements, rows: record.recorder.rowCount,
            shadowBytes: record.shadows.reduce(0) { $0 + $1.log.count },
            tallyBytes: record.alerts.reduce(0) { $0 + rowBytes($1) }, logs: record.shadows.count,
            policySessions: record.policies.count, sessions: 1)
        return (record, work)
    }

    /// In the store, and in alerts.csv unless it is of a policy in shadow and only summaries are kept.
    private func rowBytes(_ tally: AlertTally) -> Int {
        let isExported = !tally.isInShadow || study.record >= .events
        return 25 + (isExported ? 62 + tally.policy.utf8.count + tally.code.rawValue.utf8.count : 0)
    }

    private func logs(of session: any StudySession, _ arm: Int) -> [ShadowLogRow] {
        guard let numbers = numbers[arm], study.record >= .events else { return [] }
        return zip(policyNumbers, session.shadowTexts(numbers)).compactMap { policy, text in
            text.isEmpty ? nil : ShadowLogRow(policy: policy, log: text)
        }
    }

    /// Runs every session that the store lacks, and stores it.
    ///
    /// - Parameters:
    ///   - isInterrupted: asked before each session; true stops the run after the sessions under way.
    ///   - progress: told of each session once it is stored.
    ///   - failures: where the run goes on without sessions whose program failed, those; else the first ends it. As many as the study
    ///     tolerates are stored as ended early, once all others are.
    /// - Returns: whether all sessions of the shard are stored now.
    /// - Throws: what the store throws, and what a session throws that can't be assembled.
    package func run(
        into store: any ResultStore, isInterrupted: @escaping @Sendable () -> Bool, progress: ProgressLine,
        failures: PluginFailures? = nil
    ) throws -> Bool {
        let finished = try store.finishedSessions()
        let missing = sessions.filter { !finished.contains($0) }
        let units = units(of: missing)
        let jobs = max(1, min(jobs, units.count))
        let queue = BoundedQueue<SessionRecord>(
            capacity: Self.queueCapacity, producers: jobs,
            weight: { $0.recorder.rowCount + $0.alerts.count + $0.shadows.count + 50 })
        let next = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
        let workers = try Workers.start(jobs: jobs) {
            defer { queue.finish() }
            while !isInterrupted(), failure.withLock({ $0 == nil }) {
                let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard position < units.count else { return }
                do {
                    let (records, problem) = try live(units[position])
                    if let problem {
                        guard let failures else { throw problem }
                        failures.add(problem, sessions: units[position], records)
                        continue
                    }
                    for record in records {
                        guard queue.push(record) else { return }
                    }
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                    return
                }
            }
        }
        for _ in workers.count..<jobs { queue.finish() }
        defer { workers.wait() }
        var stored = 0
        do {
            while let batch = queue.popAll() {
                try store.write(batch)
                stored += batch.count
                for record in batch {
                    progress.add(patientDays: Double(record.endedAt.nanoseconds) / Double(Nanoseconds.day))
                }
            }
        } catch {
            queue.close()
            throw error
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        // What a run that was stopped has not come to may fail too, and counts with these.
        if let failures, failures.count > 0, UInt64(failures.count) <= study.tolerate ?? 0,
            stored + failures.count == missing.count
        {
            let records = failures.records
            try store.write(records)
            stored += records.count
        }
        return stored == missing.count
    }
}
