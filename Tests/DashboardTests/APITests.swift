import Dashboard
import Foundation
import IsletLive
import Testing

@Suite struct APITests {
    /// What isn't understood, or makes no sense, is a refusal with a reason, and changes nothing that was.
    @Test func whatMakesNoSenseIsRefusedWithAReason() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
            for body in [
                "", "{", "null", "[]", "\"meal\"", "{}", #"{"command":"meel"}"#, #"{"command":"meal"}"#,
                #"{"command":"meal","grams":"40"}"#, #"{"command":"meal","grams":1e999}"#,
                #"{"command":"meal","grams":-5}"#, #"{"command":"meal","grams":40,"gram":4}"#,
                #"{"command":"meal","grams":40,"key":""}"#, #"{"command":"meal","grams":40,"key":"-"}"#,
                #"{"command":"meal","grams":40,"key":"a b"}"#, #"{"command":"requestBolus","units":99}"#,
                #"{"command":"confirmBolus","request":1,"units":2}"#,
                #"{"command":"temporaryBasal","percent":50,"minutes":7}"#,
                #"{"command":"threshold","metric":"glucose","low":180,"high":70}"#,
                #"{"command":"threshold","metric":"vpd","low":1,"high":2}"#,
                #"{"command":"quietHours","from":"25:00","to":"07:00"}"#,
                #"{"command":"quietHours","from":"22:00","to":null}"#,
                #"{"command":"pace","pace":"-1"}"#, #"{"command":"acknowledge","alert":"NONE"}"#,
                #"{"command":"visit"}"#, #"{"command":"background","page":null}"#,
                #"{"command":"meal","grams":40,"announced":null}"#,
                #"{"command":"meal","grams":40,"key":null}"#, #"{"command":"meal","grams":\#(deep)}"#,
            ] {
                let answer = desk.tell(id, body)
                #expect([409, 422].contains(answer.status), "\(body): \(answer.status)")
                #expect((answer.json["error"] as? String)?.isEmpty == false, "\(body)")
            }
            let shown = desk.answer("GET", "/api/sessions/\(id)")
            #expect((shown.json["settings"] as? [String: Any])?["quiet_hours"] is NSNull)
            #expect((shown.json["loop"] as? [String: Any])?["requested_bolus"] is NSNull)
        }
    }

    /// A bolus by hand takes two steps, and one confirmation.
    @Test func aBolusTakesTwoSteps() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            let asked = desk.tell(id, #"{"command":"requestBolus","units":1.5,"key":"ask"}"#)
            let number = try #require(asked.json["number"] as? Int)
            let waiting = desk.answer("GET", "/api/sessions/\(id)").json["loop"] as? [String: Any]
            #expect((waiting?["requested_bolus"] as? [String: Any])?["units"] as? Double == 1.5)
            #expect(
                desk.tell(id, #"{"command":"confirmBolus","request":\#(number),"units":1.4}"#).status == 409)
            let confirm = #"{"command":"confirmBolus","request":\#(number),"units":1.5,"key":"yes"}"#
            #expect(desk.tell(id, confirm).status == 202)
            #expect(desk.tell(id, confirm).json["repeated"] as? Bool == true)
            let other = #"{"command":"confirmBolus","request":\#(number),"units":1.5,"key":"other"}"#
            #expect(desk.tell(id, other).status == 409)
        }
    }

    /// A text from the network names no file of this machine.
    @Test func aStudysTextReadsNoFile() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            for policy in ["/etc/passwd", "../../../../etc/passwd", "./x.yaml"] {
                let text = study.replacing(#/alerts: \{.*\}/#, with: "alerts: \(policy)")
                let body = String(
                    decoding: try JSONSerialization.data(withJSONObject: ["study_text": text]), as: UTF8.self)
                let answer = desk.answer("POST", "/api/sessions", body)
                #expect(answer.status == 422 && !answer.text.contains("root:"), "\(answer.text)")
            }
            let table = study.replacing(#/cohort: .*/#, with: "cohort: { table: /etc/passwd }")
            let body = String(
                decoding: try JSONSerialization.data(withJSONObject: ["study_text": table]), as: UTF8.self)
            let answer = desk.answer("POST", "/api/sessions", body)
            #expect(answer.status == 422 && !answer.text.contains("root:"), "\(answer.text)")
            #expect(desk.ward.ids.isEmpty)
        }
    }

    /// What the slider would have rung is what the engine's rule is: beyond the bound, for as long as was said.
    @Test func thePreviewRingsAsTheEngineDoes() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            func preview(_ minutes: Int, low: Int, high: Int) -> Int? {
                let body =
                    #"{"metric":"glucose","low":\#(low),"high":\#(high),"sensitivity_minutes":\#(minutes)}"#
                return desk.answer("POST", "/api/sessions/\(id)/preview", body).json["would_ring"] as? Int
            }
            // Counted here by another hand: runs of readings beyond a bound, and those that last so long.
            let rows = desk.answer("GET", "/api/sessions/\(id)/readings").json["readings"] as? [[String: Any]]
            let values = (rows ?? []).filter { $0["came_late"] as? Bool == false }
                .compactMap { row in
                    (row["t"] as? Double).flatMap { t in (row["mgdl"] as? Double).map { (t, $0) } }
                }
            func runs(_ seconds: Double, _ isBeyond: (Double) -> Bool) -> Int {
                var (count, since, hasRung) = (0, Double?.none, false)
                for (t, mgdl) in values {
                    if isBeyond(mgdl) {
                        since = since ?? t
                        if !hasRung, t - (since ?? t) >= seconds { (hasRung, count) = (true, count + 1) }
                    } else {
                        // The timer ran out before this reading said that it is over.
                        if let begun = since, !hasRung, t - begun > seconds { count += 1 }
                        (since, hasRung) = (nil, false)
                    }
                }
                return count
            }
            #expect(values.count > 200)
            for (low, high) in [(110, 130), (120, 125), (100, 150)] {
                for minutes in [0, 15, 60] {
                    let seconds = Double(minutes) * 60
                    let expected =
                        runs(seconds) { $0 < Double(low) } + runs(seconds) { $0 > Double(high) }
                    #expect(preview(minutes, low: low, high: high) == expected, "\(low) \(high) \(minutes)")
                }
            }
            #expect((preview(0, low: 120, high: 125) ?? 0) > (preview(60, low: 120, high: 125) ?? 0))
            #expect(preview(0, low: 40, high: 400) == 0)
            #expect(
                desk.answer("POST", "/api/sessions/\(id)/preview", #"{"metric":"nothing"}"#).status == 422)
        }
    }

    /// Harm: somebody relies on an urgent low that quiet hours hold back.
    @Test func whatIsSaidToBeUrgentIsWhatTheRuleHas() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            func below(_ study: String) throws -> Any? {
                var wish = SessionRequest(.text(study))
                wish.pace = .paused
                let shown = desk.answer("GET", "/api/sessions/\(try desk.ward.create(wish))/settings").json
                return (shown["thresholds"] as? [[String: Any]])?.first {
                    $0["metric"] as? String == "glucose"
                }?[
                    "critical_below"]
            }
            #expect(try below(study) as? Double == 54)
            let rule = "alerts: { policy: p, rules: [{ code: THRESHOLD-GLUCOSE-LOW, when: glucose < 70 }] }"
            #expect(try below(study.replacing(#/alerts: \{.*\}/#, with: rule)) is NSNull)
        }
    }

    /// Every documented route answers, and the document lists what the commands take.
    @Test func theDocumentIsWhatIsServed() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let document = desk.answer("GET", "/openapi.json").json
            let paths = try #require(document["paths"] as? [String: [String: Any]])
            for path in [
                "/api/sessions", "/api/sessions/{id}", "/api/sessions/{id}/commands",
                "/api/sessions/{id}/events",
                "/api/sessions/{id}/steps", "/api/sessions/{id}/readings", "/api/sessions/{id}/timeline",
                "/api/sessions/{id}/alerts/active", "/api/sessions/{id}/alerts/cleared",
                "/api/sessions/{id}/settings",
                "/api/sessions/{id}/past", "/api/sessions/{id}/forks", "/api/events", "/healthz", "/metrics",
            ] {
                #expect(paths[path] != nil, "\(path)")
            }
            let text = desk.answer("GET", "/openapi.json").text
            for row in WardCommand.rows { #expect(text.contains("\"\(row.name)\""), "\(row.name)") }
            #expect(desk.answer("PUT", "/api/sessions").status == 405)
            #expect(desk.answer("GET", "/api/nothing").status == 404)
            #expect(desk.answer("GET", "/api/sessions/%ff").status == 400)
            #expect(desk.answer("GET", "/api/sessions/..%2f..").status == 404)
        }
    }
}
