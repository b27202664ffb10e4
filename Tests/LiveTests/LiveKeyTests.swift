import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletLive

/// A key says the same thing twice: the command under it is done once, and another command under it never passes for done.
@Suite(.timeLimit(.minutes(45))) struct LiveKeyTests {
    /// Harm: an app whose keys begin anew believes that its bolus was taken, when it was an old meal that was repeated.
    @Test func anotherCommandUnderAKeyIsRefused() throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try opening())
            var session: LiveSession? = try LiveSession(
                opening, journal: try JournalFile.create(path, opening: opening.json))
            let meal = LiveCommand(.meal(grams: 40, isEaten: true, isAnnounced: true), key: "a")
            #expect(session?.take(meal, at: .minutes(30)).outcome == .taken)
            #expect(session?.take(meal, at: .minutes(31)).isRepeated == true)
            let others: [LiveInput] = [
                .meal(grams: 41, isEaten: true, isAnnounced: true), .requestBolus(units: 1),
                .suspend(minutes: 30),
            ]
            for input in others {
                let answer = session?.take(LiveCommand(input, key: "a"), at: .minutes(32))
                #expect(answer?.outcome != .taken && answer?.isRepeated == false && answer?.number == nil)
            }
            let digest = session?.digest
            session = nil
            let resumed = try LiveReplay.resume(path)
            #expect(resumed.digest == digest && resumed.take(meal, at: .minutes(33)).isRepeated)
            for input in others {
                #expect(resumed.take(LiveCommand(input, key: "a"), at: .minutes(34)).outcome != .taken)
            }
        }
    }

    /// Harm: a session that somebody paused goes on, because the command before it was sent once more.
    @Test func aPaceThatIsSaidAgainChangesNothing() throws {
        try withFolder { folder in
            let (path, opening) = (folder + "/a.journal", try opening())
            func host() throws -> LiveHost {
                let host = LiveHost()
                let isNew = !isRegularFile(path)
                try host.add("a", pace: .paused) { _ in
                    guard isNew else { return try LiveReplay.resume(path) }
                    return try LiveSession(
                        opening, journal: try JournalFile.create(path, opening: opening.json))
                }
                return host
            }
            var first: LiveHost? = try host()
            #expect(first?.setPace(.scaled(60), of: "a", key: "p").outcome == .taken)
            #expect(first?.setPace(.paused, of: "a", key: "q").outcome == .taken)
            let again = first?.setPace(.scaled(60), of: "a", key: "p")
            #expect(again?.outcome == .taken && again?.isRepeated == true)
            #expect(first?.status(of: "a")?.pace == .paused)
            #expect(first?.setPace(.max, of: "a", key: "p").outcome != .taken)
            // One kind of key for all that is said.
            let input = LiveInput.target(mgdl: 120)
            #expect(first?.take(LiveCommand(input, key: "p"), for: "a").outcome != .taken)
            #expect(first?.take(LiveCommand(input, key: "t"), for: "a").outcome == .taken)
            #expect(first?.setPace(.max, of: "a", key: "t").outcome != .taken)
            #expect(first?.status(of: "a")?.pace == .paused)
            first?.remove("a")
            first = nil
            let second = try host()
            #expect(second.setPace(.scaled(60), of: "a", key: "p").isRepeated)
            #expect(second.status(of: "a")?.pace == .paused)
            second.remove("a")
            #expect(try LiveReplay(try JournalContent.read(path)).divergence == nil)
        }
    }
}
