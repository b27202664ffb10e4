// One try of one shard: run in a folder of the machine's own, copied whole, then marked.
//
// Guarantees: `place` copies every file of a complete folder, reads the copies back and compares their SHA-256 with the manifest's before the mark is made;
// where another try was first, this one's copy goes away again. While it runs, a file with machine, process and time says so, renewed each minute. What
// is left of a try that was killed is a folder in `tries` that no mark names, and a file in `underway` that nobody renews.
// Does not: remove what others left.

import IsletFiles
import IsletKernel
import Foundation
import Glibc
import IsletDevices
import Synchronization

package final class ShardTry: Sendable {
    package let store: ShardStore
    package let shard: Int
    package let id = ShardStore.Machine.newID()
    private let began = ShardStore.Machine.now
    private let isOver = Mutex(false)
    private let renewing: Mutex<SystemThread?>

    private var underwayPath: String { store.file("underway/\(shard)-\(id)") }

    /// Says that somebody is at it, until `end`.
    package init(_ store: ShardStore, shard: Int, every seconds: Int = ShardStore.renewalSeconds) throws {
        (self.store, self.shard) = (store, shard)
        renewing = Mutex(nil)
        try renew()
        // Without a thread it is told once.
        let thread = try? SystemThread { [self] in
            var fiftieths = 0
            while !isOver.withLock({ $0 }) {
                usleep(20_000)
                fiftieths += 1
                if fiftieths % (50 * seconds) == 0 { isOver.withLock { if !$0 { try? renew() } } }
            }
        }
        renewing.withLock { $0 = thread }
    }

    private func renew() throws {
        let text = JSONValue.object([
            .init("shard", .integer(Int64(shard))), .init("try", .string(id)),
            .init("host", .string(ShardStore.Machine.host)), .init("pid", .integer(Int64(getpid()))),
            .init("began", .string(began)), .init("renewed", .string(ShardStore.Machine.now)),
        ]).prettyText
        try AtomicFile.write(text, to: underwayPath)
    }

    /// Nobody is at it any more. Safe to call twice.
    package func end() {
        isOver.withLock { $0 = true }
        let thread = renewing.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
        unlink(underwayPath)
    }

    /// What became of a try.
    package enum Placing: Hashable, Sendable {
        case placed
        /// Another try of the shard was first.
        case late
    }

    /// Copies a complete folder into the store and marks the shard as done.
    /// - Throws: `OutputError`, `InputError` for a folder that isn't what its manifest says; nothing is marked then.
    package func place(_ folder: ResultFolder) throws -> Placing {
        let path = store.tryPath(shard, id)
        try makeFolders(path)
        do {
            let recorded = try folder.recordedHashes()
            for (name, hash) in recorded {
                try Self.copy(folder.file(name), to: path + "/" + name, expecting: hash)
            }
            let manifest = try Self.copy(folder.manifestPath, to: path + "/manifest.json", expecting: nil)
            let mark = try ShardMark(folder, shard: shard, of: store.facts.shards, id: id, manifest: manifest)
            try AtomicFile.write(mark.json.prettyText, to: path + "/" + ShardMark.fileName)
        } catch {
            Self.remove(path)
            throw error
        }
        // From here on the store may name this try: where the mark failed midway nobody knows, and nothing is removed. What is left over is tidied.
        guard try ShardStore.link(path + "/" + ShardMark.fileName, to: store.donePath(shard)) else {
            Self.remove(path)
            return .late
        }
        return .placed
    }

    /// Copies a file, and reads the copy back.
    /// - Returns: its SHA-256.
    @discardableResult
    static func copy(_ file: String, to path: String, expecting hash: String?) throws -> String {
        let source = FileHandle(fileDescriptor: try openRegular(file), closeOnDealloc: true)
        var copy = try AtomicFile(path)
        while let block = try source.read(upToCount: 1 << 20), !block.isEmpty {
            try copy.append([UInt8](block))
        }
        let written = try copy.commit().description
        let found: String
        do throws(InputError) { found = try ResultFolder.hash(ofFile: path) } catch {
            throw OutputError(
                .temporary, path: path,
                message: "the copy can't be read back (\(error.found)): nothing was marked as done")
        }
        guard found == written, found == hash ?? found else {
            throw OutputError(
                .temporary, path: path,
                message:
                    "the copy has SHA-256 \(found), what was copied \(hash ?? written): nothing was marked as done"
            )
        }
        return found
    }

    /// Removes a try that nobody is at. The shard's folder stays: another may be making its own try there.
    static func remove(_ path: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            unlink(path + "/" + name)
        }
        rmdir(path)
    }
}

