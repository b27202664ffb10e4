// One episode of an environment: a session that waits at each step for somebody's answer.
//
// Guarantees: an episode is a session of a study: with the answers that were given recorded in its arm (`study`), `islet run` comes to the same digest. Nothing of the body is
// integrated for being looked at. Does not: judge answers.

import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import IsletModels

/// What whole episodes are made of: a study of one arm, read once.
struct GymTemplate {
    let study: Study
    let inner: TunedAlgorithm?
    private var people: [Person: VirtualSubject] = [:]

    private struct Person: Hashable {
        var seed: UInt64
        var subject: Int
    }

    /// The most people that are kept, since to draw one takes as long as days of a life.
    private static let mostPeople = 4096

    /// - Parameter study: of one arm whose algorithm is `recorded`.
    init(_ study: Study, file: String) throws(InputError) {
        func refused(_ found: String, _ expected: String) -> InputError {
            InputError(file: file, found: found, expected: expected)
        }
        guard study.subject.kind.isPerson else { throw refused("subjects that are no people", "people") }
        guard study.arms.count == 1, let recorded = study.arms[0].recorded else {
            throw refused(
                "\(study.arms.count) arms, or an algorithm of its own",
                "one arm whose algorithm is `recorded`")
        }
        guard study.shadowPolicies.isEmpty else {
            throw refused("policies in shadow", "none in an environment")
        }
        self.study = study
        inner = recorded.beside
    }

    /// - Parameters:
    ///   - subject: its place in the cohort.
    ///   - path: what a table's path is relative to.
    mutating func episode(
        handle: Int64, seed: UInt64, luckOffset: UInt64, subject index: Int, path: String
    ) throws -> GymEpisode {
        var study = study
        study.seed = seed
        study.arms[0].luckOffset = luckOffset
        let subject: VirtualSubject
        let person = Person(seed: seed, subject: index)
        if let known = people[person] {
            subject = known
        } else {
            subject = try CohortLoader.subject(index, of: study, studyPath: path)
            if people.count >= Self.mostPeople { people.removeAll() }
            people[person] = subject
        }
        return try GymEpisode(handle: handle, study: study, subject: subject, index: index, inner: inner)
    }
}

final class GymEpisode {
    let handle: Int64
    let begin: BeginRow
    private let template: Study
    private let index: Int
    private let session: Session
    private let inner: (algorithm: any DosingAlgorithm, cell: StateCell)?
    private var answered = RecordedAnswers()
    /// What it waits at, or waited at last. Kept as the row that is told: an input is large, and each copy of it would cost.
    private var asked: AskedRow
    private(set) var outcome: SessionOutcome?
    private(set) var status = GymRow.Status.waits
    private var told = (truth: 0, alerts: 0, person: 0, bolus: Int64(0), basal: Int64(0))
    private var plasma = Double.nan

    /// An environment asks for it.
    private struct Asking: OutsideAlgorithm {
        let name = RecordedSteps.key
        let basalSource: BasalSource
        let forecastMinutes: Double?
        let inner: (any DosingAlgorithm)?
        /// As the session that is run from the record has it (`RecordedForecasts`): people go by it.
        var lowersHighs: Bool { inner?.lowersHighs ?? (basalSource != .programmed) }
        func largestDose(_ input: borrowing StepInput) -> InsulinAmount? { inner?.largestDose(input) ?? nil }
    }

    /// - Throws: `SensorDrawFailed`; `GymProblem` where it never comes to a step.
    init(handle: Int64, study: Study, subject: VirtualSubject, index: Int, inner: TunedAlgorithm?) throws {
        self.handle = handle
        (template, self.index) = (study, index)
        let recorded = study.arms[0].recorded
        let algorithm = inner?.algorithm
        self.inner = algorithm.map { ($0, $0.makeCell()) }
        var seams = SessionSeams()
        let asking = Asking(
            basalSource: algorithm?.basalSource ?? recorded?.basalSource ?? .algorithm,
            forecastMinutes: recorded?.forecastMinutes, inner: algorithm)
        seams.algorithm = { _ in asking }
        session = try Session(study: study, subject: subject, index: index, arm: study.arms[0], seams: seams)
        guard let first = Self.next(session) else {
            let outcome = session.conclude()
            throw GymProblem("no step in \(study.duration): \(outcome.end)")
        }
        asked = AskedRow(handle: handle, question: first)
        var ownLuck = RandomStreams(seed: study.seed, subject: UInt64(index)).offset(
            by: study.arms[0].luckOffset
        )
        .stream("algorithm")
        begin = BeginRow(
            handle: handle, seed: ownLuck.next(), isSame: false, therapy: first.input.therapy,
            target: first.input.target, subject: first.input.subjectID)
    }

    deinit { if outcome == nil { session.end() } }

