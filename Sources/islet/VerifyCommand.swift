// `islet verify DIR`: is a results folder what a run of its study left? `islet verify JOURNAL`: the same of a live session.

import IsletFiles
import ArgumentParser
import IsletCommands
import Foundation
import IsletResults
import IsletDevices
import IsletTrials

/// `islet verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a results folder: hashes, tables against each other, sessions run again.",
        discussion: """
            Checks the files' SHA-256 against the manifest; that study.sqlite, sessions.csv and summary.json say the same; that
            no session is lacking; and runs sessions again: digests, outcomes and every recorded row must be the stored ones. Where
            a study has `confirm`, the same of DIR/confirm, and that it confirms what was selected.
            One line a finding; exit code 1 where there is any. Reads only. Sessions that another engine lived (docs/upgrade.md) are
            not run again; a line says so, and which program does. Of a live session's journal: its checksums, and its
            session lived again, digests compared at every mark.

            Examples:
              islet verify results/quickstart
              islet verify results/quickstart --sample 20
              islet verify results/quickstart --session 12
            """)

    @OptionGroup var arguments: VerifyArguments

    func run() throws {
        if isRegularFile(arguments.directory) {
            guard arguments.sample == nil, arguments.session == nil else {
                throw ValidationError("A journal takes no --sample and no --session.")
            }
            try OtherProgram.live.takeOver()
        }
        let interrupt = Interrupt()
        var findings = 0
        var sessions = 0
        var folder: ResultFolder? = ResultFolder(path: arguments.directory)
        // What was selected in a folder is confirmed in one within it.
        while let next = folder { folder = try check(next, interrupt, &findings, &sessions) }
        guard findings > 0 else {
            return try StandardStream.output.writeLine(
                "\(printable(arguments.directory, limit: 4096)): nothing is off; \(sessions) sessions run again"
            )
        }
        throw CheckFailure(
            message:
                "\(arguments.directory): \(findings) finding\(findings == 1 ? "" : "s"); \(sessions) sessions run again"
        )
    }

    /// - Returns: the folder that has to be checked next, where there is one.
    private func check(
        _ folder: ResultFolder, _ interrupt: Interrupt, _ findings: inout Int, _ sessions: inout Int
    ) throws -> ResultFolder? {
        guard
            FileManager.default.fileExists(atPath: folder.manifestPath)
                || FileManager.default.fileExists(atPath: folder.storePath)
        else {
            throw InputError(
                .missing, file: arguments.directory, found: "no results",
                expected: "a study's output directory")
        }
        let place = folder.path == arguments.directory ? "" : "confirm/"
        var (found, rerun) = (0, 0)
        defer {
            findings += found
            sessions += rerun
        }
        func tell(_ finding: String) throws {
            found += 1
            try StandardStream.output.writeLine(printable(place + finding, limit: 2000))
        }
        /// A file that can't be read is a finding, not the end.
        func trying(_ body: () throws -> Void) throws {
            do { try body() } catch let problem as InputError { try tell(problem.description) }
        }
        let verification = FolderVerification(
            folder: folder, studyPath: arguments.source.study, jobs: arguments.threads.count,
            allowsAlgorithms: arguments.algorithms.isGiven,
            isInterrupted: { interrupt.isRaised })
        try trying { for finding in try verification.files() { try tell(finding) } }
        var next: ResultFolder?
        try trying {
            let store = try StudyStore(readingAt: folder.storePath)
            try trying { for finding in try verification.agreement(store) { try tell(finding) } }
            let outcomes = try Study.parse(
                try store.studyText(), file: folder.storePath, hasRun: true
            ).outcomes.map(\.name)
            if let note = try verification.otherEngine() {
                try StandardStream.output.writeLine(printable(place + note, limit: 2000))
            }
            do {
                // A session's index is of the folder that was named.
                try verification.rerun(
                    arguments.session != nil && !place.isEmpty ? .none : choice, store,
                    compare: { record in
                        rerun += 1
                        return try store.differences(
                            from: record, outcomes: outcomes,
                            policyOutcomes: PolicyOutcome.storedNames)
                    },
                    progress: { ProgressLine(sessions: $0, style: .standardError(quiet: arguments.quiet)) },
                    tell: tell)
            } catch is CancellationError {
                throw OutputError(.temporary, path: arguments.directory, message: "interrupted")
            }
            guard let wanted = try verification.confirmation(store) else { return }
            let other = ResultFolder(path: folder.confirmationPath)
            guard FileManager.default.fileExists(atPath: other.storePath) else {
                return try tell("confirm: is not there: what was selected has not been confirmed")
            }
            next = other
            guard try StudyStore(readingAt: other.storePath).studyText() == wanted.yaml else {
                return try tell("confirm: is no confirmation of what was selected here")
            }
        }
        return next
    }

    private var choice: FolderVerification.Choice {
        if let session = arguments.session { return .one(session) }
        return arguments.sample.map { .sample($0) } ?? .all
    }
}
