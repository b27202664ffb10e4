// `islet-live secrets`: what apps call password and secret, derived from the token.

#if Serve
    import ArgumentParser
    import Dashboard
    import IsletFiles
    import Foundation
    import IsletDevices

    /// `islet-live secrets`
    struct SecretsCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "secrets",
            abstract: "Print what apps that know Nightscout or Dexcom Share must be given.",
            discussion: """
                Both are derived from the token, which is read from --token-file or ISLET_TOKEN: neither opens anything but glucose.

                Example:
                  islet-live secrets --token-file token
                """)

        @OptionGroup var token: TokenSource

        func run() throws {
            guard let token = try token.read() else {
                throw InputError(
                    file: "--token-file", found: "no token",
                    expected: "--token-file, or ISLET_TOKEN in the environment")
            }
            let door = WebDoor(token: token)
            try StandardStream.output.writeLine("Nightscout API secret  \(door.apiSecret)")
            try StandardStream.output.writeLine("Share password         \(door.sharePassword)")
        }
    }

    /// Where the token is read from: never from the command line, which others see.
    struct TokenSource: ParsableArguments {
        @Option(
            name: .customLong("token-file"),
            help: ArgumentHelp("A file that holds the token.", valueName: "FILE"))
        var tokenFile: String?

        /// nil for none.
        func read() throws -> String? {
            var token = ProcessInfo.processInfo.environment["ISLET_TOKEN"]
            if let tokenFile {
                guard let text = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
                    throw InputError(
                        .missing, file: tokenFile, found: "nothing", expected: "a file with a token")
                }
                token = text.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            guard let token, !token.isEmpty else { return nil }
            guard token.utf8.count >= 16, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw InputError(
                    file: tokenFile ?? "ISLET_TOKEN", found: "a token of \(token.utf8.count) characters",
                    expected: "16 or more printable ones without spaces")
            }
            return token
        }
    }
#endif
