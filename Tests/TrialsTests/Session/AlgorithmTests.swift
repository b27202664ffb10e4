// What a study may say of an algorithm, and what a newcomer has to write for one.

import IsletLoop
import IsletDevices
import IsletFiles
import Foundation
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("An algorithm")
struct AlgorithmTests {
    private func study(_ algorithms: String...) throws -> Study {
        let arms = algorithms.enumerated().map { "  - { name: arm\($0), algorithm: \($1) }" }
        return try Study.parse(
            """
            duration: 1d
            seed: 4
            cohort: { generate: { count: 1 } }
            sensor: ideal
            arms:
            \(arms.joined(separator: "\n"))
            """, file: "gains.yaml")
    }

    private func run(_ study: Study, arm: Int) throws -> SessionOutcome {
        let subjects = try CohortLoader.subjects(of: study, studyPath: "gains.yaml", jobs: 1)
        return try Session(study: study, subject: subjects[0], index: 0, arm: study.arms[arm]).run()
    }

    /// A study could name an algorithm and nothing of it.
    @Test("has parameters, so that two arms may differ in a gain and in nothing else")
    func gains() throws {
        let study = try study(
            "pid-insulin-feedback", "{ name: pid-insulin-feedback }",
            "{ name: pid-insulin-feedback, kp: 0.25 }", "{ name: pid-insulin-feedback, kp: 0.5, td: 60 }")
        let outcomes = try (0..<4).map { try run(study, arm: $0) }
        #expect(outcomes[1].digest == outcomes[0].digest && outcomes[2].digest == outcomes[0].digest)
        #expect(outcomes[3].digest != outcomes[0].digest)
        // What is standard is written as its bare name, what isn't with all its values.
        #expect(try Study.parse(study.yaml, file: "yaml") == study)
        #expect(try Study.parse(study.json.compactText, file: "json") == study)
        #expect(study.json.compactText.filter { !$0.isWhitespace }.contains(#""kp":0.5,"ti":450,"td":60,"#))
        let pid = try #require(study.arms[3].algorithm.algorithm as? PIDInsulinFeedback)
        #expect(pid.tuning.proportional == 0.5 && pid.tuning.derivativeTime == 60)
        #expect(pid.tuning.integralTime == PIDInsulinFeedback.Tuning().integralTime)
    }

    @Test(
        "that is none, has no such parameter, or not that value of it, is refused with its line",
        arguments: [
            ("{ name: pid }", "`pid` at arms[1].algorithm.name"),
            ("pid", "`pid` at arms[1].algorithm"),
            ("{ kp: 0.3 }", "no `name` at arms[1].algorithm"),
            ("{ name: pid-insulin-feedback, gain: 1 }", "the unknown key `gain` in arms[1].algorithm"),
            ("{ name: basal-bolus, kp: 0.3 }", "`kp` in arms[1].algorithm"),
            ("{ name: pid-insulin-feedback, kp: -0.1 }", "`-0.1` at arms[1].algorithm.kp"),
            ("{ name: pid-insulin-feedback, kp: 5.1 }", "`5.1` at arms[1].algorithm.kp"),
            ("{ name: pid-insulin-feedback, kp: fast }", "`fast` at arms[1].algorithm.kp"),
            ("{ name: pid-insulin-feedback, ti: .inf }", "`.inf` at arms[1].algorithm.ti"),
        ])
    func refusals(_ algorithm: String, found: String) throws {
        let problem = try #require(
            #expect(throws: InputError.self) { try study("basal-bolus", algorithm) })
        #expect(problem.file == "gains.yaml" && problem.line == 7)
        #expect(problem.found == found)
    }

