// Apps that people have, against a session: what they read, what they post, and who they may be.

import Foundation
import IsletDevices
import IsletKernel
import IsletTrials
import Synchronization
import Testing

@testable import Dashboard
@testable import IsletLive

@Suite("Follower apps read, post and are refused with the reason") struct FollowerTests {
    private func array(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    private func time(_ desk: Desk, _ id: String, minutesAgo: Double) throws -> String {
        let status = desk.answer("GET", "/ns/\(id)/api/v1/status.json").json
        let now = try #require(status["serverTimeEpoch"] as? Int)
        return NightscoutDocuments.utc(milliseconds: Int64(now) - Int64(minutesAgo * 60_000))
    }

    /// The state, but for what a refusal's line and a look change.
    private func state(_ desk: Desk, _ id: String) -> (digest: String, treatments: Int) {
        let view = desk.ward.view(id)
        return ("\(String(describing: view?.live.digest))", view?.live.treatments?.count ?? 0)
    }

    // MARK: Reading

    @Test func everyPathAnswersWithAndWithoutJSON() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            for path in [
                "status", "verifyauth", "entries", "entries/sgv", "entries/current", "treatments",
                "devicestatus", "profile", "profiles", "profile/current",
            ] {
                let (with, without) = (
                    desk.answer("GET", "/ns/\(id)/api/v1/\(path).json"),
                    desk.answer("GET", "/ns/\(id)/api/v1/\(path)")
                )
                #expect(with.status == 200 && with.text == without.text && with.text.count > 10, "\(path)")
            }
            for path in [
                "version", "status", "lastModified", "entries", "treatments", "devicestatus", "profile",
            ] {
                let answer = desk.answer("GET", "/ns/\(id)/api/v3/\(path)")
                #expect(answer.status == 200 && answer.json["status"] as? Int == 200, "\(path)")
                #expect(answer.json["result"] != nil)
            }
            let device = try #require(
                try array(desk.answer("GET", "/ns/\(id)/api/v1/devicestatus").text).first)
            let board = (device["loop"] as? [String: Any])?["iob"] as? [String: Any]
            let shown = try #require(desk.ward.view(id)?.live.insulinOnBoard)
            #expect(abs((board?["iob"] as? Double ?? .nan) - shown) < 0.001, "\(device)")
            let entry = try #require(
                try array(desk.answer("GET", "/ns/\(id)/api/v1/entries/current").text).first)
            let known = try #require(entry["_id"] as? String)
            #expect(try array(desk.answer("GET", "/ns/\(id)/api/v1/entries/\(known).json").text).count == 1)
            let one = desk.answer("GET", "/ns/\(id)/api/v3/entries/\(known)?fields=sgv,date")
            #expect((one.json["result"] as? [String: Any])?.count == 2, "\(one.text)")
            #expect(desk.answer("GET", "/ns/\(id)/api/v3/entries/nothing").status == 404)
            let date = try #require(entry["date"] as? Int)
            let news = desk.answer("GET", "/ns/\(id)/api/v3/entries/history/\(date - 600_001)")
            #expect((news.json["result"] as? [Any])?.count == 3, "\(news.text)")
            #expect(desk.answer("GET", "/ns/\(id)/api/v3/food").status == 404)
            #expect(desk.answer("DELETE", "/ns/\(id)/api/v1/treatments/\(known)").status == 404)
            #expect(desk.answer("PUT", "/ns/\(id)/api/v1/treatments").status == 405)
        }
    }

    @Test func aDeltaIsWhatGlucoseDidInFiveMinutes() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let rows = try #require(desk.ward.view(id)).log.readings
            let entries = try array(desk.answer("GET", "/ns/\(id)/api/v1/entries.json?count=0").text)
            #expect(entries.count == rows.count && rows.count > 200)
            for (entry, place) in zip(entries.reversed(), rows.indices) {
                let delta = try #require(entry["delta"] as? Double)
                guard place > 0, rows[place].instant.minutes - rows[place - 1].instant.minutes < 5.01 else {
                    continue
                }
                #expect(abs(delta - (rows[place].mgdl - rows[place - 1].mgdl)) < 0.02)
            }
            #expect(entries.contains { abs($0["delta"] as? Double ?? 0) > 0.5 })
        }
    }

    @Test func shareSaysItsTimeWithTheOffset() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let root = "/ShareWebServices/Services"
            let session = desk.answer(
                "POST", root + "/General/LoginPublisherAccountByName",
                #"{"accountName":"\#(id)","password":"x","applicationId":"x"}"#
            ).text.trimmingCharacters(in: ["\""])
            let answer = desk.answer(
                "POST",
                root
                    + "/Publisher/ReadPublisherLatestGlucoseValues?sessionId=\(session)&minutes=60&maxCount=2"
            )
            let values = try array(answer.text)
            let entries = try array(desk.answer("GET", "/ns/\(id)/api/v1/entries.json?count=2").text)
            #expect(values.count == 2)
            for (value, entry) in zip(values, entries) {
                let date = try #require(entry["date"] as? Int)
                #expect(
                    value["DT"] as? String == "Date(\(date)-0500)"
                        && value["WT"] as? String == "Date(\(date))")
                #expect(value["Value"] as? Int == entry["sgv"] as? Int)
            }
        }
    }

    /// The pump's doses, the person's meals and the profile by which the loop doses.
    @Test func treatmentsAndProfileAreTheSessions() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let view = try #require(desk.ward.view(id))
            let treatments = try array(desk.answer("GET", "/ns/\(id)/api/v1/treatments").text)
            func sum(_ name: String) -> Double { treatments.reduce(0) { $0 + ($1[name] as? Double ?? 0) } }
            let given = view.log.deliveries.reduce(0) { $0 + $1.units }
            let eaten = view.log.person.filter { [.meal, .rescue].contains($0.kind) }.reduce(0) {
                $0 + $1.amount
            }
            #expect(given > 5 && abs(sum("insulin") - given) < 1e-6)
            #expect(eaten > 50 && abs(sum("carbs") - eaten) < 1e-6)
            #expect(Set(treatments.compactMap { $0["_id"] as? String }).count == treatments.count)
            let profile = try #require(
                try array(desk.answer("GET", "/ns/\(id)/api/v1/profile.json").text).first)
            let store = try #require((profile["store"] as? [String: [String: Any]])?["Islet"])
            let basal = (store["basal"] as? [[String: Any]])?.first?["value"] as? Double
            #expect(abs((basal ?? 0) - (view.live.therapy?.basalRate.unitsPerHour ?? -1)) < 0.001)
            #expect(store["timezone"] as? String == "Etc/GMT+5")
        }
    }

    /// Harm: an app takes a session that is still being lived again for one without a reading.
    @Test func whatIsNotBackYetSaysSo() throws {
        try withFolder { folder in
            let id: String
            do {
                let desk = try Desk(folder)
                id = try desk.session(from: 3)
                desk.ward.close()
            }
            let desk = try Desk(folder, isBack: false)
            for path in ["v1/entries.json", "v3/entries", "v1/status.json"] {
                #expect(desk.answer("GET", "/ns/\(id)/api/\(path)").status == 503, "\(path)")
            }
            #expect(desk.answer("POST", "/ns/\(id)/api/v1/treatments", #"{"insulin":1}"#).status == 503)
            desk.ward.bringBack()
            #expect(desk.answer("GET", "/ns/\(id)/api/v1/entries.json").status == 200)
        }
    }

    private static let share = "/ShareWebServices/Services"

    private func shareSession(_ desk: Desk, _ id: String) -> String {
        desk.answer(
            "POST", Self.share + "/General/LoginPublisherAccountByName",
            #"{"accountName":"\#(id)","password":"x","applicationId":"x"}"#
        ).text.trimmingCharacters(in: ["\""])
    }

    private func retryAfter(_ desk: Desk, _ path: String) -> String? {
        desk.dashboard.answer(
            WebRequest(method: "GET", target: path, headers: ["host": "127.0.0.1:8080"])
        ).headers.first { $0.name == "retry-after" }?.value
    }

    /// Harm: after a restart a journal is damaged; an app that watches its person is told "ok", shows nothing, and alarms nobody.
    @Test func whatCouldNotGoOnIsNoHealthyServerWithoutData() throws {
        try withFolder { folder in
            let (desk, id, path, whole) = try Desk.damaged(in: folder, from: 3)
            for path in [
                "v1/status.json", "v1/verifyauth", "v1/entries.json", "v1/entries/current", "v1/treatments",
                "v1/devicestatus", "v1/profile/current", "v3/version", "v3/status", "v3/lastModified",
                "v3/entries", "v3/entries/history/0",
            ] {
                let answer = desk.answer("GET", "/ns/\(id)/api/\(path)")
                #expect(answer.status == 503 && answer.json["code"] as? String == "failed", "\(path)")
                #expect(answer.json["status"] as? Int == 503, "\(path)")
            }
            // What doesn't mend by itself names no time.
            #expect(retryAfter(desk, "/ns/\(id)/api/v1/status.json") == nil)
            let posted = #"{"insulin":1,"date":1772449200000,"identifier":"pen 1"}"#
            for (path, body) in [
                ("v1/treatments", posted), ("v1/treatments", "[\(posted)]"), ("v1/treatments", "[]"),
                ("v3/treatments", posted),
            ] {
                let answer = desk.answer("POST", "/ns/\(id)/api/\(path)", body)
                #expect(answer.status == 503, "\(path): \(answer.text)")
            }
            let newest =
                Self.share
                + "/Publisher/ReadPublisherLatestGlucoseValues?sessionId=\(shareSession(desk, id))"
            #expect(desk.answer("POST", newest).status == 503)
            try whole.write(to: URL(filePath: path))
            #expect(desk.answer("POST", "/api/sessions/\(id)/resume", "{}").status == 200)
            #expect(desk.answer("GET", "/ns/\(id)/api/v1/status.json").json["status"] as? String == "ok")
            #expect(try array(desk.answer("POST", newest).text).count > 20)
            // The same of one that stops while the server goes on; it is tried again by itself.
            fillDisk(under: path)
            #expect(desk.tell(id, #"{"command":"target","mgdl":140}"#).status == 409)
            #expect(desk.answer("GET", "/ns/\(id)/api/v1/entries.json").status == 503)
            #expect(retryAfter(desk, "/ns/\(id)/api/v1/entries.json") == "60")
            #expect(desk.answer("POST", newest).status == 503)
        }
    }

    // MARK: Posting

    /// Harm: a session can't hear of a pen's insulin just now, its app takes 409 for the last word, and the loop never counts it.
    @Test func whatCantBeHeardNowIsToBePostedAgain() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let (id, token) = try desk.driven(study)
            let root = "/api/sessions/\(id)"
            let held = desk.answer("POST", root + "/advance", "{\"driver\":\"\(token)\"}")
            let step = try #require((held.json["step"] as? [String: Any])?["step"] as? Int)
            let v1 = "/ns/\(id)/api/v1/treatments"
            let pen = #"{"insulin":1,"identifier":"pen 1"}"#
            for body in [pen, "[\(pen)]", #"[{"insulin":"two"},\#(pen)]"#] {
                let answer = desk.answer("POST", v1, body)
                #expect(answer.status == 503 && answer.json["code"] as? String == "held", "\(answer.text)")
            }
            let dose = "{\"driver\":\"\(token)\",\"step\":\(step),\"basal\":0.05}"
            #expect(desk.answer("POST", root + "/act", dose).status == 200)
            #expect(desk.answer("POST", v1, pen).status == 200)
            #expect(state(desk, id).treatments == 1)
        }
    }

    @Test func postedTwiceOrByTwoAppsItIsOne() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let at = try time(desk, id, minutesAgo: 3)
            let body =
                #"{"eventType":"Correction Bolus","insulin":"1.5","created_at":"\#(at)","enteredBy":"pen","notes":"left arm"}"#
            let v1 = "/ns/\(id)/api/v1/treatments"
            let first = desk.answer("POST", v1, body)
            let posted = try #require(try array(first.text).first)
            #expect(
                first.status == 200 && posted["insulin"] as? Double == 1.5
                    && posted["notes"] as? String == "left arm")
            #expect(posted["created_at"] as? String == at && OurID.isOurs(posted["_id"] as? String ?? ""))
            let before = state(desk, id)
            #expect(before.treatments == 1)
            // Again, as a list, and as the third version has it.
            #expect(desk.answer("POST", v1 + ".json", body).text == first.text)
            #expect(desk.answer("POST", v1, "[\(body),\(body)]").status == 200)
            // Another app has read it here, and says it as it stands.
            let read = try #require(
                try array(desk.answer("GET", v1 + "?find[insulin][$gte]=1&find[notes]=left arm").text).first)
            let again = String(decoding: try JSONSerialization.data(withJSONObject: read), as: UTF8.self)
            #expect(desk.answer("POST", v1, again).status == 200)
            #expect(state(desk, id) == before)
            // The same id, and something else.
            let other = desk.answer("POST", v1, body.replacing("1.5", with: "2"))
            #expect(other.status == 409 && other.json["code"] as? String == "says-other")
            #expect(state(desk, id).treatments == 1)
            let third =
                #"{"date":\#(Int(Date().timeIntervalSince1970)),"identifier":"z-9","carbs":20,"app":"AAPS"}"#
            #expect(desk.answer("POST", "/ns/\(id)/api/v3/treatments", third).status == 409)
            let now =
                try #require(desk.answer("GET", "/ns/\(id)/api/v3/version").json["result"] as? [String: Any])[
                    "srvDate"] as? Int
            let right = #"{"date":\#(try #require(now)),"identifier":"z-9","carbs":20,"app":"AAPS"}"#
            let created = desk.answer("POST", "/ns/\(id)/api/v3/treatments", right)
            #expect(
                created.status == 201 && created.json["isDeduplication"] as? Bool == false, "\(created.text)")
            let found = desk.answer("GET", "/ns/\(id)/api/v3/treatments/z-9")
            #expect((found.json["result"] as? [String: Any])?["carbs"] as? Double == 20, "\(found.text)")
            let repeated = desk.answer("POST", "/ns/\(id)/api/v3/treatments", right)
            #expect(repeated.status == 200 && repeated.json["isDeduplication"] as? Bool == true)
            #expect(state(desk, id).treatments == 2)
        }
    }

    /// Two apps at once, and their repeats.
    @Test func saidAtOnceByManyItIsOne() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let statuses = Mutex<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 24) { place in
                let body = #"{"insulin":1,"identifier":"same","enteredBy":"app \#(place % 2)"}"#
                let answer = desk.answer("POST", "/ns/\(id)/api/v1/treatments", body)
                statuses.withLock { $0.append(answer.status) }
            }
            #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 24))
            #expect(state(desk, id).treatments == 1)
            let given = desk.ward.view(id)?.log.person.filter { $0.kind == .manualBolus }.count
            #expect(given == 1)
        }
    }

    @Test func whatIsNoTreatmentIsRefusedByItsField() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let (late, old, soon) = (
                try time(desk, id, minutesAgo: 470), try time(desk, id, minutesAgo: 481),
                try time(desk, id, minutesAgo: -3)
            )
            let own = try #require(
                try array(desk.answer("GET", "/ns/\(id)/api/v1/treatments?count=1").text).first)
            let ours = String(decoding: try JSONSerialization.data(withJSONObject: own), as: UTF8.self)
            let before = state(desk, id)
            for (body, status, words) in [
                (#"{"eventType":"Temp Basal","duration":30,"rate":1}"#, 400, "duration"),
                (#"{"eventType":"Combo Bolus","insulin":2,"duration":60}"#, 400, "duration"),
                (#"{"eventType":"Bolus","insulin":2,"isBasalInsulin":true}"#, 400, "isBasalInsulin"),
                (#"{"eventType":"Meal Bolus","carbs":30,"preBolus":15}"#, 400, "preBolus"),
                (#"{"eventType":"Note","notes":"hello"}"#, 400, "eventType"),
                (#"{"eventType":"Bolus","insulin":-1}"#, 400, "insulin"),
                (#"{"eventType":"Bolus","insulin":"two"}"#, 400, "insulin"),
                (#"{"eventType":"Bolus","insulin":[1]}"#, 400, "insulin"),
                (#"{"eventType":"Bolus","insulin":1,"created_at":"yesterday"}"#, 400, "created_at"),
                (#"{"eventType":"Bolus","insulin":1,"created_at":"\#(old)"}"#, 409, "8 h"),
                (#"{"eventType":"Bolus","insulin":1,"created_at":"\#(soon)"}"#, 409, "clock"),
                (#"{"eventType":"Bolus","insulin":90}"#, 409, "insulin"),
                (#"{"eventType":"Bolus","insulin":1,"enteredBy":"Islet"}"#, 409, "itself"),
                (ours, 409, "itself"), ("[\(ours)]", 409, "refused"), ("{", 400, "JSON"),
                ("3", 400, "object"), ("", 400, "JSON"),
                (#"{"insulin":1,"notes":"\#(String(repeating: "x", count: 4200))"}"#, 413, "4096"),
                (#"{"insulin":1e999}"#, 400, "JSON"),
            ] {
                let answer = desk.answer("POST", "/ns/\(id)/api/v1/treatments", body)
                #expect(
                    answer.status == status && answer.text.contains(words),
                    "\(body.prefix(90)): \(answer.status) \(answer.text)")
            }
            #expect(state(desk, id).treatments == before.treatments)
            #expect(
                desk.answer("POST", "/ns/\(id)/api/v3/treatments", #"{"insulin":1}"#).text.contains("date"))
            #expect(
                desk.answer("POST", "/ns/\(id)/api/v1/treatments?count=1", #"{"insulin":1}"#).text.contains(
                    "count"))
            // One that is refused keeps no other out.
            let some = desk.answer(
                "POST", "/ns/\(id)/api/v1/treatments",
                #"[{"insulin":1,"created_at":"\#(late)","identifier":"l"},{"insulin":1,"created_at":"\#(old)"}]"#
            )
            #expect(
                some.status == 409 && (some.json["taken"] as? [Any])?.count == 1
                    && (some.json["refused"] as? [[String: Any]])?.first?["place"] as? Int == 1)
            #expect(state(desk, id).treatments == before.treatments + 1)
        }
    }

    /// Nobody posts without the secret.
    @Test func aPostNeedsTheSecret() throws {
        try withFolder { folder in
            let desk = try Desk(folder, token: "a token of these tests")
            let id = try desk.session(from: 3)
            for path in ["/ns/\(id)/api/v1/treatments", "/ns/\(id)/api/v3/treatments"] {
                #expect(desk.answer("POST", path, #"{"insulin":1}"#).status == 401)
            }
            let secret = ["api-secret": desk.dashboard.door.apiSecretHash]
            #expect(
                desk.answer("POST", "/ns/\(id)/api/v1/treatments", #"{"insulin":1}"#, headers: secret).status
                    == 200)
            #expect(
                desk.answer("POST", "/ns/nobody/api/v1/treatments", #"{"insulin":1}"#, headers: secret).status
                    == 404)
        }
    }
}
