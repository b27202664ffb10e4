// This program again, in a process of its own.

import Foundation

struct Twin {
    private let process: Process
    private let output: Pipe

    init(_ arguments: [String]) throws {
        process = Process()
        output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    /// The number that it prints.
    func number() throws -> Double {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0,
            let number = Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw TwinFailed(output: text) }
        return number
    }
}

struct TwinFailed: Error {
    var output: String
}
