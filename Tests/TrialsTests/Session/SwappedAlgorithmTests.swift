// Another algorithm put in the place of the first, in whole sessions. Each test states the harm that it looks for, and looks for it in true glucose.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

private func study(hours: Int, start: String, meals: String, faults: String = "") throws -> Study {
    try Study.parse(
        """
        study: store
        seed: 7
        start: 2026-03-02T\(start):00-05:00
        duration: \(hours)h
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 4 } }
        sensor: ideal
        scenario: { meals: \(meals) }
        faults: { scheduled: [\(faults)] }
        record: full
        arms: [{ algorithm: pid-insulin-feedback }]
        """, file: "store.yaml")
}

private func session(_ study: Study, _ subject: Int, _ seams: SessionSeams) throws -> Session {
    let subjects = try CohortLoader.subjects(of: study, studyPath: "store.yaml", jobs: 1)
    return try Session(
        study: study, subject: subjects[subject], index: subject, arm: study.arms[0], seams: seams)
}

@Suite("An algorithm put in the place of another")
struct SwappedAlgorithmTests {
    /// The real one; before the swap it goes by another name, so that its state is another's at the next launch.
    private final class Successor: DosingAlgorithm, @unchecked Sendable {
        let base = PIDInsulinFeedback()
        var isSwapped = false
        /// After an update: its accounting has changed.
        var isNewer = false
        var first: StepInput?
        /// After each step: the rate that it asked for, and insulin above basal in its compartments, U/h.
        var after: [Instant: (rate: Double, onBoard: [Double])] = [:]

        var name: String { isSwapped ? base.name : "predecessor" }
        var version: Int { base.version + (isNewer ? 1 : 0) }
        var basalSource: BasalSource { base.basalSource }
        func run(_ input: borrowing StepInput, state: inout PIDInsulinFeedback.State) -> StepOutput {
            if isSwapped || isNewer, first == nil { first = copy input }
            let output = base.run(input, state: &state)
            let onBoard = state.onBoard
            after[input.now] = (
                12 * (output.basal + output.correction).units,
                [onBoard.subcutaneous, onBoard.plasma, onBoard.effective]
            )
            return output
        }
    }

    /// Harm: a controller that thinks there is no insulin on board doses for a meal's high once more, and for hours of the
    /// pump's own basal as if there had been none.
    @Test(
        "sees the insulin on board at once, and glucose goes on as if nothing had been swapped",
        arguments: [100, 330] as [Int64], 0..<3)
    func swap(at minute: Int64, subject: Int) throws {
        let study = try study(
            hours: 12, start: "06:00", meals: "[{ at: 1h, carbs: 70 }, { at: 5h, carbs: 60 }]")
        func live(swaps: Bool) throws -> (Session, Successor, PumpLedger) {
            var seams = SessionSeams()
            let successor = Successor()
            seams.algorithm = { _ in successor }
            let session = try session(study, subject, seams)
            try session.advance(to: .minutes(minute + 1))
            let then = session.ledger
            if swaps { successor.isSwapped = true }
            session.executor.inspect { session.loop.here { $0.algorithmDidChange() } }
            _ = session.run()
            return (session, successor, then)
        }
        let (swapped, successor, then) = try live(swaps: true)
        let (same, unswapped, _) = try live(swaps: false)
        // Before: nothing at all.
        let history = try #require(successor.first?.earlier)
        let told = history.given.reduce(0) { $0 + $1.amount.units }
        let given = Double(then.delivered + then.basal) * 0.05
        #expect(abs(told - given) < 0.11, "\(told) of \(given)")

        // What it thinks is on board is what the one that was there all along does, but for what the two make of this very step.
        let step = try #require(successor.first?.now)
        let (mine, others) = (try #require(successor.after[step]), try #require(unswapped.after[step]))
        let slack = 0.05 + 0.1 * abs(mine.rate - others.rate)
        for (mine, others) in zip(mine.onBoard, others.onBoard) {
            #expect(abs(mine - others) < slack + 0.03 * abs(others), "\(mine) against \(others) U/h")
        }
        let (truth, calm) = (swapped.plasmaTruth, same.plasmaTruth)
        let difference = zip(truth, calm).map { abs($0 - $1) }.max() ?? .nan
        #expect(difference < 20, "\(difference) mg/dL")
        #expect((truth.min() ?? 0) > (calm.min() ?? 0) - 8)
    }

    /// Harm: a state whose accounting has changed since is read as if it hadn't.
    @Test("refuses what an earlier version of itself left, and goes by the account")
    func earlierVersion() throws {
        let study = try study(hours: 4, start: "06:00", meals: "[{ at: 1h, carbs: 60 }]")
        var seams = SessionSeams()
        let successor = Successor()
        seams.algorithm = { _ in successor }
        let session = try session(study, 0, seams)
        try session.advance(to: .minutes(122))
        successor.isNewer = true
        session.executor.inspect { session.loop.here { $0.algorithmDidChange() } }
        let display = session.executor.inspect { session.loop.here { $0.display() } }
        #expect(display.refusedState?.version == successor.base.version)
        _ = session.run()
        #expect(successor.first?.now == .minutes(125) && successor.first?.earlier != nil)
    }
}
