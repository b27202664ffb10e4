import Foundation
import IsletFiles
import Synchronization
import Testing

@testable import IsletTrials

/// How many sessions whose program fails a study keeps, whatever interrupts it.
@Suite struct ToleratedTests {
    /// Who has the number 2 or 4 at the end of its name fails at its fifth step; with `all`, everybody.
    private static func program(all: Bool) -> String {
        """
        import json, os, sys
        for line in sys.stdin:
            said = json.loads(line)
            if "protocol" in said:
                answer = {"protocol": "islet-step/1", "encoding": "lines", "name": "fails", "version": 1,
                          "basalSource": "algorithm", "runs": "alone", "runtime": "python", "parameters": []}
            elif "begin" in said:
                subject = said["begin"][0]["subject"]
                continue
            elif "step" in said:
                step = said["step"][0]
                if step["step"] == 5 and (\(all ? "True" : "subject[-1] in '24'")): os._exit(9)
                answer = {"dose": [{"handle": step["handle"], "step": step["step"], "basal": 0.05}]}
            else:
                continue
            print(json.dumps(answer), flush=True)
        """
    }

    private func withStudy(
        all: Bool, tolerating count: Int, _ body: (TrialRunner, MemoryStore) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-tolerated-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.program(all: all).write(
            to: folder.appending(path: "fails.py"), atomically: true, encoding: .utf8)
        let path = folder.appending(path: "study.yaml").path()
        var study = try Study.parse(
            """
            duration: 1h
            tolerate: \(count)
            cohort: { generate: { count: 6 } }
            arms: [{ name: a, algorithm: { command: [python3, fails.py] } }]
            """, file: path)
        try study.startAlgorithms(studyPath: path)
        let subjects = try CohortLoader.subjects(of: study, studyPath: path, jobs: 1)
        try body(TrialRunner(study: study, subjects: subjects, jobs: 1), MemoryStore(of: study))
    }

    /// - Parameter sessions: after which it is interrupted.
    private func run(_ runner: TrialRunner, _ store: MemoryStore, sessions: Int = .max) throws -> (
        isDone: Bool, failed: Int
    ) {
        let asked = Mutex(0)
        let failures = PluginFailures()
        let isDone = try runner.run(
            into: store,
            isInterrupted: {
                asked.withLock {
                    $0 += 1
                    return $0 > sessions
                }
            }, progress: ProgressLine(sessions: 6, style: .silent), failures: failures)
        return (isDone, failures.count)
    }

    /// Kept bit by bit, each time that somebody interrupts it, all of them would be.
    @Test func whoInterruptsARunToleratesNoMore() throws {
        try withStudy(all: true, tolerating: 2) { runner, store in
            for sessions in [2, 1, 2] {
                let (isDone, failed) = try run(runner, store, sessions: sessions)
                #expect(!isDone && failed == sessions)
                #expect(store.finishedSessions().isEmpty)
            }
            let (isDone, failed) = try run(runner, store)
            #expect(!isDone && failed == 6)
            #expect(store.finishedSessions().isEmpty)
        }
    }

    @Test func asManyAsAreToleratedAreKeptOnceTheOthersAre() throws {
        try withStudy(all: false, tolerating: 2) { runner, store in
            // Of the first three one fails: it is lived again with the rest.
            #expect(try run(runner, store, sessions: 3).isDone == false)
            #expect(store.finishedSessions().count == 2)
            let (isDone, failed) = try run(runner, store)
            #expect(isDone && failed == 2)
            #expect(store.finishedSessions().count == 6)
        }
    }
}
