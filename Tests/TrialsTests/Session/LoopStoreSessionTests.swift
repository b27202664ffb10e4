// A loop's store in whole sessions: a disk that is full for hours, and another algorithm put in the place of the first.
//
// Each states the harm that it looks for, and looks for it in true glucose.

import IsletLoop
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@testable import IsletTrials

/// A store whose disk is full when the test says so.
private final class FullDisk: LoopStore, @unchecked Sendable {
    struct IsFull: Error {}
    let inner = MemoryLoopStore()
    var isFull = false

    private func write(_ body: () -> Void) throws {
        guard !isFull else { throw IsFull() }
        body()
    }

    func load() -> LoopMemory? { inner.load() }
    func save(_ memory: LoopMemory) throws { try write { inner.save(memory) } }
    func append(_ step: StepRecord, _ memory: LoopMemory) throws { try write { inner.append(step, memory) } }
    func settle(
        _ requestID: Int64, accepted: InsulinAmount?, pumpError: String, _ memory: LoopMemory
    ) throws {
        try write { inner.settle(requestID, accepted: accepted, pumpError: pumpError, memory) }
    }
    func steps(since instant: Instant) -> [StepRecord] { inner.steps(since: instant) }
}

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

@Suite("A session whose loop can't write")
struct FullDiskSessionTests {
    /// Harm: hours without basal, insulin that nobody wrote down, the night's or the meal's insulin all at once when it writes again.
    @Test(
        "for three hours of the night and at a meal gets its programmed basal and no bolus, rings, and recovers",
        // Person 1 falls to 53 mg/dL in an undisturbed loop, too.
        arguments: [0, 2, 3])
    func nightAndMeal(subject: Int) throws {
        let study = try study(
            hours: 22, start: "18:00",
            meals: "[{ at: 1h, carbs: 60 }, { at: 14h, carbs: 50 }, { at: 18h, carbs: 50 }]")
        let disk = FullDisk()
        var seams = SessionSeams()
        seams.store = disk
        let lived = try session(study, subject, seams)
        let quiet = try session(study, subject, SessionSeams())
        _ = quiet.run()
        var programmed = study
        programmed.arms[0].algorithm = .basalBolus
        let openLoop = try session(programmed, subject, SessionSeams())
        _ = openLoop.run()
        let rate = TherapySettings(
            try CohortLoader.subjects(of: study, studyPath: "store.yaml", jobs: 1)[subject]
        ).basalRate.unitsPerHour

        // Full from 5h to 8h, and from 13h40m to 14h20m around breakfast.
        let spans: [(from: Int64, to: Int64)] = [(302, 482), (822, 862)]
        for span in spans {
            try lived.advance(to: .minutes(span.from))
            let before = lived.ledger
            disk.isFull = true
            // From the first step that failed on.
            try lived.advance(to: .minutes(span.from + 4))
            let started = lived.ledger
            try lived.advance(to: .minutes(span.to))
            let after = lived.ledger
            disk.isFull = false
            #expect(after.delivered == before.delivered && after.requested == before.requested)
            let hours = Double(span.to - span.from - 4) / 60
            let basal = Double(after.basal - started.basal) * 0.05
            #expect(abs(basal - rate * hours) <= 0.1 + 0.02 * rate * hours, "\(basal) of \(rate * hours)")
        }
        let end = lived.run()
        #expect(end.end == .completed)

        // The alert comes a quarter of an hour after the last good step, and goes with the next one.
        let alerts = lived.recorder.alerts.filter { $0.code == "ALERT-ALGORITHM-STEPPING-INTERRUPTED" }
        let raised = alerts.filter { $0.effect == "raise" }.map(\.instant.minutes)
        let cleared = alerts.filter { $0.effect == "clear" }.map(\.instant.minutes)
        #expect(raised.count == 2 && cleared.count == 2)
        for (index, span) in spans.enumerated() where index < raised.count && index < cleared.count {
            #expect((Double(span.from) + 10...Double(span.from) + 20).contains(raised[index]))
            #expect((Double(span.to)...Double(span.to) + 6).contains(cleared[index]))
        }
        // Each step of the spans failed, those after them dose again, and ask for nothing of the spans.
        let failed = lived.recorder.steps.filter { !$0.failure.isEmpty }.map(\.instant.minutes)
        #expect(failed.count == 36 + 8, "\(failed)")
        let later = lived.recorder.deliveries.filter { delivery in
            spans.contains { Double($0.to)..<Double($0.to + 90) ~= delivery.instant.minutes }
        }
        #expect(!later.isEmpty && later.allSatisfy { $0.units < 1 })
        // What the log knows is what the pump did.
        let ledger = lived.ledger
        #expect(ledger.isBalanced)
        let known = disk.inner.log.reduce(0) { $0 + ($1.accepted?.units ?? -1000) }
        #expect(abs(known - Double(ledger.delivered) * 0.05) < 1e-6)

        // The night is no worse than with a loop or without one, breakfast without insulin runs high and comes down, and no low
        // comes of either.
        let (truth, calm, open) = (lived.plasmaTruth, quiet.plasmaTruth, openLoop.plasmaTruth)
        let night = (60..<160).map { index in
            (truth[index] - min(calm[index], open[index]), truth[index] - max(calm[index], open[index]))
        }
        // A controller that would have suspended gets the programmed basal instead.
        #expect(night.allSatisfy { $0.0 > -40 && $0.1 < 10 })
        #expect(truth.min() ?? 0 > 80 && truth.max() ?? 999 < 250, "\(truth.min() ?? 0) \(truth.max() ?? 0)")
        #expect(truth.last.map { $0 < 200 } == true)
    }
}

