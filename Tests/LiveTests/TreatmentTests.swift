// What an app says was given: once into the body and the loop's account, never asked of the pump, and the same when it is lived again.

import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import IsletLive

@Suite("A treatment that was given enters once") struct TreatmentTests {
    private func said(
        _ id: String = "a-1", by: String = "app", minute: Int64 = 180, units: Double? = nil,
        grams: Double? = nil
    ) -> LiveInput {
        .treatment(PostedTreatment(id: id, by: by, at: .minutes(minute), units: units, grams: grams))
    }

    /// A session to minute 180, what is said then, and the session from there on.
    private func lived(_ index: Int, _ inputs: [LiveInput], until minute: Int64 = 360) throws -> (
        session: LiveSession, answers: [LiveAnswer]
    ) {
        let session = try LiveSession(try opening(index), journal: nil)
        let answers = inputs.map { session.take(LiveCommand($0), at: .minutes(180)) }
        session.advance(to: .minutes(minute))
        return (session, answers)
    }

    private func glucose(_ session: LiveSession) throws -> Double {
        try #require(session.person?.plasmaTruth.last)
    }

    @Test func insulinLowersTheBodyAndThePumpGivesNoneOfIt() throws {
        let (without, _) = try lived(0, [])
        let (with, answers) = try lived(0, [said(units: 2)])
        #expect(answers.map(\.outcome) == [.taken])
        #expect(try glucose(with) < glucose(without) - 20)
        // Without automation the pump goes on as it would have.
        #expect(with.ledger == without.ledger)
        #expect(with.snapshot.treatments?.map(\.units) == [2] && without.snapshot.treatments == nil)
        // Three hours later a third of it still acts; and it is insulin of that person's quarter of a day.
        let board = [with, without].map { $0.snapshot.insulinOnBoard ?? .nan }
        #expect((0.4...1.0).contains(board[0] - board[1]), "\(board)")
        func daily(_ session: LiveSession) throws -> Double {
            let outcome = try #require(session.person).run(until: .minutes(360))
            return try #require(outcome.outcomes["insulin_u_per_day"])
        }
        #expect(abs((try daily(with)) - (try daily(without)) - 2 / 0.25) < 1e-9)
    }

    /// Harm: a loop that doesn't hear of a pen corrects on top of it.
    @Test func theLoopHearsOfInsulin() throws {
        let carbohydrate = LiveInput.meal(grams: 60, isEaten: true, isAnnounced: false)
        // Before the glucose can show it: the loop's own account does.
        let (without, _) = try lived(1, [carbohydrate], until: 200)
        let (with, answers) = try lived(1, [carbohydrate, said(units: 3)], until: 200)
        #expect(answers.allSatisfy { $0.outcome == .taken })
        func given(_ session: LiveSession) -> Double { session.ledger.bolus + session.ledger.basal }
        #expect(given(with) < given(without) - 0.05, "\(given(with)) \(given(without))")
        // And a bolus by hand asks again.
        for session in [with, without] {
            #expect(session.take(LiveCommand(.requestBolus(units: 4)), at: .minutes(201)).outcome == .taken)
        }
        let board = [with, without].map { $0.snapshot.requestedBolus?.onBoard ?? .nan }
        #expect(board[0] > board[1] + 2, "\(board)")
    }

    @Test func carbohydrateIsEatenAndAsksForNoInsulin() throws {
        let (without, _) = try lived(0, [], until: 240)
        let (with, _) = try lived(0, [said(grams: 30)], until: 240)
        #expect(try glucose(with) > glucose(without) + 20)
        // Until the person corrects by hand what they see.
        let (before, _) = try lived(0, [], until: 195)
        let (after, _) = try lived(0, [said(grams: 30)], until: 195)
        #expect(after.ledger == before.ledger)
        let (closed, _) = try lived(1, [said(grams: 30)])
        #expect(try glucose(closed).isFinite && closed.snapshot.treatments?.first?.grams == 30)
    }

    @Test func saidTwiceItIsGivenOnce() throws {
        let (once, _) = try lived(1, [said(units: 1.5, grams: 20)])
        let (twice, answers) = try lived(
            1,
            [
                said(units: 1.5, grams: 20), said(units: 1.5, grams: 20),
                said(by: "other", units: 1.5, grams: 20),
            ])
        #expect(answers.allSatisfy { $0.outcome == .taken })
        #expect(try glucose(once) == glucose(twice) && once.ledger == twice.ledger)
        #expect(twice.snapshot.treatments?.count == 1)
        let other = twice.take(LiveCommand(said(units: 2, grams: 20)), at: .minutes(361))
        #expect(other.outcome.refusal?.code == RefusalCode.saysOther.rawValue)
    }

