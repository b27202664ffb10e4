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
            no session is lacking; and runs sessions again: digests, outcomes and every recorded row must be the stored ones. report.html is made
            again and compared, numbers and words; people, policies and plan in the folder must be the study's. Where
            a study has `confirm`, the same of DIR/confirm, and that it confirms what was selected. --key checks the seal, --plan that the plan is the one
            that was kept elsewhere. What can't be excluded without them is said in the last line.
            One line a finding; exit code 1 where there is any. Reads only. Sessions that another engine lived (docs/upgrade.md) are
            not run again; a line says so, and which program does. Of a live session's journal: its checksums, and its
            session lived again, digests compared at every mark.

            Examples:
              islet verify results/quickstart
              islet verify results/quickstart --sample 20
              islet verify results/quickstart --session 12
              islet verify results/quickstart --key study.key
            """)

    @OptionGroup var arguments: VerifyArguments

    func run() throws {
        if isRegularFile(arguments.directory) {
            guard arguments.sample == nil, arguments.session == nil, arguments.plan == nil else {
                throw ValidationError("A journal takes no --sample, no --session and no --plan.")
            }
            try OtherProgram.live.takeOver()
        }
        let interrupt = Interrupt()
        var findings = try outside()
        var sessions = 0
        var folder: ResultFolder? = ResultFolder(path: arguments.directory)
        // What was selected in a folder is confirmed in one within it.
        while let next = folder { folder = try check(next, interrupt, &findings, &sessions) }
        guard findings > 0 else {
            try StandardStream.output.writeLine(
                "\(printable(arguments.directory, limit: 4096)): nothing is off; \(sessions) sessions run again"
            )
            if let open = try notExcluded() { try StandardStream.output.writeLine("not excluded: " + open) }
            return
        }
        throw CheckFailure(
            message:
                "\(arguments.directory): \(findings) finding\(findings == 1 ? "" : "s"); \(sessions) sessions run again"
        )
    }

    /// Checks what somebody outside of the folder has: a key, and a plan.
    /// - Returns: how many findings there are.
    private func outside() throws -> Int {
        let folder = ResultFolder(path: arguments.directory)
        guard try isThere(folder.manifestPath) else { return 0 }
        var found: [String] = []
        let key = try arguments.key.map { try SealKey(file: $0) }
        if let key { found += try FolderSeal(folder, key: key).findings() }
        if let path = arguments.plan {
            let kept = try Registration(path: path)
            if let key, kept.isSealed(with: key) == false {
                found.append("\(path): its seal is not of this key")
            }
            let there = try? folder.registration()
            if there?.digest != kept.digest || there?.registeredAt != kept.registeredAt {
                found.append(
                    "\(Registration.name): is not the plan of \(path), which was registered \(kept.registeredAt ?? "nowhere")"
                )
            }
            let plan = try folder.planOfManifest()
            if let plan, plan.digest != kept.digest {
                found += plan.differences(from: kept.plan).map { "the plan was changed: \($0)" }
            }
        }
        for finding in found { try StandardStream.output.writeLine(printable(finding, limit: 2000)) }
        return found.count
    }

    /// What a folder can be without this having found anything; nil for nothing that is known.
    private func notExcluded() throws -> String? {
        let folder = ResultFolder(path: arguments.directory)
        let plan = try folder.registration()
        var open: [String] = []
        if arguments.key == nil {
            open.append(
                "without a seal (`islet run --seal`, `islet verify --key`) that all of it was made again, of another study, by whoever had the program"
            )
        }
        if plan?.isBeforeFirstSession != true {
            open.append(
                "as no plan was registered before the first session, that the plan was written after the results were seen"
            )
        } else if arguments.plan == nil {
            open.append("without the plan that was kept elsewhere (`--plan`), that it was registered anew")
        }
        if try isThere(folder.file("sensitivity.json")) {
            open.append("as its variants were not run again, that sensitivity.json says something else")
        }
        if !makesReportAgain { open.append("as report.html was not made again, that it says something else") }
        return open.isEmpty ? nil : open.joined(separator: "; ") + "."
    }

    /// Not where next to nothing is run again.
    private var makesReportAgain: Bool {
        arguments.session == nil && arguments.sample != 0
    }

    /// - Returns: the folder that has to be checked next, where there is one.
    private func check(
        _ folder: ResultFolder, _ interrupt: Interrupt, _ findings: inout Int, _ sessions: inout Int
    ) throws -> ResultFolder? {
        guard try isThere(folder.manifestPath) || isThere(folder.storePath) else {
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
        /// A file that isn't what it should be is a finding, not the end; of one that can't be read for now nobody knows.
        func trying(_ body: () throws -> Void) throws {
            do { try body() } catch let problem as InputError where problem.kind != .temporary {
                try tell(problem.description)
            }
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
                    arguments.session != nil && !place.isEmpty ? .none : choice, store, count: &rerun,
                    compare: { record in
                        try store.differences(
                            from: record, outcomes: outcomes,
                            policyOutcomes: PolicyOutcome.storedNames)
                    },
                    progress: { ProgressLine(sessions: $0, style: .standardError(quiet: arguments.quiet)) },
                    tell: tell)
            } catch is CancellationError {
                throw OutputError(.temporary, path: arguments.directory, message: "interrupted")
            }
            if makesReportAgain {
                let check = ReportCheck(
                    folder: folder, store: store, studyPath: arguments.source.study ?? folder.path,
                    jobs: arguments.threads.count, allowsAlgorithms: arguments.algorithms.isGiven,
                    isInterrupted: { interrupt.isRaised })
                let (findings, note) = try check.result()
                for finding in findings { try tell(finding) }
                if let note { try StandardStream.output.writeLine(printable(place + note, limit: 2000)) }
            }
            guard let wanted = try verification.confirmation(store) else { return }
            let other = ResultFolder(path: folder.confirmationPath)
            guard try isThere(other.storePath) else {
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
