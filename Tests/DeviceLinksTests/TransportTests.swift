// One exchange over a real socket: how it ends, and when.

import DeviceLinks
import FaultyServer
import IsletDevices
import Testing

@Suite("An exchange")
struct TransportTests {
    private func post(_ url: String, timeout: Double = 120) async throws {
        let transport = try #require(URLSessionTransport(url: url, timeoutSeconds: timeout))
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
        for fate in [Fate.dropped, .acceptedButAnswerLost, .acceptedButAnswerCut, .garbled] {
            let server = try FaultyServer { _, _ in fate }
            await #expect(throws: NoAnswer.self) { try await post(server.url) }
        }
    }

    @Test("is refused to what isn't a plain URL")
    func urls() throws {
        for text in [
            "", "steps", "ftp://a/b", "http://", "http:///x", "http://me:word@a/b", "http://me@a/b", "a b",
        ] {
            #expect(URLSessionTransport(url: text) == nil, "\(text)")
        }
        let transport = try #require(URLSessionTransport(url: "https://a.example/steps?key=1#x"))
        #expect(transport.endpoint == "https://a.example/steps" && !transport.isReadableOnTheWay)
        #expect(URLSessionTransport(url: "http://a.example/")?.isReadableOnTheWay == true)
        #expect(URLSessionTransport(url: "http://127.0.0.1:80/")?.isReadableOnTheWay == false)
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
