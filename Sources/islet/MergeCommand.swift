// `islet merge DIR... --out DIR`: the shards of one study, joined.

import ArgumentParser
import Foundation
import Persistence
import Records
import Trials

/// `islet merge`
struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Join the shards of a study.",
        discussion: """
            The result equals that of one whole run: same digest, same summary. The order of the shards doesn't matter.

            Example:
              islet merge shard1 shard2 shard3 --out results/whole
            """)

    @Argument(help: "The output directories of the shards.")
    var shards: [String]

    @Option(help: "The directory for the joined results: absent or empty.")
    var out: String

    @Flag(help: "No table.")
    var quiet = false

    func run() throws {
        let began = ProgressLine.monotonicSeconds()
        guard !out.isEmpty else { throw ValidationError("--out takes a directory.") }
        let folders = shards.map { ResultFolder(path: $0) }
        let (study, text, identity) = try checked(folders)
        let folder = ResultFolder(path: out)
        try folder.prepare(resume: false)
        do {
            let store = try StudyStore(
                path: folder.storePath, studyText: text, version: Islet.version,
                outcomeKeys: OutcomeKey.all.map(\.name))
            for shard in folders { try store.absorb(storeAt: shard.storePath) }
            let summary = try folder.finish(
                study, store: store, identity: identity, jobs: 1,
                wallSeconds: ProgressLine.monotonicSeconds() - began)
            if !quiet { try ResultReport(summary, study: study, folder: folder).print() }
        } catch {
            folder.discard()
            throw error
        }
    }

    /// Whether the shards are all of one study, before anything is written.
    private func checked(_ folders: [ResultFolder]) throws -> (Study, text: String, RunIdentity) {
        let keys = OutcomeKey.all.map(\.name)
        var text: String?
        var identity = RunIdentity(version: Islet.version, shard: .whole)
        var found: Set<Int> = []
        for folder in folders {
            let store = try StudyStore(readingAt: folder.storePath, outcomeKeys: keys)
            let itsText = try store.studyText()
            let itsIdentity = try RunIdentity(of: folder)
            if let text {
                guard itsText == text else {
                    throw InputProblem(
                        file: folder.path, found: "results of another study than \(folders[0].path)",
                        expected: "a shard of the same study")
                }
                try itsIdentity.check(against: identity, folder: folder)
            } else {
                text = itsText
                identity.version = itsIdentity.version
                identity.fingerprint = itsIdentity.fingerprint
            }
            found.formUnion(try store.finishedSessions())
        }
        let study = try Study.parse(text ?? "", file: folders[0].path)
        // A table's subjects aren't counted in the study: then the sessions have to be without a hole.
        let expected =
            study.cohort.subjectCount.map { $0 * study.arms.count }
            ?? ((found.max() ?? 0) / study.arms.count + 1) * study.arms.count
        guard found.count == expected else {
            throw InputProblem(
                file: shards.joined(separator: " "), found: "\(found.count) sessions",
                expected: "all \(expected) of the study")
        }
        return (study, text ?? "", identity)
    }
}
