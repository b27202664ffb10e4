// The commands of `islet` that are about live sessions, and that post step logs: `islet` runs this program for them.

import ArgumentParser
import IsletCommands
import IsletTrials

/// What this program is where it is called as `islet`.
struct JournalCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "islet", abstract: "Live sessions lived again from their journals.",
        version: BuildFacts.version,
        subcommands: [JournalReplayCommand.self, JournalVerifyCommand.self, SyncCommand.self])
}

/// `islet replay JOURNAL`
struct JournalReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Live a session again from its journal and tell its story.")

    @OptionGroup var arguments: ReplayArguments

    func run() throws {
        let (path, study) = (arguments.directory, arguments.source.study)
        if let words = try arguments.forkWords {
            return try ForkReport(path: path, study: study, until: arguments.until ?? "", words: words).tell()
        }
        try JournalReport(path: path, study: study).replay(until: arguments.end)
    }
}

/// `islet verify JOURNAL`
struct JournalVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Live a session again from its journal, digests compared at every mark.")

    @OptionGroup var arguments: VerifyArguments

    func run() throws {
        try JournalReport(
            path: arguments.directory, study: arguments.source.study, key: arguments.key
        ).verify()
    }
}
