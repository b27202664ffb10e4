// `islet-live anew JOURNAL`: a simulated session that another engine lived, begun anew.

import ArgumentParser
import IsletCommands
import IsletDevices
import IsletFiles
import IsletLive

/// `islet-live anew`
struct AnewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "anew", abstract: "Begin a session that another engine lived anew.",
        discussion: """
            The same person in the same study, with the settings that the session had come to, under this program's engine
            (docs/upgrade.md). The old journal stays beside the new one; `islet-live run` goes on with the new one.

            Example:
              islet-live anew live/session-12.journal
            """)

    @Argument(help: "The journal.", completion: .file(extensions: ["journal"]))
    var journal: String

    @Option(help: "The study's file, where its people come from a table.")
    var study: String?

    func run() throws {
        let (kept, refused) = try LiveAnew.replace(journal, studyPath: study)
        try StandardStream.output.writeLine(
            "\(printable(journal, limit: 4096)): begun anew; the old journal is \(printable(kept, limit: 4096))"
        )
        for refusal in refused {
            try StandardStream.output.writeLine(
                "not set again: \(printable(refusal.reason.text, limit: 400))")
        }
    }
}
