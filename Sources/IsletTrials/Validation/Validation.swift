// A study's people beside published ones.
//
// Guarantees: sessions are those of the study, lived again; of a results folder only what has the stored digest counts. A verdict is of the interval, not
// of the value: `pass` where all of it lies within the tolerance, `fail` where none of it does, else `can't tell`; too few people can never pass.
// Does not: choose what is compared. Each arm meets all rows that are of people like it.

import IsletFiles
import IsletNumerics
import IsletAlerts
import IsletDevices
package import IsletModels
import IsletKernel
import IsletLoop
import IsletPeople

package struct ValidationRow: Sendable {
    package enum Verdict: String, Sendable {
        case pass, fail
        case open = "can't tell"
    }
    package let target: ValidationTarget
    package let study: String
    /// With the arm that it is compared with, of an effect.
    package let arm: String
    package let people: Int
    /// nil where these people have no such figure.
    package let value: Double?
    package let interval: ClosedRange<Double>?
    package let verdict: Verdict
}

package struct Validation: Sendable {
    /// Fewer people tell nothing.
    package static let fewestPeople = 20
    /// Fewer events than this tell nothing of how unequal people are in them: their rate's interval is Poisson's.
    private static let fewestEvents = 20
    static let level = 0.95
    static let resamples = 2000

    /// One arm with everybody's course, nil where a session is not there.
    struct Arm: Sendable {
        let name: String
        let loop: ValidationPeople.Loop
        let ears: ValidationPeople.Ears
        let policy: AlertPolicy
        let algorithm: String
        var courses: [PersonCourse?]
    }

    let study: Study
    private(set) var arms: [Arm]

    /// A session that counts: its place, and the digest that it has to have.
    package struct Entry: Sendable {
        package var subject: Int
        package var arm: Int
        /// nil for a study that has not been run.
        package var digest: String?
        package var session: Int

        package init(subject: Int, arm: Int, digest: String?, session: Int) {
            (self.subject, self.arm, self.digest, self.session) = (subject, arm, digest, session)
        }
    }

    /// Lives the sessions.
    /// - Parameter entries: nil for all of the study.
    /// - Throws: `InputError` for a study that can't be judged; `DigestMismatch`; `CancellationError`; what drawing people throws.
    package init(
        _ study: Study, subjects: [VirtualSubject], entries: [Entry]? = nil, file: String, jobs: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws {
        guard study.scenario.life != nil else {
            throw InputError(
                file: file, found: "a scenario of ordinary days",
                expected: "`preset: life`: published weeks are no other")
        }
        self.study = study
        var full = study
        full.record = .full
        let wanted =
            entries
            ?? subjects.indices.flatMap { subject in
                study.arms.indices.map {
                    Entry(
                        subject: subject, arm: $0, digest: nil, session: subject * study.arms.count + $0)
                }
            }
        let courses = try Workers.map(count: wanted.count, jobs: jobs, isInterrupted: isInterrupted) {
            [full] index in
            let entry = wanted[index]
            guard subjects.indices.contains(entry.subject), full.arms.indices.contains(entry.arm) else {
                throw InputError(
                    file: file, found: "subject \(entry.subject) of \(subjects.count)",
                    expected: "the cohort that the study was run with")
            }
            let subject = subjects[entry.subject]
            let session = try Session(
                study: full, subject: subject, index: entry.subject, arm: full.arms[entry.arm])
            let outcome = session.run()
            if let stored = entry.digest, stored != outcome.digest.description {
                throw DigestMismatch(
                    session: entry.session, stored: stored, here: outcome.digest.description)
            }
            return PersonCourse(
                outcome: outcome, recorder: session.recorder, group: subject.group,
                calendar: full.start.calendar)
        }
        arms = study.arms.map { arm in
            Arm(
                name: arm.name, loop: Self.loop(arm.algorithm.kind),
                ears: Self.ears(study.person(in: arm)), policy: arm.alerts,
                algorithm: arm.algorithm.kind.id, courses: Array(repeating: nil, count: subjects.count))
        }
        for (entry, course) in zip(wanted, courses) { arms[entry.arm].courses[entry.subject] = course }
    }

    /// The sessions of a results folder.
    /// - Throws: as the other; `InputError` for a folder of another engine, or without a session.
    package init(
        _ sessions: ResultSessions, file: String, jobs: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws {
        guard let first = sessions.entries.first else {
            throw InputError(file: file, found: "no sessions", expected: "a study that has been run")
        }
        let cohort = try sessions.cohort(of: first).cohort
        try cohort.draw([0..<cohort.count], jobs: jobs, isInterrupted: isInterrupted)
        let people = try (cohort as? PeopleCohort).map { people in
            try (0..<people.count).map { try people.member($0) }
        }
        try self.init(
            sessions.study, subjects: people ?? [],
            entries: sessions.entries.map {
                Entry(subject: $0.subjectIndex, arm: $0.armIndex, digest: $0.digest, session: $0.session)
            }, file: file, jobs: jobs, isInterrupted: isInterrupted)
    }

    private static func loop(_ kind: AlgorithmKind) -> ValidationPeople.Loop {
        switch kind.id {
        case AlgorithmKind.lowGlucoseSuspend.id: .suspending
        case AlgorithmKind.predictiveSuspend.id: .predictive
        default: kind.lowersHighs ? .closed : .open
        }
    }

    private static func ears(_ person: PersonSettings?) -> ValidationPeople.Ears {
        guard let person else { return .alone }
        return person.noticesAwake > 0 ? .hearing : .muted
    }

    // MARK: Judging

    /// Every row that is of people like these, in the order of `targets`.
    /// - Throws: `CancellationError`.
    package func rows(
        _ targets: [ValidationTarget] = ValidationTarget.all, jobs: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws -> [ValidationRow] {
        try Workers.map(count: targets.count, jobs: jobs, isInterrupted: isInterrupted) { index in
            let target = targets[index]
            let isMeant = !isOfSensors || target.section == .sensor
            return arms.compactMap { arm -> ValidationRow? in
                guard isMeant, arm.loop == target.people.loop, arm.ears == target.people.ears else {
                    return nil
                }
                return row(target, arm)
            }
        }.flatMap(\.self)
    }

    private func isLike(_ people: ValidationPeople, _ course: PersonCourse) -> Bool {
        course.group == people.group && (course.days >= people.days || course.endedByLow)
    }

    private func row(_ target: ValidationTarget, _ arm: Arm) -> ValidationRow? {
        switch target.quantity {
        case .course(let measure):
            let people = arm.courses.compactMap(\.self).filter { isLike(target.people, $0) }
            guard !people.isEmpty else { return nil }
            let (value, interval) = Self.estimate(people, measure.value)
            return judged(target, arm.name, people.count, value, interval)
        case .events(_, _, let count):
            let people = arm.courses.compactMap(\.self).filter { $0.group == target.people.group }
            guard !people.isEmpty else { return nil }
            let found = people.map(count)
            let (events, exposure) = (
                found.reduce(0) { $0 + $1.events }, found.reduce(0) { $0 + $1.exposure }
            )
            guard exposure > 0 else { return nil }
            // Some people have more of them than others: over people, as all other rows, once there are enough to tell.
            guard events < Self.fewestEvents else {
                let (value, interval) = Self.estimate(found) { some in
                    let exposure = some.reduce(0) { $0 + $1.exposure }
                    return exposure > 0 ? Double(some.reduce(0) { $0 + $1.events }) / exposure : nil
                }
                return judged(target, arm.name, people.count, value, interval)
            }
            let rate = try? Statistics.poissonInterval(events: events, level: 0.95)
            return judged(
                target, arm.name, people.count, Double(events) / exposure,
                rate.map { $0.lower / exposure...$0.upper / exposure })
        case .effect(let effect):
            guard let other = arms.first(where: { Self.isContrast(effect.contrast, arm, $0) }) else {
                return nil
            }
            let pairs = zip(arm.courses, other.courses).compactMap { with, without in
                with.flatMap { with in without.map { (with: with, without: $0) } }
            }.filter { isLike(target.people, $0.with) || isLike(target.people, $0.without) }
            guard !pairs.isEmpty else { return nil }
            let (value, interval) = Self.estimate(pairs, effect.value)
            return judged(target, "\(arm.name) against \(other.name)", pairs.count, value, interval)
        }
    }

    private func judged(
        _ target: ValidationTarget, _ arm: String, _ people: Int, _ value: Double?,
        _ interval: ClosedRange<Double>?
    ) -> ValidationRow {
        var verdict = ValidationRow.Verdict.open
        if let interval, people >= Self.fewestPeople {
            let tolerance = target.tolerance
            if tolerance.contains(interval.lowerBound), tolerance.contains(interval.upperBound) {
                verdict = .pass
            } else if !tolerance.overlaps(interval) {
                verdict = .fail
            }
        }
        return ValidationRow(
            target: target, study: study.name, arm: arm, people: people, value: value, interval: interval,
            verdict: verdict)
    }

    /// The value, and an interval over people; nil where some resample has none.
    private static func estimate<Subject>(
        _ subjects: [Subject], _ value: ([Subject]) -> Double?
    ) -> (Double?, ClosedRange<Double>?) {
        guard let here = value(subjects), here.isFinite else { return (nil, nil) }
        var stream = RandomStreams(seed: 1, subject: 0).stream("validation")
        let found = try? Statistics.bootstrap(
            subjects, level: level, resamples: resamples, using: &stream
        ) { sample in
            guard let value = value(sample) else { throw StatisticsError.tooFewValues(needed: 1, found: 0) }
            return value
        }
        return (here, found.map { $0.interval.lower...max($0.interval.lower, $0.interval.upper) })
    }

    // MARK: Sensors

    /// Its arms wear different sensors: only rows of sensors are about them.
    private var isOfSensors: Bool {
        guard let first = study.arms.first else { return false }
        return study.arms.contains { study.sensor(in: $0) != study.sensor(in: first) }
    }

    /// What labels print of each sensor, ours; nothing of a study whose arms wear the same.
    package var sensorTables: [SensorTable] {
        guard isOfSensors else { return [] }
        return arms.map { arm in
            SensorTable(
                study: study.name, sensor: arm.name, arm.courses.compactMap(\.self).map(\.sensorCourse))
        }
    }

    // MARK: Contrasts

    private static func isContrast(_ contrast: ValidationEffect.Contrast, _ arm: Arm, _ other: Arm) -> Bool {
        switch contrast {
        case .suspension:
            return other.loop == .open && arm.ears == other.ears && arm.policy == other.policy
        case .heard:
            return arm.algorithm == other.algorithm && arm.ears == .hearing && other.ears == .muted
                && arm.policy == other.policy
        case .high:
            guard arm.algorithm == other.algorithm else { return false }
            let (here, there) = (highThreshold(arm.policy), highThreshold(other.policy))
            return other.ears == .hearing && (here ?? .infinity) <= 205 && (there ?? .infinity) > 350
                && withoutHighs(arm.policy) == withoutHighs(other.policy)
        }
    }

    private static func highTest(_ rule: AlertRule) -> Double? {
        guard case .metrics(let tests) = rule.trigger, tests.count == 1, let test = tests.first,
            test.side == .high
        else { return nil }
        return rule.glucoseBound
    }

    /// The lowest glucose at which a policy says that it is high.
    private static func highThreshold(_ policy: AlertPolicy) -> Double? {
        policy.rules.compactMap(highTest).min()
    }

    private static func withoutHighs(_ policy: AlertPolicy) -> [AlertRule] {
        policy.rules.filter { highTest($0) == nil }
    }
}
