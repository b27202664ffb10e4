// hovorka-mpc in closed loop: on bodies of its own equations, and on those of another model.

import Foundation
import IsletDevices
import IsletKernel
import Testing

@testable import IsletLoop
@testable import IsletModels
@testable import IsletTrials

@Suite("hovorka-mpc in closed loop")
struct HovorkaSessionTests {
    /// Writes down what it is asked and answers.
    private struct Heard: AlgorithmWrapper {
        final class Steps: @unchecked Sendable {
            // One session on one thread writes it.
            var all: [(input: StepInput, output: StepOutput)] = []
        }

        let wrapped: any DosingAlgorithm
        let steps: Steps

        func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput { StepOutput() }
        func makeCell() -> StateCell { wrapped.makeCell() }
        func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput {
            let output = try wrapped.step(input, cell)
            steps.all.append((copy input, output))
            return output
        }
    }

    private func live(
        _ text: String, algorithm: String = "hovorka-mpc", beside folder: URL? = nil
    ) throws -> [(steps: Heard.Steps, truth: [TruthRow], outcome: SessionOutcome)] {
        let path = folder?.appending(path: "predictive.yaml").path ?? "predictive.yaml"
        let study = try Study.parse(
            """
            study: predictive
            seed: 31
            \(text)
            record: full
            arms: [{ algorithm: \(algorithm), alerts: none }]
            """, file: path)
        let subjects = try CohortLoader.subjects(of: study, studyPath: path, jobs: 2)
        return try subjects.enumerated().map { index, subject in
            let steps = Heard.Steps()
            var seams = SessionSeams()
            seams.algorithm = { Heard(wrapped: $0, steps: steps) }
            let session = try Session(
                study: study, subject: subject, index: index, arm: study.arms[0], seams: seams)
            let outcome = session.run()
            return (steps, session.recorder.truth, outcome)
        }
    }

    @Test("reckons with the constants of the body of the same publication")
    func constants() {
        let body = Hovorka2004Parameters()
        let means = [
            HovorkaMeans.k12, HovorkaMeans.ka1, HovorkaMeans.ka2, HovorkaMeans.ka3, HovorkaMeans.ke,
            HovorkaMeans.VI, HovorkaMeans.VG, HovorkaMeans.tG, HovorkaMeans.tI, HovorkaMeans.SIT,
            HovorkaMeans.SID, HovorkaMeans.SIE, HovorkaMeans.EGP0, HovorkaMeans.F01,
            HovorkaMeans.molarMass,
        ]
        #expect(
            means == [
                body.k12, body.ka1, body.ka2, body.ka3, body.ke, body.VI, body.VG, body.tG, body.tI,
                body.SIT, body.SID, body.SIE, body.EGP0, body.F01, Hovorka2004.molarMass,
            ])
    }

    @Test(
        "leaves bodies of its own equations where they are, and foresees them after meals and their boluses")
    func own() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "predictive-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Sensitivities as other implementations scale them, so that a unit lowers glucose as it does in people.
        var table = "Name,BW,Gb,k12,ka1,ka2,ka3,SIT,SID,SIE,ke,VI,VG,AG,tG,tI,EGP0,F01\n"
        for (index, scale) in [0.35, 0.5, 0.62, 0.8, 1, 0.45].enumerated() {
            let b = Hovorka2004Parameters()
            let other = 1 + 0.04 * Double(index - 3)
            let row = [
                b.BW * other, b.Gb, b.k12 / other, b.ka1 * other, b.ka2 / other, b.ka3 * other, b.SIT * scale,
                b.SID * scale, b.SIE * scale, b.ke, b.VI, b.VG / other, b.AG, b.tG * other, b.tI / other,
                b.EGP0, b.F01,
            ]
            table += "own#\(index)," + row.map { "\($0)" }.joined(separator: ",") + "\n"
        }
        try table.write(to: folder.appending(path: "own.csv"), atomically: true, encoding: .utf8)
        let people = try live(
            """
            duration: 2d
            sensor: ideal
            cohort: { table: own.csv, model: hovorka-2004 }
            scenario: { meals: benchmark }
            """, beside: folder)
        var errors: [Double] = []
        for person in people {
            #expect(person.outcome.end == .completed)
            for (input, output) in person.steps.all {
                guard let forecast = output.forecast else { continue }
                let minute = input.now.minutes + 30
                let slot = Int((minute / 5).rounded())
                guard slot < person.truth.count else { continue }
                errors.append(abs(forecast.milligramsPerDecilitre - person.truth[slot].plasmaMgdl))
            }
            let low = try #require(person.outcome.outcomes["tbr_54_percent"])
            #expect(low == 0)
        }
        let mean = errors.reduce(0, +) / Double(errors.count)
        #expect(errors.count > 3000 && mean < 15, "\(mean) mg/dL")
    }

    @Test(
        "keeps its rates within the therapy's maximum, none at a low reading, and glucose better than its programme does"
    )
    func adults() throws {
        let study = """
            duration: 4d
            sensor: dexcom-g7
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 8 } }
            scenario: { preset: life }
            """
        let people = try live(study)
        var (rates, zeros) = (0, 0)
        for person in people {
            for (input, output) in person.steps.all {
                guard let answer = output.temporaryBasal else { continue }
                rates += 1
                let most = input.therapy.maximumBasal.unitsPerHour
                #expect((0...most).contains(answer.rate.unitsPerHour) && answer.minutes == 30)
                if let reading = input.cgm, reading.glucose.milligramsPerDecilitre <= 70 {
                    zeros += 1
                    #expect(answer.rate == .zero)
                }
                #expect(output.basal == .zero && output.correction == .zero)
            }
        }
        #expect(rates > 2000 && zeros > 20)
        func mean(_ key: String, _ people: [(steps: Heard.Steps, truth: [TruthRow], outcome: SessionOutcome)])
            throws
            -> Double
        {
            try people.map { try #require($0.outcome.outcomes[key]) }.reduce(0, +) / Double(people.count)
        }
        let open = try live(study, algorithm: "basal-bolus")
        #expect(try mean("tir_70_180_percent", people) > mean("tir_70_180_percent", open) + 5)
        // No more severe lows than its people had in open loop, and a tenth of a day's worth at most.
        #expect(try mean("tbr_54_percent", people) < mean("tbr_54_percent", open) + 0.5)
    }
}
