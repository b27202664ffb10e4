import IsletDevices
import IsletFiles
import IsletKernel
import IsletLoop
import IsletModels
import Testing

@testable import IsletTrials

/// What was answered step by step, as an arm's algorithm; and environments, whose episodes are sessions of such a study.
@Suite struct RecordedStepsTests {
    private static let faults =
        "{ signal-loss: true, pump-outage: true, command-failure: true, uncertain-delivery: true, app-relaunch: true, app-quit: true }"

    private func study(_ algorithm: String, alerts: String = "bionicloop", duration: String = "3d") throws
        -> Study
    {
        try Study.parse(
            """
            duration: \(duration)
            cohort: { generate: { count: 2 } }
            scenario: { preset: life }
            person: typical
            faults: \(Self.faults)
            arms: [{ name: arm, algorithm: \(algorithm), alerts: \(alerts) }]
            """, file: "recorded")
    }

    /// An episode that is answered by what `answer` makes of each question, to its end.
    private func lived(
        _ study: Study, subject index: Int, luck: UInt64 = 0,
        _ answer: (StepInput) -> RecordedSteps.Step
    ) throws -> GymEpisode {
        var template = try GymTemplate(study, file: "test")
        let episode = try template.episode(
            handle: 7, seed: study.seed, luckOffset: luck, subject: index, path: "")
        while let input = episode.input { try episode.answer(answer(input)) }
        return episode
    }

    private func run(_ study: Study, subject index: Int) throws -> SessionOutcome {
        let subject = try CohortLoader.subject(index, of: study, studyPath: "")
        return try Session(study: study, subject: subject, index: index, arm: study.arms[0]).run()
    }

    private func drawn(_ luck: inout RandomStream, _ input: StepInput) -> RecordedSteps.Step {
        var step = RecordedSteps.Step()
        step.basal = 2 * luck.uniform() * input.therapy.basalRate.unitsPerHour / 12
        if luck.uniform() < 0.05 { step.correction = luck.uniform() }
        step.meal = (input.user.meal?.carbohydrate.grams ?? 0) / input.therapy.carbohydrateRatioGramsPerUnit
        return step
    }

    @Test(arguments: 0..<2) func theStudyOfAnEpisodeComesToItsDigest(index: Int) throws {
        var luck = RandomStreams(seed: 5, subject: UInt64(index)).stream("test")
        let episode = try lived(try study("{ recorded: [\"\"] }"), subject: index, luck: 3) {
            drawn(&luck, $0)
        }
        let outcome = try #require(episode.outcome)
        #expect(episode.status == .over)
        // As it is written down, and read again.
        let again = try Study.parse(episode.study.json.compactText, file: "again")
        #expect(again == episode.study)
        #expect(again.arms[0].luckOffset == 3)
        #expect(again.arms[0].recorded?.texts.count == index + 1)
        let replayed = try run(again, subject: index)
        #expect(replayed.digest == outcome.digest)
        #expect(replayed.outcomes == outcome.outcomes)
        // Another answer to one step is another session.
        var other = again
        let text = try #require(other.arms[0].recorded?.texts[index])
        other.arms[0].recorded?.texts[index] = String(
            text.split(separator: ";").dropLast(300).joined(separator: ";"))
        #expect(try run(other, subject: index).digest != outcome.digest)
    }

