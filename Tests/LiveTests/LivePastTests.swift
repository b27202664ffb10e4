import IsletAlerts
import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// A past instant, looked at.
@Suite(.timeLimit(.minutes(45))) struct LivePastTests {
    private func live(_ path: String) throws -> LiveSession {
        let opening = try opening(0)
        return try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
    }

    /// What was shown then is what is shown of then, at journal lines and between them, while the session goes on.
    @Test func theSnapshotOfThenIsTheOneThatWasShownThen() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let session = try live(path)
            var shown: [(at: Instant, snapshot: LiveSnapshot, digest: Digest128)] = []
            let inputs: [Int64: LiveInput] = [
                50: .threshold(metric: "glucose", low: nil, high: 45, sensitivityMinutes: 15),
                100: .acknowledge(alert: "THRESHOLD-GLUCOSE-HIGH"),
                130: .meal(grams: 50, isEaten: true, isAnnounced: true),
                200: .switchThreshold(metric: "glucose", isEnabled: false), 210: .signOut,
            ]
            for minute in Int64(1)...300 {
                if let input = inputs[minute] { _ = session.take(LiveCommand(input), at: .minutes(minute)) }
                let at = Instant.minutes(minute).adding(minute * 7_654_321)
                session.advance(to: at)
                if minute % 9 == 0 || inputs[minute] != nil {
                    shown.append((at, session.snapshot, session.digest))
                }
            }
            #expect(shown.allSatisfy { $0.snapshot.now == $0.at })
            // The session has its journal open, and a line is just being written.
            let content = try JournalContent.read(path)
            for then in shown {
                let past = try LivePast.open(content, at: then.at, now: session.now)
                #expect(past.snapshot.now == then.at && past.digest == then.digest)
                #expect(past.snapshot.alerts == then.snapshot.alerts)
                #expect(past.snapshot.cleared == then.snapshot.cleared)
                #expect(past.snapshot.waiting == then.snapshot.waiting)
                #expect(past.snapshot.loop == then.snapshot.loop && past.snapshot.pump == then.snapshot.pump)
                #expect(past.snapshot.thresholds == then.snapshot.thresholds)
                #expect(past.snapshot.isSignedIn == then.snapshot.isSignedIn)
                #expect(past.snapshot.eventCount == then.snapshot.eventCount)
            }
        }
    }

    @Test func aLineThatIsBeingWrittenIsNoErrorAtAnyByte() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            do {
                let session = try live(path)
                for minute in Int64(1)...40 {
                    _ = session.take(LiveCommand(.target(mgdl: Double(100 + minute))), at: .minutes(minute))
                }
            }
            let whole = try bytes(path)
            let first = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
            for count in stride(from: first + 1, through: whole.count, by: 13) {
                let content = try JournalContent.parse(Array(whole[..<count]), path: path)
                let past = try LivePast.open(content, at: content.end)
                #expect(past.now == content.end && past.phase == .running)
            }
        }
    }

    @Test func onlyThePastIsLookedAt() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let session = try live(path)
            session.advance(to: .minutes(103))
            let content = try JournalContent.read(path)
            #expect(throws: InputError.self) {
                try LivePast.open(content, at: .minutes(104), now: .minutes(103))
            }
            #expect(throws: InputError.self) { try LivePast.open(content, at: Instant(nanoseconds: -1)) }
            let heard = Heard()
            var rows = 0
            let past = try LivePast.open(
                content, at: .minutes(103), now: .minutes(103), onRows: { rows += $0.steps.count },
                listener: heard.take)
            #expect(past.snapshot.now == .minutes(103) && past.digest == session.digest)
            #expect(heard.events.count == session.eventCount && rows > 10)
            // Nothing of it reaches the journal.
            past.advance(to: .minutes(200))
            #expect(try JournalContent.read(path).lines == content.lines)
        }
    }

    @Test func aStretchThatNobodyLivedIsSeenFromItsBeginning() throws {
        try withFolder { folder in
            let study = try smallStudy().fed(from: smallStudy().start)
            let opening = try LiveOpening(study: study, session: 1, studyPath: "live.yaml", isFed: true)
            let path = folder + "/fed.journal"
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            session.advance(to: .minutes(58))
            let digest = session.digest
            session.leap(to: .minutes(200))
            session.advance(to: .minutes(210))
            let content = try JournalContent.read(path)
            let past = try LivePast.open(content, at: .minutes(120), now: .minutes(210))
            #expect(past.snapshot.now == .minutes(58) && past.digest == digest)
            #expect(
                try LivePast.open(content, at: .minutes(205), now: .minutes(210)).snapshot.now
                    == .minutes(205))
        }
    }

    /// Harm: each look at the past of a long session leaves it behind, and the server ends when many have looked, or looked away.
    @Test(arguments: [Int.max, 400, 30, 1]) func whatWasLookedAtIsGone(_ patience: Int) throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            let session = try live(path)
            session.advance(to: .minutes(1439))
            session.sync()
            let content = try JournalContent.read(path)
            weak var gone: Heard?
            var asked = 0
            do {
                let heard = Heard()
                gone = heard
                let past = try LivePast.open(
                    content, at: .minutes(1400),
                    isWanted: {
                        asked += 1
                        return asked <= patience
                    }, listener: heard.take)
                #expect(past.now == .minutes(1400) && asked < patience)
            } catch is NobodyWaits {
                #expect(asked == patience + 1)
            }
            #expect(gone == nil, "the session that listened to it is still there")
        }
    }
}
