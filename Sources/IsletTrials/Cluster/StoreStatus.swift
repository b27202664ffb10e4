// How far a store is: which shards are done, who is at one, who went silent, and what doesn't belong.
//
// Guarantees: reads only, but for a file of no content by which the store's own clock is asked; every shard is one of done, odd, under way or missing. Odd is a shard
// whose mark or manifest can't be read, whose try isn't there or isn't the marked one, that is of another study, or that another program, engine or
// machine's mathematics made than most: results of the two may differ. What an odd shard costs is that shard. Where people are rows of a table, that it is
// there is said, too.
// Does not: read results through, unless asked to: then every file's SHA-256 is compared with its manifest's.

import IsletFiles
import Foundation
import Glibc
package import IsletDevices

package struct StoreStatus: Sendable {
    package let store: ShardStore
    /// By shard.
    package private(set) var done: [Int: ShardMark] = [:]
    /// Why a shard with a mark doesn't count, by shard.
    package private(set) var odd: [Int: String] = [:]
    /// The try that an odd shard's mark named; none where it could not be read.
    private var oddTries: [Int: String] = [:]
    /// Who said that they are at a shard, by shard and machine.
    private var workers: [Worker] = []
    /// Tries of whom something stands in `underway` that can't be read.
    private var unread: Set<String> = []
    /// Tries that no mark names and nobody is at, and copies that were cut off.
    package private(set) var leftovers: [String] = []
    /// What is wrong with the table that all shards share.
    package private(set) var table: String?

    /// Who is at a shard.
    package struct Worker: Hashable, Sendable {
        package var shard: Int
        package var id: String
        package var host: String
        package var pid: Int
        package var began: String
        /// Since they said so last, s, by the store's clock.
        package var silentSeconds: Int
        /// Whether they are taken to be gone.
        package var isLost: Bool {
            silentSeconds > ShardStore.lostSeconds
        }
        fileprivate var path: String

        /// The folder of its try, within the store.
        package var tryFolder: String { "tries/\(shard)/\(id)" }
    }

    /// - Parameters:
    ///   - readsFiles: whether every result is read through.
    ///   - isInterrupted: asked before each shard.
    /// - Throws: `InputError`, `CancellationError`.
    package init(
        _ store: ShardStore, readsFiles: Bool = false, isInterrupted: () -> Bool = { false }
    ) throws {
        self.store = store
        for name in try Self.names(in: store.file("done")) {
            if isInterrupted() { throw CancellationError() }
            guard let shard = Int(name), (1...store.facts.shards).contains(shard) else { continue }
            do throws(InputError) {
                done[shard] = try Self.checked(shard, in: store, readsFiles: readsFiles)
            } catch {
                odd[shard] = error.description
                oddTries[shard] = (try? ShardMark(at: store.donePath(shard)))?.id
            }
        }
        findOddMakers()
        checkTable(readsFiles: readsFiles)
        // Tries before who is at them: whoever began since is not taken for gone.
        let tries = try Self.tries(in: store)
        let now = try Self.storeClock(store)
        try findWorkers(now)
        try findLeftovers(among: tries, now)
    }

    /// Stores of before have it in each try.
    private mutating func checkTable(readsFiles: Bool) {
        guard let first = done.keys.min().flatMap({ folder(of: $0) }),
            (try? RunIdentity(of: first))?.isTableInStore == true
        else { return }
        guard readsFiles || !isRegularFile(store.tablePath) else { return }
        do throws(InputError) {
            try ResultFolder.check(table: store.tablePath, sha256: store.facts.table)
        } catch {
            table = error.description
        }
    }

    // MARK: Shards

    /// A shard's mark, where what it names is there.
    private static func checked(
        _ shard: Int, in store: ShardStore, readsFiles: Bool
    ) throws(InputError) -> ShardMark {
        let path = store.donePath(shard)
        let mark = try ShardMark(at: path)
        guard mark.shard == shard, mark.count == store.facts.shards else {
            throw InputError(
                file: path, found: "the mark of shard \(mark.shard)/\(mark.count)",
                expected: "that of \(shard)/\(store.facts.shards)")
        }
        let folder = ResultFolder(path: store.tryPath(shard, mark.id))
        guard isRegularFile(folder.manifestPath) else {
            throw InputError(
                .missing, file: folder.manifestPath, found: "nothing", expected: "the try that \(path) names")
        }
        let hash = try ResultFolder.hash(ofFile: folder.manifestPath)
        guard hash == mark.manifest else {
            throw InputError(
                file: folder.manifestPath, found: "SHA-256 \(hash)",
                expected: "\(mark.manifest), as \(path) says")
        }
        try checkContent(folder, of: store, shard: shard, mark: mark)
        for (name, hash) in try folder.recordedHashes() {
            guard isRegularFile(folder.file(name)) else {
                throw InputError(
                    .missing, file: folder.file(name), found: "nothing",
                    expected: "the file that manifest.json names")
            }
            // Whose people they are is read in any case: it is small.
            guard readsFiles || name == CohortSums.fileName else { continue }
            let found = try ResultFolder.hash(ofFile: folder.file(name))
            guard found == hash else {
                throw InputError(
                    file: folder.file(name), found: "SHA-256 \(found)",
                    expected: "\(hash), as manifest.json says")
            }
        }
        return mark
    }

    /// Refuses a try of another study, or of other people.
    private static func checkContent(
        _ folder: ResultFolder, of store: ShardStore, shard: Int, mark: ShardMark
    ) throws(InputError) {
        let root = try folder.manifest()
        let identity = try RunIdentity(of: folder)
        func refuse(_ found: String, _ expected: String) -> InputError {
            InputError(file: folder.manifestPath, found: found, expected: expected)
        }
        guard try root.member("state").text() == ResultFolder.State.complete.rawValue else {
            throw refuse("a try that is not complete", "a complete one")
        }
        let study = try Study.decode(try root.member("study").node, hasRun: true)
        guard ShardStore.Facts.sha256(of: study) == store.facts.sha256 else {
            throw refuse(
                "the study \(printable(study.name, limit: 100)), seed \(study.seed)", store.facts.words)
        }
        let wanted = Shard(index: shard - 1, count: store.facts.shards)
        guard identity.shard == wanted else { throw refuse("shard \(identity.shard)", "shard \(wanted)") }
        guard identity.subjects == store.facts.people, identity.table == store.facts.table else {
            throw refuse("people of another table", "those of \(store.file(ShardStore.factsName))")
        }
        guard identity.engine == mark.maker.engine, identity.fingerprint == mark.maker.fingerprint else {
            throw refuse("another engine or numeric_fingerprint than its mark's", "the mark's")
        }
    }

    /// Most shards have one maker: the store's. Of two that are as many, the one with the lowest shard.
    private mutating func findOddMakers() {
        var counts: [ShardMark.Maker: (count: Int, first: Int)] = [:]
        for (shard, mark) in done {
            let known = counts[mark.maker] ?? (0, shard)
            counts[mark.maker] = (known.count + 1, min(known.first, shard))
        }
        guard
            let usual = counts.max(by: {
                ($0.value.count, -$0.value.first) < ($1.value.count, -$1.value.first)
            })?
            .key
        else { return }
        for (shard, mark) in done where mark.maker != usual {
            odd[shard] =
                mark.maker.differences(from: usual).joined(separator: "; ")
                + " (made by \(printable(mark.host, limit: 100)))"
            oddTries[shard] = mark.id
            done[shard] = nil
        }
    }

    // MARK: Who is at work

    private mutating func findWorkers(_ now: Int) throws {
        for name in try Self.names(in: store.file("underway")) where !name.hasPrefix(".") {
            let path = store.file("underway/\(name)")
            var status = stat()
            guard stat(path, &status) == 0 else {
                // Whoever is done takes their mark away meanwhile. Of one that can't be looked at, the name says whose try is nobody's to remove.
                if errno != ENOENT, let id = name.split(separator: "-").last { unread.insert(String(id)) }
                continue
            }
            guard
                let root = (try? JSONDocument.read(path: path, limitBytes: ShardStore.fileBytes)).map({
                    YAMLReader($0)
                }),
                let shard = try? root["shard"]?.wholeNumber(in: 1...UInt64(store.facts.shards)),
                let id = try? root["try"]?.text(), let host = try? root["host"]?.text(),
                let pid = try? root["pid"]?.wholeNumber(), let began = try? root["began"]?.text()
            else {
                if now - status.st_mtim.tv_sec <= ShardStore.lostSeconds,
                    let id = name.split(separator: "-").last
                {
                    unread.insert(String(id))
                }
                continue
            }
            workers.append(
                Worker(
                    shard: Int(shard), id: id, host: host, pid: Int(pid), began: began,
                    silentSeconds: max(0, now - status.st_mtim.tv_sec), path: path))
        }
        workers.sort { ($0.shard, $0.host, $0.pid) < ($1.shard, $1.host, $1.pid) }
    }

    /// Seconds since 1970 by whoever keeps the files: another machine's clock may be off. This one's where nothing can be written.
    private static func storeClock(_ store: ShardStore) throws -> Int {
        let path = store.file("underway/.clock-\(ShardStore.Machine.newID())")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return time(nil) }
        defer {
            close(descriptor)
            unlink(path)
        }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_mtim.tv_sec : time(nil)
    }

    private static func tries(in store: ShardStore) throws -> [(shard: Int, id: String)] {
        try names(in: store.file("tries")).flatMap { name in
            try Int(name).map { shard in try names(in: store.file("tries/\(name)")).map { (shard, $0) } }
                ?? []
        }
    }

    private mutating func findLeftovers(among tries: [(shard: Int, id: String)], _ now: Int) throws {
        // What `AtomicFile` and `place` were at, and what asked for the clock, when their process was killed.
        for folder in ["", "underway/"] {
            for name in try Self.names(in: store.file(folder))
            where name.hasSuffix(".partial") || name.hasPrefix(".clock-") {
                var status = stat()
                guard stat(store.file(folder + name), &status) == 0,
                    now - status.st_mtim.tv_sec > ShardStore.lostSeconds
                else { continue }
                leftovers.append(folder + name)
            }
        }
        let working = unread.union(workers.filter { !$0.isLost }.map(\.id))
        for (shard, id) in tries where !working.contains(id) && !Self.mayBeMarked(shard, id, in: store) {
            leftovers.append("tries/\(shard)/\(id)")
        }
    }

    /// Whether a shard's mark names this try, or may: of a mark that is there and can't be read nobody knows.
    private static func mayBeMarked(_ shard: Int, _ id: String, in store: ShardStore) -> Bool {
        do throws(InputError) { return try ShardMark(at: store.donePath(shard)).id == id } catch {
            var status = stat()
            return !(stat(store.donePath(shard), &status) != 0 && errno == ENOENT)
        }
    }

    private static func names(in folder: String) throws(InputError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        } catch {
            // A shard's folder goes away with its last try.
            guard isFolder(folder) else { return [] }
            throw InputError(
                .missing, file: folder, found: "a directory that can't be read", expected: "a store's")
        }
    }

    // MARK: What follows

    /// At shards that nobody has done.
    package var lost: [Worker] { workers.filter { $0.isLost && done[$0.shard] == nil } }
    package var underWay: [Worker] { workers.filter { !$0.isLost && done[$0.shard] == nil } }
    /// At shards that others have done: still at work, or gone so lately that nobody knows. Their tries are nobody's to remove yet.
    package var beside: [Worker] { workers.filter { !$0.isLost && done[$0.shard] != nil } }

    /// Shards that nobody has done and nobody is at: those that are lost or odd among them.
    package var missing: [Int] {
        let working = Set(underWay.map(\.shard))
        return (1...store.facts.shards).filter {
            done[$0] == nil && (odd[$0] != nil || !working.contains($0))
        }
    }

    /// Takes back the marks of odd shards, so that they run again; but not one that somebody has made since they were looked at.
    package func reopen() throws(OutputError) {
        for shard in odd.keys.sorted() {
            if let mark = try? ShardMark(at: store.donePath(shard)), mark.id != oddTries[shard] { continue }
            guard unlink(store.donePath(shard)) == 0 || errno == ENOENT else {
                throw OutputError(path: store.donePath(shard), doing: "take the mark back", errno: errno)
            }
        }
    }

    /// Removes what nobody needs: tries, copies, and what says that somebody is at work who is gone.
    package func tidy() {
        for path in leftovers where unlink(store.file(path)) != 0 { removeTry(path) }
        for worker in workers where worker.isLost { unlink(worker.path) }
    }

    /// Removes a try, unless it was marked after all: whoever was silent for long may be at its last step. Put aside it can be marked no more.
    private func removeTry(_ path: String) {
        let parts = path.split(separator: "/")
        guard parts.count == 3, let shard = Int(parts[1]) else { return }
        let isAside = parts[2].hasSuffix(Self.aside)
        let id = isAside ? String(parts[2].dropLast(Self.aside.count)) : String(parts[2])
        let (whole, gone) = (store.tryPath(shard, id), store.tryPath(shard, id + Self.aside))
        guard isAside || rename(whole, gone) == 0 else { return }
        if Self.mayBeMarked(shard, id, in: store) {
            rename(gone, whole)
        } else {
            ShardTry.remove(gone)
        }
    }

    private static let aside = ".aside"

    /// The folder of a shard that is done.
    package func folder(of shard: Int) -> ResultFolder? {
        done[shard].map { ResultFolder(path: store.tryPath(shard, $0.id)) }
    }
}
