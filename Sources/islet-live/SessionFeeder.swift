// External sources of a session's glucose readings: a trace file or a glucose server (`--feed`).
//
// Guarantees: tokens and passwords are read from environment variables only.

import ArgumentParser
import DeviceLinks
import IsletFiles
import Foundation
import IsletLive

/// Submits glucose readings to a session. `run` blocks its thread until `isOver` returns true.
protocol SessionFeeder: Sendable {
    func run(_ host: LiveHost, _ id: String, until isOver: () -> Bool, say: (String) -> Void)
}

/// The source that the value of `--feed` names.
enum FeedSource {
    case file(String)
    case server(any GlucoseServer, hasSecret: Bool)

    static let forms = "file:TRACE.csv, nightscout:URL or dexcom-share:URL"

    /// - Throws: `ValidationError` for any other form, and where Dexcom Share's password isn't set.
    init(_ text: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw ValidationError("--feed takes \(Self.forms).")
        }
        switch parts[0] {
        case "file": self = .file(parts[1])
        case "nightscout":
            let token = environment["ISLET_NIGHTSCOUT_TOKEN"]
            guard let server = NightscoutServer(url: parts[1], token: token) else {
                throw ValidationError(
                    "--feed nightscout: takes http://HOST or https://HOST, without a secret: a token stands in ISLET_NIGHTSCOUT_TOKEN."
                )
            }
            self = .server(server, hasSecret: !(token ?? "").isEmpty)
        case "dexcom-share":
            guard let password = environment["ISLET_SHARE_PASSWORD"], !password.isEmpty else {
                throw ValidationError("--feed dexcom-share: takes the password from ISLET_SHARE_PASSWORD.")
            }
            guard let server = ShareServer(url: parts[1], password: password) else {
                throw ValidationError(
                    "--feed dexcom-share: takes https://NAME@HOST, the account's name before the host, and no secret."
                )
            }
            self = .server(server, hasSecret: true)
        default: throw ValidationError("--feed takes \(Self.forms).")
        }
    }
}
