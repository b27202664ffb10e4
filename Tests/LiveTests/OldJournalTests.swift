import Foundation
import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import IsletLive

private let journals = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Journals")

private func written(_ name: String) throws -> JournalContent {
    try JournalContent.read(journals.appending(path: name + ".journal").path())
}

/// The same lines, as a program of then would have written them over this engine: other digests, and nothing else.
private func old(_ name: String) throws -> JournalContent {
    var content = try written(name)
    guard case .open(let json) = content.lines[0] else { return content }
    let study = try #require(json.firstRange(of: #""study":{"#)).lowerBound
    func opening(_ checksum: String) throws -> JournalLine {
        let number = try #require(
            json.firstMatch(of: /"session":(\d+),"subject":"([^"]*)","arm":"([^"]*)","seed":(\d+)/))
        let fed = json.hasPrefix(#"{"fed":true"#) ? #""fed":true,"# : ""
        return .open(
            #"{\#(fed)"format":1,"engine":\#(BuildFacts.engine),"version":"0.1.0","numeric_fingerprint":"\#(NumericFingerprint.here)","#
                + "\(number.0),\"subject_checksum\":\"\(checksum)\",\(json[study...])")
    }
    content.lines[0] = try opening("0")
    let problem = #expect(throws: InputError.self) { try LiveOpening(content) }
    let checksum = try #require(problem?.description.firstMatch(of: /[0-9a-f]{32}/)).0
    content.lines[0] = try opening(String(checksum))
    let session = try LiveSession(LiveOpening(content), journal: nil)
    session.expectLate(content.lines)
    for index in content.lines.indices.dropFirst() {
        do {
            try session.play(content.lines[index], on: index + 1, of: content.path)
        } catch is LiveSession.Divergence {
            let (events, digest) = (
                session.session.executor.journal.count, session.outcome?.digest ?? session.digest
            )
            switch content.lines[index] {
            case .mark(let at, _, _): content.lines[index] = .mark(at, events: events, digest)
            case .end(let at, _, _, let early):
                content.lines[index] = .end(at, events: events, digest, early: early)
            default: break
            }
        }
    }
    return content
}

/// Journals that were written before a refusal and an end had codes: `Journals/` has some, as a program of engine 1 wrote them.
@Suite("Journals without codes", .timeLimit(.minutes(45)))
struct OldJournalTests {
    private func lived(_ content: JournalContent) throws -> (replay: LiveReplay, events: [LiveEvent]) {
        let heard = Heard()
        let replay = try LiveReplay(content, listener: heard.take)
        return (replay, heard.events)
    }

    private static let names = ["refusals-and-exchange", "ended-early", "leap", "late-steps"]

    @Test(arguments: names)
    func `read back to what they are, and are refused in one line that says whose they are`(_ name: String)
        throws
    {
        let content = try written(name)
        #expect(!content.lines.contains { $0.text.contains("[") && !$0.text.contains("{") })
        for line in content.lines { #expect(JournalLine(Substring(line.text)) == line) }
        let problem = #expect(throws: InputError.self) { try LiveReplay(content) }
        let text = problem?.description ?? ""
        #expect(text.contains("engine 1") && text.contains("engine \(BuildFacts.engine)"), "\(text)")
        #expect(text.contains("Islet 0.1.0") && !text.contains("\n"), "\(text)")
    }

    @Test(arguments: zip(names, [150, 191, 40, 63]))
    func `are lived again, line by line`(_ name: String, _ lines: Int) throws {
        let content = try old(name)
        #expect(!content.lines.contains { $0.text.contains("[") && !$0.text.contains("{") })
        let (replay, _) = try lived(content)
        #expect(replay.divergence == nil, "\(String(describing: replay.divergence))")
        #expect(replay.lineCount == lines && content.lines.count == lines)
    }

    @Test func `tell what was refused, ended, late and left out as just that`() throws {
        let told = try lived(old("refusals-and-exchange")).events
        let refused = told.filter { $0.outcome == .refused }
        #expect(refused.count == 12)
        #expect(refused.count { $0.kind == "refusal" } == 6 && refused.count { $0.kind == "input" } == 6)
        #expect(refused.allSatisfy { $0.problem?.code == "" && $0.problem?.reason.text.isEmpty == false })
        #expect(told.count { $0.kind == "exchange" } == 1)
        let last = try #require(lived(old("ended-early")).events.last)
        #expect(last.outcome == .ended && last.problem?.reason.text.hasPrefix("plasma glucose") == true)
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
            let before = try old("refusals-and-exchange")
            do {
                let file = try JournalFile.create(path, opening: String(before.lines[0].text.dropFirst(5)))
                for line in before.lines.dropFirst() { try file.append(line, sync: false) }
            }
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
            #expect(texts.contains { $0.contains(" - [out-of-range ") && $0.contains("] target") })
            #expect(try lived(content).replay.divergence == nil)
        }
    }
}
