// `islet status STORE`: which shards of a store are done, who is at one, what is lost, and what doesn't belong.

import IsletFiles
import ArgumentParser
import IsletCommands
import IsletDevices
import IsletTrials

/// `islet status`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Tell how far the shards of a store are.",
        discussion: """
            A shard is done when its mark is in the store. Who is at a shard says so each minute; after five minutes of silence they
            count as lost. Odd is a shard that another program, engine or machine's mathematics made than most, or whose files are not
            those that its mark names; `islet merge` refuses it, and --reopen takes its mark back, so that it runs again. Exit code 1
            where a shard is odd.

            Examples:
              islet status results/store
              islet status results/store --missing
              islet status results/store --missing --ranges
            """)

    @Argument(help: "A store, as `islet run --into` makes it.", completion: .directory)
    var store: String

    @Flag(help: "Print the indices of shards that nobody has done and nobody is at, one a line.")
    var missing = false

    @Flag(help: "With --missing: on one line, as in 3,7-9, which Slurm's --array takes.")
    var ranges = false

    @Flag(help: "Read every result through, and compare its SHA-256.")
    var check = false

    @Flag(help: "Take back the marks of odd shards, so that they run again.")
    var reopen = false

    @Flag(help: "Remove tries that were cut off, and the marks of who is lost.")
    var tidy = false

    func validate() throws {
        if ranges, !missing { throw ValidationError("--ranges goes with --missing.") }
    }

    func run() throws {
        let interrupt = Interrupt()
        let store = try ShardStore(at: store)
        var status: StoreStatus
        do {
            status = try StoreStatus(store, readsFiles: check, isInterrupted: { interrupt.isRaised })
        } catch is CancellationError {
            throw OutputError(.temporary, path: store.path, message: "interrupted")
        }
        let odd = status.odd
        if reopen { try status.reopen() }
        if tidy { status.tidy() }
        if missing {
            let text =
                ranges
                ? IndexRanges.text(IndexRanges.joined(status.missing))
                : status.missing.map(String.init).joined(separator: "\n")
            if !text.isEmpty { try StandardStream.output.writeLine(text) }
            return
        }
        try StandardStream.output.write(Self.text(status))
        guard status.table != nil || !reopen && !odd.isEmpty else { return }
        throw CheckFailure()
    }

    private static func text(_ status: StoreStatus) -> String {
        let facts = status.store.facts
        func list(_ shards: [Int]) -> String {
            shards.isEmpty ? "" : "  " + printable(IndexRanges.text(IndexRanges.joined(shards)), limit: 200)
        }
        var text = "\(facts.words): \(facts.people) people in \(facts.shards) shards\n"
        let waiting = status.missing.filter { shard in
            status.odd[shard] == nil && !status.lost.contains { $0.shard == shard }
        }
        text += "done       \(status.done.count) of \(facts.shards)\n"
        text += "under way  \(status.underWay.count)\n"
        for worker in status.underWay { text += line(worker) }
        text += "lost       \(status.lost.count)\n"
        for worker in status.lost { text += line(worker) }
        text += "odd        \(status.odd.count)\n"
        for (shard, why) in status.odd.sorted(by: { $0.key < $1.key }) {
            text += "  \(shard): \(printable(why, limit: 500))\n"
        }
        text += "waiting    \(waiting.count)\(list(waiting))\n"
        if !status.beside.isEmpty {
            text += "beside     \(status.beside.count) at shards that are done\n"
            for worker in status.beside {
                text += line(worker) + "    \(printable(worker.tryFolder, limit: 200))\n"
            }
        }
        if let table = status.table { text += "table      \(printable(table, limit: 500))\n" }
        if !status.leftovers.isEmpty {
            text += "left over  \(status.leftovers.count) that no mark names (--tidy removes them)\n"
            for path in status.leftovers { text += "  \(printable(path, limit: 200))\n" }
        }
        return text
    }

    private static func line(_ worker: StoreStatus.Worker) -> String {
        "  \(worker.shard): \(printable(worker.host, limit: 100)), process \(worker.pid), since \(printable(worker.began, limit: 40)), heard of \(worker.silentSeconds) s ago\n"
    }
}
