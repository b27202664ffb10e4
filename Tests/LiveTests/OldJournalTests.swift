import Foundation
import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import IsletLive

private let journals = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Journals")

private func old(_ name: String) throws -> JournalContent {
    try JournalContent.read(journals.appending(path: name + ".journal").path())
}

private var isOfThisMachine: Bool { (try? LiveOpening(old("leap"))) != nil }

/// Journals that were written before a refusal and an end had codes: `Journals/` has some, as a program of then wrote them.
@Suite(
    "Journals without codes",
    // Made on one kind of machine; another's mathematics is refused, as everywhere.
    .enabled(if: isOfThisMachine), .timeLimit(.minutes(45)))
struct OldJournalTests {
    private func lived(_ content: JournalContent) throws -> (replay: LiveReplay, events: [LiveEvent]) {
        let heard = Heard()
        let replay = try LiveReplay(content, listener: heard.take)
        return (replay, heard.events)
    }

    /// With the digests that the program of then came to.
    @Test(arguments: [
        ("refusals-and-exchange", "0c4d49170ac5e4740771ccd3d44d1d58", 150),
        ("ended-early", "8da286c0cea45b6853d185fc10d8e794", 191),
        ("leap", "e2812b01aff6a9c67a7946bd1f12b10f", 40),
        ("late-steps", "0860fd5a2489d96c96e6a2163eb41c09", 63),
    ])
    func `are lived again as then`(_ name: String, _ digest: String, _ lines: Int) throws {
        let content = try old(name)
        #expect(!content.lines.contains { $0.text.contains("[") && !$0.text.contains("{") })
        let (replay, _) = try lived(content)
        #expect(replay.divergence == nil, "\(String(describing: replay.divergence))")
        #expect("\(replay.session.outcome?.digest ?? replay.session.digest)" == digest)
        #expect(replay.lineCount == lines)
        // As they stand in the file, byte by byte.
        for line in content.lines { #expect(JournalLine(Substring(line.text)) == line) }
    }

    @Test func `tell what was refused, ended, late and left out as just that`() throws {
        let told = try lived(old("refusals-and-exchange")).events
        let refused = told.filter { $0.outcome == .refused }
        #expect(refused.count == 12)
        #expect(refused.count { $0.kind == "refusal" } == 6 && refused.count { $0.kind == "input" } == 6)
        #expect(refused.allSatisfy { $0.problem?.code == "" && $0.problem?.reason.isEmpty == false })
        #expect(told.count { $0.kind == "exchange" } == 1)
        let last = try #require(lived(old("ended-early")).events.last)
        #expect(last.outcome == .ended && last.problem?.reason.hasPrefix("plasma glucose") == true)
        #expect(try lived(old("leap")).events.count { $0.what == .leap } == 1)
        let late = try lived(old("late-steps")).events.filter { $0.what == .late }
        #expect(late.count > 50 && late.allSatisfy { $0.outcome == .failed })
    }

    /// - Parameter change: another line, or nil for the same.
    private func changed(
        _ name: String, _ change: (JournalLine) -> JournalLine?
    ) throws -> LiveSession.Divergence? {
        var content = try old(name)
        let place = try #require(content.lines.indices.first { change(content.lines[$0]) != nil })
        content.lines[place] = try #require(change(content.lines[place]))
        return try lived(content).replay.divergence
    }

    @Test func `are compared by what became of an input and of the session, not by words`() throws {
        func answer(_ outcome: LiveOutcome) -> (JournalLine) -> JournalLine? {
            { line in
                guard case .answer(let number, .refused) = line else { return nil }
                return .answer(number: number, outcome)
            }
        }
        let name = "refusals-and-exchange"
        #expect(try changed(name, answer(.refused(LiveRefusal(code: "", reason: "otherwise said")))) == nil)
        #expect(try changed(name, answer(.taken)) != nil)
        // With a code the code counts: the first that was refused was a bolus that nobody had asked for.
        #expect(try changed(name, answer(.refused(.notWaiting, "otherwise said"))) == nil)
        let other = try changed(name, answer(.refused(.appDead, "otherwise said")))
        #expect(
            other?.journal.contains("[app-dead]") == true && other?.here.contains("[not-waiting]") == true)
        func end(_ early: EarlyEnd?) -> (JournalLine) -> JournalLine? {
            { line in
                guard case .end(let at, let events, let digest, .some) = line else { return nil }
                return .end(at, events: events, digest, early: early)
            }
        }
        #expect(try changed("ended-early", end(EarlyEnd(code: "", reason: "otherwise said"))) == nil)
        #expect(try changed("ended-early", end(EarlyEnd(reason: "otherwise said"))) == nil)
        #expect(try changed("ended-early", end(EarlyEnd(code: "other", reason: "otherwise said"))) != nil)
        #expect(try changed("ended-early", end(nil)) != nil)
    }

    @Test func `are gone on with, and what is refused from now on has a code`() throws {
        try withFolder { folder in
            let path = folder + "/a.journal"
            try write(bytes(journals.appending(path: "refusals-and-exchange.journal").path()), to: path)
            do {
                let session = try LiveReplay.resume(path)
                let answer = session.take(LiveCommand(.foreground), at: .minutes(1010))
                let number = try #require(answer.number)
                #expect(answer.outcome == .taken)
                let unasked = LiveInput.confirmBolus(request: number, units: 1)
                #expect(session.take(LiveCommand(unasked), at: .minutes(1011)).outcome != .taken)
                _ = session.take(LiveCommand(.target(mgdl: 10)), at: .minutes(1012))
                session.advance(to: .minutes(1020))
            }
            let content = try JournalContent.read(path)
            let texts = content.lines.map(\.text)
            #expect(texts.contains { $0.contains(" refused [not-waiting] request ") })
            #expect(texts.contains { $0.contains(" - [out-of-range] target") })
            #expect(try lived(content).replay.divergence == nil)
        }
    }
}
