// The report of a results folder: reads what it needs, runs again what no table keeps.

import IsletFiles
import IsletDevices
import Foundation
import IsletResults
import IsletTrials

struct FolderReport {
    let page: StudyReport

    /// - Parameters:
    ///   - summary: where it has just been made; else it is made from the store.
    ///   - cohort: where some of it has just been drawn.
    ///   - standsInFolder: whether the page can link to what stands in the folder.
    ///   - allowsAlgorithms: whether programs that arms name may be started.
    /// - Throws: `OutputError` (75) after an interruption.
    init(
        _ folder: ResultFolder, store: any ResultStore, summary: StudySummary? = nil,
        cohort: (any StudyCohort)? = nil, studyPath: String, jobs: Int, unit: GlucoseUnit,
        standsInFolder: Bool = true, allowsAlgorithms: Bool = false,
        isInterrupted: @escaping @Sendable () -> Bool
    ) throws {
        var study = try Study.parse(try store.studyText(), file: folder.path, hasRun: true)
        if allowsAlgorithms { try study.startAlgorithms(studyPath: studyPath) }
        let columns = try SubjectColumns(ExampleChoice.outcomes(study), store: store)
        guard !columns.rows.isEmpty else {
            throw InputError(
                file: folder.path, found: "no finished session", expected: "the results of a run")
        }
        let state = try folder.state()
        let identity = try? RunIdentity(of: folder)
        let whole =
            try summary
            ?? StudySummary(of: study, store: store, shown: StudyReport.shownOutcomes(study))
        let input = ReportInput(
            study: study, summary: whole, columns: columns,
            origin: ReportInput.Origin(
                version: identity?.version, fingerprint: identity?.fingerprint,
                commit: try ProgramFacts.recorded(in: folder).first?.commit,
                shard: identity.flatMap { $0.shard.isWhole ? nil : $0.shard.description },
                isComplete: state == .complete || summary != nil,
                confirmation: try Self.confirmation(of: folder, isLinked: standsInFolder),
                plan: try folder.registration()?.words),
            unit: unit,
            again: try Self.again(
                study, columns: columns, cohort: cohort, studyPath: studyPath, jobs: jobs, folder: folder,
                summary: whole, unit: unit, isInterrupted: isInterrupted))
        page = StudyReport(input)
    }

    private static func confirmation(of folder: ResultFolder, isLinked: Bool) throws
        -> ReportInput.Confirmation
    {
        guard let other = try folder.confirmation() else { return .notRun }
        return try isLinked && isThere(other.reportPath) ? .linked : .run
    }

    /// What can't be run again is said in the page, not left out.
    private static func again(
        _ study: Study, columns: SubjectColumns, cohort: (any StudyCohort)?, studyPath: String, jobs: Int,
        folder: ResultFolder, summary: StudySummary, unit: GlucoseUnit,
        isInterrupted: @escaping @Sendable () -> Bool
    ) throws -> ReportInput.Again {
        var again = ReportInput.Again()
        // Profiles and examples are of glucose.
        guard study.subject.kind.isPerson else { return again }
        if let identity = try? RunIdentity(of: folder), identity.engine != BuildFacts.engine {
            again.obstacle =
                "engine \(identity.engine) lived the sessions, and this program is engine \(BuildFacts.engine): Islet \(printable(identity.version, limit: 40)) runs them again"
            return again
        }
        do {
            let people =
                try cohort as? PeopleCohort
                ?? CohortLoader.cohort(of: study, studyPath: studyPath, isChecked: false)
            let sessions = SessionsAgain(study, people: people, jobs: jobs, isInterrupted: isInterrupted)
            again.days = try sessions.days(columns, arms: StudyReport.armsOfDays(study, summary))
            again.examples = try ExampleChoice(study, columns: columns, again: sessions, unit: unit)
                .examples()
        } catch is CancellationError {
            throw OutputError(.temporary, path: folder.path, message: "interrupted: no report was written")
        } catch let problem as InputError where problem.kind != .temporary {
            again = ReportInput.Again()
            again.obstacle =
                "the people of the study can't be had again here (\(printable(problem.found, limit: 200)); with a cohort from a table, --study says where it is)"
        } catch let mismatch as DigestMismatch {
            again = ReportInput.Again()
            again.obstacle =
                "session \(mismatch.session) is not the stored one when it is run again here, by its digest (another version of Islet, or another machine's mathematics)"
        }
        return again
    }

    /// Writes each figure as a file of its own.
    func write(figures directory: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw OutputError(.cannotCreate, path: directory, message: "cannot make the directory")
        }
        for figure in page.figures {
            try AtomicFile.write(figure.file.standalone(), to: directory + "/\(figure.name).svg")
        }
    }
}
