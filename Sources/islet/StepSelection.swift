// Which step logs a command takes, and how it writes them.

import Documents
import ArgumentParser
import Foundation
import Persistence
import Records
public import Trials

extension StepFormat: ExpressibleByArgument {}
extension ExportTable: ExpressibleByArgument {}

/// Which step logs a command takes.
struct StepSelection: ParsableArguments {
    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: "One session only: its index, as in sessions.csv.")
    var session: Int?

    @OptionGroup var source: CohortSource

    @OptionGroup var threads: ThreadCount

    func validate() throws {
        if let session, session < 0 { throw ValidationError("--session takes an index from 0.") }
    }

    func open(_ interrupt: Interrupt) throws -> ResultSessions {
        let store = try StudyStore(readingAt: ResultFolder(path: directory).storePath)
        return try ResultSessions(
            store, directory: directory, studyPath: source.study,
            jobs: threads.count, isInterrupted: { interrupt.isRaised })
    }

    func tellIfIncomplete() throws { try ResultFolder(path: directory).tellIfIncomplete() }
}

extension ResultFolder {
    /// Notes on standard error that a run isn't over, and so has fewer sessions than its study.
    /// - Throws: `InputError` for a manifest that can't be read.
    func tellIfIncomplete() throws {
        let state = try state()
        guard state != .complete else { return }
        let why =
            switch state {
            case .merging: "the merge"
            case .unknown: "there is no manifest.json: the run"
            case .complete, .running: "the run"
            }
        StandardStream.error.writeLineIgnoringFailure(
            "note: \(why) in \(printable(path, limit: 4096)) is not complete; only its finished sessions count"
        )
    }
}
