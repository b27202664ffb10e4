// Exit codes (sysexits.h): a public contract that scripts rely on.

package import ArgumentParser
import Glibc
import IsletDevices
import IsletFiles
import IsletTrials

/// The codes that `islet` and the programs beside it leave with.
package enum ExitStatus: Int32 {
    case done = 0
    /// A scenario, comparison or threshold did not hold.
    case checkFailed = 1
    case usage = 64
    case badInput = 65
    case missingInput = 66
    case `internal` = 70
    case cannotCreateOutput = 73
    case temporary = 75
}

/// A check that did not hold: exit code 1. What failed has been printed by then, unless `message` says it.
package struct CheckFailure: Error {
    package var message: String?

    package init(message: String? = nil) { self.message = message }
}

extension ParsableCommand {
    /// Parses what the program was called with, runs it, and ends the process with one of the codes in `ExitStatus`.
    /// - Parameters:
    ///   - word: the command of `islet` that the program is; put before its arguments where it is called by its own name.
    ///   - checkFailure: what an error of the program's own says where it is a check that did not hold.
    package static func runAsProgram(
        _ word: String? = nil, checkFailure: (any Error) -> String? = { _ in nil }
    ) -> Never {
        // A file that would grow beyond a limit is an error to report, like a full disk, not a reason to die.
        signal(SIGXFSZ, SIG_IGN)
        unblockEndings()
        let words = isCalledIslet ? [] : [word].compactMap { $0 }
        var command: any ParsableCommand
        do {
            command = try parseAsRoot(words + CommandLine.arguments.dropFirst())
        } catch {
            exit(withError: error)
        }
        do {
            try command.run()
        } catch {
            leave(after: checkFailure(error).map { CheckFailure(message: $0) } ?? error)
        }
        Glibc.exit(ExitStatus.done.rawValue)
    }

    /// Says what went wrong on standard error and ends the process.
    package static func leave(after error: any Error) -> Never {
        guard let (status, line) = status(of: error) else { exit(withError: error) }
        if let line { StandardStream.error.writeLineIgnoringFailure(printable(line, limit: 5000)) }
        Glibc.exit(status.rawValue)
    }

    /// The status that an error of a running command ends in, and its line; nil for what ArgumentParser says itself.
    private static func status(of error: any Error) -> (status: ExitStatus, line: String?)? {
        switch error {
        case let problem as InputError:
            switch problem.kind {
            case .badData: (.badInput, problem.description)
            case .missing: (.missingInput, problem.description)
            case .temporary: (.temporary, problem.description)
            }
        case let problem as OutputError:
            (problem.kind == .temporary ? .temporary : .cannotCreateOutput, problem.description)
        case let failure as CheckFailure: (.checkFailed, failure.message)
        case let failure as PluginFailure: (.checkFailed, failure.description)
        case let late as PluginTimeout: (.temporary, late.description)
        case let mismatch as DigestMismatch: (.checkFailed, mismatch.description)
        // A request for help and the like, thrown from a command's `run`. ArgumentParser calls what it doesn't know a failure.
        case is ExitCode: nil
        case _ where exitCode(for: error) != .failure: nil
        default: (.internal, "internal error: \(error)")
        }
    }
}

/// Lets SIGINT and SIGTERM come in: who started this process may have done so on a thread that blocks them.
private func unblockEndings() {
    withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 1) { signals in
        guard let set = signals.baseAddress else { return }
        sigemptyset(set)
        for number in [SIGINT, SIGTERM] { sigaddset(set, number) }
        pthread_sigmask(SIG_UNBLOCK, set, nil)
    }
}

/// Whether the program goes by the name of `islet`, which calls the programs beside it so: with its own name and arguments.
package var isCalledIslet: Bool {
    CommandLine.arguments.first?.split(separator: "/").last == "islet"
}
