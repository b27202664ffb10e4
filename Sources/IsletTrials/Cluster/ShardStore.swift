// Where the shards of a study come together: a folder that many machines see.
//
// Guarantees: a shard is done when `done/I` is there, and only then; that mark is a link, made once, by whoever was first, to a file beside results that had
// been copied and read back whole; so a shard that was cut off is never taken for a whole one, and two tries never mix, whoever works at a shard at the same
// time. A store is of one study and one number of shards, whoever comes later.
// Does not: trust a mark with what a shard holds (`StoreStatus` and a merge do the checking); hold a database that is written (a network's file system
// locks badly: sessions are run in a folder of the machine's own); serve a file system without hard links.
//
//     store.json     what the store is of            done/I         the mark: try, machine, program, SHA-256 of the manifest
//     study.yaml     the study, resolved             tries/I/ID/    results of a try, and its mark
//     people.csv     the table of the people,        underway/I-ID  who is at it, renewed each minute
//                    where they are rows of one

import IsletFiles
import IsletKernel
import Foundation
import Glibc
package import IsletDevices

package struct ShardStore: Sendable {
    package let path: String
    package let facts: Facts

    /// What a store is of.
    package struct Facts: Hashable, Sendable {
        package var study: String
        /// SHA-256 of the resolved study, as `study.yaml` has it.
        package var sha256: String
        package var seed: UInt64
        package var shards: Int
        package var people: Int
        /// SHA-256 of the table that people are rows of; nil where they are drawn.
        package var table: String?

        package init(_ study: Study, shards: Int, people: Int, table: String?) {
            (self.study, seed, self.shards, self.people) = (study.name, study.seed, shards, people)
            sha256 = Self.sha256(of: study)
            self.table = table
        }

        static func sha256(of study: Study) -> String {
            SHA256.digest(of: Array(study.yaml.utf8)).description
        }
    }

    package static let factsName = "store.json"
    private static let studyName = "study.yaml"
    static let folders = ["done", "tries", "underway"]
    /// How often who is at a shard says so, s; and after what silence they count as lost.
    package static let renewalSeconds = 60
    static let lostSeconds = 5 * renewalSeconds
    /// The most bytes of a file of marks or facts.
    static let fileBytes = 1 << 16

    func file(_ name: String) -> String { path + "/" + name }
    package func donePath(_ shard: Int) -> String { file("done/\(shard)") }
    package func tryPath(_ shard: Int, _ id: String) -> String { file("tries/\(shard)/\(id)") }
    package var studyPath: String { file(Self.studyName) }
    /// The table that people are rows of, once for all shards.
    package var tablePath: String { file(ResultFolder.people) }
    /// The same, seen from a try: what the try's manifest names.
    static let tableFromTry = "../../../" + ResultFolder.people

    // MARK: Opening

    /// Whether there is a store at `path`.
    package static func exists(at path: String) -> Bool { isRegularFile(path + "/" + factsName) }

    /// The store that is there.
    /// - Throws: `InputError` where there is none.
    package init(at path: String) throws(InputError) {
        self.path = path
        guard try isThere(path) else {
            throw InputError(.missing, file: path, found: "nothing", expected: "a store of shards")
        }
        let facts = path + "/" + Self.factsName
        guard try isThere(facts) else {
            throw InputError(
                .missing, file: path, found: "no \(Self.factsName)",
                expected: "a store of shards, as `islet run STUDY --shard I/N --into STORE` makes it")
        }
        self.facts = try Facts(
            YAMLReader(try JSONDocument.read(path: facts, limitBytes: Self.fileBytes)))
    }

    /// Makes a store, or takes the one that is there.
    /// - Parameter table: where the table that people are rows of is read from; nil where they are drawn.
    /// - Throws: `InputError` for a folder of something else, or a store of something else; `OutputError`.
    package init(makingAt path: String, of study: Study, facts: Facts, table: String?) throws {
        if !Self.exists(at: path) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            // Its own name, too: another may have made the store since it was looked for.
            let known = Self.folders + [Self.studyName, ResultFolder.people, Self.factsName]
            let strangers = names.filter { !known.contains($0) && !$0.hasSuffix(".partial") }
            if let stranger = strangers.sorted().first {
                throw InputError(
                    file: path,
                    found: "a directory with \(printable(stranger, limit: 100)) and no \(Self.factsName)",
                    expected: "a store of shards, or an empty or absent directory")
            }
            for folder in [""] + Self.folders { try makeFolders(path + "/" + folder) }
            // What the store is of comes last: whoever finds it finds the rest.
            try Self.placeStudy(study, at: path + "/" + Self.studyName)
            let own = path + "/" + ResultFolder.people
            if try !Self.placeTable(table, at: own, sha256: facts.table) {
                try ResultFolder.check(table: own, sha256: facts.table)
            }
            _ = try Self.place(Array(facts.json.prettyText.utf8), at: path + "/" + Self.factsName)
        }
        try self.init(at: path)
        try check(facts)
        if let table, try !Self.placeTable(table, at: tablePath, sha256: facts.table),
            try Self.length(of: table) != Self.length(of: tablePath)
        {
            // Reading it through is a status's, a merge's and a verification's; each shard's manifest has its SHA-256.
            try ResultFolder.check(table: tablePath, sha256: facts.table)
        }
    }

    /// Two that make a store of two studies at once must not each leave a half of it.
    private static func placeStudy(_ study: Study, at path: String) throws {
        let text = Array(study.yaml.utf8)
        guard try !place(text, at: path), try readInput(path, limitBytes: Study.writtenBytes) != text else {
            return
        }
        throw InputError(
            file: path, found: "another study, and no \(factsName) beside it",
            expected:
                "a store of the study \(printable(study.name, limit: 100)), or an empty or absent directory")
    }

    /// Puts the table there, whole, unless somebody has.
    /// - Returns: false where one is there that somebody else has put.
    private static func placeTable(_ source: String?, at path: String, sha256: String?) throws -> Bool {
        guard let source, let sha256 else { return true }
        guard !isRegularFile(path) else { return false }
        let beside = path + ".\(Machine.newID()).partial"
        defer { unlink(beside) }
        let found = try ShardTry.copy(source, to: beside, expecting: nil)
        guard found == sha256 else {
            throw ResultFolder.otherTable(source, found: found, expected: sha256)
        }
        return try link(beside, to: path)
    }

    private static func length(of path: String) throws(InputError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw InputError(.missing, file: path, found: "nothing", expected: "a table of people")
        }
        return Int(status.st_size)
    }

    /// Refuses another study or another number of shards than the store's.
    package func check(_ study: Study, shards: Int) throws(InputError) {
        let other = Facts(study, shards: shards, people: facts.people, table: facts.table)
        try check(other)
    }

    private func check(_ other: Facts) throws(InputError) {
        func refuse(_ found: String, _ expected: String) -> InputError {
            InputError(file: path, found: found, expected: expected)
        }
        guard facts.sha256 == other.sha256 else {
            let (mine, theirs) = (facts.words, other.words)
            throw refuse(
                "a store of \(mine)",
                "a store of \(theirs)"
                    + (mine == theirs ? ", which says something else (\(studyPath) has the store's)" : ""))
        }
        guard facts.shards == other.shards else {
            throw refuse(
                "a store of \(facts.shards) shards",
                "--shard I/\(facts.shards), or another store for \(other.shards)")
        }
        guard facts.people == other.people, facts.table == other.table else {
            throw refuse(
                "a store of \(facts.people) people of a table with SHA-256 \(facts.table ?? "unknown")",
                "the same table: \(other.people) people with \(other.table ?? "none")")
        }
    }

    /// Puts a file there, whole, unless there is one.
    /// - Returns: whether it is this one.
    package static func place(_ bytes: [UInt8], at path: String) throws -> Bool {
        let beside = path + ".\(Machine.newID()).partial"
        try AtomicFile.write(bytes, to: beside)
        defer { unlink(beside) }
        return try link(beside, to: path)
    }

    /// Gives a file a second name, unless somebody has it.
    /// - Returns: whether the name is this file's.
    /// - Throws: `OutputError`; whether the name was given isn't known then.
    static func link(_ file: String, to path: String) throws(OutputError) -> Bool {
        let code = Glibc.link(file, path) == 0 ? 0 : errno
        // A server that answers twice says of its own link that it is there; one whose answer was lost says anything.
        var (mine, there) = (stat(), stat())
        if code == 0
            || stat(file, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino
                && mine.st_dev == there.st_dev
        {
            try syncFolder(of: path)
            return true
        }
        if code == EEXIST { return false }
        if [EPERM, ENOTSUP, ENOSYS, EMLINK].contains(code) {
            throw OutputError(
                .cannotCreate, path: path,
                message: "this file system has no hard links, by which a file is made once")
        }
        throw OutputError(path: path, doing: "make the mark", errno: code)
    }

    // MARK: Marks

    package func isDone(_ shard: Int) -> Bool { isRegularFile(donePath(shard)) }

    /// Which machine and process this is.
    package enum Machine {
        package static var host: String {
            var name = [CChar](repeating: 0, count: 256)
            gethostname(&name, name.count - 1)
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// A name that nobody else has: of a try.
        package static func newID() -> String {
            var generator = SystemRandomNumberGenerator()
            let text = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }

        package static var now: String {
            let formatter = ISO8601DateFormatter()
            return formatter.string(from: Date())
        }
    }
}

extension ShardStore.Facts {
    /// As messages name it.
    package var words: String { "the study \(printable(study, limit: 100)), seed \(seed)" }

    var json: JSONValue {
        .object([
            .init("format", 1), .init("study", .string(study)), .init("study_sha256", .string(sha256)),
            .init("seed", .unsigned(seed)), .init("shards", .integer(Int64(shards))),
            .init("dealing", .string(Shard.Dealing.blocks.rawValue)),
            .init("people", .integer(Int64(people))),
            .init("table_sha256", table.map { .string($0) } ?? .null),
        ])
    }

    init(_ root: YAMLReader) throws(InputError) {
        let format = try root.member("format").wholeNumber()
        guard format == 1 else {
            throw root.problem(found: "format \(format)", expected: "format 1, which this program knows")
        }
        study = try root.member("study").text()
        sha256 = try root.member("study_sha256").text()
        seed = try root.member("seed").wholeNumber()
        shards = Int(try root.member("shards").wholeNumber(in: 1...UInt64(Study.maximumSessions)))
        people = Int(try root.member("people").wholeNumber(in: 1...UInt64(Study.maximumSessions)))
        let table = try root.member("table_sha256")
        self.table = table.node.isNothing ? nil : try table.text()
    }
}

extension YAMLReader {
    /// What a file that Islet wrote has to have.
    func member(_ key: String) throws(InputError) -> YAMLReader {
        guard let reader = self[key] else {
            throw problem(found: "no \(key)", expected: "a file that Islet wrote")
        }
        return reader
    }
}
