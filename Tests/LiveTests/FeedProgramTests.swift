import Foundation
import IsletDevices
import IsletKernel
import Testing

@testable import IsletLive

/// `islet-live run --feed` as a process of its own.
@Suite(.serialized, .timeLimit(.minutes(45))) struct FeedProgramTests {
    private func start(_ folder: String, _ more: String..., output: String) throws -> LiveProgramTests.Child {
        try write(Array(LiveProgramTests.study.utf8), to: folder + "/study.yaml")
        return try LiveProgramTests.Child(
            try liveProgram(),
            ["run", folder + "/study.yaml", "--session", "0", "--journal", folder + "/live"] + more,
            output: folder + output)
    }

    private func wait(_ child: LiveProgramTests.Child, for text: String) {
        let end = Date(timeIntervalSinceNow: 60)
        while !child.text.contains(text), child.process.isRunning, Date() < end { usleep(20_000) }
        #expect(child.text.contains(text), "\(child.text.suffix(500))")
    }

    private func quit(_ child: LiveProgramTests.Child) {
        child.say("quit")
        child.process.waitUntilExit()
        #expect(child.process.terminationStatus == 0)
    }

    private func row(_ at: Date, _ mgdl: Int) -> String { "\(at.ISO8601Format()),\(mgdl)\n" }

    @Test func aRecordingIsPlayedAndGoesOnAfterAKill() throws {
        try withFolder { folder in
            let begin = Date(timeIntervalSince1970: 1_600_000_000)
            let rows = (0..<60).map { row(begin.addingTimeInterval(Double($0) * 300), 100 + $0) }
            let trace = folder + "/trace.csv"
            try write(Array(("time,glucose_mgdl\n" + rows.joined() + rows[7]).utf8), to: trace)
            let first = try start(folder, "--pace", "3000", "--feed", "file:" + trace, output: "/1")
            wait(first, for: "SUGGESTIONS ONLY")
            wait(first, for: "left out: \(trace):62: found a second row of that time")
            wait(first, for: "reading    115.0 mg/dL")
            first.say("bolus 1")
            wait(first, for: "refused: ")
            _ = first.kill(SIGKILL)
            #expect(!first.text.contains("accepted"))
            let second = try start(folder, "--pace", "3000", "--feed", "file:" + trace, output: "/2")
            wait(second, for: "known before")
            wait(second, for: "no more readings")
            second.say("status")
            wait(second, for: "suggestions only")
            quit(second)
            let content = try JournalContent.read(folder + "/live/session-0.journal")
            let readings = content.lines.count { line in
                if case .input(_, let stamped, _) = line {
                    return String(decoding: stamped.input.bytes, as: UTF8.self).contains("reading")
                }
                return false
            }
            #expect(readings == 60)
            let replay = try LiveReplay(content)
            #expect(replay.divergence == nil && replay.session.ledger.bolus == 0)
            // Without the feed it is another session.
            let plain = try start(folder, "--pace", "3000", output: "/3")
            plain.process.waitUntilExit()
            #expect(plain.process.terminationStatus == 65)
        }
    }

    /// Harm: the program is ended while it lives the days that the file has, and from then on every low rings days late.
    @Test func aStartThatIsKilledAmidThePastComesToNowTheNextTime() throws {
        try withFolder { folder in
            let begin = Date(timeIntervalSinceNow: -3 * 86_400)
            let rows = (0..<864).map { row(begin.addingTimeInterval(Double($0) * 300), 100 + $0 % 60) }
            let (trace, path) = (folder + "/trace.csv", folder + "/live/session-0.journal")
            try write(Array(("time,glucose_mgdl\n" + rows.joined()).utf8), to: trace)
            let first = try start(folder, "--pace", "1", "--feed", "file:" + trace, output: "/1")
            let end = Date(timeIntervalSinceNow: 60)
            while first.process.isRunning, Date() < end,
                (try? JournalContent.read(path)).map({ readingKeys($0).count < 40 }) ?? true
            { usleep(5000) }
            _ = first.kill(SIGKILL)
            #expect(!first.text.contains("SUGGESTIONS ONLY"), "it had come to now already")
            let second = try start(folder, "--pace", "1", "--feed", "file:" + trace, output: "/2")
            wait(second, for: "no more readings")
            quit(second)
            let content = try JournalContent.read(path)
            let anchor = try #require(content.lines.last { $0.anchor != nil }?.anchor)
            let start = Int64(begin.timeIntervalSince1970) * Nanoseconds.second
            #expect(abs(anchor.utcNanoseconds - anchor.instant.nanoseconds - start) < Nanoseconds.minute)
            #expect(readingKeys(content).count == rows.count)
            // Lived, not leapt over.
            #expect(
                content.lines.allSatisfy {
                    if case .leap = $0 { false } else { true }
                })
            #expect(try LiveReplay(content).divergence == nil)
        }
    }

    /// Harm: one row that is malformed, or older than the first, and from the next restart on nobody is watched.
    @Test func noRowKeepsASessionFromGoingOn() throws {
        try withFolder { folder in
            let begin = Date(timeIntervalSinceNow: -7200)
            let trace = folder + "/trace.csv"
            var text = "time,glucose_mgdl\n"
            for minutes in stride(from: 0, to: 115, by: 5) {
                text += row(begin.addingTimeInterval(Double(minutes) * 60), 100 + minutes / 5)
            }
            try write(Array(text.utf8), to: trace)
            let first = try start(folder, "--pace", "1", "--feed", "file:" + trace, output: "/1")
            wait(first, for: "no more readings")
            _ = first.kill(SIGKILL)
            text +=
                "nonsense\n" + row(begin.addingTimeInterval(-3600), 90)
                + row(begin.addingTimeInterval(7200), 180)
            try write(Array(text.utf8), to: trace)
            let second = try start(folder, "--pace", "1", "--feed", "file:" + trace, output: "/2")
            wait(second, for: "left out: \(trace):25: found 1 field")
            wait(second, for: "\(trace):26: left out")
            wait(second, for: "reading    180.0 mg/dL")
            _ = second.kill(SIGKILL)
            // Begun anew, as logs are: what will come is waited for.
            try write(Array("time,glucose_mgdl\n".utf8), to: trace)
            let third = try start(folder, "--pace", "1", "--feed", "file:" + trace, output: "/3")
            wait(third, for: "no more readings")
            quit(third)
        }
    }

    /// Harm: it would be over before anybody is watched, and leave with 0.
    @Test func aDurationThatIsOverBeforeNowIsRefused() throws {
        try withFolder { folder in
            let begin = Date(timeIntervalSinceNow: -200 * 3600)
            var text = "time,glucose_mgdl\n"
            for hours in 0..<200 { text += row(begin.addingTimeInterval(Double(hours) * 3600 + 3000), 120) }
            try write(Array(text.utf8), to: folder + "/trace.csv")
            let feed = "file:" + folder + "/trace.csv"
            let short = try start(folder, "--pace", "1", "--set", "duration=8d", "--feed", feed, output: "/1")
            short.process.waitUntilExit()
            #expect(short.process.terminationStatus == 65)
            #expect(!FileManager.default.fileExists(atPath: folder + "/live"))
            let long = try start(folder, "--pace", "1", "--set", "duration=9d", "--feed", feed, output: "/2")
            wait(long, for: "no more readings")
            quit(long)
        }
    }

    /// Harm: a full disk under a log ends the program that watches somebody, or doses them.
    @Test func aFullLogEndsNoSessionThatWatchesSomebody() throws {
        try withFolder { folder in
            let begin = Date(timeIntervalSince1970: 1_600_000_000)
            let rows = (0..<60).map { row(begin.addingTimeInterval(Double($0) * 300), 100 + $0) }
            try write(Array(("time,glucose_mgdl\n" + rows.joined()).utf8), to: folder + "/trace.csv")
            try write(Array(LiveProgramTests.study.utf8), to: folder + "/study.yaml")
            let words = [
                "run", folder + "/study.yaml", "--session", "0", "--journal", folder + "/live", "--pace",
                "3000",
                "--feed", "file:" + folder + "/trace.csv",
            ]
            let child = try LiveProgramTests.Child(
                URL(filePath: "/bin/bash"),
                ["-c", "exec \"$0\" \"$@\" >/dev/full", try liveProgram().path()] + words,
                output: folder + "/1")
            let path = folder + "/live/session-0.journal"
            let end = Date(timeIntervalSinceNow: 60)
            while child.process.isRunning, Date() < end,
                (try? JournalContent.read(path)).map({ readingKeys($0).count < 20 }) ?? true
            { usleep(50_000) }
            #expect(child.process.isRunning, "\(child.text)")
            child.say("quit")
            child.process.waitUntilExit()
            #expect(child.process.terminationStatus == 0, "\(child.text)")
            #expect(readingKeys(try JournalContent.read(path)).count >= 20)
        }
    }

    /// The program is killed, and exchanged for one of another engine.
    @Test func afterAnUpgradeTheFeedIsReadOn() throws {
        try withFolder { folder in
            let begin = Date(timeIntervalSince1970: 1_600_000_000)
            let rows = (0..<60).map { row(begin.addingTimeInterval(Double($0) * 300), 100 + $0) }
            let (trace, path) = (folder + "/trace.csv", folder + "/live/session-0.journal")
            try write(Array(("time,glucose_mgdl\n" + rows.joined()).utf8), to: trace)
            let first = try start(folder, "--pace", "3000", "--feed", "file:" + trace, output: "/1")
            wait(first, for: "reading    115.0 mg/dL")
            _ = first.kill(SIGKILL)
            try rewrite(path, asOfEngine: 99)
            let second = try start(folder, "--pace", "3000", "--feed", "file:" + trace, output: "/2")
            wait(second, for: "known before")
            wait(second, for: "no more readings")
            second.say("quit")
            second.process.waitUntilExit()
            #expect(second.process.terminationStatus == 0, "\(second.text)")
            let old = try JournalContent.read(folder + "/live/session-0.engine-99.journal")
            let new = try JournalContent.read(path)
            #expect(try LiveOpening(new).upgrade?.from == 99)
            #expect(Set(readingKeys(new)).count == readingKeys(new).count && readingKeys(new).count < 60)
            #expect(Set(readingKeys(old) + readingKeys(new)).count == 60)
            #expect(try LiveReplay(new).divergence == nil)
        }
    }

    @Test func aFileThatGrowsIsFollowedInRealTime() throws {
        try withFolder { folder in
            let trace = folder + "/trace.csv"
            let now = Date()
            let rows = (0..<12).map { row(now.addingTimeInterval(Double($0 - 12) * 300), 100 + $0) }
            try write(Array(("time,glucose_mgdl\n" + rows.joined()).utf8), to: trace)
            let child = try start(folder, "--pace", "1", "--feed", "file:" + trace, output: "/1")
            wait(child, for: "and what is appended")
            // An hour is caught up with its own glucose, and what comes now is news.
            wait(child, for: "reading    111.0 mg/dL")
            try write(bytes(trace) + Array((row(Date(), 177) + "nonsense\n").utf8), to: trace)
            wait(child, for: "reading    177.0 mg/dL")
            wait(child, for: ":15: found 1 field")
            child.say("quit")
            child.process.waitUntilExit()
            #expect(child.process.terminationStatus == 0)
            #expect(child.text.contains("on 105.0 mg/dL"))
        }
    }

    @Test func whatCantBeReadLeavesNothingBehind() throws {
        try withFolder { folder in
            let trace = folder + "/trace.csv"
            try write(Array("time,glucose_mgdl\n2026-03-02T06:00:00Z,5.5\n".utf8), to: trace)
            for (more, status) in [
                (["--pace", "60", "--feed", "file:" + trace], Int32(65)),
                (["--pace", "60", "--feed", "file:" + folder + "/none.csv"], 66),
                (["--pace", "max", "--feed", "file:" + trace], 64),
                (["--pace", "60", "--feed", "nightscout:x"], 64),
            ] {
                try write(Array(LiveProgramTests.study.utf8), to: folder + "/study.yaml")
                let child = try LiveProgramTests.Child(
                    try liveProgram(),
                    ["run", folder + "/study.yaml", "--session", "0", "--journal", folder + "/live"] + more,
                    output: folder + "/out")
                child.process.waitUntilExit()
                #expect(child.process.terminationStatus == status)
                #expect(!FileManager.default.fileExists(atPath: folder + "/live"))
            }
        }
    }
}
