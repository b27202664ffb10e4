// `islet validate`: virtual people beside published ones.

import ArgumentParser
import IsletCommands
import IsletFiles
import Foundation
import IsletResults
import IsletDevices
import IsletModels
import IsletTrials

/// `islet validate`
struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Judge virtual people by published ones: lows, levels, what alarms bring about.",
        discussion: """
            Each of WHAT is a study file, whose sessions are run, a results folder, whose sessions are run again, or a folder of study files. Every
            arm meets all published rows that are of people like it: its age group, open or closed loop, and whether somebody hears the
            alarms. A row passes where the 95 % interval over people lies within a tolerance that was written down before anything was
            computed, and fails where none of it does; else, and with fewer than 20 people, it can't tell. What fails stands first.

            Examples:
              islet validate Cohorts/validation
              islet validate Cohorts/validation/adults.yaml --out validation.md
            """)

    @Argument(help: "Study files, results folders, or folders of study files.", completion: .file())
    var what: [String]

    @Option(help: "Where to write the page; `-` for standard output.")
    var out = "-"

    @Flag(help: "Exit with 1 where a row fails.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Override a key of a study file, as in `islet run`; repeatable.", valueName: "key=value"))
    var set: [String] = []

    @OptionGroup var threads: ThreadCount

    func run() throws {
        let interrupt = Interrupt()
        var rows: [ValidationRow] = []
        var sensors: [SensorTable] = []
        for path in try what.flatMap(Self.files) {
            do {
                let validation = try validation(of: path, interrupt)
                rows += try validation.rows(jobs: threads.count, isInterrupted: { interrupt.isRaised })
                sensors += validation.sensorTables
            } catch is CancellationError {
                throw OutputError(.temporary, path: path, message: "interrupted")
            }
        }
        try Output.write(ValidationPage(rows, sensors: sensors).text, to: out)
        let failed = rows.count { $0.verdict == .fail }
        if check, failed > 0 { throw CheckFailure(message: "\(failed) of \(rows.count) rows fail") }
    }

    /// The study files of a folder that holds no results.
    private static func files(_ path: String) throws -> [String] {
        guard isFolder(path), try !isThere(ResultFolder(path: path).storePath) else { return [path] }
        let names = try names(inDirectory: path).filter { $0.hasSuffix(".yaml") }
        guard !names.isEmpty else {
            throw InputError(
                .missing, file: path, found: "neither results nor study files",
                expected: "a study file, or a study's output directory")
        }
        return names.sorted().map { path + "/" + $0 }
    }

    private func validation(of path: String, _ interrupt: Interrupt) throws -> Validation {
        let folder = ResultFolder(path: path)
        let isRaised: @Sendable () -> Bool = { interrupt.isRaised }
        guard try isThere(folder.storePath) else {
            let study = try Study.read(path: path, overrides: set.map { try SetOverride($0) })
            let subjects = try CohortLoader.subjects(
                of: study, studyPath: path, jobs: threads.count, isInterrupted: isRaised)
            return try Validation(
                study, subjects: subjects, file: path, jobs: threads.count, isInterrupted: isRaised)
        }
        guard set.isEmpty else {
            throw ValidationError("--set is of study files; \(printable(path, limit: 400)) has been run.")
        }
        try folder.tellIfIncomplete()
        let sessions = try ResultSessions(
            StudyStore(readingAt: folder.storePath), directory: path, jobs: threads.count,
            isInterrupted: isRaised)
        return try Validation(sessions, file: path, jobs: threads.count, isInterrupted: isRaised)
    }
}
