// `islet merge DIR... --out DIR`: the shards of one study, joined.

import IsletFiles
import ArgumentParser
import IsletCommands
import IsletResults
import IsletDevices
import IsletTrials

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

    @OptionGroup var units: GlucoseUnits

    func run() throws {
        let interrupt = Interrupt()
        guard !out.isEmpty else { throw ValidationError("--out takes a directory.") }
        let folders = shards.map { ResultFolder(path: $0) }
        let (study, text, identity) = try checked(folders)
        let folder = ResultFolder(path: out)
        let lock = try folder.prepareMerge()
        defer { lock.release() }
        do {
            // From here on a merge that is killed can be told from a run, and begun again.
            let before = folders.flatMap { ProgramFacts.recorded(in: $0) }
            let program = RunningProgram()
            try folder.writeManifest(study, identity: identity, state: .merging, programs: [.init()] + before)
            let store = try StudyStore(
                path: folder.storePath, studyText: text, version: Islet.version,
                calendar: study.start.calendar, outcomeKeys: study.outcomes.map(\.name),
                policyKeys: PolicyOutcome.storedNames, words: study.resultWords)
            for shard in folders {
                guard !interrupt.isRaised else {
                    throw OutputError(.temporary, path: out, message: "interrupted: nothing was merged")
                }
                try store.absorb(storeAt: shard.storePath)
            }
            try folder.keepInputs(ofShards: folders)
            let summary = try folder.finish(
                study, store: store, identity: identity, speed: nil, programs: [program.facts] + before)
            if !quiet {
                try ResultReport(summary, study: study, folder: folder, unit: units.unit).print()
                try StandardStream.output.writeLine("report   `islet report \(out)` writes it")
            }
        } catch {
            folder.discard()
            throw error
        }
    }

    /// Whether the shards are all of one study, before anything is written.
    private func checked(_ folders: [ResultFolder]) throws -> (Study, text: String, RunIdentity) {
        var text: String?
        var whole: RunIdentity?
        var found: Set<Int> = []
        var incomplete: [String] = []
        for folder in folders {
            let store = try StudyStore(readingAt: folder.storePath)
            let itsText = try store.studyText()
            let state = try folder.state()
            if state == .unknown || state == .merging {
                throw InputError(
                    file: folder.path,
                    found: "an incomplete \(state == .merging ? "merge" : "run: there is no manifest.json")",
                    expected: "a shard that has been run")
            }
            if state != .complete { incomplete.append(folder.path) }
            let itsIdentity = try RunIdentity(of: folder)
            try itsIdentity.checkEngine(of: folder, "a shard")
            try folder.checkStoreHash()
            if let text, let whole {
                guard itsText == text else {
                    throw InputError(
                        file: folder.path, found: "results of another study than \(folders[0].path)",
                        expected: "a shard of the same study")
                }
                try itsIdentity.check(against: whole, folder: folder)
            } else {
                text = itsText
                whole = itsIdentity
            }
            found.formUnion(try store.finishedSessions())
        }
        let study = try Study.parse(text ?? "", file: folders[0].path, hasRun: true)
        guard var identity = whole else {
            throw InputError(
                file: "merge", found: "no shards", expected: "the directories of a study's shards")
        }
        identity.shard = Shard.whole.description
        let expected = identity.subjects * study.arms.count
        guard found.count == expected, found.allSatisfy({ (0..<expected).contains($0) }) else {
            throw InputError(
                file: shards.joined(separator: " "),
                found: "\(found.count) sessions"
                    + (incomplete.isEmpty ? "" : " (not complete: \(incomplete.joined(separator: ", ")))"),
                expected: "all \(expected) of the study")
        }
        return (study, text ?? "", identity)
    }
}