@Suite("An algorithm put in the place of another")
struct SwappedAlgorithmTests {
    /// The real one; before the swap it goes by another name, so that its state is another's at the next launch.
    private final class Successor: DosingAlgorithm, @unchecked Sendable {
        let base = PIDInsulinFeedback()
        var isSwapped = false
        var first: StepInput?
        /// After each step: the rate that it asked for, and insulin above basal in its compartments, U/h.
        var after: [Instant: (rate: Double, onBoard: [Double])] = [:]

        var name: String { isSwapped ? base.name : "predecessor" }
        var version: Int { base.version }
        var basalSource: BasalSource { base.basalSource }
        func run(_ input: borrowing StepInput, state: inout PIDInsulinFeedback.State) -> StepOutput {
            if isSwapped, first == nil { first = copy input }
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
        arguments: [(swap: 100, deadFor: 0), (330, 0), (330, 150)], 0..<3)
    func swap(_ when: (swap: Int64, deadFor: Int64), subject: Int) throws {
        let study = try study(
            hours: 12, start: "06:00", meals: "[{ at: 1h, carbs: 70 }, { at: 5h, carbs: 60 }]")
        func live(swaps: Bool) throws -> (Session, Successor, PumpLedger) {
            var seams = SessionSeams()
            let store = MemoryLoopStore()
            seams.store = store
            let successor = Successor()
            seams.algorithm = { _ in successor }
            let session = try session(study, subject, seams)
            // The app is dead for a while, or is launched again at once.
            try session.advance(to: .minutes(when.swap - when.deadFor + 1))
            session.executor.inspect { session.loop.here { $0.kill() } }
            try session.advance(to: .minutes(when.swap + 1))
            let then = session.ledger
            if swaps { successor.isSwapped = true }
            session.executor.inspect { session.loop.here { $0.relaunch() } }
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

    /// Harm: bytes whose accounting has changed since are read as if it hadn't.
    @Test("refuses what an earlier version of itself saved, and goes by the log")
    func earlierVersion() throws {
        let study = try study(hours: 4, start: "06:00", meals: "[{ at: 1h, carbs: 60 }]")
        var seams = SessionSeams()
        let store = MemoryLoopStore()
        seams.store = store
        let session = try session(study, 0, seams)
        try session.advance(to: .minutes(122))
        var stored = try #require(store.memory)
        #expect(stored.algorithm?.name == "pid-insulin-feedback")
        stored.algorithm?.version = 1
        store.save(stored)
        session.executor.inspect { session.loop.here { $0.relaunch() } }
        let display = session.executor.inspect { session.loop.here { $0.display() } }
        #expect(display.refusedState?.version == 1)
        _ = session.run()
        let told = store.log.filter { $0.input.earlier != nil }.map(\.instant)
        #expect(told == [.minutes(125)])
    }
}
