// `islet-live sync --store FILE --server URL`: a device's settings and the hub's, brought together.

import ArgumentParser
import DeviceLinks
import IsletFiles
import Foundation
import IsletResults
import IsletDevices

/// `islet-live sync`
struct SettingsSyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Send a device's threshold settings to the hub, and take what other devices wrote.",
        discussion: """
            Of two writes of one setting the newer stays, by hybrid logical time, then by device; a deletion is a write. Killed at any moment, or without an answer, it
            loses nothing: the same command goes on. What the hub refuses, such as a time more than a day ahead of its clock, is kept here and said; the exit
            code is 75 then.

            Example:
              islet-live sync --store phone.sqlite --server http://127.0.0.1:8090 --token-file hub/ann.token
            """)

    @Option(
        help: ArgumentHelp("The store that `islet thresholds` keeps.", valueName: "FILE"), completion: .file()
    )
    var store: String

    @Option(help: ArgumentHelp("http://127.0.0.1:PORT", valueName: "URL"))
    var server: String

    @Option(
        help: ArgumentHelp(
            "The owner's token. (default: the variable \(SyncToken.variable))", valueName: "FILE"),
        completion: .file())
    var tokenFile: String?

    func validate() throws {
        guard SettingsLink.port(of: server) != nil else {
            throw ValidationError(
                "--server takes http://127.0.0.1:PORT; another machine's is reached by a tunnel (ssh -L).")
        }
    }

    func run() throws {
        let kept = try SQLiteOwnerStore(path: store)
        guard let port = SettingsLink.port(of: server) else { return }
        let link = SettingsLink(port: port, token: try SyncToken.read(tokenFile))
        let outcome = try link.sync(kept, clock: OwnerName.clock)
        try StandardStream.output.writeLine(
            "\(kept.owner): \(outcome.sent) sent, \(outcome.received) received")
        guard let first = outcome.refused.first else { return }
        throw OutputError(
            .temporary, path: store,
            message: "\(outcome.refused.count) kept here and not taken: \(printable(first, limit: 300))")
    }
}

/// The token of an owner.
enum SyncToken {
    static let variable = "ISLET_SYNC_TOKEN"

    /// No message holds any of it.
    static func read(_ file: String?) throws -> String {
        let text =
            try file.map { try readTextInput($0, limitBytes: 1 << 12) }
            ?? ProcessInfo.processInfo.environment[variable] ?? ""
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw InputError(
                file: file ?? "--token-file",
                found: token.isEmpty ? "no token" : "a token of more than visible ASCII characters",
                expected: "one line with the token")
        }
        return token
    }
}
