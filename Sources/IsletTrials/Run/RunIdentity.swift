// What a run's manifest says about who made its numbers.
//
// Sessions of two engines, of two cohorts, or of two machines whose mathematics differ in the last bits, must not share
// one digest:
// a run goes on, and shards are joined, only where this is equal.

import IsletFiles
package import IsletModels
package import IsletDevices
import IsletKernel

package struct RunIdentity: Hashable, Sendable {
    package var version: String
    /// Which engine lived the sessions (`BuildFacts.engine`).
    package var engine: Int
    package var fingerprint: String
    /// `I/N`.
    package var shard: String
    /// How many people the cohort has, and a checksum of who they are: a table may be edited between two runs.
    package var subjects: Int
    package var cohort: String

    /// What this program would make here.
    package init(
        version: String, engine: Int = BuildFacts.engine, shard: Shard, cohort subjects: any StudyCohort
    ) {
        self.version = version
        self.engine = engine
        self.shard = shard.description
        self.subjects = subjects.count
        var digest = Digest128()
        for index in 0..<subjects.count { subjects.absorb(index, into: &digest) }
        cohort = digest.description
        fingerprint = NumericFingerprint.here
    }

    /// The same for people.
    package init(version: String, shard: Shard, subjects: [VirtualSubject]) {
        self.init(version: version, shard: shard, cohort: PeopleCohort(subjects))
    }

    /// What stands in the manifest of `folder`.
    package init(of folder: ResultFolder) throws(InputError) {
        let root = try folder.manifest()
        func text(_ key: String) throws(InputError) -> String {
            guard let reader = root[key] else {
                throw root.problem(found: "no \(key)", expected: "a manifest that Islet wrote")
            }
            return try reader.text()
        }
        version = try text("version")
        engine = try BuildFacts.engine(recordedAs: root["engine"])
        fingerprint = try text("numeric_fingerprint")
        shard = try text("shard")
        cohort = try text("cohort_checksum")
        guard let reader = root["subjects"] else {
            throw root.problem(found: "no subjects", expected: "a manifest that Islet wrote")
        }
        subjects = Int(try reader.wholeNumber(in: 1...UInt64(Study.maximumSessions)))
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
            ("cohort_checksum", cohort, other.cohort), ("subjects", "\(subjects)", "\(other.subjects)"),
        ] where mine != wanted {
            throw InputError(
                file: folder.manifestPath, found: "sessions of \(name) \(mine)",
                expected: "\(name) \(wanted): results of the two may differ")
        }
    }
}
