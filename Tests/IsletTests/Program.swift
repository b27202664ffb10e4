// The built program as a child process.

import Foundation
import Testing

struct Outcome {
    var status: Int32
    var output: String
    var error: String
}

let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The program stands beside the test bundle that is running.
func program() throws -> URL {
    let besides = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try #require(
        [besides, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
            .map { $0.appending(path: "islet") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) })
}

func islet(_ arguments: String..., output: String? = nil) throws -> Outcome {
    try islet(arguments, output: output)
}

func islet(_ arguments: [String], output: String? = nil, environment: [String: String] = [:]) throws
    -> Outcome
{
    try start(arguments, output: output, environment: environment).outcome()
}

func start(_ arguments: String...) throws -> Running { try start(arguments) }

func start(
    _ arguments: [String], output: String? = nil, environment: [String: String] = [:],
    program copy: URL? = nil
) throws -> Running {
    let process = Process()
    process.executableURL = try copy ?? program()
    process.arguments = arguments
    process.currentDirectoryURL = project
    process.environment = ["NO_COLOR": "1", "PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    let out = Pipe()
    let error = Pipe()
    if let output {
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    } else {
        process.standardOutput = out
    }
    process.standardError = error
    try process.run()
    return Running(process: process, out: output == nil ? out : nil, error: error)
}

/// The program while it runs.
struct Running {
    let process: Process
    fileprivate let out: Pipe?
    fileprivate let error: Pipe

    fileprivate init(process: Process, out: Pipe?, error: Pipe) {
        self.process = process
        self.out = out
        self.error = error
    }

    var isRunning: Bool { process.isRunning }
    /// SIGINT.
    func interrupt() { process.interrupt() }
    /// SIGKILL.
    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// What it and its threads have computed up to now, user and system, s.
    func processorSeconds() throws -> Double {
        let text = try read("/proc/\(process.processIdentifier)/stat")
        // Behind the name, which may have spaces and brackets in it, from the third field on.
        let fields = text.suffix(from: try #require(text.lastIndex(of: ")"))).split(separator: " ")
            .dropFirst()
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Double($0) }
        try #require(ticks.count == 2)
        return (ticks[0] + ticks[1]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// What it says until it ends.
    func outcome() -> Outcome {
        let written = out?.fileHandleForReading.readDataToEndOfFile() ?? Data()
        let said = error.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: String(decoding: written, as: UTF8.self),
            error: String(decoding: said, as: UTF8.self))
    }
}

/// A folder of one test's own, gone when `body` returns.
func withFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "islet-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path())
}

/// A copy that can be run at once. Another process writes it: a child that this one starts meanwhile would hold the file
/// open for writing for an instant, and "Text file busy" is what running it then comes to.
func copyProgram(_ from: URL, to path: String) throws {
    _ = try #require(try said("cp", from.resolvingSymlinksInPath().path(percentEncoded: false), path))
}

/// What another program writes, without the line's end; nil where it fails.
func said(_ command: String...) throws -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = project
    let out = Pipe()
    process.standardOutput = out
    process.standardError = Pipe()
    try process.run()
    let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? text.trimmingCharacters(in: .whitespacesAndNewlines) : nil
}

func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
}

func read(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
}

func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
}
