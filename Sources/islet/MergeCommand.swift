// `islet merge DIR... --out DIR`, `islet merge STORE --out DIR`: the shards of one study, joined.
//
// Guarantees: everything is checked before anything is written: every file's hash, whose sessions and people they are, who made them, and that none is
// lacking; what is refused is named. The joined results don't depend on the order of the shards, nor on whether some were joined before.

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
            The result equals that of one whole run: same digest, same summary. The order of the shards doesn't matter. Of a store
            (`islet run --into`), every shard has to be done; `islet status` says which are. Shards that were joined with --part can be
            joined again, so that many machines may share the work of joining.

            Examples:
              islet merge shard1 shard2 shard3 --out results/whole
              islet merge results/store --out results/joined
              islet merge results/store --shards 1-2 --out results/part1
            """)

    @Argument(help: "The output directories of the shards, or a store.")
    var shards: [String]

    @Option(help: "The directory for the joined results: absent or empty.")
    var out: String

    @Option(
        name: .customLong("shards"),
        help: ArgumentHelp(
            "Of a store, these shards only, as in 1-3,7. The result is a part.", valueName: "list"))
    var chosen: String?

    @Flag(help: "The result may lack shards: it is a part of the study, to be joined again.")
    var part = false

    @Flag(help: "No table.")
    var quiet = false

    @OptionGroup var units: GlucoseUnits

    func validate() throws {
        guard !out.isEmpty else { throw ValidationError("--out takes a directory.") }
        if let chosen, IndexRanges.read(chosen) == nil {
            throw ValidationError("--shards takes rising numbers from 1 and ranges, as in 1-3,7.")
        }
    }

    func run() throws {
        let interrupt = Interrupt()
        let parts = try ShardParts(
            folders(), mayLackShards: part || chosen != nil, isInterrupted: { interrupt.isRaised })
        let (study, identity) = (parts.study, parts.identity)
        let folder = ResultFolder(path: out)
        let lock = try folder.prepareMerge()
        defer { lock.release() }
        let summary: StudySummary
        var hasBegun = false
        do {
            // From here on a merge that is killed can be told from a run, and begun again.
            let before = try parts.folders.flatMap { try ProgramFacts.recorded(in: $0) }
            let program = RunningProgram()
            try folder.writeManifest(
                study, identity: identity, state: .merging, programs: [.init()] + before,
                algorithms: parts.algorithms)
            hasBegun = true
            let store = try StudyStore(
                path: folder.storePath, studyText: parts.text, version: Islet.version,
                calendar: study.start.calendar, outcomeKeys: study.outcomes.map(\.name),
                policyKeys: PolicyOutcome.storedNames, words: study.resultWords)
            for shard in parts.folders {
                guard !interrupt.isRaised else {
                    throw OutputError(.temporary, path: out, message: "interrupted: nothing was merged")
                }
                try store.absorb(storeAt: shard.storePath)
            }
            try folder.keepInputs(ofShards: parts.folders, study: study)
            summary = try folder.finish(
                study, store: store, identity: identity, speed: nil, programs: [program.facts] + before,
                sums: parts.sums)
        } catch {
            // What stood there before is nobody's to remove; a folder with nothing in it goes.
            if hasBegun { folder.discard() } else { folder.removeIfEmpty() }
            throw error
        }
        // What is joined stays, also where nobody can be told of it.
        guard !quiet else { return }
        try ResultReport(summary, study: study, folder: folder, unit: units.unit).print()
        try StandardStream.output.writeLine("report   `islet report \(shellWord(out))` writes it")
    }

    /// The folders that were named, or those of a store's shards.
    private func folders() throws -> [ResultFolder] {
        guard shards.count == 1, let path = shards.first, ShardStore.exists(at: path) else {
            guard chosen == nil else { throw ValidationError("--shards goes with a store.") }
            return shards.map { ResultFolder(path: $0) }
        }
        let store = try ShardStore(at: path)
        var status = try StoreStatus(store)
        // Done between two looks, a shard was in neither.
        if status.missing.contains(where: { status.odd[$0] == nil && store.isDone($0) }) {
            status = try StoreStatus(store)
        }
        let wanted =
            chosen.flatMap { IndexRanges.read($0) }?.flatMap { Array($0) } ?? Array(1...store.facts.shards)
        guard let last = wanted.last, last <= store.facts.shards else {
            throw InputError(
                file: path, found: "--shards \(chosen ?? "")",
                expected: "shards from 1 to \(store.facts.shards)")
        }
        let odd = wanted.filter { status.odd[$0] != nil }
        if let first = odd.first {
            throw InputError(
                file: path,
                found: "odd shards \(IndexRanges.text(IndexRanges.joined(odd))): "
                    + "shard \(first) has \(status.odd[first] ?? "")",
                expected:
                    "shards of one program and study: `islet status \(shellWord(path)) --reopen` lets them run again"
            )
        }
        let folders = wanted.compactMap { status.folder(of: $0) }
        guard folders.count == wanted.count else {
            let lacking = wanted.filter { status.done[$0] == nil }
            let working = lacking.filter { shard in status.underWay.contains { $0.shard == shard } }
            throw InputError(
                file: path,
                found: "\(folders.count) of \(wanted.count) shards; missing are "
                    + printable(IndexRanges.text(IndexRanges.joined(lacking)), limit: 1000)
                    + (working.isEmpty
                        ? ""
                        : " (under way: \(printable(IndexRanges.text(IndexRanges.joined(working)), limit: 200)))"),
                expected: "all of them; `islet status \(shellWord(path)) --missing` lists those to run")
        }
        return folders
    }
}
