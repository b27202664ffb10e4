// What makes a folder complete in itself: people, policies and plan.
//
// Guarantees: what was put in before the first session stays as it is, whoever goes on with the run.

import Foundation
package import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels

extension ResultFolder {
    /// The plan that stands in the folder; nil in one of an earlier version.
    package func registration() throws(InputError) -> Registration? {
        guard FileManager.default.fileExists(atPath: file(Registration.name)) else { return nil }
        return try Registration(path: file(Registration.name))
    }

    /// Puts in what a stranger needs to understand and repeat the study: people, policies and plan. What is there stays.
    /// - Parameters:
    ///   - subjects: as they were drawn or read.
    ///   - studyPath: what a table's path is relative to.
    ///   - registration: of a plan that was registered; nil for none.
    ///   - sessions: that the folder has.
    ///   - isWhole: false for a shard, which draws nobody but its own people, and has no table of all.
    ///   - hasPlan: false for a confirmation, whose plan is that of the folder around it.
    package func keep(
        inputsOf study: Study, subjects: any StudyCohort, studyPath: String, registration: Registration?,
        sessions: Int, isWhole: Bool, hasPlan: Bool
    ) throws {
        if !FileManager.default.fileExists(atPath: file(Self.people)) {
            if case .table = study.cohort {
                try copy(
                    CohortLoader.tablePath(of: study, studyPath: studyPath), to: Self.people,
                    sha256: subjects.table)
            } else if isWhole, let people = try (subjects as? PeopleCohort)?.everybody() {
                try AtomicFile.write(CohortGenerator.csv(people), to: file(Self.people))
            }
        }
        if !FileManager.default.fileExists(atPath: file(Self.policies)) {
            try AtomicFile.write(study.policiesJSON.prettyText, to: file(Self.policies))
        }
        guard hasPlan else { return }
        if let there = try self.registration(), there.isRegistered || registration == nil { return }
        var taken = try registration ?? Registration(plan(of: study), registeredAt: nil)
        taken.sessionsThen = sessions
        try AtomicFile.write(taken.json.prettyText, to: file(Registration.name))
    }

    /// Copies a file of any length into the folder.
    /// - Parameter sha256: what it has to be; another file is refused, and nothing is written.
    private func copy(_ path: String, to name: String, sha256: String? = nil) throws {
        let reader = try BlockReader(path)
        var copy = try AtomicFile(file(name), isHashed: false)
        var hash = SHA256()
        while let block = try reader.next() {
            hash.update(block)
            try copy.append(block)
        }
        let found = hash.finished().description
        guard sha256 == nil || sha256 == found else {
            throw InputError(
                file: path, found: "another table (SHA-256 \(found)) than its people were read from",
                expected: "SHA-256 \(sha256 ?? ""): a table that nobody writes while the study runs")
        }
        _ = try copy.commit()
    }

    /// Takes people, policies and plan from the shards of one study; a plan counts as registered before the first session where it was so in each of them.
    package func keepInputs(ofShards shards: [ResultFolder]) throws {
        guard let first = shards.first else { return }
        for name in [Self.people, Self.policies]
        where FileManager.default.fileExists(atPath: first.file(name)) {
            try copy(first.file(name), to: name)
        }
        let plans = try shards.compactMap { try $0.registration() }
        guard plans.count == shards.count,
            var plan = plans.first(where: { !$0.isBeforeFirstSession }) ?? plans.first
        else { return }
        if plans.contains(where: { $0.digest != plan.digest }) { plan.registeredAt = nil }
        try AtomicFile.write(plan.json.prettyText, to: file(Registration.name))
    }

    /// The SHA-256 of the program that made the report, by the manifest; nil where it doesn't say.
    package func pageProgram() -> String? {
        guard FileManager.default.fileExists(atPath: manifestPath) else { return nil }
        return try? manifest()["report_program_sha256"]?.text()
    }

    /// The plan of the study that the manifest has; nil where it has none.
    package func planOfManifest() throws -> StudyPlan? {
        try manifest()["study"].map { try plan(of: Study.decode($0.node, hasRun: true)) }
    }

    /// The plan of a study whose table, if it has one, stands in the folder.
    package func plan(of study: Study) throws -> StudyPlan {
        guard case .table = study.cohort, FileManager.default.fileExists(atPath: file(Self.people)) else {
            return StudyPlan(study, tableSHA256: nil)
        }
        return StudyPlan(study, tableSHA256: try hash(of: file(Self.people)))
    }
}
