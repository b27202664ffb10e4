import Foundation
import IsletDevices
import IsletKernel
import Testing
import IsletTrials

@testable import IsletLive

/// The program in processes of its own, killed at random moments.
@Suite(.serialized, .timeLimit(.minutes(45))) struct LiveProgramTests {
    static let study = """
        study: kills
        seed: 11
        start: 2026-03-02T06:00:00-05:00
        duration: 90d
        cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
        sensor: vettoretti-2019
        pump: omnipod
        scenario: { meals: moderate }
        arms:
          - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }
        """

    final class Child {
        let process = Process()
        let input = Pipe()
        private let output: String

        init(
            _ program: URL, _ arguments: [String], output: String, environment: [String: String] = [:]
        ) throws {
            signal(SIGPIPE, SIG_IGN)
            self.output = output
            _ = FileManager.default.createFile(atPath: output, contents: nil)
            process.executableURL = program
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardInput = input
            process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
            process.standardError = FileHandle.standardError
            try process.run()
        }

        func say(_ line: String) {
            try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        }
        var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
        func kill(_ number: Int32) -> Int32 {
            Foundation.kill(process.processIdentifier, number)
            for _ in 0..<3000 where process.isRunning { usleep(10_000) }
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    /// What was acknowledged: by key, the number that the program gave it.
    private func acknowledged(_ text: String) -> [String: Int] {
        var found: [String: Int] = [:]
        for match in text.matches(of: #/> @(\S+) (?:already )?taken as input (\d+)\n/#) {
            found[String(match.output.1)] = Int(match.output.2)
        }
        return found
    }

    @Test func aKillAtAnyMomentLosesNoAcknowledgedInputAndDoublesNothing() throws {
        let kills = ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 25 : 500
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            let (program, journal) = (try liveProgram(), folder + "/live/session-0.journal")
            let arguments = [
                "run", folder + "/kills.yaml", "--session", "0", "--pace", "20000", "--journal",
                folder + "/live",
            ]
            var random = RandomStreams(seed: 13, subject: 0).stream("kills")
            var acknowledgements: [String: Int] = [:]
            var (count, unanswered) = (0, [(key: String, line: String)]())
            for round in 0..<kills {
                let child = try Child(program, arguments, output: folder + "/out")
                // Most are killed once they live, some while they start.
                if round % 4 != 0 {
                    for _ in 0..<500 where child.text.isEmpty { usleep(10_000) }
                }
                // What nobody answered is said again under its name.
                for (key, line) in unanswered { child.say("@\(key) \(line)") }
                for _ in 0..<Int.random(in: 0...5, using: &random) {
                    count += 1
                    let line = [
                        "meal 20", "target 115", "bg 120", "quiet 22:00-07:00", "temp 80% 30", "meal 900",
                    ][
                        Int.random(in: 0..<6, using: &random)]
                    unanswered.append(("k\(count)", line))
                    child.say("@k\(count) \(line)")
                    usleep(UInt32.random(in: 0...20_000, using: &random))
                }
                usleep(UInt32.random(in: 0...(round % 3 == 0 ? 600_000 : 200_000), using: &random))
                #expect(child.process.isRunning, "\(child.text.suffix(300))")
                _ = child.kill(SIGKILL)
                for (key, number) in acknowledged(child.text) {
                    #expect(acknowledgements[key] ?? number == number)
                    acknowledgements[key] = number
                }
                let refused = Set(child.text.matches(of: #/> @(\S+) refused/#).map { String($0.output.1) })
                unanswered.removeAll { acknowledgements[$0.key] != nil || refused.contains($0.key) }
            }
            let content = try JournalContent.read(journal)
            var kept: [String: Int] = [:]
            for case .input(let number, _, let key) in content.lines {
                #expect(kept[key] == nil, "\(key) stands twice")
                kept[key] = number
            }
            #expect(!acknowledgements.isEmpty)
            for (key, number) in acknowledgements { #expect(kept[key] == number, "\(key)") }
            let heard = Heard()
            #expect(try LiveReplay(content, listener: heard.take).divergence == nil)
            #expect(heard.steps.count > 40)
            #expect(Set(heard.steps).count == heard.steps.count)
        }
    }

    @Test func aJournalThatCantBeWrittenStopsItsSessionAndGoesOnLater() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            let child = try Child(
                URL(filePath: "/bin/bash"),
                [
                    "-c", #"set -o pipefail; (ulimit -f 40; exec "$0" "$@") 2>&1 | tail -c 3000"#,
                    try liveProgram().path(), "run", folder + "/kills.yaml", "--session", "0", "--pace",
                    "20000",
                    "--journal", folder + "/live",
                ], output: folder + "/out")
            for _ in 0..<6000 where child.process.isRunning { usleep(10_000) }
            #expect(!child.process.isRunning && child.process.terminationStatus == 75)
            #expect(child.text.contains("stopped: "))
            let path = folder + "/live/session-0.journal"
            let before = try JournalContent.read(path)
            #expect(!before.isTorn && before.goodBytes > 39_000)
            let session = try LiveReplay.resume(path)
            session.advance(to: session.now.adding(Nanoseconds.hour))
            #expect(try JournalContent.read(path).lines.count > before.lines.count)
        }
    }

    /// Lives in the program until it says `text`, then quits; what it said.
    private func lived(
        in folder: String, pace: String = "600", typing lines: String = "", until text: String
    ) throws -> String {
        let child = try Child(
            try liveProgram(),
            ["run", folder + "/kills.yaml", "--session", "0", "--pace", pace, "--journal", folder + "/live"],
            output: folder + "/out")
        try child.input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        if !lines.hasSuffix("\n") { try child.input.fileHandleForWriting.close() }
        for _ in 0..<6000 where child.process.isRunning && !child.text.contains(text) { usleep(10_000) }
        #expect(child.text.contains(text), "\(child.text.prefix(3000))")
        if child.process.isRunning { _ = child.kill(SIGTERM) }
        child.process.waitUntilExit()
        #expect(child.process.terminationStatus == 0)
        return child.text
    }

    /// Harm: a kill at the very start leaves a directory in which that session can never be lived.
    @Test func aSessionWhoseJournalWasNeverBegunBegins() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            _ = try lived(in: folder, until: "step 1")
            let path = folder + "/live/session-0.journal"
            let whole = try bytes(path)
            let first = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
            for end in [0, 10, first] {
                try write(Array(whole[..<end]), to: path)
                let text = try lived(in: folder, until: "step 1")
                #expect(!text.contains("goes on: "))
                #expect(Array(try bytes(path)[...first]) == Array(whole[...first]))
            }
        }
    }

    /// Harm: what rang in the hour in which nobody watched is counted, and never told.
    @Test func whatHappenedWhileNobodyWatchedIsTold() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            let study = try Study.read(path: folder + "/kills.yaml")
            let opening = try LiveOpening(study: study, session: 0, studyPath: folder + "/kills.yaml")
            try FileManager.default.createDirectory(
                atPath: folder + "/live", withIntermediateDirectories: true)
            let path = folder + "/live/session-0.journal"
            do {
                let session = try LiveSession(
                    opening, journal: try JournalFile.create(path, opening: opening.json))
                let now = SystemClocks().utcNanoseconds()
                session.note(LiveAnchor(instant: .start, pace: .real, utcNanoseconds: now - Nanoseconds.hour))
                session.advance(to: .minutes(7))
            }
            let text = try lived(in: folder, pace: "1", until: "step 10")
            #expect(text.contains("goes on: "))
            #expect(text.components(separatedBy: "step ").count > 9, "\(text.prefix(3000))")
        }
    }

    /// Harm: somebody waits for a session that is over.
    @Test func aSessionThatHasEndedIsSaidToHaveEnded() throws {
        try withFolder { folder in
            let study = Self.study.replacing("90d", with: "1h")
            try write(Array(study.utf8), to: folder + "/kills.yaml")
            _ = try lived(in: folder, pace: "max", until: "ended")
            let text = try lived(in: folder, until: "has ended")
            #expect(!text.contains("goes on") && text.contains("islet replay"))
        }
    }

    /// Harm: a meal that a script announced is eaten by nobody, and nobody is told.
    @Test func aLastLineNeedsNoEnd() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            let text = try lived(in: folder, typing: "meal 20\nmeal 45", until: "taken as input 2")
            #expect(text.contains("taken as input 1"))
        }
    }

    /// Harm: somebody believes that five units wait, and that `confirm` gives them.
    @Test func aBolusThatIsSaidAgainDoesNotWaitAgain() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            let text = try lived(
                in: folder, pace: "1",
                typing: "@k bolus 1\nconfirm\n@k bolus 5\nconfirm\n", until: "refused: ")
            #expect(text.contains("> 1.0 U wait") && text.contains("was another command's"))
            #expect(!text.contains("5.0 U wait"))
            #expect(text.components(separatedBy: "taken as input 2").count == 2)
        }
    }

    @Test func ctrlCLeavesAJournalThatTheSameCommandGoesOnWith() throws {
        try withFolder { folder in
            try write(Array(Self.study.utf8), to: folder + "/kills.yaml")
            let program = try liveProgram()
            func start(_ more: String..., output: String) throws -> Child {
                try Child(
                    program,
                    ["run", folder + "/kills.yaml", "--session", "0", "--journal", folder + "/live"] + more,
                    output: folder + output)
            }
            func wait(_ child: Child, for text: String) {
                let end = Date(timeIntervalSinceNow: 30)
                while !child.text.contains(text), child.process.isRunning, Date() < end { usleep(20_000) }
            }
            let first = try start("--pace", "1200", output: "/1")
            first.say("bolus 1")
            wait(first, for: "wait for `confirm`")
            first.say("confirm")
            wait(first, for: "taken as input 2")
            first.say("nonsense")
            wait(first, for: "not understood")
            wait(first, for: "reading")
            #expect(first.kill(SIGINT) == 0)
            #expect(first.text.contains("stopped; the same command goes on from here"))
            let second = try start("--pace", "1200", output: "/2")
            wait(second, for: "reading")
            #expect(second.text.contains("goes on: "))
            // One process at a time.
            let other = try start("--pace", "1", output: "/3")
            other.process.waitUntilExit()
            #expect(other.process.terminationStatus == 75)
            second.say("quit")
            second.process.waitUntilExit()
            #expect(second.process.terminationStatus == 0)
            // Another study doesn't go on with it.
            let foreign = try start("--set", "seed=12", output: "/4")
            foreign.process.waitUntilExit()
            #expect(foreign.process.terminationStatus == 65)
        }
    }
}
