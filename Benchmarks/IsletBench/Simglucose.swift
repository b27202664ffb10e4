// The field's reference simulator, timed in the same run, in an environment that is thrown away.

import Foundation

enum Simglucose {
    /// Processor seconds of a patient-day; nil where it can't be fetched.
    static func secondsPerPatientDay() -> Double? {
        let folder = NSTemporaryDirectory() + "islet-bench-\(ProcessInfo.processInfo.processIdentifier)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let steps = [
            ["python3", "-m", "venv", folder],
            [folder + "/bin/pip", "install", "--quiet", "simglucose==0.2.11", "setuptools<81"],
        ]
        for step in steps where run(step) == nil { return nil }
        guard let text = run([folder + "/bin/python", "Benchmarks/simglucose_day.py"]) else { return nil }
        return text.split(separator: "\n").last.flatMap { Double($0) }
    }

    private static func run(_ command: [String]) -> String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : nil
    }
}
