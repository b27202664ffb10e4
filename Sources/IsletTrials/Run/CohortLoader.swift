// From a study's cohort to virtual subjects.
//
// Guarantees: subject k of a generated cohort is the same whatever the count, the shard or the number of workers; nobody is drawn who isn't asked for.

import Foundation
package import IsletDevices
import IsletFiles
package import IsletModels
import IsletKernel

package enum CohortLoader {
    /// The most bytes that a parameter table that is held whole may have.
    package static let tableByteLimit = 64 << 20

    /// The subjects of a study, in the order of their indices, with the therapy that they enter it on.
    ///
    /// - Parameters:
    ///   - studyPath: what a table's path is relative to.
    ///   - jobs: threads to find therapies on.
    ///   - isInterrupted: asked before each subject.
    /// - Throws: `InputError`, `CohortError`, `CancellationError` after an interruption.
    package static func subjects(
        of study: Study, studyPath: String, jobs: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws -> [VirtualSubject] {
        let source = try source(of: study, studyPath: studyPath)
        return try Workers.map(count: source.count, jobs: jobs, isInterrupted: isInterrupted, source.subject)
    }

    /// One subject of a study; nobody else is drawn.
    /// - Throws: as `subjects`; `InputError` where there is no such subject.
    package static func subject(_ index: Int, of study: Study, studyPath: String) throws -> VirtualSubject {
        let source = try source(of: study, studyPath: studyPath, isChecked: false)
        guard (0..<source.count).contains(index) else {
            throw InputError(
                file: studyPath, found: "subject \(index)", expected: "0 to \(source.count - 1)")
        }
        return try source.subject(index)
    }

    /// The people of a study, each drawn when somebody asks for them.
    /// - Parameter isChecked: whether every row of a table is judged before.
    package static func cohort(
        of study: Study, studyPath: String, isChecked: Bool = true
    ) throws -> PeopleCohort {
        let source = try source(of: study, studyPath: studyPath, isChecked: isChecked)
        return PeopleCohort(count: source.count, table: source.table, source.subject)
    }

    /// How many subjects there are, and each of them.
    private static func source(
        of study: Study, studyPath: String, isChecked: Bool = true
    ) throws -> (count: Int, table: String?, subject: @Sendable (Int) throws -> VirtualSubject) {
        guard study.subject.kind.isPerson else {
            throw InputError(
                file: studyPath, found: "a study of \(study.subject.kind.words.many)",
                expected: "a study of people")
        }
        switch study.cohort {
        case .generate(let people):
            try study.checkSessions(subjects: people.count, file: studyPath)
            let generator = CohortGenerator(model: people.model, group: people.group)
            return (
                people.count, nil,
                { index in
                    var stream = RandomStreams(seed: study.seed, subject: UInt64(index)).stream("cohort")
                    return try generator.subject(index, using: &stream).titrated(for: study, index: index)
                }
            )
        case .table(let wanted):
            let (table, rows) = try table(wanted, of: study, studyPath: studyPath, isChecked: isChecked)
            return (
                rows?.count ?? table.count, table.sha256,
                { index in
                    let row = rows?[index] ?? index
                    let entry = try table.entry(row)
                    do {
                        return try VirtualSubject(entry).titrated(for: study, index: index)
                    } catch {
                        throw InputError(
                            file: table.path, line: table.line(row), found: "\(error)",
                            expected: "parameters that the model can be run with")
                    }
                }
            )
        }
    }

    /// Where the cohort's table is: in a folder of results, beside its manifest, or in the store around it; else where the study says.
    /// - Throws: `InputError` where that can't be told for now.
    package static func tablePath(of study: Study, studyPath: String) throws(InputError) -> String {
        let manifest = "manifest.json"
        let folder =
            studyPath == manifest || studyPath.hasSuffix("/" + manifest)
            ? ResultFolder(path: studyPath == manifest ? "." : String(studyPath.dropLast(manifest.count + 1)))
            : ResultFolder(path: studyPath)
        guard try isThere(folder.manifestPath), let table = try folder.tablePath()
        else { return study.tablePath(studyPath: studyPath) ?? "" }
        return table
    }

    /// A cohort's table, and those of its rows that the study wants; nil for all of them.
    private static func table(
        _ wanted: Study.Cohort.Table, of study: Study, studyPath: String, isChecked: Bool
    ) throws(InputError) -> (TableFile, rows: [Int]?) {
        let path = try tablePath(of: study, studyPath: studyPath)
        let table = try TableFile(path, model: wanted.model, derived: wanted.derived)
        if isChecked { try table.check() }
        let rows: [Int]?
        if let names = wanted.subjects { rows = try table.rows(named: names) } else { rows = nil }
        try study.checkSessions(subjects: rows?.count ?? table.count, file: path)
        return (table, rows)
    }

    /// How many people a cohort's table gives; every row of it is judged.
    static func checkedCount(
        of wanted: Study.Cohort.Table, of study: Study, studyPath: String
    ) throws(InputError) -> Int {
        let (table, rows) = try table(wanted, of: study, studyPath: studyPath, isChecked: true)
        return rows?.count ?? table.count
    }
}