    private static func next(_ session: Session) -> StepQuestion? {
        session.question(until: nil)?.algorithm
    }

    private func say(_ answer: StepAnswer) { session.answer(HeldAnswer(algorithm: answer)) }

    /// The step whose answer it waits for; nil where it is over.
    var waitsFor: Int64? { status == .waits ? asked.question.input.algorithmTime : nil }

    /// Goes on with an answer to its next step, or to its end.
    /// - Throws: what the session throws but for a body that leaves its range, which is an outcome.
    func answer(_ step: RecordedSteps.Step) throws {
        guard let number = waitsFor else { throw GymProblem("environment \(handle) waits for no answer") }
        answered.add(number, step)
        if let inner {
            if asked.question.beginsAnew {
                inner.cell.clear()
            } else if asked.question.undoesLast {
                inner.cell.undo()
            }
            do {
                say(
                    .dose(
                        try inner.algorithm.step(asked.question.input, inner.cell).forecasting(step.forecast))
                )
            } catch {
                say(.failed("\(error)"))
            }
        } else {
            say(.dose(StepOutput(step)))
        }
        if let next = Self.next(session) {
            asked = AskedRow(handle: handle, question: next)
            return
        }
        let failure = session.failure
        let concluded = session.conclude()
        outcome = concluded
        status = failure == nil ? .over : .endedEarly
        // What it is told last: no reading any more.
        var last = asked.question.input
        last.now = concluded.endedAt
        last.cgm = nil
        asked = AskedRow(
            handle: handle,
            question: StepQuestion(
                input: last, beginsAnew: asked.question.beginsAnew, undoesLast: asked.question.undoesLast))
        if let failure, !(failure is LeftPhysiologicalRange) { throw failure }
    }

    /// What its next step may know; nil where it is over.
    var input: StepInput? { status == .waits ? asked.question.input : nil }

    // MARK: What is told

    /// Appends the cells of its row, and what has happened since it was told last.
    func tell(to bytes: inout [UInt8], truth: inout [GymTruth], events rows: inout [JSONValue]) {
        let (reached, from) = (session.executor.now, told.truth)
        let fresh: [Float] = session.executor.inspect { [patient = session.patient] in
            patient.here { $0.plasmaTruthSoFar(from: from) }
        }
        told.truth += fresh.count
        for (place, value) in fresh.enumerated() {
            plasma = Double(value)
            truth.append(
                GymTruth(
                    handle: handle,
                    at: Instant(nanoseconds: Int64(from + place) * VirtualPatient.truthInterval),
                    plasma: plasma))
        }
        let (ledger, pulse) = (session.ledger, session.pump.pulse.units)
        let row = GymRow(
            status: status, reached: reached, bolus: Double(ledger.delivered - told.bolus) * pulse,
            basal: Double(ledger.basal - told.basal) * pulse, plasma: plasma)
        (told.bolus, told.basal) = (ledger.delivered, ledger.basal)
        PluginFrame.append(asked, to: &bytes)
        PluginFrame.append(row, to: &bytes)
        let recorder = session.recorder
        if recorder.alerts.count > told.alerts || recorder.person.count > told.person { rows += events() }
    }

    private func events() -> [JSONValue] {
        let recorder = session.recorder
        var rows: [JSONValue] = []
        for row in recorder.alerts.dropFirst(told.alerts) {
            rows.append([
                .integer(handle), .integer(row.instant.nanoseconds), "alert", .string(row.effect),
                .string(row.code.rawValue), .string(row.severity), .string(row.reason),
            ])
        }
        for row in recorder.person.dropFirst(told.person) {
            rows.append([
                .integer(handle), .integer(row.instant.nanoseconds), "person", .string(row.kind.rawValue),
                .number(row.amount), .string(row.code.rawValue),
            ])
        }
        (told.alerts, told.person) = (recorder.alerts.count, recorder.person.count)
        return rows
    }

    /// How it ended.
    var end: JSONValue? {
        guard let outcome else { return nil }
        var reason = JSONValue.null
        if case .endedEarly(let text) = outcome.end { reason = .string(text) }
        return [
            "handle": .integer(handle), "digest": .string(outcome.digest.description), "reason": reason,
            "lived_days": .number(Double(outcome.endedAt.nanoseconds) / Double(Nanoseconds.day)),
            "outcomes": .object(
                template.outcomes.compactMap { row in
                    outcome.outcomes[row.name].map { .init(row.name, .number($0)) }
                }),
        ]
    }

    /// The study that it is a session of, with what was answered so far.
    var study: Study {
        var study = template
        study.arms[0].recorded?.texts = answered.texts(subject: index, isForecast: inner != nil)
        return study
    }
}

/// What can't be done with an environment.
struct GymProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
