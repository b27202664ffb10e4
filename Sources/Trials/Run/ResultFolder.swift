// A study's output directory.
//
// Guarantees: a folder that isn't ours is refused before anything is written to it; files other than the store appear
// whole or not at all; `manifest.json` with `"state": "complete"` is the last to be written, and hashes the others.

import Foundation
import Glibc
public import Records
import SimulationKernel

public struct ResultFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    public func file(_ name: String) -> String { path + "/" + name }

    public var manifestPath: String { file("manifest.json") }
    public var storePath: String { file("study.sqlite") }

    /// Makes the folder, or checks that it may be used.
    ///
    /// - Parameter resume: true where a run's folder is expected; false where an empty or absent one is.
    /// - Throws: `InputProblem` (66) where there is nothing to resume, `OutputProblem` (73).
    public func prepare(resume: Bool) throws {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        if exists, !isDirectory.boolValue {
            throw OutputProblem(.cannotCreate, path: path, message: "is a file, expected a directory")
        }
        if resume {
            guard exists else {
                throw InputProblem(
                    .missing, file: path, found: "nothing", expected: "a run's directory to resume")
            }
            guard try isEmpty() || FileManager.default.fileExists(atPath: manifestPath) else {
                throw InputProblem(
                    file: path, found: "a directory without manifest.json", expected: "a run to resume")
            }
            return
        }
        if exists {
            guard try isEmpty() else {
                throw OutputProblem(
                    .cannotCreate, path: path,
                    message:
                        "the directory is not empty; give another, or --resume to go on with the run in it")
            }
            return
        }
        try makeDirectories()
    }

    private func isEmpty() throws -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw OutputProblem(.cannotCreate, path: path, message: "cannot read the directory")
        }
        return names.isEmpty
    }

    private func makeDirectories() throws {
        var partial = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            partial += (partial.isEmpty || partial.hasSuffix("/") ? "" : "/") + part
            if mkdir(partial, 0o777) != 0, errno != EEXIST {
                throw OutputProblem(path: partial, doing: "make the directory", errno: errno)
            }
        }
    }

    /// Writes everything but the store, from the store, and the manifest last.
    ///
    /// - Returns: the summary that was written.
    public func finish(
        _ study: Study, store: any ResultStore, shard: Shard, jobs: Int, wallSeconds: Double, version: String
    ) throws -> StudySummary {
        let summary = try StudySummary(of: study, store: store)
        let sessionsHash = try writeSessions(study, store)
        let json = summary.json(study: study, jobs: jobs, wallSeconds: wallSeconds)
        let summaryHash = try AtomicFile.write(json.prettyText, to: file("summary.json"))
        try store.close()
        let storeHash = try hash(of: storePath)
        try writeManifest(
            study, shard: shard, version: version, state: "complete",
            files: [
                ("sessions.csv", sessionsHash.description), ("study.sqlite", storeHash),
                ("summary.json", summaryHash.description),
            ])
        return summary
    }

    /// One row a session, by session index. An undefined outcome is an empty field.
    private func writeSessions(_ study: Study, _ store: any ResultStore) throws -> SHA256.Digest {
        var file = try AtomicFile(self.file("sessions.csv"))
        let header =
            ["session", "subject", "arm", "lived_days", "ended_early", "digest"] + OutcomeKey.all.map(\.name)
        try file.append(header.joined(separator: ",") + "\n")
        var block = ""
        try store.forEachSummary { session in
            var fields = [
                "\(session.session)", Self.csv(session.subject), Self.csv(session.arm), "\(session.days)",
                Self.csv(session.end.reason ?? ""), session.digest,
            ]
            fields += session.outcomes.map { $0.map { "\($0)" } ?? "" }
            block += fields.joined(separator: ",") + "\n"
            if block.utf8.count > 1 << 16 {
                try file.append(block)
                block = ""
            }
        }
        try file.append(block)
        return try file.commit()
    }

    private static func csv(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
        return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    /// Writes the manifest: what was asked for, by what, on what.
    public func writeManifest(
        _ study: Study, shard: Shard, version: String, state: String, files: [(String, String)] = []
    ) throws {
        let manifest = JSONValue.object([
            .init("state", .string(state)),
            .init("study", study.json),
            .init("seed", .unsigned(study.seed)),
            .init("shard", .string(shard.description)),
            .init("version", .string(version)),
            .init("toolchain", .string(BuildFacts.toolchain)),
            .init("build", .string(BuildFacts.configuration)),
            .init("gsl", .string(BuildFacts.gsl)),
            .init("numeric_fingerprint", .string(NumericFingerprint.here)),
            .init("files", .object(files.map { .init($0.0, .string("sha256:" + $0.1)) })),
        ])
        try AtomicFile.write(manifest.prettyText, to: manifestPath)
    }

    private func hash(of path: String) throws -> String {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw OutputProblem(.temporary, path: path, message: "cannot be read back")
        }
        var hash = SHA256()
        while let block = try handle.read(upToCount: 1 << 20), !block.isEmpty { hash.update([UInt8](block)) }
        return hash.finished().description
    }
}
