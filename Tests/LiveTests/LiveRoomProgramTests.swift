import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// A grow room by the program: in the terminal, killed, resumed, replayed.
@Suite(.serialized, .timeLimit(.minutes(45))) struct LiveRoomProgramTests {
    private static let study = """
        study: rooms
        subject: { kind: grow-room, faultFrequency: 4 }
        seed: 3
        start: 2026-01-12T08:00:00-05:00
        duration: 90d
        cohort: { generate: { count: 2 } }
        arms: [{ name: story, alerts: story }]
        """

    private func islet(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let program = try liveProgram().deletingLastPathComponent().appending(path: "islet")
        let (process, output) = (Process(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test func aRoomLivesInTheTerminalIsKilledAndGoesOn() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/rooms.yaml")
            let journal = folder + "/live/session-1.journal"
            let arguments = [
                "run", folder + "/rooms.yaml", "--session", "1", "--pace", "20000", "--journal",
                folder + "/live",
            ]
            var said = ""
            for round in 0..<3 {
                let child = try LiveProgramTests.Child(
                    try liveProgram(), arguments, output: folder + "/out\(round)")
                for _ in 0..<500 where !child.text.contains("reading") { usleep(10_000) }
                child.say("@v\(round) visit")
                child.say("@t\(round) threshold temperature 60-9\(round)")
                child.say("bolus 1")
                child.say("status")
                for _ in 0..<500 where !child.text.contains("pace 20000") { usleep(10_000) }
                _ = child.kill(SIGKILL)
                said += child.text
            }
            #expect(said.contains("visit      as asked: "))
            #expect(said.contains("> @v2 taken as input"))
            #expect(said.contains("> refused: a grow room has no pump"))
            #expect(said.contains("room#2") && said.contains("Temperature"))
            let verified = try islet(["verify", journal])
            #expect(verified.status == 0 && verified.text.contains("nothing is off"), "\(verified.text)")
            let replayed = try islet(["replay", journal])
            #expect(
                replayed.status == 0 && replayed.text.contains("session 1: room#2 in story, rooms, seed 3"))
            let inputs = try JournalContent.read(journal).lines.count {
                if case .input = $0 { true } else { false }
            }
            #expect(inputs == 6)
            for (option, value) in [("--pump", "loopback:1"), ("--feed", "file:\(folder)/none.csv")] {
                let child = try LiveProgramTests.Child(
                    try liveProgram(),
                    [
                        "run", folder + "/rooms.yaml", "--session", "0", "--journal", folder + "/no", option,
                        value,
                    ],
                    output: folder + "/no")
                child.process.waitUntilExit()
                #expect(child.process.terminationStatus == 65)
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/no/session-0.journal"))
        }
    }
}
