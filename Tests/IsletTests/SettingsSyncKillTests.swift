// The hub and the devices as processes of their own, killed in the middle of things: what was acknowledged is there, and nothing deleted comes back.

import Foundation
import Testing

/// The hub as a process, started again after each kill at the same port.
private final class HubProcess {
    private let folder: String
    private var running: Running?
    private(set) var port = 0

    init(_ folder: String) throws {
        self.folder = folder
        try start()
    }

    func start() throws {
        let output = folder + "/hub.txt"
        try write("", to: output)
        let process = try IsletTests.start(
            ["sync-server", "--store", folder + "/hub", "--owner", "ann", "--port", "\(port)"],
            output: output,
            program: liveProgram())
        running = process
        for _ in 0..<2400 {
            if let found = try read(output).firstMatch(of: #/http:\/\/127\.0\.0\.1:(\d+)/#) {
                port = Int(found.output.1) ?? 0
                return
            }
            usleep(25_000)
        }
        Issue.record("the hub doesn't start: \(process.outcome().error)")
    }

    func kill() {
        running?.kill()
        running?.process.waitUntilExit()
    }

    deinit { kill() }
}

private func liveProgram() throws -> URL {
    try program().deletingLastPathComponent().appending(path: "islet-live")
}

@Suite(.serialized, .timeLimit(.minutes(45))) struct SettingsSyncKillTests {
    private static let rounds = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 6 : 120
    private static let names = ["phone", "tablet", "watch"]

    /// What a device holds: subjects with the bounds of their thresholds.
    private func bounds(_ folder: String, _ device: String) throws -> [String: String] {
        let said = try islet("thresholds", "list", "--store", folder + "/\(device).sqlite")
        #expect(said.status == 0, "\(said.error)")
        var bounds: [String: String] = [:]
        for line in said.output.split(separator: "\n").dropFirst() {
            let cells = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
            guard cells.count > 4, cells[2] == "glucose" else { continue }
            bounds[cells[0]] = cells[3]
        }
        return bounds
    }

    private func sync(_ folder: String, _ device: String, _ hub: HubProcess) throws -> Running {
        try start(
            [
                "sync", "--store", folder + "/\(device).sqlite", "--server", "http://127.0.0.1:\(hub.port)",
                "--token-file", folder + "/hub/ann.token",
            ], program: liveProgram())
    }

    @Test
    func `12 kill -9 of hub and devices in between: no acknowledged write is lost, no deletion comes back`()
        throws
    {
        try withFolder { folder in
            var random = SystemRandomNumberGenerator()
            let hub = try HubProcess(folder)
            for name in Self.names {
                let said = try islet(
                    "thresholds", "init", "--store", folder + "/\(name).sqlite", "--owner", "ann", "--device",
                    name,
                    "--notifications", "allow")
                #expect(said.status == 0, "\(said.error)")
            }
            // Each device has subjects of its own, so that what it was told is kept can be said without a clock.
            var kept: [String: String?] = [:]
            var unsure: [String: Set<String?>] = [:]
            for round in 0..<Self.rounds {
                for (place, name) in Self.names.enumerated() {
                    let subject = "\(name)-\(Int.random(in: 0..<2, using: &random))"
                    let path = folder + "/\(name).sqlite"
                    let deletes = Int.random(in: 0..<3, using: &random) == 0 && (kept[subject] ?? nil) != nil
                    // No zero at the end: numbers are printed without.
                    let bound = "\(60 + round % 100).\(place)\(round)5"
                    let edit = try start(
                        deletes
                            ? [
                                "thresholds", "remove", "--store", path, "--subject", subject, "--metric",
                                "glucose",
                            ]
                            : [
                                "thresholds", "set", "--store", path, "--subject", subject, "--metric",
                                "glucose", "--min",
                                bound,
                            ])
                    let isKilled = Bool.random(using: &random)
                    if isKilled {
                        usleep(UInt32.random(in: 0...120_000, using: &random))
                        edit.kill()
                    }
                    let done = edit.outcome()
                    let wanted: String? = deletes ? nil : bound
                    if done.status == 0, edit.process.terminationReason == .exit {
                        kept[subject] = .some(wanted)
                        unsure[subject] = nil
                    } else {
                        #expect(isKilled || done.status == 65, "\(done.error)")
                        unsure[subject, default: [kept[subject] ?? nil]].insert(wanted)
                        // Known again by a look: whole, or not there.
                        let now = try bounds(folder, name)[subject]
                        #expect(unsure[subject]?.contains(now) == true, "\(subject): \(now ?? "nothing")")
                        kept[subject] = .some(now)
                        unsure[subject] = nil
                    }
                }
                let talks = try Self.names.map { try sync(folder, $0, hub) }
                usleep(UInt32.random(in: 0...150_000, using: &random))
                if round % 2 == 0 {
                    hub.kill()
                    try hub.start()
                }
                for talk in talks where Bool.random(using: &random) { talk.kill() }
                for talk in talks {
                    let said = talk.outcome()
                    let isKilled = talk.process.terminationReason == .uncaughtSignal
                    #expect(isKilled || said.status == 0 || said.status == 75, "\(said.status) \(said.error)")
                }
            }
            for name in Self.names + Self.names {
                let said = try sync(folder, name, hub).outcome()
                #expect(said.status == 0, "\(said.error)")
            }
            let wanted = kept.compactMapValues { $0 }
            for name in Self.names { #expect(try bounds(folder, name) == wanted, "\(name)") }
            hub.kill()
        }
    }

    @Test func `12 the commands: tokens, refusals, nobody there`() throws {
        try withFolder { folder in
            let hub = try HubProcess(folder)
            let store = folder + "/phone.sqlite"
            #expect(try islet("thresholds", "init", "--store", store, "--owner", "ann").status == 0)
            func sync(_ more: [String], environment: [String: String] = [:]) throws -> Outcome {
                try start(
                    ["sync", "--store", store] + more, environment: environment, program: liveProgram()
                )
                .outcome()
            }
            let place = ["--server", "http://127.0.0.1:\(hub.port)"]
            let token = folder + "/hub/ann.token"
            #expect(try sync(place + ["--token-file", token]).output == "ann: 0 sent, 0 received\n")
            let secret = try read(token).trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(try sync(place, environment: ["ISLET_SYNC_TOKEN": secret]).status == 0)
            #expect(try sync(place).status == 65)
            let wrong = try sync(place, environment: ["ISLET_SYNC_TOKEN": "wrong"])
            #expect(wrong.status == 65 && wrong.error.contains("the token of ann"))
            #expect(try sync(["--server", "http://example.org:80", "--token-file", token]).status == 64)
            // For nobody else to read.
            for (path, mode) in [(folder + "/hub", 0o700), (token, 0o600)] {
                let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(found == mode, "\(path)")
            }
            hub.kill()
            let alone = try sync(place + ["--token-file", token])
            #expect(alone.status == 75 && alone.error.contains("nothing is lost"), "\(alone.error)")
            let nobody = try start(["sync-server", "--store", folder + "/none"], program: liveProgram())
                .outcome()
            #expect(nobody.status == 64)
        }
    }
}
