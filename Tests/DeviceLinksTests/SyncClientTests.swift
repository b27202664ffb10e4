// What reaches an endpoint that fails, from a client that dies: each step once, and in order.

import DeviceLinks
import FaultyServer
import Foundation
import IsletResults
import IsletDevices
import Testing

@Suite("A sync client")
struct SyncClientTests {
    @Test("sends every step once, in order, and nothing the second time")
    func plain() async throws {
        let server = try FaultyServer()
        let feed = Feed(counts: [12, 0, 1, 5])
        let cursors = MemoryCursors()
        let progress = try await sync(feed, to: server, cursors: cursors)
        #expect(progress.sessionsDone == 4 && progress.sessions == 4)
        #expect(progress.steps == 18 && progress.retries == 0)
        #expect(server.kept == feed.ids && server.repeats == 0 && server.problems.isEmpty)
        #expect(server.arrivals.map(\.stepIDs.count) == [5, 5, 2, 1, 5])
        #expect(server.step(feed.ids[3])?["algorithm_time"] as? Int == 3)
        #expect(server.step(feed.ids[3])?["cgm_mgdl"] is NSNull)
        #expect(try await sync(feed, to: server, cursors: cursors).steps == 0)
        #expect(server.arrivals.count == 5)
        // Steps under the same index that are called otherwise are others.
        let other = Feed(counts: [3], name: "other")
        #expect(try await sync(other, to: server, cursors: cursors).steps == 3)
        #expect(server.kept == feed.ids + other.ids)
    }

    @Test(
        "gets every step across exactly once and in order whatever the server does",
        arguments: 1...12 as ClosedRange<UInt64>)
    func failing(seed: UInt64) async throws {
        let server = try FaultyServer { number, _ in
            var draws = Draws(seed: seed &* 1000 &+ UInt64(number))
            switch Int.random(in: 0..<12, using: &draws) {
            case 0: return .refused(500)
            case 1: return .refused(503, headers: ["Retry-After": "3"])
            case 2: return .dropped
            case 3, 4: return .acceptedButAnswerLost
            case 5: return .acceptedButAnswerCut
            case 6: return .refused(429)
            case 7: return .garbled
            default: return .accepted
            }
        }
        let feed = Feed(counts: [23, 0, 40, 7])
        let progress = try await sync(feed, to: server, batch: 4, attempts: 60, seed: seed)
        #expect(server.kept == feed.ids)
        #expect(server.problems.isEmpty)
        #expect(progress.steps == feed.ids.count && progress.retries > 0)
        #expect(server.repeats > 0, "no answer was lost: the test says nothing about doubles")
    }

