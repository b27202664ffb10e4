// App and wearer as processes of their own: stopped, and killed.

import Foundation
import Testing

@testable import IsletLive

@Suite("The linked programs", .serialized, .timeLimit(.minutes(45))) struct LinkedProgramTests {
    private func start(_ arguments: [String], output: String) throws -> Process {
        let process = Process()
        process.executableURL = try liveProgram()
        process.arguments = arguments
        process.standardInput = Pipe()
        if !FileManager.default.fileExists(atPath: output) {
            _ = FileManager.default.createFile(atPath: output, contents: nil)
        }
        let handle = try FileHandle(forWritingTo: URL(filePath: output))
        try handle.seekToEnd()
        process.standardOutput = handle
        process.standardError = FileHandle.standardError
        try process.run()
        return process
    }

    private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    private func wait(seconds: Int, until isSo: () -> Bool) -> Bool {
        for _ in 0..<seconds * 20 where !isSo() { usleep(50_000) }
        return isSo()
    }

    @Test func glucoseComesFromOnePlace() throws {
        try withFolder { folder in
            let process = Process()
            process.executableURL = try liveProgram()
            process.arguments = [
                "run", "no.yaml", "--session", "0", "--journal", folder, "--pump", "loopback:9", "--feed",
                "file:no.csv",
            ]
            let said = Pipe()
            process.standardError = said
            try process.run()
            let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 64)
            #expect(text.contains("--feed and --pump exclude each other"), "\(text)")
        }
    }

    /// At pace 60: ten seconds are ten minutes.
    @Test func theAppIsStoppedAndKilledAndTheWearersWorldGoesOn() throws {
        try withFolder { folder in
            let study = folder + "/study.yaml"
            try write(Array(LiveProgramTests.study.utf8), to: study)
            let (said, heard) = (folder + "/wearer.txt", folder + "/app.txt")
            let wearer = try start(["pump", study, "--session", "0", "--pace", "60"], output: said)
            defer { kill(wearer.processIdentifier, SIGKILL) }
            #expect(wait(seconds: 60) { text(said).contains("loopback:") })
            let port = try #require(text(said).firstMatch(of: #/loopback:(\d+)/#)?.output.1)
            let arguments = [
                "run", study, "--session", "0", "--pace", "60", "--journal", folder + "/live", "--pump",
                "loopback:\(port)",
            ]
            var app = try start(arguments, output: heard)
            func steps() -> Int { text(heard).components(separatedBy: "  step ").count - 1 }
            #expect(wait(seconds: 60) { steps() >= 3 }, "\(text(heard))")
            #expect(wait(seconds: 60) { text(heard).contains("  delivery") }, "\(text(heard))")
            kill(app.processIdentifier, SIGSTOP)
            sleep(15)
            let before = steps()
            kill(app.processIdentifier, SIGCONT)
            #expect(wait(seconds: 30) { text(heard).contains("leap ") }, "\(text(heard))")
            usleep(300_000)
            #expect(steps() - before <= 2)
            let slept = steps()
            #expect(wait(seconds: 60) { steps() >= slept + 2 })
            app.terminate()
            kill(app.processIdentifier, SIGKILL)
            app.waitUntilExit()
            app = try start(arguments, output: heard)
            #expect(wait(seconds: 60) { text(heard).contains("goes on") })
            let lived = steps()
            #expect(wait(seconds: 60) { steps() >= lived + 2 }, "\(text(heard))")
            kill(app.processIdentifier, SIGINT)
            app.waitUntilExit()
            let content = try JournalContent.read(folder + "/live/session-0.journal")
            #expect(try LiveReplay(content).divergence == nil)
            let commands = content.lines.compactMap { line -> String? in
                guard case .command(_, let json) = line else { return nil }
                return json
            }
            #expect(commands.count > 10 && Set(commands).count == commands.count)
            wearer.terminate()
            #expect(wait(seconds: 20) { !wearer.isRunning })
        }
    }
}
