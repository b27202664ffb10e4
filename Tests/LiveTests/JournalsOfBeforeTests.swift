// Journals that an earlier program of this engine wrote are lived again to the digest: `Journals/engine-N`, recorded by `Tests/Tools/record_journals.py`.

import Foundation
import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import IsletLive

private let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Journals/engine-\(BuildFacts.engine)")

private let names: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? [])
    .filter { $0.hasSuffix(".journal") }.sorted()

/// Harm: a program that is put in place of the one before refuses or contradicts the journals of sessions that ring.
@Suite("Journals of before", .timeLimit(.minutes(45))) struct JournalsOfBeforeTests {
    @Test func `there are twenty of this engine, with inputs taken and refused`() throws {
        #expect(names.count == 20)
        let lines = try names.flatMap {
            try JournalContent.read(folder.appending(path: $0).path()).lines
        }
        func count(_ isMeant: (JournalLine) -> Bool) -> Int { lines.count { isMeant($0) } }
        #expect(count { if case .answer(_, .taken) = $0 { true } else { false } } > 200)
        #expect(count { if case .answer(_, .refused) = $0 { true } else { false } } > 20)
        #expect(count { if case .refusal = $0 { true } else { false } } > 50)
        #expect(count { if case .end = $0 { true } else { false } } > 5)
    }

    @Test(arguments: names) func `each is lived again to its digest`(_ name: String) throws {
        let content = try JournalContent.read(folder.appending(path: name).path())
        #expect(!content.isTorn)
        let fingerprint = try LiveOpening(content, engine: nil).fingerprint
        guard fingerprint == NumericFingerprint.here else {
            // Mathematics of another machine: refused in one line, never contradicted.
            let problem = #expect(throws: InputError.self) { try LiveReplay(content) }
            #expect(problem?.description.contains("numeric_fingerprint") == true)
            return
        }
        let heard = Heard()
        let replay = try LiveReplay(content, listener: heard.take)
        #expect(replay.divergence == nil, "\(String(describing: replay.divergence))")
        #expect(replay.lineCount == content.lines.count)
        // What was refused then is told as refused now, and nothing else is.
        let refused = content.lines.count { line in
            switch line {
            case .refusal, .answer(_, .refused): true
            default: false
            }
        }
        #expect(heard.events.count { $0.outcome == .refused || $0.outcome == .unknown } == refused)
    }

    /// That the test above can fail: one bit of one digest, and one answer turned round.
    @Test func `one that says something else is found out`() throws {
        let content = try JournalContent.read(folder.appending(path: try #require(names.first)).path())
        guard try LiveOpening(content, engine: nil).fingerprint == NumericFingerprint.here else { return }
        var other = content
        let mark = try #require(
            other.lines.indices.first { if case .mark = other.lines[$0] { true } else { false } })
        guard case .mark(let at, let events, _) = other.lines[mark] else { return }
        other.lines[mark] = .mark(at, events: events, Digest128())
        #expect(try LiveReplay(other).divergence != nil)
        other = content
        let answer = try #require(
            other.lines.indices.first { if case .answer(_, .taken) = other.lines[$0] { true } else { false } }
        )
        guard case .answer(let number, _) = other.lines[answer] else { return }
        other.lines[answer] = .answer(number: number, .refused(.appDead, "otherwise said"))
        #expect(try LiveReplay(other).divergence != nil)
    }
}
