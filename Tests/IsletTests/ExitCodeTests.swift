// The built program, run as a script would run it: exit codes and the one line on standard error are a contract.

import Foundation
import Testing

private struct Outcome {
    var status: Int32
    var output: String
    var error: String
}

private let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// The program stands beside the test bundle that is running.
private func program() throws -> URL {
    let besides = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try #require(
        [besides, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
            .map { $0.appending(path: "islet") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) })
}

private func islet(_ arguments: String..., output: String? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = try program()
    process.arguments = arguments
    process.currentDirectoryURL = project
    process.environment = ["NO_COLOR": "1", "PATH": "/usr/bin:/bin"]
    let out = Pipe()
    let error = Pipe()
    if let output {
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    } else {
        process.standardOutput = out
    }
    process.standardError = error
    try process.run()
    let written = output == nil ? out.fileHandleForReading.readDataToEndOfFile() : Data()
    let said = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
        status: process.terminationStatus, output: String(decoding: written, as: UTF8.self),
        error: String(decoding: said, as: UTF8.self))
}

@Suite struct ExitCodeTests {
    @Test func aStudyThatIsFineIsZero() throws {
        let outcome = try islet(
            "study", "check", "Cohorts/quickstart.yaml", "--set", "cohort.generate.count=10")
        #expect(outcome.status == 0)
        #expect(outcome.output == "quickstart: 10 subjects × 2 arms × 7d = 20 sessions\nok\n")
        #expect(outcome.error.isEmpty)
    }

    @Test func helpAndVersionAreZero() throws {
        for arguments in ["--help", "--version", "study"] { #expect(try islet(arguments).status == 0) }
        #expect(try islet().status == 0)
    }

    @Test func usageIs64() throws {
        #expect(try islet("bogus").status == 64)
        #expect(try islet("study", "check").status == 64)
        #expect(try islet("study", "schema", "--bogus").status == 64)
    }

    @Test func badDataIs65WithOneLine() throws {
        let outcome = try islet("study", "check", "Package.swift")
        #expect(outcome.status == 65)
        #expect(outcome.error.hasPrefix("Package.swift:"))
        #expect(outcome.error.split(separator: "\n").count == 1)
        #expect(outcome.output.isEmpty)
        let override = try islet("study", "check", "Cohorts/speed.yaml", "--set", "seed=x")
        #expect(override.status == 65)
        #expect(override.error.hasPrefix("--set seed: found `x` at seed, expected"))
    }

    @Test func missingInputIs66() throws {
        #expect(try islet("study", "check", "no/such.yaml").status == 66)
        #expect(try islet("study", "check", "Sources").status == 66)
        let table = "cohort={table: none.csv}"
        #expect(try islet("study", "check", "Cohorts/speed.yaml", "--set", table).status == 66)
    }

    @Test func aFullDiskIs75() throws {
        let outcome = try islet("study", "schema", output: "/dev/full")
        #expect(outcome.status == 75)
        #expect(outcome.error == "standard output: cannot write: No space left on device\n")
    }
}