    @Test("goes on after a death between any two effects, with nothing lost and nothing doubled")
    func deaths() async throws {
        let feed = Feed(counts: [7, 3])
        let whole = Power(.max)
        try await sync(feed, to: try FaultyServer(), batch: 3, power: whole)
        // Four posts, each with a save after it.
        #expect(whole.effects == 8)
        for cut in 0..<whole.effects {
            let server = try FaultyServer()
            let cursors = MemoryCursors()
            await #expect(throws: Death.self) {
                try await sync(feed, to: server, cursors: cursors, batch: 3, power: Power(cut))
            }
            // The cursor never runs ahead of the server.
            #expect(cursors.cursors.values.reduce(0) { $0 + $1.acknowledged } <= server.kept.count)
            // The second life has another batch size: it is the steps' ids that count.
            try await sync(feed, to: server, cursors: cursors, batch: cut % 2 == 0 ? 3 : 2)
            #expect(server.kept == feed.ids, "cut \(cut)")
            #expect(server.repeats <= 3 && server.problems.isEmpty)
        }
    }

    @Test(
        "survives one death after the other on a server that fails, with cursors on the disk",
        arguments: [3, 4])
    func manyLives(seed: UInt64) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try FaultyServer { number, _ in
            var draws = Draws(seed: seed &* 77 &+ UInt64(number))
            return [.accepted, .accepted, .acceptedButAnswerLost, .dropped, .refused(502)].randomElement(
                using: &draws) ?? .accepted
        }
        let feed = Feed(counts: [30, 11, 19])
        var draws = Draws(seed: seed)
        var lives = 0
        while true {
            lives += 1
            let cursors = try SQLiteSyncCursors(path: folder.path() + "/c.sqlite", endpoint: "e")
            do {
                try await sync(
                    feed, to: server, cursors: cursors, batch: 4, attempts: 50, seed: UInt64(lives),
                    power: Power(Int.random(in: 1...9, using: &draws)))
                break
            } catch is Death {}
        }
        #expect(lives > 3)
        #expect(server.kept == feed.ids && server.problems.isEmpty)
    }

    @Test("repeats a batch under the same key, and gives each batch its own")
    func keys() async throws {
        let server = try FaultyServer { number, _ in number == 1 ? .acceptedButAnswerLost : .accepted }
        try await sync(Feed(counts: [10]), to: server)
        let keys = server.arrivals.compactMap { $0.headers["idempotency-key"] }
        #expect(keys == ["k0-0-0..k0-0-4", "k0-0-5..k0-0-9", "k0-0-5..k0-0-9"])
        #expect(server.arrivals[1].stepIDs == server.arrivals[2].stepIDs)
        #expect(server.arrivals.allSatisfy { $0.headers["content-type"] == "application/json" })
    }

    @Test("tries again what may pass", arguments: [408, 429, 500, 502, 503, 504, 599])
    func temporary(status: Int) async throws {
        let server = try FaultyServer { number, _ in number < 3 ? .refused(status) : .accepted }
        let feed = Feed(counts: [2])
        let progress = try await sync(feed, to: server)
        #expect(progress.retries == 3 && server.kept == feed.ids)
    }

    @Test(
        "ends at once, with one line, at what won't pass",
        arguments: [400, 401, 403, 404, 409, 410, 413, 422])
    func refused(status: Int) async throws {
        let server = try FaultyServer { _, _ in
            .refused(
                status, headers: ["WWW-Authenticate": "Bearer"],
                body: "no,\n  because: secret-token-1 \u{1B}[31m")
        }
        let problem = await #expect(throws: InputError.self) {
            try await sync(Feed(counts: [2]), to: server, token: "secret-token-1")
        }
        let line = try #require(problem?.description)
        #expect(line.hasPrefix(server.url + ": found HTTP \(status) (no, because: [token] "))
        #expect(!line.contains("secret-token") && !line.contains("\n") && !line.contains("\u{1B}"))
        #expect(server.arrivals.count == 1 && server.kept.isEmpty)
        #expect(server.arrivals[0].headers["authorization"] == "Bearer secret-token-1")
    }

    @Test("follows no redirect", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let elsewhere = try FaultyServer()
        let server = try FaultyServer { _, _ in
            .refused(
                status, headers: ["Location": "http://me:word@127.0.0.1:\(elsewhere.port)/steps?token=1"])
        }
        let problem = await #expect(throws: InputError.self) {
            try await sync(Feed(counts: [2]), to: server)
        }
        let line = try #require(problem?.description)
        #expect(
            line.contains("HTTP \(status), a redirect to http://127.0.0.1:\(elsewhere.port)/steps, expected"))
        #expect(server.arrivals.count == 1 && elsewhere.arrivals.isEmpty)
    }

    @Test("gives up when patience is over, and keeps what was acknowledged")
    func patience() async throws {
        let server = try FaultyServer { number, _ in
            (1...4).contains(number) ? .refused(503, body: "down") : .accepted
        }
        let feed = Feed(counts: [7])
        let cursors = MemoryCursors()
        let problem = await #expect(throws: OutputError.self) {
            try await sync(feed, to: server, cursors: cursors, attempts: 4)
        }
        #expect(problem?.kind == .temporary)
        #expect(problem?.message == "HTTP 503 (down), 4 times in a row")
        #expect(cursors.cursors[0]?.acknowledged == 5)
        try await sync(feed, to: server, cursors: cursors)
        #expect(server.kept == feed.ids && server.repeats == 0)
    }

    @Test("waits as long as Retry-After says, in seconds or until a date")
    func retryAfter() async throws {
        // The fake clock stands at 2027-01-15T08:00:00Z.
        let server = try FaultyServer { number, _ in
            switch number {
            case 0: .refused(503, headers: ["Retry-After": "120"])
            case 1: .refused(429, headers: ["Retry-After": "Fri, 15 Jan 2027 08:10:00 GMT"])
            case 2: .refused(429, headers: ["Retry-After": "soon"])
            default: .accepted
            }
        }
        let clock = FakeClock()
        try await sync(Feed(counts: [1]), to: server, clock: clock)
        #expect(clock.waits.count == 3)
        #expect((120...121).contains(clock.waits[0]))
        #expect((600...601).contains(clock.waits[0] + clock.waits[1]))
        #expect((0...2).contains(clock.waits[2]))

        let never = try FaultyServer { _, _ in .refused(503, headers: ["Retry-After": "86400"]) }
        let problem = await #expect(throws: OutputError.self) {
            try await sync(Feed(counts: [1]), to: never)
        }
        #expect(problem?.kind == .temporary && problem?.message.contains("for 86400 s") == true)
        #expect(never.arrivals.count == 1)
        let forEver = try FaultyServer { _, _ in
            .refused(503, headers: ["Retry-After": String(repeating: "9", count: 400)])
        }
        await #expect(throws: OutputError.self) { try await sync(Feed(counts: [1]), to: forEver) }
    }

    @Test("stops where it is when it is cancelled, and goes on later")
    func cancellation() async throws {
        let server = try FaultyServer { number, _ in number == 1 ? .acceptedButSilent : .accepted }
        let feed = Feed(counts: [12])
        let cursors = MemoryCursors()
        let work = Task {
            let cursors = MemoryCursors()
            do {
                try await sync(feed, to: server, cursors: cursors)
                return cursors.cursors
            } catch is CancellationError { return cursors.cursors }
        }
        while server.kept.count < 10 { try await Task.sleep(for: .milliseconds(5)) }
        work.cancel()
        cursors.cursors = try await work.value
        #expect(cursors.cursors[0]?.acknowledged == 5)
        try await sync(feed, to: server, cursors: cursors)
        #expect(server.kept == feed.ids && server.repeats == 5)
    }
}
