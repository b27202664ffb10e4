// `islet-live sync-server --store DIR`: the hub between the devices of each owner.

import ArgumentParser
import DeviceLinks
import IsletFiles
import Foundation
import Glibc
import IsletResults
import IsletDevices

/// `islet-live sync-server`
struct SyncServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync-server",
        abstract: "Bring threshold settings of an owner's devices together, behind a port of this machine.",
        discussion: """
            It listens on 127.0.0.1 only; from another machine it is reached by a tunnel of yours (ssh -L). DIR holds one store and one token an owner, for
            nobody else to read. What it has answered as taken is on the disk. `islet-live sync` is the other side.

            Example:
              islet-live sync-server --store hub --owner ann --port 8090
            """)

    @Option(
        help: ArgumentHelp("The folder with its stores and tokens.", valueName: "DIR"), completion: .directory
    )
    var store: String

    @Option(
        name: .customLong("owner"), parsing: .singleValue,
        help: ArgumentHelp(
            "An owner; several times for several. Those of DIR are served, too.", valueName: "ID"))
    var owners: [String] = []

    @Option(help: ArgumentHelp("The port; 0 for any that is free.", valueName: "P"))
    var port: UInt16 = 0

    @Option(help: ArgumentHelp("Seconds that a request may take.", valueName: "S"))
    var timeout: Double = 10

    func validate() throws {
        guard (0.1...60).contains(timeout) else {
            throw ValidationError("--timeout takes 0.1 to 60 seconds.")
        }
    }

    func run() throws {
        let manager = FileManager.default
        do {
            try manager.createDirectory(
                atPath: store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw OutputError(.cannotCreate, path: store, message: "cannot make the directory")
        }
        let there = (try? manager.contentsOfDirectory(atPath: store)) ?? []
        let known = there.filter { $0.hasSuffix(".token") }.map { String($0.dropLast(".token".count)) }
        let names = Set(owners + known).sorted()
        guard !names.isEmpty else {
            throw ValidationError("Name an owner at least: --owner ann.")
        }
        var served: [String: SettingsEndpoint.Owner] = [:]
        var broken: [any Error] = []
        for name in names {
            let place = store + "/" + name
            try OwnerName.check(name)
            do {
                served[name] = SettingsEndpoint.Owner(
                    token: try token(place + ".token"),
                    store: try SQLiteOwnerStore(path: place + ".sqlite", owner: name, device: "hub"))
            } catch {
                // The others have done nothing to be without a hub.
                broken.append(error)
                StandardStream.error.writeLineIgnoringFailure("\(name) is not served: \(error)")
            }
        }
        if served.isEmpty, let first = broken.first { throw first }
        let epoch = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let endpoint = SettingsEndpoint(owners: served, epoch: epoch, clock: { OwnerName.clock })
        let server: LoopbackServer
        do {
            server = try LoopbackServer(port: port, secondsPerRequest: timeout) { endpoint.answer($0) }
        } catch {
            throw OutputError(.temporary, path: "127.0.0.1:\(port)", message: "cannot listen there: \(error)")
        }
        for name in names where served[name] != nil {
            try StandardStream.output.writeLine("\(name): token in \(store)/\(name).token")
        }
        try StandardStream.output.writeLine(
            "settings are brought together at http://127.0.0.1:\(server.port)")
        while true { sleep(3600) }
    }

    /// The token at `path`; drawn where there is none.
    private func token(_ path: String) throws -> String {
        if !FileManager.default.fileExists(atPath: path) {
            let drawn = (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()
            let mask = umask(0o077)
            defer { umask(mask) }
            try AtomicFile.write(drawn + "\n", to: path)
        }
        return try SyncToken.read(path)
    }
}

enum OwnerName {
    static func check(_ name: String) throws {
        let isPlain = name.utf8.allSatisfy { byte in
            Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
                || "._-".utf8.contains(byte)
        }
        guard isPlain, name.utf8.allSatisfy({ $0 < 0x80 }), (1...64).contains(name.utf8.count),
            name.first != ".", name.first != "-"
        else {
            throw InputError(
                file: "--owner", found: quoted(printable(name, limit: 80)),
                expected: "an id of up to 64 letters, digits, `.`, `_`, `-`")
        }
    }

    /// Seconds since 1970.
    static var clock: Int64 { Int64(Date().timeIntervalSince1970) }
}
