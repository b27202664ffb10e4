// What a run's manifest says about who made its numbers.
//
// Sessions of two engines, of two cohorts, or of two machines whose mathematics differ in the last bits, must not share
// one digest:
// a run goes on, and shards are joined, only where this is equal.

import IsletFiles
package import IsletDevices
import IsletKernel

package struct RunIdentity: Hashable, Sendable {
    package var version: String
    /// Which engine lived the sessions (`BuildFacts.engine`).
    package var engine: Int
    package var fingerprint: String
    package var shard: Shard
    /// How many people the cohort has.
    package var subjects: Int
    /// SHA-256 of the table that they are rows of: it may be edited between two runs.
    package var table: String?
    /// Whether that table stands once in the store around the folder (`ShardStore`), and not in the folder.
    package var isTableInStore = false
    /// Who they are (`CohortSums.root`), once everybody is known.
    package var root: String?
    /// Who they are in results that have no root yet: a checksum over everybody, one after the other.
    package var checksum: String?

    /// What this program would make here.
    package init(
        version: String, engine: Int = BuildFacts.engine, shard: Shard, cohort subjects: any StudyCohort
    ) {
        (self.version, self.engine, self.shard) = (version, engine, shard)
        (self.subjects, table) = (subjects.count, subjects.table)
        fingerprint = NumericFingerprint.here
    }

    /// What stands in the manifest of `folder`.
    package init(of folder: ResultFolder) throws(InputError) {
        let root = try folder.manifest()
        func text(_ key: String) throws(InputError) -> String { try root.member(key).text() }
        version = try text("version")
        engine = try BuildFacts.engine(recordedAs: root["engine"])
        fingerprint = try text("numeric_fingerprint")
        shard = try Shard(recordedIn: root)
        self.root = try root["cohort_root"]?.text()
        checksum = try root["cohort_checksum"]?.text()
        table = try root["table_sha256"]?.text()
        if let place = root["table"] {
            guard try place.text() == ShardStore.tableFromTry else {
                throw place.problem(
                    found: "a table at \(printable(try place.text(), limit: 100))",
                    expected: ShardStore.tableFromTry)
            }
            isTableInStore = true
        }
        subjects = Int(try root.member("subjects").wholeNumber(in: 1...UInt64(Study.maximumSessions)))
    }

    /// A checksum over all people, as results had it before there were roots: everybody is drawn.
    package static func checksum(
        of cohort: any StudyCohort, jobs: Int, isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws -> String {
        try cohort.draw([0..<cohort.count], jobs: jobs, isInterrupted: isInterrupted)
        var digest = Digest128()
        for index in 0..<cohort.count { try cohort.absorb(index, into: &digest) }
        return digest.description
    }

    /// Whether the people are the same; nil where the two say it in ways that can't be compared.
    package func hasPeople(of other: RunIdentity) -> Bool? {
        guard subjects == other.subjects else { return false }
        if let root, let theirs = other.root { return root == theirs }
        if let checksum, let theirs = other.checksum { return checksum == theirs }
        return nil
    }

    /// Refuses what another engine than this program's lived.
    /// - Parameter what: of the folder, such as `sessions`.
    package func checkEngine(
        of folder: ResultFolder, _ what: String = "sessions", here: Int = BuildFacts.engine
    ) throws(InputError) {
        guard engine != here else { return }
        throw .otherEngine(folder.manifestPath, what, engine: engine, version: version, here: here)
    }

    /// Refuses sessions of another engine or mathematics than `other`'s.
    package func check(against other: RunIdentity, folder: ResultFolder) throws(InputError) {
        try checkEngine(of: folder, here: other.engine)
        for (name, mine, wanted) in [
            ("numeric_fingerprint", fingerprint, other.fingerprint),
            ("subjects", "\(subjects)", "\(other.subjects)"), ("cohort_root", root, other.root),
            ("cohort_checksum", checksum, other.checksum), ("table_sha256", table, other.table),
        ] as [(String, String?, String?)] {
            // What one of the two doesn't say is not compared.
            guard let mine, let wanted, mine != wanted else { continue }
            throw InputError(
                file: folder.manifestPath, found: "sessions of \(name) \(mine)",
                expected: "\(name) \(wanted): results of the two may differ")
        }
    }
}

extension Shard {
    /// What a manifest says.
    init(recordedIn root: YAMLReader) throws(InputError) {
        let text = try root.member("shard").text()
        // Results of before there were blocks say nothing of dealing.
        let name = try root["dealing"]?.text() ?? Dealing.strides.rawValue
        guard let dealing = Dealing(rawValue: name), let shard = Shard(recorded: text, dealing: dealing)
        else {
            throw root.problem(
                found: "shard \(printable(text, limit: 40)), dealt in \(printable(name, limit: 40))",
                expected: "I/N, in blocks or strides")
        }
        self = shard.isWhole ? .whole : shard
    }
}
