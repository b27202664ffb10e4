// Exit codes (sysexits.h): a public contract that scripts rely on.

import Documents
import ArgumentParser
import Glibc
import Records
import Trials

/// The codes that `islet` leaves with.
enum ExitStatus: Int32 {
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
struct CheckFailure: Error {
    var message: String?
}

/// The status that an error of a running command ends in, and its line; nil for what ArgumentParser says itself.
func status(of error: any Error) -> (status: ExitStatus, line: String?)? {
    switch error {
    case let problem as InputError:
        (problem.kind == .missing ? .missingInput : .badInput, problem.description)
    case let problem as OutputError:
        (problem.kind == .temporary ? .temporary : .cannotCreateOutput, problem.description)
    case let failure as CheckFailure: (.checkFailed, failure.message)
    case let mismatch as DigestMismatch: (.checkFailed, mismatch.description)
    // A request for help and the like, thrown from a command's `run`. ArgumentParser calls what it doesn't know a failure.
    case is ExitCode: nil
    case _ where Islet.exitCode(for: error) != .failure: nil
    default: (.internal, "internal error: \(error)")
    }
}

/// Says what went wrong on standard error and ends the process.
func leave(after error: any Error) -> Never {
    guard let (status, line) = status(of: error) else { Islet.exit(withError: error) }
    if let line { StandardStream.error.writeLineIgnoringFailure(printable(line, limit: 5000)) }
    Glibc.exit(status.rawValue)
}