    @Test(
        "owns its row: names, parameters and standard values agree with what is made of it",
        arguments: AlgorithmKind.all)
    func rows(_ kind: AlgorithmKind) {
        let untuned = TunedAlgorithm(kind)
        #expect(untuned.algorithm.name == kind.id && untuned.algorithm.basalSource == kind.basalSource)
        #expect(Set(kind.parameters.map(\.name)).count == kind.parameters.count)
        for parameter in kind.parameters {
            #expect(parameter.range.contains(parameter.defaultValue) && parameter.name != "name")
            var tuned = untuned
            for value in [parameter.range.lowerBound, parameter.range.upperBound] {
                let isSet = tuned.set(parameter.name, to: value)
                #expect(isSet)
                // It reaches the algorithm: each field's path leads to a value of its own.
                #expect("\(tuned.algorithm)" != "\(untuned.algorithm)" || value == parameter.defaultValue)
            }
            for value in [parameter.range.upperBound.nextUp, .nan] {
                let isSet = tuned.set(parameter.name, to: value)
                #expect(!isSet)
            }
        }
        #expect(Set(AlgorithmKind.all.map(\.id)).count == AlgorithmKind.all.count)
    }

    // MARK: A newcomer's

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")

    @Test(
        "of a newcomer's is one file of at most 40 lines, without unsafe code, shown in HACKING.md as it is compiled here"
    )
    func newcomersFile() throws {
        let file = Self.root.appending(path: "Tests/TrialsTests/Session/ProportionalController.swift")
        let code = try String(contentsOf: file, encoding: .utf8)
        #expect(code.split(separator: "\n", omittingEmptySubsequences: false).count - 1 <= 40)
        #expect(!code.localizedCaseInsensitiveContains("unsafe"))
        let page = try String(contentsOf: Self.root.appending(path: "HACKING.md"), encoding: .utf8)
        #expect(page.contains("```swift\n\(code)```"))
        // Nor is there any in those that come with Islet.
        let folder = Self.root.appending(path: "Sources/IsletLoop/DosingAlgorithms").path()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let text = try String(contentsOf: URL(filePath: folder + "/" + name), encoding: .utf8)
            #expect(!text.contains("Unsafe") && !text.contains("assumingMemoryBound"), "\(name)")
        }
    }

    @Test("of a newcomer's runs a day in closed loop, by its row and its parameter, and holds glucose")
    func newcomersDay() throws {
        var study = try study("pid-insulin-feedback", "pid-insulin-feedback")
        study.arms[0].algorithm = TunedAlgorithm(.proportional)
        study.arms[1].algorithm = TunedAlgorithm(.proportional)
        let isSet = study.arms[1].algorithm.set("gain", to: 0.6)
        #expect(isSet)
        let outcomes = try (0..<2).map { try run(study, arm: $0) }
        #expect(outcomes[0].digest != outcomes[1].digest)
        for outcome in outcomes {
            #expect(outcome.end == .completed)
            let inRange = try #require(outcome.outcomes["tir_70_180_percent"])
            #expect(inRange > 70, "\(inRange) %")
        }
    }

    @Test("has a state that outlives the process as text, and one of another type is not taken over")
    func codable() throws {
        let algorithm = PIDInsulinFeedback()
        var state = PIDInsulinFeedback.State()
        var input = StepInput(
            algorithmTime: 3, now: .minutes(15),
            therapy: TherapySettings(
                bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1),
                carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
                totalDailyInsulin: InsulinAmount(units: 40)),
            target: GlucoseConcentration(milligramsPerDecilitre: 120))
        input.cgm = GlucoseReading(
            instant: .minutes(15), glucose: GlucoseConcentration(milligramsPerDecilitre: 217.3))
        input.insulinPump = StepPumpStatus(isAvailable: true)
        _ = algorithm.run(input, state: &state)
        let saved = SavedState(state)
        let text = try JSONEncoder().encode(saved)
        struct Reading: Decodable {
            let saved: SavedState
            init(from decoder: any Decoder) throws {
                saved = try SavedState(of: PIDInsulinFeedback(), from: decoder)
            }
        }
        let again = try JSONDecoder().decode(Reading.self, from: text).saved
        #expect(again == saved && again.value as? PIDInsulinFeedback.State == state)
        #expect(again != SavedState(PIDInsulinFeedback.State()) && again != SavedState(NoState()))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Reading.self, from: Data(#"{"integral": "much"}"#.utf8))
        }
    }
}
