// Sessions in real time on the command line.
//
// Guarantees: every way out is one of the exit codes of `islet`; what went wrong is one line on standard error.

import ArgumentParser
import Documents
import Glibc
import Live
import Records
import Trials

/// `islet-live`
@main
struct IsletLive: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "islet-live",
        abstract: "Sessions of a study in real time, with a person at the keyboard.",
        discussion: """
            Nothing here sends a command to a pump in a person's body: body, sensor and pump are the study's, or a simulator's on this machine.

            Examples:
              islet-live run Cohorts/quickstart.yaml --session 1 --pace 60 --journal live
              islet replay live/session-1.journal

            Exit codes: 0 done, 1 the journal isn't what it comes to here, 64 usage, 65 bad input data, 66 missing input,
            70 internal, 73 cannot create output, 75 temporary, retry.
            """,
        version: BuildFacts.version,
        subcommands: served + [
            LiveRunCommand.self, LivePumpCommand.self, SyncServerCommand.self, SettingsSyncCommand.self,
        ])

    /// What only a build with the page has (`make serve`).
    private static var served: [any ParsableCommand.Type] {
        #if Serve
            [ServeCommand.self, SecretsCommand.self]
        #else
            []
        #endif
    }

    static func main() {
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            do {
                #if Serve
                    if let serve = command as? ServeCommand {
                        try AsyncWork.run { try await serve.run() }
                        Glibc.exit(0)
                    }
                #endif
                try command.run()
            } catch {
                leave(after: error)
            }
        } catch {
            exit(withError: error)
        }
        Glibc.exit(0)
    }

    private static func leave(after error: any Error) -> Never {
        let (status, line): (Int32, String) =
            switch error {
            case let problem as InputError: (problem.kind == .missing ? 66 : 65, problem.description)
            case let problem as OutputError: (problem.kind == .temporary ? 75 : 73, problem.description)
            case let divergence as LiveSession.Divergence:
                (1, "the journal isn't what it comes to here: \(divergence)")
            case _ where exitCode(for: error) != .failure: exit(withError: error)
            default: (70, "internal error: \(error)")
            }
        StandardStream.error.writeLineIgnoringFailure(printable(line, limit: 5000))
        Glibc.exit(status)
    }
}
