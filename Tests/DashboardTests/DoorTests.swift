import Dashboard
import Foundation
import Testing
import IsletLive

@Suite struct DoorTests {
    private static let token = "0123456789abcdef0123"

    /// No other site's name can be bound to the page of this machine.
    @Test func onlyItsOwnNamesAreAnswered() throws {
        try withFolder { folder in
            let desk = try Desk(folder, names: ["ward.example"])
            for host in ["127.0.0.1", "localhost:9", "[::1]:80", "ward.example:443", "WARD.example"] {
                #expect(desk.answer("GET", "/healthz", headers: ["host": host]).status == 200, "\(host)")
            }
            for host in [
                "evil.example", "127.0.0.1.evil.example", "", "ward.example.evil", "169.254.169.254",
            ] {
                #expect(desk.answer("GET", "/healthz", headers: ["host": host]).status == 421, "\(host)")
            }
        }
    }

    /// What another site has a browser send changes nothing.
    @Test func requestsFromOtherSitesChangeNothing() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let before = desk.answer("GET", "/api/sessions/\(id)").text
            for headers in [
                ["origin": "http://evil.example"], ["origin": "null"], ["origin": "https://127.0.0.1:8080"],
                ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
            ] {
                for (method, path) in [
                    ("POST", "/api/sessions/\(id)/commands"), ("DELETE", "/api/sessions/\(id)"),
                ] {
                    let answer = desk.answer(method, path, #"{"command":"suspend"}"#, headers: headers)
                    #expect(answer.status == 403, "\(method) \(headers)")
                }
            }
            #expect(desk.answer("GET", "/api/sessions/\(id)").text == before)
            let own = desk.answer(
                "POST", "/api/sessions/\(id)/commands", #"{"command":"target","mgdl":120}"#,
                headers: ["origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin"])
            #expect(own.status == 202)
        }
    }

    /// A proxy speaks TLS for it: what a browser says then is the name's https, and no other's.
    @Test func behindAProxyItsNamesPagesAreItsOwn() throws {
        try withFolder { folder in
            let desk = try Desk(folder, names: ["ward.example"])
            let id = try desk.session(from: 1)
            func post(_ host: String, from origin: String) -> Int {
                desk.answer(
                    "POST", "/api/sessions/\(id)/commands", #"{"command":"target","mgdl":120}"#,
                    headers: ["host": host, "origin": origin, "sec-fetch-site": "same-origin"]
                ).status
            }
            #expect(post("ward.example", from: "https://ward.example") == 202)
            #expect(post("ward.example", from: "http://ward.example") == 202)
            #expect(post("ward.example", from: "https://evil.example") == 403)
            #expect(post("ward.example", from: "https://ward.example.evil") == 403)
            #expect(post("ward.example", from: "https://ward.example:444") == 403)
            #expect(post("127.0.0.1:8080", from: "https://127.0.0.1:8080") == 403)
        }
    }

    @Test func withATokenNothingIsToldWithoutIt() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: Self.token)
            let id = try desk.session(from: 1)
            #expect(desk.answer("GET", "/healthz").status == 200)
            for path in [
                "/", "/api/sessions", "/api/sessions/\(id)", "/api/sessions/\(id)/events", "/sessions/\(id)",
                "/metrics", "/pages/\(id)/home/fragments", "/ns/\(id)/api/v1/entries.json", "/api/studies",
            ] {
                #expect(desk.answer("GET", path).status == 401, "\(path)")
                #expect(desk.answer("GET", path, headers: ["authorization": "Bearer wrong"]).status == 401)
                #expect(desk.answer("GET", path, headers: ["cookie": "islet="]).status == 401)
            }
            #expect(desk.answer("GET", "/", headers: ["accept": "text/html"]).status == 303)
            let bearer = ["authorization": "Bearer \(Self.token)"]
            #expect(desk.answer("GET", "/api/sessions", headers: bearer).status == 200)
            #expect(desk.answer("POST", "/login", "token=wrong").status == 401)
            let login = desk.dashboard.answer(
                WebRequest(
                    method: "POST", target: "/login", headers: ["host": "127.0.0.1"],
                    body: Array("token=\(Self.token)".utf8)))
            let cookie = login.headers.first { $0.name == "set-cookie" }?.value ?? ""
            #expect(login.status == 303 && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            // What apps are given opens glucose, and nothing else.
            let door = desk.dashboard.door
            #expect(!cookie.contains(Self.token) && !cookie.contains(door.apiSecret))
            let secret = ["api-secret": door.apiSecret]
            #expect(desk.answer("GET", "/ns/\(id)/api/v1/entries.json", headers: secret).status == 200)
            #expect(desk.answer("GET", "/api/sessions", headers: secret).status == 401)
            let asBearer = ["authorization": "Bearer \(door.apiSecret)"]
            #expect(desk.answer("GET", "/api/sessions", headers: asBearer).status == 401)
        }
    }

    /// Dexcom Share's log-in, as its clients do it: name, id, session, values.
    @Test func shareGivesGlucoseForItsOwnPassword() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: Self.token)
            let id = try desk.session(from: 3)
            let root = "/ShareWebServices/Services"
            func log(_ password: String) -> (status: Int, text: String) {
                let answer = desk.answer(
                    "POST", root + "/General/AuthenticatePublisherAccount",
                    #"{"accountName":"\#(id)","password":"\#(password)","applicationId":"x"}"#)
                return (answer.status, answer.text.trimmingCharacters(in: ["\""]))
            }
            #expect(log("wrong").status == 401 && log(Self.token).status == 401)
            let account = log(desk.dashboard.door.sharePassword)
            #expect(account.status == 200 && UUID(uuidString: account.text) != nil)
            let session = desk.answer(
                "POST", root + "/General/LoginPublisherAccountById",
                #"{"accountId":"\#(account.text)","password":"\#(desk.dashboard.door.sharePassword)","applicationId":"x"}"#
            ).text.trimmingCharacters(in: ["\""])
            #expect(UUID(uuidString: session) != nil && session != account.text)
            let values = desk.answer(
                "POST",
                root
                    + "/Publisher/ReadPublisherLatestGlucoseValues?sessionId=\(session)&minutes=60&maxCount=3",
                "")
            #expect(values.status == 200 && values.text.contains("\"Value\":"))
            let other = desk.answer(
                "POST", root + "/Publisher/ReadPublisherLatestGlucoseValues?sessionId=\(account.text)", "")
            #expect(other.status == 401)
        }
    }
}
