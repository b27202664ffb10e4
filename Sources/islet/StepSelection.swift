// Which step logs a command takes, and how it writes them.

public import ArgumentParser
import Foundation
import Persistence
import Records
public import Trials

extension StepFormat: ExpressibleByArgument {}

/// Which step logs a command takes.
struct StepSelection: ParsableArguments {
    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: "One session only: its index, as in sessions.csv.")
    var session: Int?

    @Option(help: "The study's file, where its cohort is a table: the table's path is relative to it.")
    var study: String?

    func validate() throws {
        if let session, session < 0 { throw ValidationError("--session takes an index from 0.") }
    }

    func open(_ interrupt: Interrupt) throws -> ResultSessions {
        let store = try StudyStore(readingAt: ResultFolder(path: directory).storePath)
        return try ResultSessions(
            store, directory: directory, studyPath: study,
            jobs: ProcessInfo.processInfo.activeProcessorCount, isInterrupted: { interrupt.isRaised })
    }

    /// A run that isn't over has fewer sessions than its study.
    func tellIfIncomplete() throws {
        guard try !ResultFolder(path: directory).isComplete() else { return }
        StandardStream.error.writeLineIgnoringFailure(
            "note: the run in \(printable(directory, limit: 4096)) is not complete; only its finished sessions count"
        )
    }
}