    @Test func whatCanNotHaveBeenGivenIsRefusedAndChangesNothing() throws {
        let (without, _) = try lived(1, [])
        let odd: [(LiveInput, RefusalCode)] = [
            (said(minute: 183, units: 1), .inFuture), (said(minute: 180 - 481, units: 1), .tooOld),
            (said(units: 200), .outOfRange), (said(units: 40), .loopLimit), (said(grams: 9000), .outOfRange),
            (said(units: .nan), .outOfRange), (said(), .contradictory), (said("", units: 1), .outOfRange),
            (said("a\nb", units: 1), .outOfRange), (said(by: "islet", units: 1), .ours),
            (said(OurID.make(epochSeconds: 1_700_000_000, "x"), units: 1), .ours),
            (said(String(repeating: "x", count: 101), units: 1), .outOfRange),
        ]
        let session = try LiveSession(try opening(1), journal: nil)
        for (input, code) in odd {
            let answer = session.take(LiveCommand(input), at: .minutes(180))
            #expect(answer.outcome.refusal?.code == code.rawValue, "\(input): \(answer)")
        }
        session.advance(to: .minutes(360))
        #expect(try glucose(session) == glucose(without) && session.ledger == without.ledger)
        #expect(session.snapshot.treatments == nil)
        // What is refused may be right later.
        let later = session.take(LiveCommand(said(minute: 362, units: 1)), at: .minutes(361))
        #expect(later.outcome == .taken)
        for (minute, units) in [(361 - 479, 0.5), (363, 0.6)] {
            let edge = said("edge \(minute)", minute: Int64(minute), units: units)
            #expect(session.take(LiveCommand(edge), at: .minutes(361)).outcome == .taken)
        }
    }

    /// Harm: whoever posts without end fills the memory of all.
    @Test func whatIsRememberedIsBounded() throws {
        let session = try LiveSession(try opening(1), journal: nil)
        session.advance(to: .minutes(180))
        for place in 0..<PostedTreatment.most {
            let answer = session.take(LiveCommand(said("a \(place)", grams: 0.1)), at: session.now)
            try #require(answer.outcome == .taken)
        }
        let more = session.take(LiveCommand(said("one more", grams: 0.1)), at: session.now)
        #expect(more.outcome.refusal?.code == RefusalCode.loopLimit.rawValue)
        #expect(session.take(LiveCommand(said("a 0", grams: 0.1)), at: session.now).outcome == .taken)
        // A day and an hour later the first ones are forgotten, and too old to be said again.
        let tomorrow = try smallStudy(duration: "3d")
        let other = try LiveSession(try opening(1, tomorrow), journal: nil)
        _ = other.take(LiveCommand(said("a", grams: 10)), at: .minutes(180))
        _ = other.take(LiveCommand(said("b", minute: 1800, grams: 10)), at: .minutes(1800))
        #expect(other.snapshot.treatments?.map(\.id) == ["b"])
        let late = other.take(LiveCommand(said("a", grams: 10)), at: .minutes(1801))
        #expect(late.outcome.refusal?.code == RefusalCode.tooOld.rawValue)
    }

    @Test func livedAgainItComesToTheSameDigest() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let (digest, shown) = try {
                let opening = try opening(1)
                let journal = try JournalFile.create(path, opening: opening.json)
                let session = try LiveSession(opening, journal: journal)
                for (input, minute) in [
                    (said("a", units: 1.5), 180), (said("b", minute: 100, grams: 25), 181),
                    (said("a", units: 1.5), 200), (said("c", minute: 400, units: 1), 201),
                    (said("d", units: 2, grams: 30), 202),
                ] as [(LiveInput, Int64)] { _ = session.take(LiveCommand(input), at: .minutes(minute)) }
                session.advance(to: .minutes(600))
                session.sync()
                return (session.digest, session.snapshot.treatments)
            }()
            #expect(shown?.map(\.id) == ["a", "b", "d"])
            let resumed = try LiveReplay.resume(path)
            resumed.advance(to: .minutes(600))
            #expect(resumed.digest == digest && resumed.snapshot.treatments == shown)
            // And otherwise it does not: the digest hangs on what was given.
            let (other, _) = try lived(1, [said("a", units: 1.6)])
            let (same, _) = try lived(1, [said("a", units: 1.5)])
            #expect(other.digest != same.digest)
        }
    }

    @Test func nothingIsGivenWhereTheBodyIsARealPersons() throws {
        let fed = try LiveOpening(study: try smallStudy(), session: 1, studyPath: "live.yaml", isFed: true)
        let session = try LiveSession(fed, journal: nil)
        let answer = session.take(LiveCommand(said(units: 1)), at: .minutes(180))
        #expect(answer.outcome.refusal?.code == RefusalCode.suggestionsOnly.rawValue)
    }

    @Test func ourIDsAreKnownAgainAndNoOthers() {
        var seen: Set<String> = []
        for place in 0..<500 {
            let id = OurID.make(epochSeconds: 1_772_000_000 + Int64(place / 4), "session \(place % 4)")
            #expect(OurID.isOurs(id) && OurID.isOurs(id.uppercased()) && id.count == 24)
            #expect(seen.insert(id).inserted)
            #expect(!OurID.isOurs(String(id.reversed())))
        }
        for id in ["", "a-1", "507f1f77bcf86cd799439011", String(repeating: "0", count: 24)] {
            #expect(!OurID.isOurs(id))
        }
    }
}
