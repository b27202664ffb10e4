import IsletAlerts
import IsletLoop
import IsletDevices
import Foundation
import IsletModels
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// A session as it was and as it would have been.
@Suite(.timeLimit(.minutes(45))) struct LiveForkTests {
    /// A day of arm 1 (closed loop) or 0 with these inputs; its journal.
    private func journal(
        _ inputs: [(minute: Int64, input: LiveInput)], arm: Int = 1, until minute: Int64 = 1440,
        in folder: String, study: Study? = nil
    ) throws -> JournalContent {
        let (path, opening) = (folder + "/\(UUID().uuidString).journal", try opening(arm, study))
        let session = try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
        for (minute, input) in inputs { _ = session.take(LiveCommand(input), at: .minutes(minute)) }
        session.advance(to: .minutes(minute))
        return try JournalContent.read(path)
    }

    /// Inputs of all kinds at random moments.
    private func randomJournal(_ seed: UInt64, in folder: String) throws -> JournalContent {
        var random = RandomStreams(seed: seed, subject: 4).stream("inputs")
        var inputs: [(minute: Int64, input: LiveInput)] = []
        for number in 0..<60 {
            inputs.append((Int64(20 + number * 20), randomInput(&random, number: number)))
        }
        return try journal(
            inputs, arm: Int(seed % 4), in: folder,
            study: smallStudy("faults: { pump-outage: { rate: 1 }, command-failure: { rate: 0.05 } }"))
    }

    @Test(arguments: UInt64(0)..<4)
    func withNothingChangedItIsTheOriginalToTheBit(_ seed: UInt64) throws {
        try withFolder { folder in
            let content = try randomJournal(seed, in: folder)
            let whole = try LiveReplay(content).session
            for minute in [Int64(0), 1, 333, 700, 1439] {
                let fork = try LiveFork(content, at: .minutes(minute), change: .init())
                #expect(fork.leftOut.allSatisfy { !$0.reason.contains("fork") }, "\(fork.leftOut)")
                #expect(fork.fork.digest == fork.original.digest)
                #expect(fork.original.digest == whole.outcome?.digest)
                #expect(fork.fork.outcome.outcomes == fork.original.outcome.outcomes)
                #expect((fork.fork.alerts == fork.original.alerts) as Bool)
                #expect(fork.fork.insulin == fork.original.insulin)
            }
        }
    }

    @Test(arguments: UInt64(0)..<4)
    func handingOverToTheSamePolicyOrAlgorithmChangesNothing(_ seed: UInt64) throws {
        try withFolder { folder in
            let content = try randomJournal(seed, in: folder)
            let opening = try LiveOpening(content)
            let same = try LiveFork(
                content, at: .minutes(600), change: .init(algorithm: opening.arm.algorithm))
            #expect(same.fork.digest == same.original.digest)
            // At an instant without an input that changed the policy before.
            let calm = try journal([], arm: Int(seed % 4), in: folder)
            let policy = try LiveFork(
                calm, at: .minutes(600), change: .init(policy: opening.arm.alerts))
            #expect(policy.fork.digest == policy.original.digest)
        }
    }

    @Test func anotherPolicyRingsOtherwiseAndMovesNoBodyThatNobodyHears() throws {
        try withFolder { folder in
            let content = try journal(
                [
                    (60, .threshold(metric: "glucose", low: nil, high: 45)),
                    (700, .acknowledge(alert: "THRESHOLD-GLUCOSE-HIGH")),
                ],
                arm: 0, in: folder)
            let fork = try LiveFork(content, at: .minutes(300), change: .init(policy: AlertPolicy.none))
            #expect(fork.fork.digest != fork.original.digest)
            #expect(fork.fork.plasma == fork.original.plasma)
            #expect(fork.fork.insulin == fork.original.insulin)
            // What was up is cleared, and nothing rings any more.
            #expect(fork.fork.alerts.contains { $0.effect == "clear" && $0.code == "THRESHOLD-GLUCOSE-HIGH" })
            #expect(fork.fork.alerts.allSatisfy { $0.effect != "notify" && $0.effect != "raise" })
            #expect(fork.leftOut.map(\.number) == [2])
            #expect(fork.leftOut.first?.reason.contains("THRESHOLD-GLUCOSE-HIGH") == true)
            // The other way: what the policy before never had rings from there on.
            var strict = AlertPolicy.bionicloop
            strict = strict.with(low: nil, high: 45, of: .glucose)
            let calm = try journal([], arm: 0, in: folder)
            let louder = try LiveFork(calm, at: .minutes(300), change: .init(policy: strict))
            #expect(LiveFork.counts(louder.fork.alerts)["THRESHOLD-GLUCOSE-HIGH"]?.raised ?? 0 > 0)
            #expect(louder.fork.plasma == louder.original.plasma)
            // Before the fork nothing is counted.
            #expect(louder.fork.alerts.allSatisfy { $0.instant >= .minutes(300) })
        }
    }

    /// Whoever takes over must know what is on board: a meal's bolus half an hour before is not given again.
    @Test func anotherAlgorithmHearsOfTheInsulinBeforeIt() throws {
        try withFolder { folder in
            let content = try journal(
                [(400, .meal(grams: 80, isEaten: true, isAnnounced: true))], arm: 0, in: folder)
            let fork = try LiveFork(
                content, at: .minutes(430), change: .init(algorithm: .pidInsulinFeedback))
            #expect(fork.fork.digest != fork.original.digest)
            #expect(fork.fork.plasma.prefix(86) == fork.original.plasma.prefix(86))
            #expect(fork.fork.plasma != fork.original.plasma)
            // Closed loop: the steps dose the basal, the pump's own is off.
            func basal(_ side: LiveFork.Side) -> Double {
                (side.insulin.last?.basal ?? 0) - side.insulin[0].basal
            }
            func bolus(_ side: LiveFork.Side, _ mark: Int) -> Double {
                side.insulin[mark].bolus - side.insulin[0].bolus
            }
            #expect(basal(fork.fork) < basal(fork.original) / 4)
            // With 80 g's bolus on board the first hour asks for less than the largest rate.
            let rate = try #require(fork.opening.subject.person).basalRate.unitsPerHour
            #expect(bolus(fork.fork, 1) < 2.5 * rate)
            #expect(fork.fork.plasma.allSatisfy { $0 > 50 })
        }
    }

    /// From closed loop to open: the zero of the closed loop must not stay at the pump.
    @Test func fromClosedToOpenLoopTheProgrammedBasalRunsAtOnce() throws {
        try withFolder { folder in
            let content = try journal([], in: folder)
            let fork = try LiveFork(content, at: .minutes(602), change: .init(algorithm: .basalBolus))
            let rate = try #require(fork.opening.subject.person).basalRate.unitsPerHour
            let given = fork.fork.insulin[1].basal - fork.fork.insulin[0].basal
            #expect(abs(given - rate) < 0.11, "\(given) U in the first hour, programmed \(rate) U/h")
        }
    }

    @Test func whatMakesNoSenseInTheForkIsLeftOutAndNamed() throws {
        try withFolder { folder in
            let content = try journal(
                [
                    (400, .meal(grams: 60, isEaten: true, isAnnounced: true)),
                    (590, .requestBolus(units: 0.5)),
                    (592, .confirmBolus(request: 2, units: 0.5, anyway: true)),
                    (800, .bloodGlucose(mgdl: 120)),
                    (801, .calibration(mgdl: 120)), (802, .requestBolus(units: 0.5)),
                    (803, .confirmBolus(request: 6, units: 0.5, anyway: true)), (805, .target(mgdl: 130)),
                ], in: folder)
            let fork = try LiveFork(content, at: .minutes(591), change: .init(algorithm: .basalBolus))
            #expect(fork.inputCount == 6)
            // Finger-stick values of the other's blood. Numbers stay, so the second bolus is confirmed by its own.
            #expect(fork.leftOut.map(\.number) == [4, 5])
            #expect(fork.leftOut.allSatisfy { $0.reason.contains("glucose is") })
            let policy = try LiveFork(content, at: .minutes(591), change: .init(policy: AlertPolicy.none))
            #expect(policy.leftOut.isEmpty && policy.inputCount == 6)
        }
    }

    @Test func itPartsAtAndBeforeAndNotAfterTheJournalsEnds() throws {
        try withFolder { folder in
            let content = try journal([], until: 500, in: folder)
            let end = try #require(content.lines.compactMap(\.instant).max())
            #expect(try LiveFork(content, at: .start, change: .init()).original.endedAt == end)
            let last = try LiveFork(content, at: end.adding(-1), change: .init(policy: AlertPolicy.none))
            #expect(last.marks.last == end && last.original.digest != Digest128())
            for at in [end, end.adding(1), .minutes(5000)] {
                #expect(throws: InputError.self) { try LiveFork(content, at: at, change: .init()) }
            }
        }
    }

    @Test func aDeadAppHasItsOtherPolicyAtItsNextLaunch() throws {
        try withFolder { folder in
            let study = try smallStudy("faults: { app-quit: { rate: 6 } }")
            let content = try journal([], arm: 0, in: folder, study: study)
            for minute in stride(from: Int64(100), to: 1400, by: 100) {
                let fork = try LiveFork(
                    content, at: .minutes(minute), change: .init(policy: AlertPolicy.none))
                #expect(fork.fork.alerts.allSatisfy { $0.effect != "raise" })
                #expect(fork.fork.plasma == fork.original.plasma)
            }
        }
    }
}
