// What publications found by changing an algorithm, on people of ours.

import IsletDevices
import IsletKernel
@testable import IsletLoop
import IsletModels
import Testing

@testable import IsletTrials

/// An algorithm that nobody tells of meals.
private struct NotTold: AlgorithmWrapper {
    let wrapped: any DosingAlgorithm

    func run(_ input: borrowing StepInput, state: inout NoState) throws -> StepOutput { StepOutput() }
    func makeCell() -> StateCell { wrapped.makeCell() }
    func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput {
        var silent = copy input
        silent.user.meal = nil
        return try wrapped.step(silent, cell)
    }
}

@Suite("Published effects of algorithms")
struct PublishedEffectsTests {
    /// Means over people of the mean peak after a meal and of the mean nadir before the next one, mg/dL, true plasma glucose.
    private func course(_ algorithm: String) throws -> (peak: Double, nadir: Double) {
        let study = try Study.parse(
            """
            study: unannounced
            seed: 20261128
            duration: 4d
            sensor: ideal
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 10 } }
            scenario: { meals: [{ at: "08:00", carbs: 40 }, { at: "13:00", carbs: 80 }, { at: "20:00", carbs: 60 }] }
            record: full
            arms: [{ algorithm: \(algorithm), alerts: none }]
            """, file: "unannounced.yaml")
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        var (peaks, nadirs): ([Double], [Double]) = ([], [])
        for (index, subject) in subjects.enumerated() {
            var seams = SessionSeams()
            seams.algorithm = { NotTold(wrapped: $0) }
            let session = try Session(
                study: study, subject: subject, index: index, arm: study.arms[0], seams: seams)
            _ = session.run()
            let truth = session.recorder.truth
            // From the second day on, when it has settled: five hours from each meal.
            for day in 1..<4 {
                for hour in [8.0, 13, 20] {
                    let from = (Double(day) * 24 + hour) * 60
                    let after = truth.filter { $0.instant.minutes >= from && $0.instant.minutes < from + 300 }
                    let peak = try #require(after.max { $0.plasmaMgdl < $1.plasmaMgdl })
                    peaks.append(peak.plasmaMgdl)
                    nadirs.append(after.filter { $0.instant >= peak.instant }.map(\.plasmaMgdl).min() ?? 0)
                }
            }
        }
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
        return (mean(peaks), mean(nadirs))
    }

    /// Ten adults of T1DMS: 252 (SE 11) against 279 (14) mg/dL at the peak, 102 (3) against 92 (3) at the nadir (J Diabetes Sci Technol 2012,
    /// PMC3570882).
    @Test(
        "the programme's basal in place of an integral lowers peaks and raises nadirs, insulin feedback in both"
    )
    func derivative() throws {
        let pid = try course("pid-insulin-feedback")
        let pd = try course("{ name: pid-insulin-feedback, ti: 100000, integralMin: 0, integralMax: 0 }")
        print("PID: peak \(pid.peak), nadir \(pid.nadir); PD: peak \(pd.peak), nadir \(pd.nadir)")
        #expect(pd.nadir > pid.nadir)
    }
}
