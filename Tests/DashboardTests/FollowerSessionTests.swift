// Sessions for an app's own tests, with a clock that may be the wall's; and pages elsewhere that may ask.

import Foundation
import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import Dashboard
@testable import IsletLive

@Suite("An app's tests have people of their own, and pages elsewhere only where they are named")
struct FollowerSessionTests {
    private func array(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    // MARK: Sessions for an app's tests

    @Test func aSessionIsMadeWithNameAgeGroupScenarioAndClock() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let made = desk.answer(
                "POST", "/api/sessions",
                #"{"person":"child","scenario":"plain","name":"Test 7","seed":7,"start":"now-05:00"}"#)
            let id = try #require(made.json["id"] as? String)
            let view = try #require(desk.ward.view(id))
            #expect(view.name == "Test 7" && view.calendar.offsetSeconds == -5 * 3600)
            // An app that judges age by its own clock sees minutes, the newest reading's, and a day of history.
            let entries = try array(desk.answer("GET", "/ns/\(id)/api/v1/entries.json?count=0").text)
            let newest = try #require(entries.first?["date"] as? Double) / 1000
            let age = Date().timeIntervalSince1970 - newest
            #expect((-1..<400).contains(age), "\(age)")
            #expect(entries.count > 250)
            #expect(desk.answer("DELETE", "/api/sessions/\(id)").status == 204)
            for (body, words) in [
                (#"{"person":"baby"}"#, "person"), (#"{"person":"adult","scenario":"war"}"#, "scenario"),
                (#"{"person":"adult","seed":-1}"#, "seed"), (#"{"person":"adult","session":1}"#, "session"),
                (#"{"person":"adult","start":"tomorrow"}"#, "start"),
                (#"{"person":"adult","history_hours":100}"#, "history_hours"),
                (#"{"room":"seedling","start":"now"}"#, "start"), (#"{"room":"seedling","seed":3}"#, "seed"),
                (#"{"person":"adult","room":"seedling"}"#, "expected one of"),
            ] {
                let answer = desk.answer("POST", "/api/sessions", body)
                #expect(answer.status == 422 && answer.text.contains(words), "\(body): \(answer.text)")
            }
            let at = desk.answer(
                "POST", "/api/sessions",
                #"{"person":"adult","start":"2026-03-02T06:00:00Z","history_hours":0,"pace":"paused"}"#)
            let other = try #require(desk.ward.view(at.json["id"] as? String ?? ""))
            #expect(other.calendar.startEpochSeconds == 1_772_431_200 && other.now == .start)
            // The same seed is the same person.
            func glucose(_ seed: Int) throws -> String {
                let body =
                    #"{"person":"adult","seed":\#(seed),"start":"2026-03-02T06:00:00Z","history_hours":2,"pace":"paused"}"#
                let id = try #require(desk.answer("POST", "/api/sessions", body).json["id"] as? String)
                return "\(try #require(desk.ward.view(id)).log.readings.map(\.mgdl))"
            }
            #expect(try glucose(3) == glucose(3) && glucose(3) != glucose(4))
        }
    }

    /// A study's text may be begun now, too, and stays so when the server comes back.
    @Test func aStudyBeginsNow() throws {
        try withFolder { folder in
            let id: String
            do {
                let desk = try Desk(folder)
                let body = try JSONSerialization.data(withJSONObject: [
                    "study_text": study, "start": "now", "history_hours": 3, "pace": "paused",
                ])
                let made = desk.answer("POST", "/api/sessions", String(decoding: body, as: UTF8.self))
                id = try #require(made.json["id"] as? String)
                desk.ward.close()
            }
            let desk = try Desk(folder)
            let status = desk.answer("GET", "/ns/\(id)/api/v1/status.json").json["serverTimeEpoch"] as? Double
            #expect(abs(Date().timeIntervalSince1970 - (status ?? 0) / 1000) < 120)
        }
    }

    @Test func aWardsFileSaysWhenItsSessionsBegin() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try study.write(toFile: folder + "/s.yaml", atomically: true, encoding: .utf8)
            func read(_ start: String) throws -> SessionRequest.Start {
                let text = "ward: w\nsessions:\n  - { name: A, study: s.yaml, start: \(start), from: 3h }\n"
                try text.write(toFile: folder + "/w.yaml", atomically: true, encoding: .utf8)
                return try #require(try WardFile.read(folder + "/w.yaml").sessions.first).start
            }
            guard case .now(let minutes) = try read("now-05:00") else {
                Issue.record("no session that begins now")
                return
            }
            #expect(minutes == -300)
            for odd in ["soon", "now+25:00", "nowZZ", "2026-02-30T00:00:00Z"] {
                #expect(throws: InputError.self, "\(odd)") { try read(odd) }
            }
        }
    }

    // MARK: Pages elsewhere

    private func answer(
        _ origins: [String], _ method: String, _ path: String, _ headers: [String: String],
        token: String? = nil
    ) throws -> WebResponse {
        try withFolder { folder in
            let ward = try Ward(Ward.Options(folder: folder))
            let dashboard = Dashboard(
                ward: ward, news: WardNews(ward.host), door: WebDoor(token: token, origins: origins))
            return dashboard.answer(
                WebRequest(
                    method: method, target: path, headers: ["host": "127.0.0.1:8080"].merging(headers) { $1 })
            )
        }
    }

    @Test func aPageElsewhereReadsOnlyWhereItsOriginIsNamed() throws {
        func allowed(_ response: WebResponse) -> String? {
            response.headers.first { $0.name == "access-control-allow-origin" }?.value
        }
        let (named, path) = ("http://localhost:3000", "/ns/x/api/v1/entries.json")
        let from = ["origin": named]
        #expect(allowed(try answer([], "GET", path, from)) == nil)
        #expect(allowed(try answer([named], "GET", path, from)) == named)
        #expect(allowed(try answer([named], "GET", "/healthz", from)) == nil)
        #expect(allowed(try answer([named], "GET", "/", from)) == nil)
        for other in [
            "http://localhost:3001", "https://localhost:3000", "http://localhost:3000.evil.example", "null",
            "*",
        ] {
            #expect(allowed(try answer([named], "GET", path, ["origin": other])) == nil, "\(other)")
            #expect(try answer([named], "POST", "/ns/x/api/v1/treatments", ["origin": other]).status == 403)
        }
        let asks = ["origin": named, "access-control-request-method": "POST", "sec-fetch-site": "cross-site"]
        let preflight = try answer([named], "OPTIONS", path, asks, token: "secret of the test")
        #expect(preflight.status == 204 && allowed(preflight) == named)
        #expect(
            preflight.headers.contains {
                $0.name == "access-control-allow-headers" && $0.value.contains("Api-Secret")
            })
        #expect(!preflight.headers.contains { $0.name == "access-control-allow-credentials" })
        #expect(try answer([], "OPTIONS", path, asks).status == 403)
        #expect(
            try answer([named], "OPTIONS", path, asks.merging(["host": "evil.example"]) { $1 }).status == 421)
        #expect(try answer([named], "OPTIONS", "/login", asks).status == 403)
        #expect(
            try answer(
                [named], "POST", "/ns/x/api/v1/treatments",
                from.merging(["sec-fetch-site": "cross-site"]) { $1 }
            ).status == 404)
        for text in [
            "*", "null", "localhost:3000", "http://", "http://a/b", "http://a:99999", "http://a b", "ftp://a",
        ] {
            #expect(WebDoor.origin(text) == nil, "\(text)")
        }
        #expect(WebDoor.origin("HTTPS://App.Example:8443") == "https://app.example:8443")
    }
}
