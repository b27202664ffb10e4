// Sessions in real time on the command line.
//
// Guarantees: every way out is one of the exit codes of `islet`; what went wrong is one line on standard error.

import ArgumentParser
import Glibc
import IsletCommands
import IsletLive
import IsletTrials

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
            LiveRunCommand.self, AnewCommand.self, LivePumpCommand.self, SyncServerCommand.self,
            SettingsSyncCommand.self,
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
        if isCalledIslet { JournalCommands.runAsProgram() }
        signal(SIGPIPE, SIG_IGN)
        runAsProgram { error in
            (error as? LiveSession.Divergence).map { "the journal isn't what it comes to here: \($0)" }
        }
    }
}