/// `done/I`: which try the shard is, and who made it.
package struct ShardMark: Hashable, Sendable {
    static let fileName = "done.json"

    package var shard: Int
    package var count: Int
    /// The try.
    package var id: String
    /// SHA-256 of the try's manifest.
    package var manifest: String
    package var host: String
    package var ended: String
    package var maker: Maker

    /// What has to be the same for results to belong together.
    package struct Maker: Hashable, Sendable {
        package var engine: Int
        package var version: String
        /// nil where the program could not read itself.
        package var program: String?
        package var fingerprint: String

        /// What differs, as in `numeric_fingerprint 12ab`.
        package func differences(from other: Maker) -> [String] {
            var found: [String] = []
            if engine != other.engine { found.append("engine \(engine), the others' is \(other.engine)") }
            if version != other.version {
                found.append("version \(version), the others' is \(other.version)")
            }
            if fingerprint != other.fingerprint {
                found.append("numeric_fingerprint \(fingerprint), the others' is \(other.fingerprint)")
            }
            if program != other.program {
                found.append(
                    "program_sha256 \(program ?? "unknown"), the others' is \(other.program ?? "unknown")")
            }
            return found
        }
    }

    init(_ folder: ResultFolder, shard: Int, of count: Int, id: String, manifest: String) throws {
        let identity = try RunIdentity(of: folder)
        (self.shard, self.count, self.id, self.manifest) = (shard, count, id, manifest)
        (host, ended) = (ShardStore.Machine.host, ShardStore.Machine.now)
        maker = Maker(
            engine: identity.engine, version: identity.version,
            program: try ProgramFacts.recorded(in: folder).first?.sha256, fingerprint: identity.fingerprint)
    }

    var json: JSONValue {
        .object([
            .init("shard", .integer(Int64(shard))), .init("of", .integer(Int64(count))),
            .init("try", .string(id)), .init("manifest_sha256", .string(manifest)),
            .init("engine", .integer(Int64(maker.engine))), .init("version", .string(maker.version)),
            .init("program_sha256", maker.program.map { .string($0) } ?? .null),
            .init("numeric_fingerprint", .string(maker.fingerprint)), .init("host", .string(host)),
            .init("ended", .string(ended)),
        ])
    }

    /// - Throws: `InputError` for what isn't a mark.
    init(at path: String) throws(InputError) {
        let root = YAMLReader(try JSONDocument.read(path: path, limitBytes: ShardStore.fileBytes))
        let most = UInt64(Study.maximumSessions)
        shard = Int(try root.member("shard").wholeNumber(in: 1...most))
        count = Int(try root.member("of").wholeNumber(in: 1...most))
        id = try root.member("try").text()
        guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) || (97...122).contains($0) }) else {
            throw root.problem(found: "another name of a try", expected: "letters and digits")
        }
        manifest = try root.member("manifest_sha256").text()
        (host, ended) = (try root.member("host").text(), try root.member("ended").text())
        let program = try root.member("program_sha256")
        maker = Maker(
            engine: try BuildFacts.engine(recordedAs: root.member("engine")),
            version: try root.member("version").text(),
            program: program.node.isNothing ? nil : try program.text(),
            fingerprint: try root.member("numeric_fingerprint").text())
    }
}
