// A server of HTTPS with a certificate that nobody signed but itself: `openssl s_server`.

import Foundation
import Testing

/// Ends with its last reference.
final class TLSServer {
    private static let openssl = "/usr/bin/openssl"
    static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    let port: Int
    private let process = Process()
    private let folder = NSTemporaryDirectory() + "islet-tls-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let key = folder + "/key.pem"
        let make = Process()
        make.executableURL = URL(filePath: Self.openssl)
        make.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
            key + ".cert",
        ]
        make.standardError = FileHandle.nullDevice
        try make.run()
        make.waitUntilExit()
        let output = Pipe()
        process.executableURL = make.executableURL
        process.arguments = [
            "s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", key + ".cert", "-www",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var said = ""
        while said.firstMatch(of: #/ACCEPT \S*:(\d+)\n/#) == nil {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "\(said)")
            said += String(decoding: more, as: UTF8.self)
        }
        port = try #require(said.firstMatch(of: #/ACCEPT \S*:(\d+)\n/#).flatMap { Int($0.output.1) })
    }

    deinit {
        // A child of a test's thread hears of no other signal.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
