// `islet run STUDY --shard I/N --into STORE`: one shard, run in a folder of this machine's own, then put into the store whole.
//
// Guarantees: the store has the shard whole or not at all, whenever this stops; a shard that is done already is left alone, before anything is drawn.

import IsletCommands
import IsletDevices
import IsletFiles
import IsletTrials

extension RunCommand {
    /// Whether there is nothing to do. Refuses a store of another study.
    func isDone(_ shard: Shard, of study: Study, in path: String) throws -> Bool {
        guard let index = shard.single, ShardStore.exists(at: path) else { return false }
        let store = try ShardStore(at: path)
        try store.check(study, shards: shard.count)
        guard store.isDone(index) else { return false }
        try tell("shard \(shard) is done already")
        return true
    }

    func run(_ study: Study, shard: Shard, jobs: Int, _ interrupt: Interrupt, into path: String) throws {
        guard let index = shard.single else { return }
        let scratch = try Scratch(in: scratch ?? Scratch.standard)
        defer { scratch.remove() }
        let folder = ResultFolder(path: scratch.path + "/shard")
        // Whoever made the store has read the table through; it is the same one by its hash.
        var subjects = try people(
            of: study, shard: shard, in: folder, jobs: jobs, interrupt, isChecked: false)
        let known = ShardStore.exists(at: path) ? try ShardStore(at: path).facts.table : nil
        if subjects.table != known {
            subjects = try people(of: study, shard: shard, in: folder, jobs: jobs, interrupt)
        }
        let store = try ShardStore(
            makingAt: path, of: study,
            facts: ShardStore.Facts(
                study, shards: shard.count, people: subjects.count, table: subjects.table),
            table: subjects.table.map { _ in
                try CohortLoader.tablePath(of: study, studyPath: arguments.study)
            })
        let attempt = try ShardTry(store, shard: index)
        defer { attempt.end() }
        try stage(study, subjects, in: folder, shard: shard, jobs: jobs, interrupt) { summary in
            let placing: ShardTry.Placing
            do {
                placing = try attempt.place(folder)
            } catch let problem as OutputError where problem.kind == .temporary {
                throw OutputError(
                    .temporary, path: problem.path,
                    message: problem.message + "; `islet status` says whether the shard is in the store")
            }
            switch placing {
            case .placed: try tell("shard \(shard): \(summary.sessions) sessions, digest \(summary.digest)")
            case .late: try tell("shard \(shard) was done by another try meanwhile")
            }
        }
    }

    private func tell(_ line: String) throws {
        if !quiet { try StandardStream.output.writeLine(line) }
    }
}
