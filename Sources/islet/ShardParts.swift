// Results that are to be joined: whether they belong together, and what they lack.
//
// Guarantees: reads only, every file of every folder through; memory does not grow with sessions, but for one bit each. Two folders may have a session both;
// a study's sessions may not lack, unless a part is asked for, which has exactly the sessions of its shards.

import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletResults
import IsletTrials

struct ShardParts {
    let folders: [ResultFolder]
    let study: Study
    /// The resolved study, as every folder has it.
    let text: String
    /// The identity of the run that they make together.
    private(set) var identity: RunIdentity
    /// Sums over everybody; nil where a folder has none yet.
    private(set) var sums: CohortSums?
    /// Programs of somebody's own that made their sessions.
    private(set) var algorithms: JSONValue?
    /// Tables in stores that were read through, by path.
    private var tables: Set<String> = []

    /// - Throws: `InputError` for what doesn't belong together; `OutputError` (75) after an interruption.
    init(_ folders: [ResultFolder], mayLackShards: Bool, isInterrupted: () -> Bool) throws {
        guard let first = folders.first else {
            throw InputError(
                file: "merge", found: "no shards", expected: "the directories of a study's shards")
        }
        self.folders = folders
        for folder in folders { try Self.checkIsRun(folder, folder.state()) }
        text = try StudyStore(readingAt: first.storePath).studyText()
        study = try Study.parse(text, file: first.path, hasRun: true)
        identity = try RunIdentity(of: first)
        identity.isTableInStore = false
        sums = CohortSums(count: identity.subjects)
        var found = Bits(count: identity.subjects * study.arms.count)
        var whole: Shard?
        var hasOverlap = false
        var incomplete: [String] = []
        for folder in folders {
            guard !isInterrupted() else {
                throw OutputError(.temporary, path: folder.path, message: "interrupted: nothing was merged")
            }
            try add(folder, to: &found, &incomplete)
            let shard = try RunIdentity(of: folder).shard
            if let known = whole {
                whole = known.joined(with: shard) ?? known
                if known.joined(with: shard) == nil { hasOverlap = true }
            } else {
                whole = shard
            }
        }
        if identity.checksum != nil, sums?.root != nil { identity.checksum = nil }
        try check(found, whole, hasOverlap: hasOverlap, mayLackShards, incomplete)
    }

    private static func checkIsRun(_ folder: ResultFolder, _ state: ResultFolder.State) throws {
        guard state == .unknown || state == .merging, try isThere(folder.path)
        else { return }
        throw InputError(
            file: folder.path,
            found: "an incomplete \(state == .merging ? "merge" : "run: there is no manifest.json")",
            expected: "a shard that has been run")
    }

    private mutating func add(
        _ folder: ResultFolder, to found: inout Bits, _ incomplete: inout [String]
    ) throws {
        let store = try StudyStore(readingAt: folder.storePath)
        let state = try folder.state()
        if state != .complete { incomplete.append(folder.path) }
        let its = try RunIdentity(of: folder)
        try its.checkEngine(of: folder, "a shard")
        if state == .complete { try folder.checkHashes() }
        try checkTable(of: folder, its)
        guard try store.studyText() == text else {
            throw InputError(
                file: folder.path, found: "results of another study than \(folders[0].path)",
                expected: "a shard of the same study")
        }
        try its.check(against: identity, folder: folder)
        algorithms = try AlgorithmFacts.joined(
            algorithms, folder.recordedAlgorithms(), file: folder.manifestPath)
        guard its.shard.isWhole || identity.shard.isWhole || its.shard.dealing == identity.shard.dealing
        else {
            throw InputError(
                file: folder.manifestPath,
                found: "shard \(its.shard), dealt in \(its.shard.dealing.rawValue)",
                expected: "a shard dealt in \(identity.shard.dealing.rawValue), as \(folders[0].path)")
        }
        if let theirs = try folder.sums(count: identity.subjects), sums != nil {
            if let other = sums?.add(theirs).first {
                throw InputError(
                    file: folder.sumsPath, found: "another \(other) than in a folder before it",
                    expected: "the same people in all shards")
            }
        } else {
            sums = nil
        }
        for session in try store.finishedSessions() {
            guard found.add(session) else {
                throw InputError(
                    file: folder.storePath, found: "session \(session)",
                    expected: "sessions of the study, 0 to \(found.count - 1)")
            }
        }
    }

    /// A table that stands once in a store is read through once for all of its shards.
    private mutating func checkTable(of folder: ResultFolder, _ its: RunIdentity) throws(InputError) {
        guard its.isTableInStore,
            let path = try folder.tablePath().map({ ($0 as NSString).standardizingPath }),
            tables.insert(path).inserted
        else { return }
        try ResultFolder.check(table: path, sha256: its.table)
    }

    private mutating func check(
        _ found: Bits, _ whole: Shard?, hasOverlap: Bool, _ mayLackShards: Bool, _ incomplete: [String]
    ) throws {
        if found.added == found.count {
            identity.shard = .whole
            return
        }
        let arms = study.arms.count
        let own = whole?.subjects(of: identity.subjects, group: study.block).reduce(0) {
            $0 + $1.count * arms
        }
        if mayLackShards, let whole, !hasOverlap, incomplete.isEmpty, own == found.added {
            identity.shard = whole
            return
        }
        // Of shards that lack nothing themselves, those that are lacking have names.
        let lacking = hasOverlap || own != found.added ? [] : whole?.lacking ?? []
        throw InputError(
            file: folders.map(\.path).joined(separator: " "),
            found: "\(found.added) sessions"
                + (incomplete.isEmpty ? "" : " (not complete: \(incomplete.joined(separator: ", ")))")
                + (lacking.isEmpty
                    ? "" : "; missing shards: \(IndexRanges.text(lacking)) of \(whole?.count ?? 0)"),
            expected: "all \(found.count) of the study")
    }
}

/// Which of so many there are.
private struct Bits {
    let count: Int
    private(set) var added = 0
    private var words: [UInt64]

    init(count: Int) {
        self.count = count
        words = [UInt64](repeating: 0, count: (count + 63) / 64)
    }

    /// - Returns: false for a place that there isn't.
    mutating func add(_ place: Int) -> Bool {
        guard (0..<count).contains(place) else { return false }
        let bit = UInt64(1) << UInt64(place & 63)
        if words[place >> 6] & bit == 0 { added += 1 }
        words[place >> 6] |= bit
        return true
    }
}
