import IsletAlerts
import IsletFiles
import IsletDevices
import IsletLoop
import Foundation
import IsletModels
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// A fork that goes on as a session of its own.
@Suite(.timeLimit(.minutes(45))) struct LiveForkBeginTests {
    private func randomJournal(_ seed: UInt64, in folder: String) throws -> JournalContent {
        var random = RandomStreams(seed: seed, subject: 9).stream("inputs")
        let inputs = (0..<45).map {
            (Instant.minutes(Int64(20 + $0 * 20)), randomInput(&random, number: $0))
        }
        return try journal(
            inputs, arm: Int(seed % 4), in: folder,
            study: smallStudy("faults: { pump-outage: { rate: 1 }, command-failure: { rate: 0.05 } }"))
    }

    private func events(_ content: JournalContent) throws -> [LiveEvent] {
        let heard = Heard()
        let replay = try LiveReplay(content, listener: heard.take)
        #expect(replay.divergence == nil, "\(String(describing: replay.divergence))")
        return heard.events
    }

    /// What happened, without the numbers that an exchange moves.
    private func story(_ content: JournalContent) throws -> [String] {
        try events(content).map { "\($0.instant.nanoseconds) \($0.text)" }
    }

    @Test(arguments: UInt64(0)..<4)
    func withNothingChangedItIsTheOriginalButForTheExchange(_ seed: UInt64) throws {
        try withFolder { folder in
            let content = try randomJournal(seed, in: folder)
            let original = try story(content)
            for minute in [Int64(0), 1, 333, 700, 1000] {
                let path = folder + "/fork-\(minute).journal"
                let begun = try LiveFork.begin(
                    from: content, at: .minutes(minute), now: .minutes(1000), change: .init(), to: path)
                #expect(begun.end == .minutes(1000) && begun.phase == .running)
                let fork = try JournalContent.read(path)
                let exchanges = try story(fork).enumerated().filter {
                    $0.element.hasSuffix("exchange   nothing")
                }
                #expect(exchanges.count == 1)
                #expect(try story(fork).filter { !$0.hasSuffix("exchange   nothing") } == original)
                // Up to the fork, byte by byte.
                let place = try #require(
                    fork.lines.firstIndex { if case .exchange = $0 { true } else { false } })
                let same = zip(fork.lines, content.lines).prefix { $0 == $1 }.count
                #expect(same >= min(place, content.lines.count) - 1)
                #expect(!FileManager.default.fileExists(atPath: path + ".new"))
            }
        }
    }

    /// What the comparison says and what the session goes through is one and the same.
    @Test(arguments: [0, 1])
    func anotherPolicyRingsAsTheComparisonSays(_ arm: Int) throws {
        try withFolder { folder in
            let content = try journal(
                [
                    (.minutes(50), .threshold(metric: "glucose", low: nil, high: 45)),
                    (.minutes(700), .acknowledge(alert: "THRESHOLD-GLUCOSE-HIGH")),
                    (.minutes(710), .meal(grams: 50, isEaten: true, isAnnounced: true)),
                ], arm: arm, in: folder)
            let policy = try AlertPreset(rawValue: "dexcom-g7").map { try $0.policy() }
            for change in [
                LiveFork.Change(policy: policy), .init(policy: AlertPolicy.none),
                .init(algorithm: arm == 0 ? .pidInsulinFeedback : .basalBolus),
                .init(policy: policy, algorithm: arm == 0 ? .pidInsulinFeedback : .basalBolus),
            ] {
                let compared = try LiveFork(content, at: .minutes(300), change: change)
                let path = folder + "/\(UUID().uuidString).journal"
                let begun = try LiveFork.begin(from: content, at: .minutes(300), change: change, to: path)
                #expect(begun.leftOut == compared.leftOut && begun.inputCount == compared.inputCount)
                var rows: [AlertRow] = []
                let replay = try LiveReplay(try JournalContent.read(path), onRows: { rows += $0.alerts })
                #expect(replay.divergence == nil)
                #expect(rows.filter { $0.instant >= .minutes(300) } == compared.fork.alerts)
                // The comparison sums up, and with that has the last instant's glucose too.
                let plasma = replay.session.person?.plasmaTruth ?? []
                #expect(plasma == Array(compared.fork.plasma.prefix(plasma.count)) && plasma.count > 190)
                #expect(replay.session.ledger == compared.fork.insulin.last)
                #expect(replay.session.algorithm == change.algorithm ?? content.openingAlgorithm)
                if change.policy != nil {
                    #expect(replay.session.snapshot.policy?.name == change.policy?.name)
                }
            }
        }
    }

    @Test func itLivesOnAndOutlivesAKillAtAnyLine() throws {
        try withFolder { folder in
            let content = try randomJournal(2, in: folder)
            let path = folder + "/fork.journal"
            _ = try LiveFork.begin(
                from: content, at: .minutes(400),
                change: .init(policy: AlertPolicy.none, algorithm: .basalBolus),
                to: path)
            do {
                let session = try LiveReplay.resume(path)
                #expect(session.take(LiveCommand(.target(mgdl: 130)), at: .minutes(1010)).outcome == .taken)
                session.advance(to: .minutes(1100))
            }
            let whole = try bytes(path)
            let newlines = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }
            let digest = try LiveReplay(try JournalContent.read(path)).session.digest
            // Killed while any line was being written, it goes on, and hears again what nobody was told to have arrived.
            for end in stride(from: newlines.count - 1, to: newlines.count / 2, by: -7) {
                let torn = folder + "/torn.journal"
                try write(Array(whole[..<(newlines[end] - 3)]), to: torn)
                let session = try LiveReplay.resume(torn)
                session.advance(to: .minutes(1005))
                _ = session.take(LiveCommand(.target(mgdl: 130)), at: .minutes(1010))
                session.advance(to: .minutes(1100))
                #expect(session.phase == .running)
                #expect(try LiveReplay(try JournalContent.read(torn)).divergence == nil)
            }
            #expect(try LiveReplay(try JournalContent.read(path)).session.digest == digest)
        }
    }

    /// What a fork has exchanged stays so when the other's exchange comes; what it left alone is exchanged as it was.
    @Test func aForkOfAFork() throws {
        try withFolder { folder in
            let content = try journal(
                [(.minutes(400), .meal(grams: 80, isEaten: true, isAnnounced: true))], arm: 0, in: folder)
            let first = folder + "/first.journal"
            _ = try LiveFork.begin(
                from: content, at: .minutes(430), change: .init(algorithm: .pidInsulinFeedback), to: first)
            let fork = try JournalContent.read(first)
            // After the exchange, nothing changed: the first one's life.
            let after = folder + "/after.journal"
            _ = try LiveFork.begin(from: fork, at: .minutes(600), change: .init(), to: after)
            #expect(
                try story(try JournalContent.read(after)).filter { !$0.hasSuffix("exchange   nothing") }
                    == story(fork))
            // Before it, with another policy: the algorithm changes all the same.
            let before = folder + "/before.journal"
            let begun = try LiveFork.begin(
                from: fork, at: .minutes(100), change: .init(policy: AlertPolicy.none), to: before)
            #expect(begun.leftOut.isEmpty)
            let both = try LiveReplay(try JournalContent.read(before)).session
            #expect(
                both.algorithm == .pidInsulinFeedback
                    && both.snapshot.policy?.rules.allSatisfy {
                        $0.code.rawValue.hasPrefix("NONE-")
                    } == true)
            // Before it, with another algorithm: the other's exchange has no place any more.
            let instead = folder + "/instead.journal"
            let other = try LiveFork.begin(
                from: fork, at: .minutes(100), change: .init(algorithm: .basalBolus), to: instead)
            #expect(other.leftOut.map(\.reason) == ["this fork has its own: dosing by basal-bolus"])
            #expect(try LiveReplay(try JournalContent.read(instead)).session.algorithm == .basalBolus)
            // The comparison says the same.
            let compared = try LiveFork(fork, at: .minutes(100), change: .init(algorithm: .basalBolus))
            #expect(compared.leftOut == other.leftOut)
            #expect(compared.original.plasma != compared.fork.plasma)
        }
    }

    /// Harm: an algorithm that takes over gives a meal's insulin a second time, because the log was short.
    @Test func whoTakesOverInAForkHearsOfTheInsulinBefore() throws {
        try withFolder { folder in
            let content = try journal(
                [(.minutes(400), .meal(grams: 80, isEaten: true, isAnnounced: true))], arm: 0, in: folder,
                study: smallStudy())
            let path = folder + "/fork.journal"
            _ = try LiveFork.begin(
                from: content, at: .minutes(430), change: .init(algorithm: .pidInsulinFeedback), to: path)
            let fork = try LiveReplay(try JournalContent.read(path)).session
            #expect(fork.person?.plasmaTruth.allSatisfy { $0 > 50 } ?? false)
        }
    }

    /// Two inputs of one second, and a fork between them: the first is in its past, the second comes after the exchange.
    @Test func aForkBetweenTwoInputsOfOneSecond() throws {
        try withFolder { folder in
            let content = try journal(
                [
                    (.minutes(60), .requestBolus(units: 0.5)),
                    (Instant.minutes(60).adding(1), .confirmBolus(request: 1, units: 0.5, anyway: true)),
                    (Instant.minutes(60).adding(2), .target(mgdl: 130)),
                ], in: folder)
            let inputs = content.lines.compactMap { line -> Instant? in
                if case .input(_, let stamped, _) = line { stamped.instant } else { nil }
            }
            #expect(inputs.count == 3)
            for (place, at) in inputs.enumerated() {
                let path = folder + "/fork-\(place).journal"
                let begun = try LiveFork.begin(
                    from: content, at: at, change: .init(policy: AlertPolicy.none), to: path)
                #expect(begun.inputCount == 2 - place && begun.leftOut.isEmpty)
                let fork = try JournalContent.read(path)
                let replay = try LiveReplay(fork)
                #expect(replay.divergence == nil)
                // One bolus, whichever side of the fork its two halves are on.
                #expect(replay.session.door.outcomes == [.taken, .taken, .taken])
                #expect(replay.session.ledger.bolus == (try LiveReplay(content).session.ledger.bolus))
                let order = fork.lines.compactMap { line -> String? in
                    switch line {
                    case .input(let number, _, _): "\(number)"
                    case .exchange: "x"
                    default: nil
                    }
                }
                var expected = ["1", "2", "3"]
                expected.insert("x", at: place + 1)
                #expect(order == expected)
            }
        }
    }

    @Test func whatWasLeftOutKeepsItsNumberAndSaysWhy() throws {
        try withFolder { folder in
            let content = try journal(
                [
                    (.minutes(400), .meal(grams: 60, isEaten: true, isAnnounced: true)),
                    (.minutes(800), .bloodGlucose(mgdl: 120)), (.minutes(802), .requestBolus(units: 0.5)),
                    (.minutes(803), .confirmBolus(request: 3, units: 0.5, anyway: true)),
                ], in: folder)
            let path = folder + "/fork.journal"
            let begun = try LiveFork.begin(
                from: content, at: .minutes(390), change: .init(algorithm: .basalBolus), to: path)
            #expect(begun.leftOut.map(\.number) == [2])
            let replay = try LiveReplay(try JournalContent.read(path))
            #expect(replay.divergence == nil)
            #expect(replay.session.door.outcomes.map { $0 == .taken } == [true, false, true, true])
            #expect(isRefused(replay.session.door.outcomes[1], "glucose is"))
            // Nobody can say it from outside.
            let refused = replay.session.take(
                LiveCommand(.leftOut(input: "{}", reason: "x")), at: .minutes(1001))
            #expect(refused.number == nil && refused.outcome != .taken)
            // Said again under its key it is answered as before: no meal is eaten twice.
            let session = try LiveReplay.resume(path)
            let key = "k\(Instant.minutes(400).nanoseconds)"
            let again = session.take(
                LiveCommand(.meal(grams: 60, isEaten: true, isAnnounced: true), key: key), at: .minutes(1002))
            #expect(again.isRepeated && again.number == 1)
        }
    }
}

extension JournalContent {
    fileprivate var openingAlgorithm: TunedAlgorithm? { try? LiveOpening(self).arm.algorithm }
}
