// The digests that belong to this program's engine number: a digest that moves without the number is found here.

import Foundation
import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletTrials

/// `Tests/Golden`: small studies, and the digests of their sessions under one engine.
private struct Golden: Equatable {
    var engine: Int
    /// Of the mathematics that they were computed with.
    var fingerprint: String
    /// By the study's file.
    var digests: [String: String]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Golden")
        .standardizedFileURL
    static let file = folder.appending(path: "digests.txt")

    static var names: [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return files.filter { $0.hasSuffix(".yaml") }.sorted() + ["trace"]
    }

    init(_ text: String) throws {
        (engine, fingerprint, digests) = (0, "", [:])
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            let value = try #require(words.count == 2 ? words[1] : nil, "\(line)")
            switch words[0] {
            case "engine": engine = try #require(Int(value))
            case "fingerprint": fingerprint = value
            default: digests[words[0]] = value
            }
        }
    }

    init(engine: Int, fingerprint: String, digests: [String: String]) {
        (self.engine, self.fingerprint, self.digests) = (engine, fingerprint, digests)
    }

    var text: String {
        """
        # Digests of the sessions of the studies beside this file, by the engine that lives them. `make golden` writes it.
        # A digest that moves moves `BuildFacts.engine` with it: docs/upgrade.md says what becomes of results, journals and wards.
        engine \(engine)
        fingerprint \(fingerprint)

        """ + digests.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    static func recorded() throws -> Golden { try Golden(try String(contentsOf: file, encoding: .utf8)) }

    /// What the sessions of a study come to here, all in one.
    static func digest(_ name: String) throws -> String {
        var hash = SHA256()
        if name == "trace" {
            hash.update(Array(try trace().utf8))
        } else {
            let path = folder.appending(path: name).path()
            let study = try Study.read(path: path)
            let cohort = try study.makeCohort(studyPath: path, jobs: 1)
            let runner = TrialRunner(study: study, cohort: cohort, jobs: 1)
            for session in runner.sessions { hash.update(Array("\(try runner.run(session).digest)\n".utf8)) }
        }
        return String(hash.finished().description.prefix(32))
    }

    /// What policies make of recorded glucose.
    private static func trace() throws -> String {
        let policies = try [AlertPreset.dexcomG7, .bionicloop].map { try $0.policy() }
        let readings = TraceFiles.readings().map { "\($0.time),\($0.mgdl)" }
        let lines = readings.map { line -> String in
            let parts = line.split(separator: ",")
            let seconds = (Int64(parts[0]) ?? 0) / 1000
            let day = CivilDate.date(daysSince1970: Int(seconds / 86_400))
            let (hour, minute) = (Int(seconds / 3600 % 24), Int(seconds / 60 % 60))
            return "\(day.0)-\(TraceFiles.two(day.1))-\(TraceFiles.two(day.2))T\(TraceFiles.two(hour)):"
                + "\(TraceFiles.two(minute)):00Z,\(parts[1])\n"
        }
        let recorded = try RecordedTrace.parse(
            Array(("time,glucose_mgdl\n" + lines.joined()).utf8), file: "trace.csv", TraceFiles.zoned("UTC"))
        return try TraceReplay(policies).replay(recorded, index: 0).effects.joined().map {
            "\($0.instant.nanoseconds) \($0.kind.rawValue) \($0.rule) \($0.reason.rawValue)\n"
        }.joined()
    }
}

private let isToBeWritten = ProcessInfo.processInfo.environment["ISLET_GOLDEN"] == "write"

@Suite("Golden digests", .timeLimit(.minutes(20)))
struct GoldenDigestTests {
    /// `make golden`. A digest that has moved is never written under the number that it had.
    @Test(.enabled(if: isToBeWritten)) func `are written, under a number that no other digests have`() throws
    {
        let before = try? Golden.recorded()
        var digests: [String: String] = [:]
        for name in Golden.names { digests[name] = try Golden.digest(name) }
        let now = Golden(
            engine: BuildFacts.engine, fingerprint: NumericFingerprint.here, digests: digests)
        if let before, before.engine == now.engine, before.fingerprint == now.fingerprint {
            let moved = before.digests.filter { digests[$0.key] != nil && digests[$0.key] != $0.value }
            try #require(
                moved.isEmpty,
                "\(moved.keys.sorted()) moved: raise BuildFacts.engine above \(now.engine) first")
        }
        try now.text.write(to: Golden.file, atomically: true, encoding: .utf8)
    }

    /// What is compared below is this engine's, and each study has a digest.
    @Test(.enabled(if: !isToBeWritten)) func `are those of this engine`() throws {
        let golden = try Golden.recorded()
        #expect(golden.engine == BuildFacts.engine, "the number has moved: `make golden` writes its digests")
        #expect(golden.digests.keys.sorted() == Golden.names)
        #expect(golden.digests.count >= 10 && golden.digests.count <= 20)
        #expect(try Golden(golden.text) == golden)
    }

    @Test(
        .enabled(
            if: !isToBeWritten && (try? Golden.recorded())?.fingerprint == NumericFingerprint.here,
            "of this machine's mathematics"), arguments: Golden.names)
    func `have not moved without the number`(_ name: String) throws {
        let golden = try Golden.recorded()
        #expect(
            try Golden.digest(name) == golden.digests[name],
            "\(name) comes to another digest: raise BuildFacts.engine, run `make golden`, and say so in CHANGELOG.md"
        )
    }

    /// A digest hangs on nothing but the engine: not on its place in a run, on workers, or on how much is recorded.
    @Test func `hang on the engine alone`() throws {
        let path = Golden.folder.appending(path: "open-and-closed-loop.yaml").path()
        var study = try Study.read(path: path)
        let cohort = try study.makeCohort(studyPath: path, jobs: 2)
        let first = try TrialRunner(study: study, cohort: cohort, jobs: 2).run(3).digest
        study.record = .full
        (study.name, study.duration) = ("another", study.duration)
        let second = try TrialRunner(study: study, cohort: cohort, jobs: 1).run(3).digest
        #expect(first == second)
    }
}
