// What a run would cost, by a few of its sessions lived for a while.
//
// Guarantees: counts work and looks at no clock, so that one study has one estimate on every machine. The sample are the study's first people, in every arm, with
// all that listens and all that is kept; the whole is taken to be like it.
// Does not: know the machine. What a piece of work takes was measured on one, and is said to be rough.

import IsletDevices
import IsletFiles
import IsletModels
import IsletKernel

package struct RunCost: Sendable {
    /// What sessions had to do, counted.
    package struct Work: Hashable, Sendable {
        package var patientDays = 0.0
        /// How many of these days have a person who hears and answers.
        package var heardDays = 0.0
        /// How many of these days are of sessions in which faults may come.
        package var faultyDays = 0.0
        /// Evaluations of the bodies' right-hand sides.
        package var evaluations = 0
        /// Jobs of the sessions' executors.
        package var jobs = 0
        package var events = 0
        /// Judgements of parts of policies in shadow.
        package var judgements = 0
        /// Rows of what happened, as the study keeps it.
        package var rows = 0
        /// Bytes of the logs of policies in shadow.
        package var shadowBytes = 0
        /// Bytes of the rows of codes in the store and in alerts.csv.
        package var tallyBytes = 0
        /// Logs of policies in shadow.
        package var logs = 0
        /// Outcomes of policies.
        package var policySessions = 0
        package var sessions = 0

        package static func += (sum: inout Self, other: Self) {
            sum.patientDays += other.patientDays
            sum.heardDays += other.heardDays
            sum.faultyDays += other.faultyDays
            sum.evaluations += other.evaluations
            sum.jobs += other.jobs
            sum.events += other.events
            sum.judgements += other.judgements
            sum.rows += other.rows
            sum.shadowBytes += other.shadowBytes
            sum.tallyBytes += other.tallyBytes
            sum.logs += other.logs
            sum.policySessions += other.policySessions
            sum.sessions += other.sessions
        }
    }

    /// The work of the sample.
    package private(set) var sample = Work()
    private let study: Study

    /// At most so many sessions are lived as a sample, unless there are more arms, each for at most so many days.
    private static let sampleSessions = 12
    private static let sampleDays: Int64 = 4

    /// - Parameter cohort: where somebody has it already.
    /// - Throws: as `CohortLoader.subject` and a session do.
    package init(
        of study: Study, studyPath: String, subjects: Int, cohort: (any StudyCohort)? = nil
    ) throws {
        self.study = study
        let people = min(subjects, max(1, Self.sampleSessions / study.arms.count))
        let cohort = try cohort ?? study.cohort(studyPath: studyPath, isChecked: false)
        let runner = TrialRunner(study: study, cohort: cohort, jobs: 1, words: study.resultWords)
        let days = Instant(nanoseconds: Self.sampleDays * Nanoseconds.day)
        let end = Instant(nanoseconds: study.duration.nanoseconds)
        for session in 0..<people * study.arms.count {
            sample += try runner.run(session, until: min(days, end)).work
        }
    }

    /// What so many sessions of the study come to: what grows with time by the sample's days, the rest by its sessions.
    package func work(sessions: Int) -> Work {
        let days = Double(sessions) * Double(study.duration.nanoseconds) / Double(Nanoseconds.day)
        let byDay = sample.patientDays > 0 ? days / sample.patientDays : 0
        let bySession = Double(sessions) / Double(max(1, sample.sessions))
        func scaled(_ count: Int, _ factor: Double) -> Int { Int((Double(count) * factor).rounded()) }
        return Work(
            patientDays: days, heardDays: sample.heardDays * byDay, faultyDays: sample.faultyDays * byDay,
            evaluations: scaled(sample.evaluations, byDay),
            jobs: scaled(sample.jobs, byDay), events: scaled(sample.events, byDay),
            judgements: scaled(sample.judgements, byDay), rows: scaled(sample.rows, byDay),
            shadowBytes: scaled(sample.shadowBytes, byDay),
            tallyBytes: scaled(sample.tallyBytes, bySession), logs: scaled(sample.logs, bySession),
            policySessions: scaled(sample.policySessions, bySession), sessions: sessions)
    }

    /// Bytes of a results folder with so many sessions, without its report.
    package func bytes(sessions: Int) -> Double {
        let work = work(sessions: sessions)
        let arms = study.arms.count
        let rows = Double(work.rows) * 42 + Double(work.tallyBytes) + Double(work.sessions) * 3900
        // A log ends in a page that it doesn't fill.
        let policies =
            Double(work.policySessions) * 280 + Double(work.shadowBytes) + Double(work.logs) * 850
        let summary = Double(arms) * 80e3 + Double(arms * study.shadowPolicies.count) * 23e3
        return rows + policies + summary + 120e3
    }

    /// How long it takes to draw the people and to find their therapy before the run, s on one core.
    package func preparationSeconds(subjects: Int) -> Double {
        guard study.subject.kind.isPerson, case .generate = study.cohort else { return 0 }
        return Double(subjects) * (study.scenario.life == nil ? 3e-3 : 5e-3)
    }
}

extension RunCost.Work {
    /// On one core, s. What sessions take is `islet-bench cost`'s, rounded; beside it stands what the store takes for rows, outcomes
    /// and sessions, a guess. A person costs by the day, as what they hear and do is no event of its own; so do faults.
    package var seconds: Double {
        heardDays * 230e-6 + faultyDays * 180e-6 + Double(evaluations) * 30e-9
            + Double(jobs + events) * 480e-9 + Double(judgements) * 2.8e-6 + Double(rows) * 1e-6
            + Double(policySessions) * 60e-6 + Double(sessions) * 300e-6
    }
}
