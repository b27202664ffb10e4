import FaultyServer
import Foundation
import IsletDevices
import IsletKernel
import Synchronization
import Testing

@testable import IsletLive

/// `islet-live run --feed nightscout:URL` and `dexcom-share:URL`, as a person starts them.
@Suite("The program on a server's glucose", .timeLimit(.minutes(45)))
struct ServerFeedProgramTests {
    private func start(
        _ folder: String, _ feed: String, _ environment: [String: String], output: String, pace: String = "1"
    ) throws -> LiveProgramTests.Child {
        try write(Array(LiveProgramTests.study.utf8), to: folder + "/study.yaml")
        return try LiveProgramTests.Child(
            try liveProgram(),
            [
                "run", folder + "/study.yaml", "--session", "0", "--journal", folder + "/live", "--pace",
                pace,
                "--feed", feed,
            ], output: folder + output, environment: environment)
    }

    private func wait(_ child: LiveProgramTests.Child, for text: String) {
        let end = Date().addingTimeInterval(60)
        while !child.text.contains(text), Date() < end { usleep(50_000) }
        #expect(child.text.contains(text), "no \(text) in\n\(child.text)")
    }

    /// A server that fails first holds nothing up; the secret stands nowhere; a relaunch takes no reading twice.
    @Test func nightscoutGlucoseArrivesAndTheSecretStandsNowhere() throws {
        try withFolder { folder in
            let stamp = Mutex<Int64>(0)
            let body: @Sendable () -> String = {
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                return stamp.withLock {
                    if $0 == 0 { $0 = now }
                    return
                        "[{\"sgv\":177,\"date\":\($0)},{\"sgv\":150,\"date\":\($0 - 3_600_000)},{\"sgv\":\"x\"}]"
                }
            }
            let server = try FaultyServer { number, _ in number == 0 ? .dropped : .refused(200, body: body())
            }
            let secret = ["ISLET_NIGHTSCOUT_TOKEN": "very-s3cret"]
            var child = try start(folder, "nightscout:\(server.root)", secret, output: "/1")
            wait(child, for: "no glucose from")
            wait(child, for: "reading    177.0 mg/dL")
            wait(child, for: "1 readings are from before the session's start")
            wait(child, for: "1 of what")
            #expect(child.text.contains("SUGGESTIONS ONLY") && child.text.contains("answers again"))
            child.say("quit")
            child.process.waitUntilExit()
            #expect(child.process.terminationStatus == 0)
            let journal = String(decoding: try bytes(folder + "/live/session-0.journal"), as: UTF8.self)
            #expect(!journal.contains("s3cret") && !child.text.contains("s3cret"))
            #expect(server.arrivals.contains { $0.path.contains("very-s3cret") })
            child = try start(folder, "nightscout:\(server.root)", secret, output: "/2")
            wait(child, for: "goes on")
            let asked = server.arrivals.count
            let end = Date().addingTimeInterval(30)
            while server.arrivals.count == asked, Date() < end { usleep(50_000) }
            usleep(500_000)
            child.say("quit")
            child.process.waitUntilExit()
            let content = try JournalContent.read(folder + "/live/session-0.journal")
            let readings = content.lines.filter { line in
                if case .input(_, let stamped, _) = line,
                    LiveInput(bytes: stamped.input.bytes)?.name == "reading"
                {
                    true
                } else {
                    false
                }
            }
            #expect(readings.count == 1)
            #expect(try LiveReplay(content).divergence == nil)
        }
    }

    /// Harm: after an upgrade the session of a server's glucose is refused, and nothing of it rings.
    @Test func anotherEngineGoesOnWithAServersGlucose() throws {
        try withFolder { folder in
            let path = folder + "/live/session-0.journal"
            let stamps = Mutex<[Int64]>([])
            let body: @Sendable () -> String = {
                let now = Int64(Date().timeIntervalSince1970 * 1000)
                let all = stamps.withLock { stamps in
                    if stamps.isEmpty { stamps = [now] }
                    return stamps
                }
                return "[" + all.reversed().map { "{\"sgv\":177,\"date\":\($0)}" }.joined(separator: ",")
                    + "]"
            }
            let server = try FaultyServer { _, _ in .refused(200, body: body()) }
            var child = try start(folder, "nightscout:\(server.root)", [:], output: "/1")
            wait(child, for: "reading    177.0 mg/dL")
            child.say("quit")
            child.process.waitUntilExit()
            try rewrite(path, asOfEngine: 99)
            stamps.withLock { $0.append($0[0] + 1500) }
            child = try start(folder, "nightscout:\(server.root)", [:], output: "/2")
            wait(child, for: "reading    177.0 mg/dL")
            child.say("quit")
            child.process.waitUntilExit()
            #expect(child.process.terminationStatus == 0, "\(child.text)")
            let new = try JournalContent.read(path)
            #expect(try LiveOpening(new).upgrade?.from == 99)
            let newest = stamps.withLock { $0[1] }
            #expect(readingKeys(new) == ["cgm-\(newest)"])
        }
    }

    /// Harm: a server that never answers keeps the program from ending, or the keyboard from being heard.
    @Test(arguments: [Fate.acceptedButSilent, .dripped, .garbled])
    func aServerThatHangsHoldsNothingUp(_ fate: Fate) throws {
        try withFolder { folder in
            let server = try FaultyServer { _, _ in fate }
            let child = try start(
                folder, "dexcom-share:" + server.root.replacing("http://", with: "http://me@"),
                ["ISLET_SHARE_PASSWORD": "very-s3cret"], output: "/1")
            wait(child, for: "SUGGESTIONS ONLY")
            child.say("bg 120")
            wait(child, for: "taken as input")
            child.say("quit")
            child.process.waitUntilExit()
            #expect(child.process.terminationStatus == 0)
            #expect(!child.text.contains("s3cret"))
        }
    }

    @Test func whatCantBeAskedIsRefusedAtOnce() throws {
        try withFolder { folder in
            for (feed, environment, pace) in [
                ("nightscout:ftp://host", [:], "1"), ("nightscout:http://name:pw@host", [:], "1"),
                ("nightscout:http://127.0.0.1:1", [:], "60"),
                ("dexcom-share:http://me@127.0.0.1:1", [:], "1"),
                ("dexcom-share:http://127.0.0.1:1", ["ISLET_SHARE_PASSWORD": "x"], "1"),
                ("other:x", [:], "1"),
            ] as [(String, [String: String], String)] {
                let child = try start(folder, feed, environment, output: "/out", pace: pace)
                child.process.waitUntilExit()
                #expect(child.process.terminationStatus == 64, "\(feed): \(child.text)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/live"))
            }
        }
    }
}
