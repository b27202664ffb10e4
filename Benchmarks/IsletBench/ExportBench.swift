// What an export costs beside the run whose steps it writes.
//
// Guarantees: both are the program itself, whole processes on all cores, one after the other in turn; each counts with the best of its rounds.

import Foundation

struct ExportBench {
    /// Wall seconds.
    private(set) var run = Double.infinity
    private(set) var export = Double.infinity
    private(set) var bytes = 0.0
    private(set) var steps = 0.0

    /// The study of open and closed loop with more people and days, in a folder that is gone afterwards.
    /// - Throws: `TwinFailed`, also where the program isn't built.
    init(people: Int, days: Int, rounds: Int) throws {
        let folder = NSTemporaryDirectory() + "/islet-bench-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for round in 0..<rounds {
            let (results, rows) = ("\(folder)/\(round)", "\(folder)/steps.csv")
            run = try min(
                run,
                Self.seconds([
                    "run", "Cohorts/open-and-closed-loop.yaml", "--set", "cohort.generate.count=\(people)",
                    "--set",
                    "duration=\(days)d", "--out", results, "--quiet",
                ]))
            export = try min(export, Self.seconds(["export", results, "--out", rows, "--quiet"]))
            let attributes = try FileManager.default.attributesOfItem(atPath: rows)
            bytes = (attributes[.size] as? NSNumber)?.doubleValue ?? 0
            try FileManager.default.removeItem(atPath: results)
        }
        steps = Double(2 * people * days * 288)
    }

    private static func seconds(_ arguments: [String]) throws -> Double {
        let bench = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        let program = bench.deletingLastPathComponent().appendingPathComponent("islet")
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw TwinFailed(output: "no \(program.path): swift build -c release --product islet")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        let began = Stopwatch.wallSeconds()
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw TwinFailed(output: "islet \(arguments[0]) ended with \(process.terminationStatus)")
        }
        return Stopwatch.wallSeconds() - began
    }
}
