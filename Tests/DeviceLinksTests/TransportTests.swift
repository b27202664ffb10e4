// One exchange over a real socket: how it ends, and when.

import FaultyServer
import Foundation
import IsletDevices
import Testing

@testable import DeviceLinks

@Suite("An exchange", .timeLimit(.minutes(45)))
struct TransportTests {
    /// One question, without anybody who asks again.
    private func ask(
        _ url: String, headers: [String: String] = [:], timeout: Double = 120, bodyLimit: Int = 100,
        refusesMore: Bool = true
    ) async throws -> HTTPAnswer {
        try await HTTPExchange.perform(
            HTTPQuestion(url: try #require(URL(string: url)), headers: headers), timeoutSeconds: timeout,
            bodyLimit: bodyLimit, refusesMore: refusesMore)
    }

    private func reason(_ url: String, headers: [String: String] = [:], bodyLimit: Int = 100) async -> String?
    {
        await #expect(throws: NoAnswer.self) { try await ask(url, headers: headers, bodyLimit: bodyLimit) }?
            .reason
    }

    @Test("says why there is no answer, in words that name nothing of what was sent")
    func reasons() async throws {
        for (fate, words) in [
            (Fate.dropped, "the connection was lost"), (.halfAnswered, "the connection was lost"),
            (.garbled, "an answer that is not HTTP"),
        ] {
            let server = try FaultyServer { _, _ in fate }
            #expect(await reason(server.root + "/?token=s3cret") == words)
            #expect(server.arrivals.count == 1, "asked again by itself")
        }
        let server = try FaultyServer()
        server.stop()
        #expect(await reason(server.root) == "no connection")
        #expect(await reason("http://islet.invalid/s3cret") == "no such host")
        #expect(await reason("ftp://127.0.0.1/s3cret") == "an answer that is not HTTP")
    }

    @Test("sends what it was given and no more, and no line that a header's value brings with it")
    func sent() async throws {
        let server = try FaultyServer { _, _ in .refused(200, body: "{}") }
        _ = try await ask(server.root + "/a?b=%2B", headers: ["X-Key": "1"])
        let arrival = try #require(server.arrivals.first)
        #expect(arrival.path == "/a?b=%2B" && arrival.headers["x-key"] == "1")
        #expect(
            Set(arrival.headers.keys)
                == ["host", "user-agent", "accept", "accept-encoding", "x-key"])
        #expect(
            await reason(server.root, headers: ["X-Key": "1\r\nX-Other: 2"]) == "a header that can't be sent")
        #expect(server.arrivals.count == 1)
    }

    @Test("hands a redirect back, with where it leads and when to come again")
    func redirect() async throws {
        let server = try FaultyServer { _, _ in
            .refused(307, headers: ["Location": "/elsewhere", "retry-AFTER": " 7 "], body: "x")
        }
        let answer = try await ask(server.root)
        #expect(answer.status == 307 && answer.location == "/elsewhere" && answer.retryAfter == "7")
        #expect(answer.body == Data("x".utf8) && server.arrivals.map(\.path) == ["/"])
    }

    @Test("keeps no more of an answer than its limit, to the byte")
    func limit() async throws {
        let text = String(repeating: "x", count: 300_000)
        let server = try FaultyServer { _, _ in .refused(200, body: text) }
        #expect(try await ask(server.root, bodyLimit: 300_000).body == Data(text.utf8))
        #expect(await reason(server.root, bodyLimit: 299_999) == "an answer of more than 299999 bytes")
        #expect(try await ask(server.root, bodyLimit: 5, refusesMore: false).body == Data("xxxxx".utf8))
    }

    /// Without it the test would wait for the suite's limit.
    @Test(
        "ends when its task is cancelled, however long it would have waited",
        arguments: [
            Fate.acceptedButSilent, .dripped,
        ])
    func cancelled(_ fate: Fate) async throws {
        let server = try FaultyServer { _, _ in fate }
        let waiting = Task { try await ask(server.root, timeout: 1e6, bodyLimit: 1 << 20) }
        while server.arrivals.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await ask(server.root)
        }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(server.arrivals.count == 1)
    }

    @Test("waits for many at once, and each gets its own answer")
    func many() async throws {
        let server = try FaultyServer { _, arrival in
            usleep(200_000)
            return .refused(200, body: arrival.path)
        }
        let answers = try await withThrowingTaskGroup(of: (Int, HTTPAnswer).self) { group in
            for number in 0..<64 { group.addTask { (number, try await ask("\(server.root)/\(number)")) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = String(decoding: $1.1.body, as: UTF8.self) }
        }
        #expect(answers == Dictionary(uniqueKeysWithValues: (0..<64).map { ($0, "/\($0)") }))
    }

    /// Harm: the number of a closed listener is the next one's, and whoever still waits on it takes that one's connections, or ends it.
    @Test("comes to the server that was asked, whatever others were stopped before")
    func stoppedBefore() async throws {
        for _ in 0..<100 {
            let stopped = try FaultyServer { _, _ in .dropped }
            stopped.stop()
            let server = try FaultyServer { _, _ in .refused(200, body: "mine") }
            #expect(try await ask(server.root).body == Data("mine".utf8))
        }
    }

    /// Harm: somebody between the two reads the secret, and answers with glucose of their own.
    @Test("is refused to a server whose certificate nobody signed", .enabled(if: TLSServer.isPossible))
    func selfSigned() async throws {
        let server = try TLSServer()
        let words = await reason("https://localhost:\(server.port)/")
        withExtendedLifetime(server) { #expect(words == "no secure connection") }
    }

    private func post(_ url: String, timeout: Double = 120) async throws {
        let transport = try #require(HTTPTransport(url: url, timeoutSeconds: timeout))
        let feed = Feed(counts: [1])
        var client = SyncClient(
            feed: feed, cursors: MemoryCursors(), transport: transport, clock: FakeClock(),
            policy: RetryPolicy(attempts: 1), batchSize: 1, random: Draws(seed: 1))
        do {
            try await client.run()
        } catch let problem as OutputError {
            throw NoAnswer(reason: problem.message)
        }
    }

    @Test(
        "ends after its time, when nothing comes and when it comes in drops",
        arguments: [Fate.acceptedButSilent, .dripped])
    func timeout(fate: Fate) async throws {
        let server = try FaultyServer { _, _ in fate }
        let failure = await #expect(throws: NoAnswer.self) { try await post(server.url, timeout: 0.6) }
        #expect(failure?.reason == "no answer within 1 s, 1 time in a row")
    }

    @Test("without anybody there, or without HTTP, is no answer")
    func nobody() async throws {
        let server = try FaultyServer()
        server.stop()
        let failure = await #expect(throws: NoAnswer.self) { try await post(server.url) }
        #expect(failure?.reason == "no connection, 1 time in a row")
        for fate in [Fate.dropped, .acceptedButAnswerLost, .acceptedButAnswerCut, .halfAnswered, .garbled] {
            let server = try FaultyServer { _, _ in fate }
            await #expect(throws: NoAnswer.self) { try await post(server.url) }
        }
    }

    @Test("is refused to what isn't a plain URL")
    func urls() throws {
        for text in [
            "", "steps", "ftp://a/b", "http://", "http:///x", "http://me:word@a/b", "http://me@a/b", "a b",
        ] {
            #expect(HTTPTransport(url: text) == nil, "\(text)")
        }
        let transport = try #require(HTTPTransport(url: "https://a.example/steps?key=1#x"))
        #expect(transport.endpoint == "https://a.example/steps" && !transport.isReadableOnTheWay)
        #expect(HTTPTransport(url: "http://a.example/")?.isReadableOnTheWay == true)
        #expect(HTTPTransport(url: "http://127.0.0.1:80/")?.isReadableOnTheWay == false)
    }
}

@Suite("Waiting")
struct RetryPolicyTests {
    @Test("doubles its bound up to a limit, and is spread over all of it")
    func backoff() {
        let policy = RetryPolicy(firstWaitSeconds: 0.5, longestWaitSeconds: 8)
        var draws = Draws(seed: 9)
        for (failures, bound) in [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 8), (60, 8)] {
            let waits = (0..<400).map { _ in policy.wait(afterFailures: failures, using: &draws) }
            #expect(waits.allSatisfy { (0...bound).contains($0) })
            #expect(waits.contains { $0 < bound * 0.1 } && waits.contains { $0 > bound * 0.9 })
        }
        var (one, same) = (Draws(seed: 3), Draws(seed: 3))
        #expect(policy.wait(afterFailures: 3, using: &one) == policy.wait(afterFailures: 3, using: &same))
    }

    @Test("reads both forms of Retry-After, and nothing else")
    func header() {
        #expect(retryAfterSeconds(" 120 ", nowEpochSeconds: 0) == 120)
        // The example of RFC 9110, and leap days.
        #expect(retryAfterSeconds("Sun, 06 Nov 1994 08:49:37 GMT", nowEpochSeconds: 784_111_700) == 77)
        #expect(retryAfterSeconds("Sun, 06 Nov 1994 08:49:37 GMT", nowEpochSeconds: 784_111_778) == 0)
        #expect(retryAfterSeconds("Thu, 29 Feb 2024 12:00:00 GMT", nowEpochSeconds: 1_709_208_000) == 0)
        #expect(retryAfterSeconds("Fri, 01 Mar 2024 12:00:00 GMT", nowEpochSeconds: 1_709_208_000) == 86_400)
        #expect(retryAfterSeconds("Mon, 01 Mar 2100 00:00:00 GMT", nowEpochSeconds: 4_107_542_400) == 0)
        for text in [
            "", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 25:49:37 GMT",
        ] {
            #expect(retryAfterSeconds(text, nowEpochSeconds: 0) == nil, "\(text)")
        }
    }
}
