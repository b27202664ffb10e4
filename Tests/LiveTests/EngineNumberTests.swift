// Journals of another engine: what is refused, and how.

import Foundation
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import IsletLive

@Suite("Journals of another engine", .timeLimit(.minutes(45))) struct EngineNumberTests {
    private func journal(in folder: String, engine: Int) throws -> String {
        let path = folder + "/e\(engine).journal"
        let opening = try LiveOpening(study: smallStudy(), session: 1, studyPath: "live.yaml", engine: engine)
        let session = try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
        session.note(LiveAnchor(instant: .start, pace: .scaled(60), utcNanoseconds: 1))
        _ = session.take(LiveCommand(.target(mgdl: 130), key: "t"), at: .minutes(20))
        _ = session.take(LiveCommand(.quietHours(fromMinute: 0, toMinute: 400)), at: .minutes(30))
        _ = session.take(
            LiveCommand(.threshold(metric: "glucose", low: 75, high: 240)), at: .minutes(40))
        _ = session.take(LiveCommand(.switchThreshold(metric: "glucose", isEnabled: false)), at: .minutes(50))
        _ = session.take(
            LiveCommand(.meal(grams: 30, isEaten: true, isAnnounced: true)), at: .minutes(60))
        session.advance(to: .minutes(120))
        return path
    }

    @Test func `an opening says which engine lives it; one that doesn't is engine 1's`() throws {
        try withFolder { folder in
            let path = try journal(in: folder, engine: BuildFacts.engine)
            let content = try JournalContent.read(path)
            let number = #""engine":\#(BuildFacts.engine),"#
            #expect(content.lines[0].text.contains(number))
            #expect(try LiveOpening(content).engine == BuildFacts.engine)
            #expect(LiveOpening.engine(ofJournal: path) == BuildFacts.engine)
            var old = content
            old.lines[0] = try #require(
                JournalLine(Substring(content.lines[0].text.replacing(number, with: ""))))
            #expect(try LiveOpening(old, engine: 1).engine == 1)
            #expect(throws: InputError.self) { try LiveOpening(old) }
            // The version alone refuses nothing.
            old.lines[0] = try #require(
                JournalLine(
                    Substring(
                        content.lines[0].text.replacing(#""version":"0.1.0""#, with: #""version":"0.0.9""#))))
            #expect(try LiveReplay(old).divergence == nil)
        }
    }

    @Test func `a simulated session of another engine is neither lived again nor gone on with, in one line`()
        throws
    {
        try withFolder { folder in
            let path = try journal(in: folder, engine: BuildFacts.engine + 1)
            let before = try bytes(path)
            let attempts: [() throws -> Void] = [
                { _ = try LiveReplay.resume(path) },
                { _ = try LiveReplay(try JournalContent.read(path)) },
                { _ = try LivePast.open(try JournalContent.read(path), at: .minutes(60)) },
                {
                    _ = try LiveFork(
                        try JournalContent.read(path), at: .minutes(60),
                        change: LiveFork.Change(
                            policy: try LiveFork.Change(json: #"{"policy":"none"}"#, file: "x").policy))
                },
            ]
            for attempt in attempts {
                let problem = try #require(#expect(throws: InputError.self) { try attempt() })
                let text = problem.description
                #expect(
                    text.contains(path) && text.contains("engine \(BuildFacts.engine + 1)")
                        && text.contains("engine \(BuildFacts.engine)"), "\(text)")
                #expect(text.contains("Islet \(BuildFacts.version)") && !text.contains("\n"), "\(text)")
            }
            #expect(try bytes(path) == before)
            #expect(
                try LiveReplay(try JournalContent.read(path), engine: BuildFacts.engine + 1).divergence == nil
            )
        }
    }

    @Test func `begun anew it has the settings, and nothing of the life`() throws {
        try withFolder { folder in
            let path = try journal(in: folder, engine: BuildFacts.engine + 1)
            let old = try bytes(path)
            let (kept, refused) = try LiveAnew.replace(path, studyPath: nil)
            #expect(
                refused.isEmpty
                    && kept == folder + "/e\(BuildFacts.engine + 1).engine-\(BuildFacts.engine + 1).journal")
            #expect(try bytes(kept) == old)
            do {
                let session = try LiveReplay.resume(path)
                let snapshot = session.snapshot
                #expect(session.opening.engine == BuildFacts.engine && session.now < .minutes(1))
                #expect(snapshot.target?.milligramsPerDecilitre == 130)
                #expect(snapshot.quietHours?.to == 400 * Nanoseconds.minute)
                let glucose = try #require(snapshot.thresholds.first { $0.metric == .glucose })
                #expect(glucose.low == 75 && glucose.high == 240 && !glucose.isEnabled)
                let inputs = try JournalContent.read(path).lines.filter {
                    if case .input = $0 { true } else { false }
                }
                #expect(inputs.count == 4 && !inputs.contains { $0.text.contains("meal") })
            }
            // What this engine lives is not begun anew.
            #expect(throws: InputError.self) { try LiveAnew.replace(path, studyPath: nil) }
        }
    }
}
