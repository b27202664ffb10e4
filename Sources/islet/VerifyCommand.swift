// `islet verify DIR`: is a results folder what a run of its study left?

import Documents
import ArgumentParser
import Foundation
import Persistence
import Records
import Trials

/// `islet verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a results folder: hashes, tables against each other, sessions run again.",
        discussion: """
            Checks the files' SHA-256 against the manifest; that study.sqlite, sessions.csv and summary.json say the same; that
            no session is lacking; and runs sessions again: digests, outcomes and every recorded row must be the stored ones.
            One line a finding; exit code 1 where there is any. Reads only.

            Examples:
              islet verify results/quickstart
              islet verify results/quickstart --sample 20
              islet verify results/quickstart --session 12
            """)

    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: "Run so many sessions again, spread evenly (default: all).")
    var sample: Int?

    @Option(help: "Run this session again only: its index, as in sessions.csv.")
    var session: Int?

    @Option(help: "The study's file, where its cohort is a table: the table's path is relative to it.")
    var study: String?

    @Option(help: "Threads (default: all cores).")
    var jobs: Int?

    @Flag(help: "No progress.")
    var quiet = false

    func validate() throws {
        if let jobs, !(1...1024).contains(jobs) {
            throw ValidationError("--jobs takes a number from 1 to 1024.")
        }
        if let sample, sample < 0 { throw ValidationError("--sample takes a number from 0.") }
        if let session, session < 0 { throw ValidationError("--session takes an index from 0.") }
        if sample != nil, session != nil { throw ValidationError("--sample or --session, not both.") }
    }

    func run() throws {
        let interrupt = Interrupt()
        let folder = ResultFolder(path: directory)
        guard
            FileManager.default.fileExists(atPath: folder.manifestPath)
                || FileManager.default.fileExists(atPath: folder.storePath)
        else {
            throw InputProblem(
                .missing, file: directory, found: "no results", expected: "a study's output directory")
        }
        var findings = 0
        func tell(_ finding: String) throws {
            findings += 1
            try StandardStream.output.writeLine(printable(finding, limit: 2000))
        }
        /// A file that can't be read is a finding, not the end.
        func trying(_ body: () throws -> Void) throws {
            do { try body() } catch let problem as InputProblem { try tell(problem.description) }
        }
        let verification = FolderVerification(
            folder: folder, studyPath: study, jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount,
            isInterrupted: { interrupt.isRaised })
        try trying { for finding in try verification.files() { try tell(finding) } }
        var sessions = 0
        try trying {
            let store = try StudyStore(readingAt: folder.storePath)
            try trying { for finding in try verification.agreement(store) { try tell(finding) } }
            do {
                try verification.rerun(
                    choice, store,
                    compare: { record in
                        sessions += 1
                        return try store.differences(from: record, outcomes: Outcome.all.map(\.name))
                    },
                    progress: { ProgressLine(sessions: $0, style: .standardError(quiet: quiet)) }, tell: tell)
            } catch is CancellationError {
                throw OutputProblem(.temporary, path: directory, message: "interrupted")
            }
        }
        guard findings > 0 else {
            return try StandardStream.output.writeLine(
                "\(printable(directory, limit: 4096)): nothing is off; \(sessions) sessions run again")
        }
        throw CheckFailure(
            message:
                "\(directory): \(findings) finding\(findings == 1 ? "" : "s"); \(sessions) sessions run again"
        )
    }

    private var choice: FolderVerification.Choice {
        if let session { return .one(session) }
        return sample.map { .sample($0) } ?? .all
    }
}
