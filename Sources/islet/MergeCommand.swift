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
        let keys = OutcomeKey.all.map(\.name)
        let stores = shards.map { ResultFolder(path: $0).storePath }
        let first = try StudyStore(readingAt: stores[0], outcomeKeys: keys)
        let text = try first.studyText()
        for (index, path) in stores.enumerated().dropFirst() {
            guard try StudyStore(readingAt: path, outcomeKeys: keys).studyText() == text else {
                throw InputProblem(
                    file: shards[index], found: "results of another study than \(shards[0])",
                    expected: "a shard of the same study")
            }
        }
        let study = try Study.parse(text, file: shards[0])
        let folder = ResultFolder(path: out)
        try folder.prepare(resume: false)
        let store = try StudyStore(
            path: folder.storePath, studyText: text, version: Islet.version, outcomeKeys: keys)
        for path in stores { try store.absorb(storeAt: path) }
        let found = try store.finishedSessions().count
        if let subjects = study.cohort.subjectCount {
            let expected = subjects * study.arms.count
            guard found == expected else {
                try FileManager.default.removeItem(atPath: folder.storePath)
                throw InputProblem(
                    file: out, found: "\(found) sessions in the shards",
                    expected: "all \(expected) of the study")
            }
        }
        let summary = try folder.finish(
            study, store: store, shard: .whole, jobs: 1, wallSeconds: ProgressLine.monotonicSeconds() - began,
            version: Islet.version)
        if !quiet { try ResultReport(summary, study: study, folder: folder).print() }
    }
}
