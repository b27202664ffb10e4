import IsletKernel
import FaultyServer
import Synchronization
import Testing

@testable import DeviceLinks

/// Servers of glucose, good and bad ones, on sockets of this machine.
@Suite("Glucose servers", .timeLimit(.minutes(45)))
struct GlucoseServerTests {
    private static let secret = "s3cret+token"

    private func nightscout(_ server: FaultyServer, timeout: Double = 10) throws -> NightscoutServer {
        try #require(NightscoutServer(url: server.root + "/", token: Self.secret, timeoutSeconds: timeout))
    }

    private func refusal(_ server: some GlucoseServer) async -> ServerRefusal? {
        do {
            let found = try await server.newest(10)
            Issue.record("answered: \(found)")
            return nil
        } catch { return error as? ServerRefusal }
    }

    @Test func readingsComeOldestFirstOnceAndWhatIsNoneIsLeftOut() async throws {
        let server = try FaultyServer { _, _ in
            .refused(
                200,
                body: """
                    [{"type":"sgv","sgv":120,"date":1700000600000},{"sgv":110.5,"date":1700000300000.0},
                     {"type":"sgv","sgv":121,"date":1700000600000},{"type":"mbg","sgv":99,"date":1700000000000},
                     {"sgv":5,"date":1700000000001},{"sgv":"120","date":1700000000002},{"sgv":120},7,null,
                     {"sgv":1e300,"date":1700000000003},{"sgv":120,"date":-5},{"sgv":120,"date":1e300}]
                    """)
        }
        let site = try nightscout(server)
        let found = try await site.newest(36)
        #expect(
            found.readings == [
                ServerReading(milliseconds: 1_700_000_300_000, mgdl: 110.5),
                ServerReading(milliseconds: 1_700_000_600_000, mgdl: 120),
            ])
        #expect(found.leftOut == 9)
        #expect(try await site.newest(1).readings.map(\.mgdl) == [120])
        let arrival = try #require(server.arrivals.first)
        #expect(arrival.path == "/api/v1/entries/sgv.json?count=36&token=s3cret%2Btoken")
        #expect(arrival.headers["api-secret"] == SHA1.hex(Array(Self.secret.utf8)))
        #expect(!site.endpoint.contains("s3cret"))
    }

    @Test func theHashThatSitesAskFor() {
        #expect(SHA1.hex(Array("abc".utf8)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(SHA1.hex([]) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(
            SHA1.hex(Array(repeating: UInt8(ascii: "a"), count: 119))
                == "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56")
    }

    /// Harm: the session waits for ever, the memory fills, the secret goes to somebody else, or stands on the screen.
    @Test(arguments: [
        Fate.dropped, .garbled, .acceptedButAnswerCut, .halfAnswered, .dripped, .acceptedButSilent,
        .refused(401, body: "s3cret+token"), .refused(500, body: "s3cret+token"),
        .refused(200, body: "s3cret+token"),
        .refused(200, body: "{\"a\":1}"), .refused(200, body: ""),
        .refused(200, body: String(repeating: "[", count: 100_000)),
        .refused(200, body: "[" + String(repeating: " ", count: 5 << 20) + "]"),
    ])
    func whateverAServerDoesOneRefusalComesAndSaysNoSecret(_ fate: Fate) async throws {
        let server = try FaultyServer { _, _ in fate }
        // Who waited for ever would wait for the suite's limit: a machine that does other things makes no question late.
        let found = await refusal(try nightscout(server, timeout: 2))
        let reason = try #require(found?.reason)
        #expect(!reason.isEmpty && !reason.contains("s3cret") && reason.utf8.count < 200)
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let elsewhere = try FaultyServer { _, _ in .refused(200, body: "[]") }
        let server = try FaultyServer { [url = elsewhere.root] _, _ in
            .refused(302, headers: ["Location": url])
        }
        let found = await refusal(try nightscout(server))
        #expect(found?.reason.contains("redirect") == true)
        #expect(elsewhere.arrivals.isEmpty)
    }

    @Test func aServerThatSaysWhenIsHeard() async throws {
        let server = try FaultyServer { _, _ in .refused(429, headers: ["Retry-After": "120"]) }
        let found = await refusal(try nightscout(server))
        #expect(found?.retryAfterSeconds == 120)
        let gone = try #require(NightscoutServer(url: "http://127.0.0.1:1", token: nil, timeoutSeconds: 2))
        #expect(await refusal(gone)?.reason == "no connection")
    }

    @Test(arguments: [
        "", "x", "ftp://host", "http://", "http://h:99999", "http://name:secret@host",
        "http://host/?token=secret",
        "http://host/#secret", "file:///etc/passwd",
    ])
    func anAddressThatIsNoneOrHasASecretIsRefused(_ url: String) {
        #expect(NightscoutServer(url: url, token: nil) == nil)
        #expect(ShareServer(url: url, password: "x") == nil)
    }

    @Test func whatCanBeReadOnTheWayIsSaid() throws {
        func isReadable(_ url: String) throws -> Bool {
            try #require(NightscoutServer(url: url, token: "x")).isReadableOnTheWay
        }
        #expect(try isReadable("http://example.org"))
        #expect(try !isReadable("https://example.org") && !isReadable("http://127.0.0.1:1337"))
    }

    // MARK: Share

    private static func share(
        _ logins: borrowing Mutex<Int>, _ expire: borrowing Mutex<Bool>, _ arrival: Arrival
    ) -> Fate {
        if arrival.path.hasSuffix("AuthenticatePublisherAccount") {
            guard arrival.body.contains("right") else {
                return .refused(500, body: #"{"Code":"AccountPasswordInvalid","Message":"s3cret"}"#)
            }
            return .refused(200, body: #""11111111-2222-3333-4444-555555555555""#)
        }
        if arrival.path.hasSuffix("LoginPublisherAccountById") {
            let number = logins.withLock {
                $0 += 1
                return $0
            }
            return .refused(200, body: "\"login-\(number)\"")
        }
        let isOver = expire.withLock { isOver in
            defer { isOver = false }
            return isOver
        }
        if isOver { return .refused(500, body: #"{"Code":"SessionIdNotFound"}"#) }
        return .refused(
            200,
            body: #"""
                [{"WT":"Date(1700000600000)","DT":"Date(1700000600000-0400)","Value":120,"Trend":"Flat"},
                 {"WT":"/Date(1700000300000)/","Value":95},{"WT":"nonsense","Value":95},{"Value":7}]
                """#)
    }

    @Test func shareLogsInAsksAndLogsInAgainWhereTheLoginIsOver() async throws {
        let (logins, expire) = (Box(0), Box(false))
        let server = try FaultyServer { _, arrival in Self.share(logins.value, expire.value, arrival) }
        let address = server.root.replacing("http://", with: "http://session-1@")
        let share = try #require(ShareServer(url: address, password: "right", timeoutSeconds: 5))
        for _ in 0..<2 {
            let found = try await share.newest(36)
            #expect(found.readings.map(\.mgdl) == [95, 120] && found.leftOut == 2)
        }
        #expect(logins.value.withLock { $0 } == 1)
        expire.value.withLock { $0 = true }
        #expect(try await share.newest(36).readings.count == 2)
        #expect(logins.value.withLock { $0 } == 2)
        #expect(server.arrivals.contains { $0.body.contains("session-1") })
        #expect(server.arrivals.allSatisfy { !$0.path.contains("right") })
        #expect(!share.endpoint.contains("session-1"))
        let wrong = try #require(ShareServer(url: address, password: "s3cret", timeoutSeconds: 5))
        let found = await refusal(wrong)
        #expect(found?.reason.contains("ISLET_SHARE_PASSWORD") == true)
        #expect(found?.reason.contains("s3cret") == false)
    }

    // MARK: When

    @Test func eachStampIsNewsOnceAndWhatIsFromTheFutureWaits() {
        var poller = ServerPoller()
        let now: Int64 = 1_700_000_000_000
        func reading(_ seconds: Int64, _ mgdl: Double = 100) -> ServerReading {
            ServerReading(milliseconds: now + seconds * 1000, mgdl: mgdl)
        }
        #expect(poller.count == ServerPoller.most)
        let found = [reading(-600), reading(-300), reading(0), reading(500)]
        let first = poller.take(found, nowMilliseconds: now)
        #expect(first == Array(found.prefix(3)))
        for one in first { poller.settle(one) }
        #expect(poller.count == 36)
        // The same, one that differs by a moment, one that came late, and the one whose time has come.
        let again = [reading(-600), reading(-420, 97), reading(-1), reading(500)]
        #expect(poller.take(again, nowMilliseconds: now + 400_000) == [reading(-420, 97), reading(500)])
        // What did not reach its session comes again.
        #expect(poller.take([reading(-420, 97)], nowMilliseconds: now) == [reading(-420, 97)])
    }

    @Test func waitsGrowAreBoundedAndObey() {
        var poller = ServerPoller()
        var random = SystemRandomNumberGenerator()
        var longest = 0.0
        for _ in 0..<200 { longest = max(longest, poller.fail(nil, using: &random)) }
        #expect(longest <= 300 && longest > 60)
        #expect(poller.count == ServerPoller.most)
        let asked = ServerRefusal(reason: "x", retryAfterSeconds: 900)
        #expect(poller.fail(asked, using: &random) >= 900)
        #expect(poller.fail(ServerRefusal(reason: "x", retryAfterSeconds: 1e9), using: &random) <= 3600)
        _ = poller.take([], nowMilliseconds: 0)
        #expect(poller.fail(nil, using: &random) <= 5)
    }

    private final class Box<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }
}