    /// Harm: beside a pump that stops its basal people correct highs by hand; a wrapper that forgets to say so leaves them high.
    @Test(arguments: ["basal-bolus", "predictive-suspend", "low-glucose-suspend", "pid-insulin-feedback"])
    func whatStandsBeforeAnAlgorithmSaysOfItselfWhatThatSays(inner: String) throws {
        let study = try study("{ recorded: [\"\"], beside: \(inner), forecastMinutes: 20 }")
        let arm = study.arms[0].algorithm.algorithm
        let own = TunedAlgorithm(try #require(AlgorithmKind.all.first { $0.id == inner })).algorithm
        #expect(arm.lowersHighs == own.lowersHighs && arm.basalSource == own.basalSource)
        #expect(arm.version == own.version && arm.forecastMinutes == 20 && arm.name == "recorded")
    }

    @Test(arguments: ["basal-bolus", "predictive-suspend", "pid-insulin-feedback"])
    func alarmsAreRecordedBesideAnAlgorithm(
        inner: String
    ) throws {
        let policy =
            "{ policy: learned, rules: [{ code: LEARNED-LOW, when: forecastGlucose < 90, acknowledge: reviews }] }"
        let alarms = try study("{ recorded: [\"\"], beside: \(inner), forecastMinutes: 20 }", alerts: policy)
        var luck = RandomStreams(seed: 5, subject: 0).stream("test")
        let episode = try lived(alarms, subject: 1) { _ in
            var step = RecordedSteps.Step()
            step.forecast = luck.uniform() < 0.02 ? 80 : 120
            return step
        }
        let outcome = try #require(episode.outcome)
        #expect(outcome.alerts.contains { $0.raised > 0 })
        let again = try Study.parse(episode.study.json.compactText, file: "again")
        #expect(try run(again, subject: 1).digest == outcome.digest)
    }

    /// What it never says is no dose of another step: the step fails, and the programmed basal comes back.
    @Test func aStepThatIsNotRecordedFails() throws {
        let study = try study("{ recorded: [\"0.05;;0.1\"] }", duration: "2h")
        let subject = try CohortLoader.subject(0, of: study, studyPath: "")
        let session = try Session(
            study: study, subject: subject, index: 0, arm: study.arms[0], keepsStepLog: true)
        _ = session.run()
        let steps = session.takeStepLog()
        #expect(steps.count > 10)
        for step in steps {
            #expect((step.failure == "") == [0, 2].contains(step.algorithmTime), "\(step.algorithmTime)")
            if step.failure != "" {
                #expect(step.failure == "nothing was recorded for step \(step.algorithmTime)")
            }
        }
    }

    @Test func textAndStepsAreOne() {
        var steps: [(number: Int64, step: RecordedSteps.Step)] = []
        var luck = RandomStreams(seed: 1, subject: 1).stream("test")
        for number in Int64(0)..<200 where luck.uniform() < 0.9 {
            var step = RecordedSteps.Step()
            step.basal = luck.uniform() < 0.3 ? 0 : luck.uniform() / 7
            step.correction = luck.uniform() < 0.8 ? 0 : luck.uniform() * 1e-7
            step.meal = luck.uniform() < 0.8 ? 0 : luck.uniform() * 20
            step.forecast = luck.uniform() < 0.5 ? nil : 100 * luck.uniform()
            steps.append((number, step))
        }
        let read = RecordedSteps.steps(RecordedSteps.text(steps, isForecast: false), isForecast: false)
        for number in 0..<200 {
            let found = read.flatMap { $0.indices.contains(number) ? $0[number] : nil }
            #expect(found == steps.first { $0.number == Int64(number) }?.step, "\(number)")
        }
    }

    @Test(arguments: [
        ("{ recorded: [\"a\"] }", "steps with `;`"), ("{ recorded: [\"-1\"] }", "steps with `;`"),
        ("{ recorded: [\"1 2 3 4 5\"] }", "steps with `;`"), ("{ recorded: [\"nan\"] }", "steps with `;`"),
        ("{ recorded: [] }", "1 to"), ("{ recorded: 1 }", "a list"),
        ("{ recorded: [\"1\"], beside: pid-insulin-feedbac }", "pid-insulin-feedback"),
        ("{ recorded: [\"1 2\"], beside: basal-bolus }", "forecasts in mg/dL"),
        ("{ recorded: [\"1\"], beside: basal-bolus, basalSource: programmed }", "one of the two"),
        ("{ recorded: [\"1\"], basal: programmed }", "basalSource"),
    ])
    func whatIsNoRecordIsRefused(text: String, expected: String) throws {
        let problem = #expect(throws: InputError.self) { _ = try study(text) }
        #expect(problem.map { "\($0)".contains(expected) } == true, "\(problem.map { "\($0)" } ?? "nothing")")
    }

    @Test(arguments: ["basal-bolus", "{ python: mine.py }"]) func anEnvironmentIsOfARecordedArm(
        algorithm: String
    ) throws {
        let study = try study(algorithm)
        #expect(throws: InputError.self) { _ = try GymTemplate(study, file: "test") }
    }
}
