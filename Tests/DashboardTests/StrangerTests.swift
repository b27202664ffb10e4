import Dashboard
import IsletFiles
import Foundation
import Synchronization
import Testing
import IsletLive

/// Whoever has no token costs the server little, and takes nothing from those who have one.
@Suite struct StrangerTests {
    private static let token = "0123456789abcdef0123"

    /// A clock that a test moves, ns.
    private final class Clock: Sendable {
        private let value = Atomic<Int64>(0)
        var now: Int64 { value.load(ordering: .relaxed) }
        func pass(seconds: Int64) { value.wrappingAdd(seconds * 1_000_000_000, ordering: .relaxed) }
    }

    // MARK: What is read

    /// The form of a log-in that held a worker for 44 s, and the list of lists that held one for 16.
    @Test func whatIsTooLongForALogInIsRefusedUnread() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: Self.token)
            let form = (0..<8000).map { "a\($0)=1" }.joined(separator: "&")
            let share = "/ShareWebServices/Services/General/AuthenticatePublisherAccount"
            for (path, body) in [
                ("/login", String(form.prefix(32 << 10))),
                ("/login", "token=" + String(repeating: "x", count: 5000)),
                (share, String(repeating: "[", count: 900_000) + String(repeating: "]", count: 900_000)),
            ] {
                #expect(desk.answer("POST", path, body).status == 413, "\(path)")
                // By its head alone: nothing is read of what says that it is too long.
                let head = WebRequest(
                    method: "POST", target: path,
                    headers: ["host": "127.0.0.1", "content-length": "\(body.utf8.count)"])
                guard case .refused(let refusal) = desk.dashboard.admit(head) else {
                    Issue.record("\(path) is let in")
                    continue
                }
                #expect(refusal.status == 413)
            }
        }
    }

    /// Each open route has a body's limit of its own, and it is small.
    @Test func whatAnybodyMayAskIsSmall() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: Self.token)
            let root = "/ShareWebServices/Services/"
            for (method, path) in [
                ("POST", "/login"), ("POST", "/logout"), ("GET", "/healthz"), ("GET", "/login"),
                ("POST", root + "General/LoginPublisherAccountById"),
                ("POST", root + "Publisher/ReadPublisherLatestGlucoseValues?sessionId=x"),
            ] {
                guard
                    case .admitted(let admitted) = desk.dashboard.admit(
                        WebRequest(method: method, target: path, headers: ["host": "localhost"]))
                else {
                    Issue.record("\(path) is not open")
                    continue
                }
                #expect(admitted.bodyLimit <= 4 << 10 && admitted.bodySeconds <= 5, "\(path)")
            }
        }
    }

    /// Twice as much costs at most twice as much, whatever it says: counted in looks at a byte.
    @Test(arguments: [
        "[", "{\"a\":", "\"\\u0041", "1", "\"a\",", "[[[[[[[[[[1]]]]]]]]]],", "{\"a\":1},", "\\", "\u{0}",
    ])
    func readingJSONIsLinear(_ piece: String) {
        func cost(_ count: Int) -> Int {
            // As a list, so that pieces which are whole are all read.
            var reader = JSONReader<JSONValue>(
                Array(("[" + String(repeating: piece, count: count)).utf8), file: "body")
            _ = try? reader.read()
            return reader.looked
        }
        for count in [100, 1000, 10_000] {
            #expect(cost(2 * count) <= 2 * cost(count) + 100, "\(count) times \(piece)")
            #expect(cost(count) <= 4 * (count * piece.utf8.count + 100))
        }
    }

    @Test(arguments: ["a=1&", "&", "=", "%41", "%", "a%4", "+", "a1=%zz&"])
    func readingAFormIsLinear(_ piece: String) {
        func cost(_ count: Int) -> Int {
            WebFields(Array(String(repeating: piece, count: count).utf8)).looked
        }
        for count in [100, 1000, 10_000] {
            #expect(cost(2 * count) <= 2 * cost(count) + 10, "\(count) times \(piece)")
            #expect(cost(count) <= 3 * count * piece.utf8.count)
        }
    }

    @Test func whatIsReadIsWhatWasWritten() throws {
        func read(_ text: String) throws -> JSONValue { try JSONValue.read(Array(text.utf8), file: "body") }
        #expect(
            try read(#" {"a": [1, -2.5e1, 18446744073709551615, true, null], "b\u00e9": "x\ud83d\ude00\n"} "#)
                == .object([
                    .init("a", .array([.integer(1), .number(-25), .unsigned(.max), .bool(true), .null])),
                    .init("bé", .string("x😀\n")),
                ]))
        for text in [
            "", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "01", "1.", ".5", "+1", "1e999", "nul",
            "\"\\ud800\"",
            "\"\u{1}\"", "1 2", "NaN", "'a'", "[1}", String(repeating: "[", count: 33),
        ] {
            #expect(throws: (any Error).self, "\(text)") { try read(text) }
        }
        #expect(throws: Never.self) {
            try read(String(repeating: "[", count: 32) + String(repeating: "]", count: 32))
        }
        // Whatever is written can be read.
        let written = JSONValue.object([.init("\u{7F}\"\\\u{2028}", .array([.number(0.1), .integer(.min)]))])
        #expect(try read(written.prettyText) == written)
    }

    // MARK: Who guesses

    /// A guess every five seconds is what is left after twenty; the right token waits as long, and other addresses do not.
    @Test func wrongTokensAreSlowedByAddress() throws {
        try withFolder { folder in
            let clock = Clock()
            let desk = try Desk(folder, token: Self.token, guests: Guests { clock.now })
            func ask(_ token: String, from address: String) -> Int {
                var request = WebRequest(
                    method: "GET", target: "/api/sessions",
                    headers: ["host": "localhost", "authorization": "Bearer \(token)"])
                request.address = address
                return desk.dashboard.answer(request).status
            }
            let answers = (0..<1000).map { ask("wrong\($0)", from: "192.0.2.1") }
            #expect(answers.count { $0 == 401 } == 20 && answers.count { $0 == 429 } == 980)
            // It is not compared, or a guess would be told from a slip.
            #expect(ask(Self.token, from: "192.0.2.1") == 429)
            #expect(ask(Self.token, from: "192.0.2.2") == 200)
            clock.pass(seconds: 5)
            #expect(ask("wrong", from: "192.0.2.1") == 401 && ask("wrong", from: "192.0.2.1") == 429)
            clock.pass(seconds: 3600)
            #expect(ask(Self.token, from: "192.0.2.1") == 200)
            // The right one costs nothing, however often.
            #expect((0..<100).allSatisfy { _ in ask(Self.token, from: "192.0.2.1") == 200 })
            // Half of a network of the newer protocol is one guest.
            for guess in 0..<20 { _ = ask("wrong", from: "2001:db8:1:2::\(guess)") }
            #expect(ask("wrong", from: "2001:db8:1:2:ffff::1") == 429)
            #expect(ask("wrong", from: "2001:db8:1:3::1") == 401)
        }
    }

    /// The same guesses by every door that takes a secret.
    @Test func noDoorTakesMoreGuessesThanAnother() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: Self.token)
            let id = try desk.session(from: 1)
            let share = "/ShareWebServices/Services/General/AuthenticatePublisherAccount"
            for _ in 0..<5 {
                _ = desk.answer("POST", "/login", "token=wrong")
                _ = desk.answer("POST", share, #"{"accountName":"\#(id)","password":"wrong"}"#)
                _ = desk.answer("GET", "/ns/\(id)/api/v1/entries.json", headers: ["api-secret": "wrong"])
                _ = desk.answer("GET", "/ns/\(id)/api/v2/authorization/request/wrong")
            }
            for (method, path, body, headers) in [
                ("POST", "/login", "token=wrong", [:]),
                ("POST", share, #"{"accountName":"\#(id)","password":"wrong"}"#, [:]),
                ("GET", "/ns/\(id)/api/v1/entries.json", "", ["api-secret": "wrong"]),
                ("GET", "/ns/\(id)/api/v1/entries.json?token=wrong", "", [:]),
                ("GET", "/ns/\(id)/api/v2/authorization/request/wrong", "", [:]),
                ("GET", "/api/sessions", "", ["authorization": "Bearer wrong"]),
            ] {
                #expect(desk.answer(method, path, body, headers: headers).status == 429, "\(path)")
            }
            #expect(desk.answer("GET", "/healthz").status == 200)
        }
    }

    @Test func logInsAreRated() throws {
        try withFolder { folder in
            let clock = Clock()
            let desk = try Desk(folder, guests: Guests { clock.now })
            let answers = (0..<100).map { _ in desk.answer("POST", "/logout").status }
            #expect(answers.count { $0 == 303 } == 30 && answers.count { $0 == 429 } == 70)
            clock.pass(seconds: 1)
            #expect(desk.answer("POST", "/logout").status == 303)
        }
    }

    // MARK: Who is logged in

    private func logIn(_ desk: Desk) throws -> [String: String] {
        let login = desk.dashboard.answer(
            WebRequest(
                method: "POST", target: "/login", headers: ["host": "127.0.0.1"],
                body: Array("token=\(Self.token)".utf8)))
        let said = try #require(login.headers.first { $0.name == "set-cookie" }?.value)
        #expect(said.contains("Max-Age="))
        return ["cookie": String(said.prefix { $0 != ";" })]
    }

    /// A cookie that somebody copied opens nothing once its browser has logged out, nor after the server was started anew.
    @Test func aLogoutRevokes() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: Self.token)
            let (here, there) = (try logIn(desk), try logIn(desk))
            #expect(here != there)
            #expect(desk.answer("GET", "/api/sessions", headers: here).status == 200)
            #expect(desk.answer("POST", "/logout", headers: here).status == 303)
            #expect(desk.answer("GET", "/api/sessions", headers: here).status == 401)
            // Who logs out here is not logged out there.
            #expect(desk.answer("GET", "/api/sessions", headers: there).status == 200)
            let kept = try String(contentsOfFile: folder + "/logins.json", encoding: .utf8)
            #expect(there["cookie"].map { !kept.contains($0.dropFirst(6)) } == true)
            desk.ward.close()
            let again = try Desk(folder, token: Self.token)
            #expect(again.answer("GET", "/api/sessions", headers: here).status == 401)
            // A page that shows alerts by night outlives a start of the server.
            #expect(again.answer("GET", "/api/sessions", headers: there).status == 200)
            again.ward.close()
            // Another token logs everybody out.
            let other = try Desk(folder, token: Self.token + "x")
            #expect(other.answer("GET", "/api/sessions", headers: there).status == 401)
        }
    }

    @Test func aCookieExpires() {
        let days = Days()
        let logins = Logins(token: Self.token, path: nil, now: { days.seconds })
        let (used, unused) = (logins.begin(), logins.begin())
        for _ in 0..<4 {
            days.pass(20)
            #expect(logins.isIn(used))
        }
        #expect(!logins.isIn(unused))
        // However often it is used.
        days.pass(11)
        #expect(!logins.isIn(used))
    }

    private final class Days: Sendable {
        private let value = Atomic<Int64>(1_700_000_000)
        var seconds: Int64 { value.load(ordering: .relaxed) }
        func pass(_ days: Int64) { value.wrappingAdd(days * 86_400, ordering: .relaxed) }
    }

    /// A page that is shown goes dark when its browser is logged out.
    @Test func aStreamEndsWithItsLogin() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "ward-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let desk = try Desk(folder, token: Self.token)
        let cookie = try logIn(desk)
        var headers = cookie
        headers["host"] = "127.0.0.1"
        let answer = desk.dashboard.answer(WebRequest(method: "GET", target: "/api/events", headers: headers))
        guard case .stream(let stream) = answer.body else {
            Issue.record("no stream")
            return
        }
        var source = stream()
        #expect(await source.next() != nil)
        #expect(desk.answer("POST", "/logout", headers: cookie).status == 303)
        #expect(await source.next() == nil)
        source.end()
    }

    /// One address takes the streams of no other.
    @Test func streamsAreCountedByAddress() throws {
        try withFolder { folder in
            let desk = try Desk(folder, guests: Guests(streamLimit: 3) { 0 })
            var open: [any TextSource] = []
            func follow(from address: String) -> Int {
                var request = WebRequest(method: "GET", target: "/api/events", headers: ["host": "localhost"])
                request.address = address
                let answer = desk.dashboard.answer(request)
                if case .stream(let stream) = answer.body { open.append(stream()) }
                return answer.status
            }
            #expect((0..<5).map { _ in follow(from: "192.0.2.1") } == [200, 200, 200, 503, 503])
            #expect(follow(from: "192.0.2.2") == 200)
            open[0].end()
            #expect(follow(from: "192.0.2.1") == 200)
            for source in open.dropFirst() { source.end() }
        }
    }
}
