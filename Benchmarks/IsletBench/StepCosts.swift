// `islet-bench steps`: the CPU time of a step of each algorithm.
//
// Guarantees: steps are those that a person's week in closed loop had with that algorithm, asked again one after the other, state and all; the best
// of some rounds by the thread's own time. Does not: count what the loop does around a step.

import IsletDevices
import IsletLoop
import IsletTrials

struct StepCosts {
    private final class Inputs: @unchecked Sendable {
        // One session on one thread writes it.
        var all: [StepInput] = []
    }

    /// Writes down what the algorithm is asked.
    private struct Written: AlgorithmWrapper {
        let wrapped: any DosingAlgorithm
        let inputs: Inputs

        func run(_ input: borrowing StepInput, state: inout NoState) -> StepOutput { StepOutput() }
        func makeCell() -> StateCell { wrapped.makeCell() }
        func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput {
            inputs.all.append(copy input)
            return try wrapped.step(input, cell)
        }
    }

    private static let people = 5

    func run(rounds: Int, algorithm: String?) throws {
        print("us a step, mean of \(Self.people) people's weeks")
        for kind in AlgorithmKind.all where algorithm == nil || algorithm == kind.id {
            let study = try Study.parse(
                """
                study: steps
                seed: 1
                duration: 7d
                sensor: dexcom-g7
                cohort: { generate: { group: adult, count: \(Self.people) } }
                scenario: { preset: life }
                arms: [{ algorithm: \(kind.id), alerts: none }]
                """, file: "steps.yaml")
            var (seconds, steps) = (0.0, 0)
            for index in 0..<Self.people {
                let inputs = Inputs()
                var seams = SessionSeams()
                seams.algorithm = { Written(wrapped: $0, inputs: inputs) }
                let session = try Session(
                    study: study, subject: try CohortLoader.subject(index, of: study, studyPath: ""),
                    index: index, arm: study.arms[0], seams: seams)
                _ = session.run()
                let algorithm = TunedAlgorithm(kind).algorithm
                seconds += try best(of: rounds) {
                    let cell = algorithm.makeCell()
                    let began = Stopwatch.threadSeconds()
                    for input in inputs.all { _ = try algorithm.step(input, cell) }
                    return Stopwatch.threadSeconds() - began
                }
                steps += inputs.all.count
            }
            print("\(kind.id): \((seconds / Double(steps) * 1e8).rounded() / 100)")
        }
    }
}
