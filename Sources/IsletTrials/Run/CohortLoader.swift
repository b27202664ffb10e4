// From a study's cohort to virtual subjects.
//
// Guarantees: subject k of a generated cohort is the same whatever the count, the shard or the number of workers.

import Foundation
import IsletDevices
import IsletFiles
package import IsletModels
import IsletKernel

package enum CohortLoader {
    /// The most bytes that a parameter table may have.
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
        let (count, subject) = try source(of: study, studyPath: studyPath)
        return try Workers.map(count: count, jobs: jobs, isInterrupted: isInterrupted, subject)
    }

    /// One subject of a study; nobody else is drawn.
    /// - Throws: as `subjects`; `InputError` where there is no such subject.
    package static func subject(_ index: Int, of study: Study, studyPath: String) throws -> VirtualSubject {
        let (count, subject) = try source(of: study, studyPath: studyPath)
        guard (0..<count).contains(index) else {
            throw InputError(
                file: studyPath, found: "subject \(index)", expected: "0 to \(count - 1)")
        }
        return try subject(index)
    }

    /// How many subjects there are, and each of them.
    private static func source(
        of study: Study, studyPath: String
    ) throws -> (count: Int, subject: @Sendable (Int) throws -> VirtualSubject) {
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
                people.count,
                { index in
                    var stream = RandomStreams(seed: study.seed, subject: UInt64(index)).stream("cohort")
                    return try generator.subject(index, using: &stream).titrated(for: study, index: index)
                }
            )
        case .table:
            let path = tablePath(of: study, studyPath: studyPath)
            let entries = try entries(of: study, studyPath: studyPath)
            return (
                entries.count,
                { index in
                    do {
                        return try VirtualSubject(entries[index]).titrated(for: study, index: index)
                    } catch {
                        throw InputError(
                            file: path, line: entries[index].line, found: "\(error)",
                            expected: "parameters that the model can be run with")
                    }
                }
            )
        }
    }

    /// Where the cohort's table is: in a folder of results, or beside its manifest, which have it inside; else where the study says.
    package static func tablePath(of study: Study, studyPath: String) -> String {
        let manifest = "manifest.json"
        let folder =
            studyPath == manifest || studyPath.hasSuffix("/" + manifest)
            ? ResultFolder(path: studyPath == manifest ? "." : String(studyPath.dropLast(manifest.count + 1)))
            : ResultFolder(path: studyPath)
        guard FileManager.default.fileExists(atPath: folder.manifestPath),
            FileManager.default.fileExists(atPath: folder.file(ResultFolder.people))
        else { return study.tablePath(studyPath: studyPath) ?? "" }
        return folder.file(ResultFolder.people)
    }

    /// The rows of the cohort's table that the study wants, in its order; none for a generated cohort.
    static func entries(of study: Study, studyPath: String) throws(InputError) -> [ParameterTable.Entry] {
        guard case .table(let wanted) = study.cohort else { return [] }
        let path = tablePath(of: study, studyPath: studyPath)
        let bytes = try readInput(path, limitBytes: tableByteLimit)
        let table = try ParameterTable(bytes, file: path, model: wanted.model, derived: wanted.derived)
        var entries = table.entries
        if let names = wanted.subjects {
            let places = Dictionary(
                uniqueKeysWithValues: table.entries.enumerated().map { ($1.name, $0) })
            entries = []
            for name in names {
                if let place = places[name] {
                    entries.append(table.entries[place])
                } else {
                    // Says which names there are.
                    entries.append(try table.entry(named: name))
                }
            }
        }
        try study.checkSessions(subjects: entries.count, file: path)
        return entries
    }
}
