import IsletLoop
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// Clocks that are set or change over: quiet hours go by the wall, timers by the session.
@Suite(.timeLimit(.minutes(45))) struct LiveClockTests {
    private func rings(_ host: LiveHost) -> Int {
        host.events(of: "a", after: 0)?.events.count { $0.text.contains("notify THRESHOLD-GLUCOSE-HIGH") }
            ?? -1
    }

    /// A session that begins at 06:00, with quiet hours from 22:00 to 07:00, and a threshold that every reading passes, set ten minutes after the clock.
    @Test(arguments: [(Int64(0), 20, 0), (3, 20, 1), (0, 120, 1), (-3, 120, 0), (-26, 120, 0), (26, 120, 1)])
    func quietHoursFollowAClockThatIsSet(_ hours: Int64, _ minute: Int64, _ expected: Int) throws {
        let clocks = FakeClocks()
        let host = LiveHost(clocks: clocks)
        let opening = try opening(0)
        try host.add("a", pace: .real) { try LiveSession(opening, journal: nil, listener: $0) }
        func pass(_ minutes: Int64) {
            for _ in 0..<minutes {
                clocks.move(by: Nanoseconds.minute)
                host.turn()
            }
        }
        #expect(
            host.take(LiveCommand(.quietHours(fromMinute: 1320, toMinute: 420)), for: "a").outcome == .taken)
        pass(minute)
        clocks.step(by: hours * Nanoseconds.hour)
        pass(10)
        #expect(
            host.take(LiveCommand(.threshold(metric: "glucose", low: nil, high: 45)), for: "a").outcome
                == .taken)
        pass(12)
        #expect(rings(host) == expected)
        #expect(abs((host.status(of: "a")?.snapshot.now.minutes ?? 0) - Double(minute + 22)) < 5.1)
        // No step was doubled or left out by it.
        let untouched = try LiveSession(opening, journal: nil)
        untouched.advance(to: .minutes(minute + 22))
        #expect(host.status(of: "a")?.snapshot.loop?.lastStep == untouched.snapshot.loop?.lastStep)
    }

    /// The night in which 02:00 becomes 03:00: at 4 h 36 min after 22:00 it is 03:36.
    @Test func quietHoursEndByTheLocalTimeOfTheNightInWhichSummerBegins() throws {
        func rung(_ start: String) throws -> (rings: Bool, step: Instant?) {
            var study = try smallStudy()
            study = try Study.parse(
                study.yaml.replacing(#/start: .*/#, with: start), file: "night.yaml")
            let heard = Heard()
            let session = try LiveSession(
                try LiveOpening(study: study, session: 0, studyPath: "night.yaml"), journal: nil,
                listener: heard.take)
            _ = session.take(LiveCommand(.quietHours(fromMinute: 1320, toMinute: 210)), at: .minutes(5))
            _ = session.take(
                LiveCommand(.threshold(metric: "glucose", low: nil, high: 45)), at: .minutes(276))
            session.advance(to: .minutes(290))
            return (
                heard.events.contains { $0.text.contains("notify THRESHOLD-GLUCOSE-HIGH") },
                session.snapshot.loop?.lastStep
            )
        }
        let summer = try rung("start: 2026-03-07T22:00:00-05:00\ntimeZone: America/New_York")
        let winter = try rung("start: 2026-03-07T22:00:00-05:00")
        #expect(summer.rings && !winter.rings)
        #expect(summer.step == winter.step)
    }

    /// Whoever eats what no body can take: the session is over, and says so as often as it is asked.
    @Test func anInputThatBreaksTheBodyIsAnsweredAndMayBeSaidAgain() throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try opening(0))
            let session = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            _ = session.take(LiveCommand(.suspend(minutes: nil)), at: .minutes(30))
            let meal = LiveInput.meal(grams: 250, isEaten: true, isAnnounced: false)
            var minute: Int64 = 60
            var last = LiveAnswer(outcome: .taken)
            while session.phase == .running, minute < 1400 {
                last = session.take(LiveCommand(meal, key: "k\(minute)"), at: .minutes(minute))
                minute += 1
            }
            guard case .ended(let reason) = session.phase, !reason.isEmpty else {
                Issue.record("\(session.phase) at minute \(minute)")
                return
            }
            let key = "k\(minute - 1)"
            for _ in 0..<2 {
                let again = session.take(LiveCommand(meal, key: key), at: .minutes(minute))
                #expect(again.outcome == last.outcome)
                guard case .refused = again.outcome else {
                    Issue.record("it was taken by a body that is over")
                    return
                }
            }
        }
    }
}
