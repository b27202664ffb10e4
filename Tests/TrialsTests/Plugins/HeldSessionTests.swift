import IsletDevices
import IsletKernel
import IsletLoop
import IsletModels
import Testing

@testable import IsletTrials

/// Sessions that wait for an algorithm outside are the sessions of that algorithm inside.
@Suite struct HeldSessionTests {
    /// Islet's own PID, asked from outside: its state is kept here, as a process would.
    private final class Outside {
        let algorithm = PIDInsulinFeedback()
        var state = PIDInsulinFeedback.State()
        var before = PIDInsulinFeedback.State()
        var asked = 0

        func answer(_ question: HeldQuestion) throws -> HeldAnswer {
            guard let question = question.algorithm else { throw NobodyAsked() }
            asked += 1
            if question.beginsAnew { state = .init() } else if question.undoesLast { state = before }
            before = state
            return HeldAnswer(algorithm: .dose(algorithm.run(question.input, state: &state)))
        }
    }

    private struct Asked: OutsideAlgorithm {
        let name = "pid-insulin-feedback"
        let version = 3
        let basalSource = BasalSource.algorithm
        let forecastMinutes: Double? = 45
    }

    private func study() throws -> Study {
        try Study.parse(
            """
            duration: 3d
            cohort: { generate: { count: 3 } }
            scenario: { preset: life }
            person: typical
            faults: { signal-loss: true, pump-outage: true, pod-fault: true, command-failure: true, uncertain-delivery: true, app-relaunch: true, app-quit: true }
            arms: [{ algorithm: pid-insulin-feedback, alerts: bionicloop }]
            """, file: "held")
    }

    private func session(_ study: Study, _ index: Int, _ seams: SessionSeams = SessionSeams()) throws
        -> Session
    {
        let people = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        return try Session(
            study: study, subject: people[index], index: index, arm: study.arms[0], seams: seams)
    }

    private func held(_ study: Study, _ index: Int) throws -> Session {
        var seams = SessionSeams()
        seams.algorithm = { _ in Asked() }
        return try session(study, index, seams)
    }

    /// Harm: an app that dies before its first step, or right after a new session began, goes on from a state that is not its own.
    @Test func aDeathChangesNothingOfWhichStateIsOutThere() throws {
        let session = try held(study(), 0)
        defer { session.end() }
        let input = try #require(session.question(until: nil)?.algorithm).input
        let cell = OutsideCell()
        func die() -> Bool {
            let saved = cell.saved
            cell.clear()
            return cell.restore(saved)
        }
        #expect(die())
        #expect(cell.question(input).beginsAnew)
        #expect(die())
        #expect(!cell.question(input).beginsAnew)
        cell.clear()
        #expect(die())
        #expect(cell.question(input).beginsAnew)
        // A state that nobody has out there is no state.
        #expect(!cell.restore(SavedState(OutsideState())) && !cell.restore(SavedState(NoState())))
    }

    @Test(arguments: 0..<3) func theDigestIsThatOfTheAlgorithmInside(index: Int) throws {
        let study = try study()
        let inside = try session(study, index).run()
        let (outside, waits) = (Outside(), try held(study, index))
        while let question = waits.question(until: nil) { waits.answer(try outside.answer(question)) }
        let answered = waits.conclude()
        #expect(answered.end == .completed && inside.end == .completed)
        #expect(answered.digest == inside.digest)
        #expect(outside.asked > 600)
    }

    @Test func aFailedStepIsUndoneAtTheNextQuestion() throws {
        let (outside, waits) = (Outside(), try held(try study(), 0))
        var undone: [Int] = []
        while let question = waits.question(until: nil) {
            if question.algorithm?.undoesLast == true { undone.append(outside.asked) }
            let answer = try outside.answer(question)
            switch outside.asked {
            case 20: waits.answer(HeldAnswer(algorithm: .failed("on purpose")))
            case 30:
                waits.answer(
                    HeldAnswer(algorithm: .dose(StepOutput(basal: InsulinAmount(units: .nan)))))
            case 40:
                waits.answer(
                    HeldAnswer(algorithm: .dose(StepOutput(correction: InsulinAmount(units: -1)))))
            default: waits.answer(answer)
            }
        }
        #expect(undone == [20, 30, 40])
        let loop = waits.loop
        let failed: Int = waits.executor.inspect { loop.here { $0.stepsFailed } }
        #expect(failed == 3)
        #expect(waits.conclude().end == .completed)
    }

    @Test func aSessionThatNobodyAnswersEndsAndSaysSo() throws {
        let waits = try held(try study(), 0)
        guard case .endedEarly(let reason) = waits.run().end else {
            Issue.record("it went on")
            return
        }
        #expect(reason.contains("nobody asked it"))
        let killed = try held(try study(), 0)
        #expect(killed.question(until: nil) != nil)
        killed.end()
    }
}
