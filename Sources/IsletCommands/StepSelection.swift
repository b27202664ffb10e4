// Which step logs a command takes, and how it writes them.

import IsletFiles
package import ArgumentParser
import Foundation
import IsletResults
import IsletDevices
package import IsletTrials

/// Which step logs a command takes.
package struct StepSelection: ParsableArguments, Sendable {
    @Argument(help: "A study's output directory.", completion: .directory)
    package var directory: String

    @Option(help: "One session only: its index, as in sessions.csv.")
    package var session: Int?

    @OptionGroup package var source: CohortSource

    @OptionGroup package var algorithms: AlgorithmPermission

    @OptionGroup package var threads: ThreadCount

    package init() {}

    package func validate() throws {
        if let session, session < 0 { throw ValidationError("--session takes an index from 0.") }
    }

    package func open(_ interrupt: Interrupt) throws -> ResultSessions {
        let store = try StudyStore(readingAt: ResultFolder(path: directory).storePath)
        return try ResultSessions(
            store, directory: directory, studyPath: source.study,
            jobs: threads.count, allowsAlgorithms: algorithms.isGiven, isInterrupted: { interrupt.isRaised })
    }

    package func tellIfIncomplete() throws { try ResultFolder(path: directory).tellIfIncomplete() }
}

extension ResultFolder {
    /// Notes on standard error that a run isn't over, and so has fewer sessions than its study.
    /// - Throws: `InputError` for a manifest that can't be read.
    package func tellIfIncomplete() throws {
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
