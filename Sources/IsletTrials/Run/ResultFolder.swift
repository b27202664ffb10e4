// A study's output directory.
//
// Guarantees: a folder that isn't ours is refused before anything is written to it; files other than the store appear
// whole or not at all; `manifest.json` with `"state": "complete"` is the last to be written, and hashes the others.

package import IsletFiles
import IsletKernel
import Foundation
import Glibc
package import IsletDevices

package struct ResultFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package func file(_ name: String) -> String { path + "/" + name }

    package var manifestPath: String { file("manifest.json") }
    package var storePath: String { file("study.sqlite") }
    package var reportPath: String { file("report.html") }
    /// Where the results on the seed of `confirm` stand: a folder like any other.
    package var confirmationPath: String { file("confirm") }

    /// The folder of a confirmation that has been run to its end.
    package func confirmation() throws -> ResultFolder? {
        let other = ResultFolder(path: confirmationPath)
        guard try isThere(other.manifestPath) else { return nil }
        return try other.isComplete() ? other : nil
    }

    /// Makes the folder, or checks that it may be used.
    ///
    /// - Parameter resume: true where a run's folder may be there; false where only an empty or absent one will do.
    ///   A run that was killed before it made its folder is resumed from the beginning.
    /// - Parameter resume: nil where there is nothing to go on with.
    /// - Throws: `InputError` (65) where something else than a run is there, `OutputError` (73).
    package func prepare(resume: Bool?) throws {
        guard try isThere(path) else { return try makeFolders(path) }
        guard isFolder(path) else {
            throw OutputError(.cannotCreate, path: path, message: "is a file, expected a directory")
        }
        let names = try names()
        guard resume == true else {
            guard names.isEmpty else {
                throw OutputError(
                    .cannotCreate, path: path,
                    message: "the directory is not empty; give another"
                        + (resume == nil ? "" : ", or --resume to go on with the run in it"))
            }
            return
        }
        if let stranger = names.first(where: { !Self.isOurs($0) }), !names.contains("manifest.json") {
            throw InputError(
                file: path, found: "a directory with \(printable(stranger, limit: 100)) and no manifest.json",
                expected: "a run to resume")
        }
    }

    /// The names in the folder.
    /// - Throws: `OutputError`: 75 where it can't be read for now.
    private func names() throws -> [String] {
        do throws(InputError) { return try IsletFiles.names(inDirectory: path) } catch {
            throw OutputError(
                error.kind == .temporary ? .temporary : .cannotCreate, path: path,
                message: "cannot read the directory: \(error.found)")
        }
    }

    /// Removes what a killed process was writing here. To be called under the lock: of a process that lives they are its files.
    package func removeLeftovers() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where Self.isLeftover(name) { unlink(file(name)) }
    }

    /// Makes the folder for a merge, or takes one that a killed merge has left back to its beginning, and keeps others out.
    ///
    /// - Throws: `OutputError`: 73 where anything else is there, 75 where another merge is at work.
    package func prepareMerge() throws -> FolderLock {
        if !isFolder(path) { try prepare(resume: nil) }
        // What is there is judged under the lock: two may have made the folder at once.
        let lock = try lock()
        do {
            let names = try names()
            guard names.allSatisfy(Self.isOurs), try names.allSatisfy(Self.isLeftover) || state() == .merging
            else {
                try prepare(resume: nil)
                return lock
            }
            // The manifest goes last: whatever is left until then is a merge's.
            for name in names where name != "manifest.json" { unlink(file(name)) }
            unlink(manifestPath)
        } catch {
            lock.release()
            throw error
        }
        return lock
    }

    /// Whether `path` names one of the folder's own files, which nothing else may replace.
    package func owns(_ path: String) -> Bool { nameHere(path).map { Self.isOurs($0) } ?? false }

    /// Whether `path` is the folder's own report, however it is written.
    package func isReport(_ path: String) -> Bool { nameHere(path) == "report.html" }

    /// The name of a file of this folder; nil where it stands elsewhere.
    private func nameHere(_ path: String) -> String? {
        let file = URL(fileURLWithPath: path).standardizedFileURL
        let parent = file.deletingLastPathComponent().resolvingSymlinksInPath()
        let folder = URL(fileURLWithPath: self.path).standardizedFileURL.resolvingSymlinksInPath()
        return parent.path == folder.path ? file.lastPathComponent : nil
    }

    /// Takes back what a failed merge has made here.
    package func discard() {
        // The manifest goes last, as it says whose the rest is.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where Self.isOurs(name) && name != "manifest.json" { unlink(file(name)) }
        unlink(manifestPath)
        rmdir(path)
    }

    package func removeIfEmpty() { rmdir(path) }

    private static let names: Set<String> = [
        "manifest.json", "summary.json", "sessions.csv", "alerts.csv", "study.sqlite", "study.sqlite-wal",
        "study.sqlite-shm",
        "study.sqlite-journal", "sensitivity.json", "sensitivity.csv", "report.html", people, policies,
        Registration.name, sweep, FolderSeal.name, CohortSums.fileName,
    ]

    /// How far `islet sync` is with a destination: kept beside results, and none of them.
    package static func syncCursor(_ destination: String) -> String { "sync-\(destination).sqlite" }
    static func isSyncCursor(_ name: String) -> Bool {
        name.hasPrefix("sync-")
            && [".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-journal"].contains(where: name.hasSuffix)
    }

    /// The people of the study, as a table.
    package static let people = "people.csv"
    /// The alert policies of the study, written out.
    package static let policies = "policies.json"
    /// A sweep, a row a variant.
    package static let sweep = "sweep.csv"

    /// What a run always writes.
    static let ownNames = ["alerts.csv", "sessions.csv", "study.sqlite", "summary.json"]

    /// What not every folder has: those of earlier versions, what only some studies have, what an analysis and a report add.
    static let addedNames = [
        CohortSums.fileName, people, Registration.name, policies, "report.html", "sensitivity.csv",
        "sensitivity.json", sweep,
    ]

    /// What a manifest hashes, where it is there.
    static let resultNames = ownNames + addedNames

    private static func isOurs(_ name: String) -> Bool { names.contains(name) || isLeftover(name) }

    /// What `AtomicFile` was writing when its process was killed.
    private static func isLeftover(_ name: String) -> Bool {
        name.hasSuffix(".partial") && names.contains { name.hasPrefix(".\($0).") }
    }

    /// Writes everything but the store, from the store, and the manifest last.
    ///
    /// - Returns: the summary that was written.
    /// - Parameters:
    ///   - speed: nil where no run made the store.
    ///   - programs: this one first, then those whose sessions were there before.
    ///   - sums: of the people whose sessions these are; nil where results of before don't tell.
    package func finish(
        _ study: Study, store: any ResultStore, identity: RunIdentity, speed: StudySummary.Speed?,
        programs: [ProgramFacts], sums: CohortSums?
    ) throws -> StudySummary {
        var identity = identity
        if let sums {
            identity.root = sums.root
            try AtomicFile.write(sums.csv, to: sumsPath)
        }
        let summary = try StudySummary(of: study, store: store)
        // One of an earlier state would tell of fewer sessions.
        unlink(reportPath)
        let tables = ResultTables(
            folder: self, start: study.start.calendar.iso8601(at: .start), outcomes: study.outcomes,
            hasShadows: study.record >= .events)
        let (sessionsHash, alertsHash) = try tables.write(store)
        let json = summary.json(study: study, speed: speed)
        let summaryHash = try AtomicFile.write(json.prettyText, to: file("summary.json"))
        if let sweep = summary.sweep { try AtomicFile.write(sweep.csv, to: file(Self.sweep)) }
        unlink(file(FolderSeal.name))
        try store.close()
        let storeHash = try hash(of: storePath)
        try writeManifest(
            study, identity: identity, state: .complete, programs: programs,
            files: [
                ("alerts.csv", alertsHash.description), ("sessions.csv", sessionsHash.description),
                ("study.sqlite", storeHash),
                ("summary.json", summaryHash.description),
            ] + addedHashes())
        return summary
    }

    /// Hashes of an analysis or report that is there: it is of this study, or the folder would have been refused.
    private func addedHashes() throws -> [(String, String)] {
        try Self.addedNames.filter { try isThere(file($0)) }
            .map { ($0, try hash(of: file($0))) }
    }

    /// Adds a sensitivity analysis to a complete run's files, and its hashes to the manifest.
    package func add(_ analysis: Sensitivity) throws {
        try AtomicFile.write(analysis.csv, to: file("sensitivity.csv"))
        try AtomicFile.write(analysis.json.prettyText, to: file("sensitivity.json"))
        try writeManifest(
            analysis.study, identity: try RunIdentity(of: self), state: .complete,
            programs: try ProgramFacts.recorded(in: self),
            files: try Self.ownNames.map { ($0, try hash(of: file($0))) } + addedHashes())
    }

    /// Adds a report to a complete run's files, and its hash to the manifest, which else stays as it is.
    /// - Parameter program: that made it.
    /// - Returns: whether the folder was sealed: its seal goes, as it is of the files before.
    @discardableResult
    package func add(report: String, by program: ProgramFacts) throws -> Bool {
        let root = try manifest()
        guard let study = root["study"] else {
            throw InputError(file: manifestPath, found: "no `study`", expected: "the manifest of a run")
        }
        let files = try recordedHashes().filter { $0.name != "report.html" }
        let decoded = try Study.decode(study.node, hasRun: true)
        func tell(_ files: [(String, String)]) throws {
            try writeManifest(
                decoded, identity: try RunIdentity(of: self), state: .complete,
                programs: try ProgramFacts.recorded(in: self), files: files.sorted { $0.0 < $1.0 },
                build: BuildFacts.Build(recordedIn: root), page: program)
        }
        let told = files + [("report.html", SHA256.digest(of: Array(report.utf8)).description)]
        if try isThere(reportPath) {
            // Killed between two writes, the folder must not hash a page that is another by now.
            let before = try readInput(manifestPath, limitBytes: Self.manifestBytes, onlyRegular: true)
            let old = try hash(of: reportPath)
            if root["files"]?["report.html"] != nil { try tell(files) }
            do {
                try AtomicFile.write(report, to: reportPath)
                try tell(told)
            } catch {
                // The folder is as it was; or it has the new page, and says so.
                let there = try hash(of: reportPath)
                if there == old {
                    try AtomicFile.write(before, to: manifestPath)
                } else {
                    try tell(files + [("report.html", there)])
                }
                throw error
            }
        } else {
            // Killed between the two, the folder lacks a page, and has none that nobody vouches for.
            try tell(told)
            do { try AtomicFile.write(report, to: reportPath) } catch {
                if try !isThere(reportPath) { try tell(files) }
                throw error
            }
        }
        return unlink(file(FolderSeal.name)) == 0
    }

    /// Writes the manifest: what was asked for, by what, on what.
    /// - Parameters:
    ///   - programs: as in `finish`.
    ///   - build: what made the sessions.
    ///   - page: what made the report; nil for what is recorded of it.
    ///   - algorithms: programs of somebody's own that made sessions, beside those that are recorded here and those that the study has started.
    /// - Throws: `InputError` where they are not one program.
    package func writeManifest(
        _ study: Study, identity: RunIdentity, state: State, programs: [ProgramFacts],
        files: [(String, String)] = [], build: BuildFacts.Build = .this, page: ProgramFacts? = nil,
        algorithms known: JSONValue? = nil
    ) throws {
        let program = programs.first ?? ProgramFacts()
        var earlier: [ProgramFacts] = []
        for other in programs.dropFirst()
        where other.sha256 != program.sha256 && !earlier.contains(where: { $0.sha256 == other.sha256 }) {
            earlier.append(other)
        }
        var members: [JSONValue.Member] = [
            .init("state", .string(state.rawValue)),
            .init("study", study.json),
            .init("seed", .unsigned(study.seed)),
            .init("shard", .string(identity.shard.description)),
            .init("dealing", .string(identity.shard.dealing.rawValue)),
            .init("subjects", .integer(Int64(identity.subjects))),
        ]
        for (key, value) in [
            ("cohort_root", identity.root), ("cohort_checksum", identity.checksum),
            ("table_sha256", identity.table),
            ("table", identity.isTableInStore ? ShardStore.tableFromTry : nil),
        ] {
            if let value { members.append(.init(key, .string(value))) }
        }
        members += [
            .init("version", .string(identity.version)),
            .init("engine", .integer(Int64(identity.engine))),
            .init("toolchain", .string(build.toolchain)),
            .init("build", .string(build.configuration)),
            .init("gsl", .string(build.gsl)),
            .init("numeric_fingerprint", .string(identity.fingerprint)),
        ]
        if let registration = try registration() {
            members.append(
                .init(
                    "plan",
                    [
                        "digest": .string(registration.digest),
                        "registered": .bool(registration.isRegistered),
                        "before_first_session": .bool(registration.isBeforeFirstSession),
                    ]))
        }
        if study.hasPlugins {
            let recorded = try AlgorithmFacts.joined(recordedAlgorithms(), known, file: manifestPath)
            let all = try AlgorithmFacts.joined(recorded, study.algorithmFacts, file: manifestPath)
            if let all { members.append(.init("algorithms", all)) }
        }
        members += program.members
        if !earlier.isEmpty {
            members.append(.init("earlier_programs", .array(earlier.map { .object($0.members) })))
        }
        if files.contains(where: { $0.0 == "report.html" }), let made = page?.sha256 ?? pageProgram() {
            members.append(.init("report_program_sha256", .string(made)))
        }
        members.append(.init("files", .object(files.map { .init($0.0, .string("sha256:" + $0.1)) })))
        let text = JSONValue.object(members).prettyText
        // What can't be read back is not written: the folder would be refused by everything from then on.
        guard text.utf8.count <= Self.manifestBytes else {
            throw InputError(
                file: manifestPath, found: "\(text.utf8.count) bytes to write",
                expected: "at most \(Self.manifestBytes)")
        }
        try AtomicFile.write(text, to: manifestPath)
    }

    /// The largest manifest that is written and read: a study at its largest, and what stands beside it.
    static let manifestBytes = Study.writtenBytes + 1 << 20

    /// What the manifest says.
    /// - Throws: `InputError` for one that can't be read.
    func manifest() throws(InputError) -> YAMLReader {
        YAMLReader(try JSONDocument.read(path: manifestPath, limitBytes: Self.manifestBytes))
    }

    /// What the manifest says of algorithms that were programs; nil where there were none.
    /// - Throws: `InputError` where it can't be read for now.
    package func recordedAlgorithms() throws(InputError) -> JSONValue? {
        do throws(InputError) {
            let bytes = try readInput(manifestPath, limitBytes: Self.manifestBytes, onlyRegular: true)
            return try JSONValue.read(bytes, file: manifestPath)["algorithms"]
        } catch {
            if error.kind == .temporary { throw error }
            return nil
        }
    }

    /// How far what is in the folder got.
    package enum State: String, Sendable {
        case complete, running, merging
        /// No manifest: killed before it had written one, or not a run's folder.
        case unknown
    }

    /// What the manifest says.
    /// - Throws: `InputError` for a manifest that can't be read.
    package func state() throws(InputError) -> State {
        guard try isThere(manifestPath) else { return .unknown }
        let reader = try manifest()["state"]
        return State(rawValue: try reader?.text() ?? "") ?? .unknown
    }

    /// Whether all of the run (or of its shard) is there, by the manifest; without one it isn't.
    package func isComplete() throws(InputError) -> Bool { try state() == .complete }

    /// Refuses a complete folder whose store isn't the one that its manifest hashes.
    package func checkStoreHash() throws {
        let root = try manifest()
        guard let recorded = try root["files"]?["study.sqlite"]?.text() else { return }
        guard recorded == "sha256:" + (try hash(of: storePath)) else {
            throw InputError(
                file: storePath, found: "a file that has been changed since it was completed",
                expected: recorded)
        }
    }

    /// Keeps other runs out of the folder until it is released or the process ends.
    /// - Throws: `OutputError` (75) where another run has it.
    package func lock() throws -> FolderLock {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw OutputError(path: path, doing: "open the directory", errno: errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK {
                throw OutputError(
                    .temporary, path: path, message: "another run is writing to this directory")
            }
            throw OutputError(path: path, doing: "lock the directory", errno: code)
        }
        return FolderLock(descriptor: descriptor)
    }

    func hash(of path: String) throws -> String { try Self.hash(ofFile: path) }

    /// SHA-256 of a file of any length.
    package static func hash(ofFile path: String) throws(InputError) -> String {
        let reader = try BlockReader(path)
        var hash = SHA256()
        while let block = try reader.next() { hash.update(block) }
        return hash.finished().description
    }

    /// The files that the manifest hashes, with their SHA-256, by name.
    package func recordedHashes() throws(InputError) -> [(name: String, sha256: String)] {
        let root = try manifest()
        var found: [(String, String)] = []
        for name in Self.resultNames {
            guard let text = try root["files"]?[name]?.text() else { continue }
            found.append((name, String(text.dropFirst("sha256:".count))))
        }
        return found
    }

    /// Refuses a complete folder with a file that isn't the one that its manifest hashes.
    package func checkHashes() throws(InputError) {
        for (name, recorded) in try recordedHashes() {
            let found = try Self.hash(ofFile: file(name))
            guard found == recorded else {
                throw InputError(
                    file: file(name), found: "a file that has been changed since it was completed",
                    expected: "sha256:" + recorded)
            }
        }
    }
}

/// A directory that one run has to itself.
package struct FolderLock: Sendable {
    fileprivate let descriptor: Int32
    package func release() {
        // As in a journal: a child that is just being made has a copy.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
