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
        guard try isThere(file(Registration.name)) else { return nil }
        return try Registration(path: file(Registration.name))
    }

    /// Puts in what a stranger needs to understand and repeat the study: people, policies and plan. What is there stays.
    /// - Parameters:
    ///   - subjects: as they were drawn or read.
    ///   - studyPath: what a table's path is relative to.
    ///   - registration: of a plan that was registered; nil for none.
    ///   - sessions: that the folder has.
    ///   - own: whose sessions the folder will have: of generated people their rows.
    ///   - keepsTable: false for a shard of a store, which has the table once.
    ///   - hasPlan: false for a confirmation, whose plan is that of the folder around it.
    package func keep(
        inputsOf study: Study, subjects: any StudyCohort, studyPath: String, registration: Registration?,
        sessions: Int, own: [Range<Int>], keepsTable: Bool, hasPlan: Bool
    ) throws {
        if try !isThere(file(Self.people)) {
            if case .table = study.cohort {
                if keepsTable {
                    try copy(
                        try CohortLoader.tablePath(of: study, studyPath: studyPath), to: Self.people,
                        sha256: subjects.table)
                }
            } else if let people = try (subjects as? PeopleCohort)?.everybody(in: own), !people.isEmpty {
                try AtomicFile.write(CohortGenerator.csv(people), to: file(Self.people))
            }
        }
        if try !isThere(file(Self.policies)) {
            try AtomicFile.write(study.policiesJSON.prettyText, to: file(Self.policies))
        }
        guard hasPlan else { return }
        if let there = try self.registration(), there.isRegistered || registration == nil { return }
        let plan = try keepsTable ? plan(of: study) : StudyPlan(study, tableSHA256: subjects.table)
        var taken = registration ?? Registration(plan, registeredAt: nil)
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
        if let sha256, sha256 != found { throw Self.otherTable(path, found: found, expected: sha256) }
        _ = try copy.commit()
    }

    static func otherTable(_ path: String, found: String, expected: String) -> InputError {
        InputError(
            file: path, found: "another table (SHA-256 \(found)) than its people were read from",
            expected: "SHA-256 \(expected): a table that nobody writes while the study runs")
    }

    /// Where the table of its people is: within, or once in the store around it, as the manifest says; nil where it says neither.
    /// - Throws: `InputError` where that can't be told for now.
    package func tablePath() throws(InputError) -> String? {
        if try isThere(file(Self.people)) { return file(Self.people) }
        guard try isThere(manifestPath) else { return nil }
        do throws(InputError) {
            return try RunIdentity(of: self).isTableInStore ? file(ShardStore.tableFromTry) : nil
        } catch {
            if error.kind == .temporary { throw error }
            return nil
        }
    }

    /// Refuses a table that isn't there, or isn't the one that people were read from.
    package static func check(table path: String, sha256: String?) throws(InputError) {
        let expected = sha256 ?? "unknown"
        guard isRegularFile(path) else {
            throw InputError(
                .missing, file: path, found: "nothing",
                expected: "the table that people were read from, SHA-256 \(expected)")
        }
        let found = try hash(ofFile: path)
        guard found == sha256 else { throw otherTable(path, found: found, expected: expected) }
    }

    /// Takes people, policies and plan from the shards of one study; a plan counts as registered before the first session where it was so in each of them.
    package func keepInputs(ofShards shards: [ResultFolder], study: Study) throws {
        guard let first = shards.first else { return }
        if case .table = study.cohort {
            if let table = try first.tablePath() {
                try copy(table, to: Self.people, sha256: RunIdentity(of: first).table)
            }
        } else {
            try keepPeople(ofShards: shards, group: study.block)
        }
        if try isThere(first.file(Self.policies)) {
            try copy(first.file(Self.policies), to: Self.policies)
        }
        let plans = try shards.compactMap { try $0.registration() }
        guard plans.count == shards.count,
            var plan = plans.first(where: { !$0.isBeforeFirstSession }) ?? plans.first
        else { return }
        if plans.contains(where: { $0.digest != plan.digest }) { plan.registeredAt = nil }
        try AtomicFile.write(plan.json.prettyText, to: file(Registration.name))
    }

    /// Joins the rows of generated people, by index: a whole run's file. Nothing where a shard is of before there were such, or the study is too large
    /// for a run to have one. As many as a run remembers at most are held.
    private func keepPeople(ofShards shards: [ResultFolder], group: Int) throws {
        var (header, rows): (ArraySlice<UInt8>?, [Int: ArraySlice<UInt8>]) = (nil, [:])
        for shard in shards {
            let identity = try RunIdentity(of: shard)
            let own = identity.shard.subjects(of: identity.subjects, group: group).flatMap { Array($0) }
            if own.isEmpty { continue }
            let path = shard.file(Self.people)
            guard isRegularFile(path) else { return }
            let lines = try readInput(path, limitBytes: Self.peopleBytes, onlyRegular: true)
                .split(separator: UInt8(ascii: "\n"))
            guard lines.count == own.count + 1, header == nil || header == lines[0] else {
                throw InputError(
                    file: path, found: "\(max(0, lines.count - 1)) people, or another header",
                    expected: "the \(own.count) people of shard \(identity.shard), as in the others")
            }
            header = lines[0]
            for (index, line) in zip(own, lines.dropFirst()) { rows[index] = line }
        }
        guard let header else { return }
        var joined = try AtomicFile(file(Self.people))
        for line in [header] + rows.sorted(by: { $0.key < $1.key }).map(\.value) {
            try joined.append(line)
            try joined.append([UInt8(ascii: "\n")])
        }
        _ = try joined.commit()
    }

    /// The most bytes that the rows of generated people may have: as many people as a run remembers.
    static let peopleBytes = 1 << 30

    /// The SHA-256 of the program that made the report, by the manifest; nil where it doesn't say.
    package func pageProgram() -> String? {
        try? manifest()["report_program_sha256"]?.text()
    }

    /// The plan of the study that the manifest has; nil where it has none.
    package func planOfManifest() throws -> StudyPlan? {
        try manifest()["study"].map { try plan(of: Study.decode($0.node, hasRun: true)) }
    }

    /// The plan of a study whose table, if it has one, stands in the folder or in the store around it.
    /// - Parameter isPlaced: as in `StudyPlan`.
    package func plan(of study: Study, isPlaced: Bool = false) throws -> StudyPlan {
        guard case .table = study.cohort, let table = try tablePath() else {
            return StudyPlan(study, tableSHA256: nil, isPlaced: isPlaced)
        }
        return StudyPlan(study, tableSHA256: try hash(of: table), isPlaced: isPlaced)
    }
}
