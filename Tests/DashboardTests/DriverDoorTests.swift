import Foundation
import IsletLive
import Testing

@testable import Dashboard

/// The door by which somebody drives a session step by step, as a client sees it.
@Suite("A session of pace `step` is driven over HTTP") struct DriverDoorTests {
    private struct Client {
        let desk: Desk
        let id: String
        var token = ""
        var root: String { "/api/sessions/\(id)" }

        init(_ desk: Desk) throws {
            self.desk = desk
            let body = ["study_text": study, "pace": "step"]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            let made = desk.answer("POST", "/api/sessions", text)
            try #require(made.status == 201, "\(made.text)")
            id = try #require(made.json["id"] as? String)
        }

        mutating func sit(_ name: String = "tester", more: String = "") -> (status: Int, code: String?) {
            let said = desk.answer("POST", root + "/driver", "{\"name\":\"\(name)\"\(more)}")
            if let new = said.json["token"] as? String { token = new }
            return (said.status, said.json["code"] as? String)
        }

        func say(_ what: String, _ more: String = "", token: String? = nil) -> (
            status: Int, json: [String: Any], text: String
        ) {
            desk.answer("POST", "\(root)/\(what)", "{\"driver\":\"\(token ?? self.token)\"\(more)}")
        }

        func number(_ json: [String: Any]) -> Int? { (json["step"] as? [String: Any])?["step"] as? Int }
    }

    @Test func stepByStepItComesToTheStudysDigest() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var client = try Client(desk)
            #expect(client.sit().status == 201)
            for _ in 0..<40 {
                let held = client.say("advance")
                #expect(held.status == 200, "\(held.text)")
                let row = try #require(held.json["step"] as? [String: Any])
                let number = try #require(row["step"] as? Int)
                // Its fields are those of the protocol: what is absent is left out, instants are text.
                #expect(row["handle"] as? Int == 0 && row["now"] is String && row["custom0"] == nil)
                let meal = row["meal"] as? Double ?? 0
                let acted = client.say(
                    "act", ",\"step\":\(number),\"basal\":0.06,\"meal\":\(meal / 12),\"handle\":0,\"flags\":0"
                )
                #expect(acted.status == 200 && acted.json["step"] is NSNull, "\(acted.text)")
            }
            let page = desk.answer("GET", "/sessions/\(client.id)", "", headers: ["accept": "text/html"]).text
            #expect(page.contains("Driven step by step by <strong>tester</strong>"))
            #expect(page.contains("step by step") && !page.contains("data-command=\"pace\""))
            let digest = try #require(
                desk.answer("GET", client.root).json["digest"] as? String)
            // The study, of which the door's session is one: its record has forty steps.
            let text = desk.answer("GET", client.root + "/study").text
            #expect(text.contains("recorded"))
            let study = try #require(
                try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let arm = try #require((study["arms"] as? [[String: Any]])?.first)
            let texts = try #require((arm["algorithm"] as? [String: Any])?["recorded"] as? [String])
            #expect(texts.count == 1 && texts[0].split(separator: ";").count == 40)
            // Another session of the same doses is the same.
            var second = try Client(desk)
            _ = second.sit("again")
            for step in texts[0].split(separator: ";") {
                let number = try #require(second.number(second.say("advance").json))
                let parts = step.split(separator: " ").compactMap { Double($0) } + [0, 0]
                _ = second.say(
                    "act",
                    ",\"step\":\(number),\"basal\":\(parts[0]),\"correction\":\(parts[1]),\"meal\":\(parts[2])"
                )
            }
            #expect(desk.answer("GET", second.root).json["digest"] as? String == digest)
        }
    }

    /// Harm: somebody else, or a slip, becomes insulin.
    @Test func whatIsWrongIsRefusedWithItsCodeAndGivesNothing() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var client = try Client(desk)
            #expect(client.say("advance", token: "x").json["code"] as? String == "no-driver")
            #expect(desk.answer("POST", client.root + "/advance", "{}").status == 422)
            #expect(client.sit("a b").status == 422)
            #expect(client.sit().status == 201)
            let token = client.token
            #expect(client.sit("other").code == "other-driver")
            #expect(client.say("advance", token: "wrong").json["code"] as? String == "other-driver")
            #expect(client.say("act", ",\"step\":0").json["code"] as? String == "not-held")
            for body in [",\"minutes\":0", ",\"minutes\":\"5\"", ",\"minutes\":1e9", ",\"steps\":1"] {
                #expect(client.say("advance", body).status == 422, "\(body)")
            }
            let held = client.say("advance")
            let number = try #require(client.number(held.json))
            let before = desk.answer("GET", client.root).text
            #expect(client.say("advance").json["code"] as? String == "held")
            for body in [
                "", ",\"step\":\(number),\"basal\":NaN", ",\"step\":\(number),\"basal\":\"NaN\"",
                ",\"step\":\(number),\"basal\":null", ",\"step\":\(number),\"basal\":-0.1",
                ",\"step\":\(number),\"basal\":1e999", ",\"step\":\(number),\"meal\":100.5",
                ",\"step\":\(number),\"glucagon\":1", ",\"step\":\(number),\"flags\":1",
                ",\"step\":\(number),\"handle\":1", ",\"step\":\(number),\"forecast\":-5",
                ",\"step\":\(number).5,\"basal\":0", ",\"step\":-1", ",\"step\":\(number),\"bolus\":1",
            ] {
                let said = client.say("act", body)
                #expect(said.status == 422 || said.status == 400, "\(body): \(said.status) \(said.text)")
            }
            #expect(client.say("act", ",\"step\":\(number + 7)").json["code"] as? String == "other-step")
            #expect(
                desk.tell(client.id, #"{"command":"meal","grams":40}"#).json["code"] as? String == "held")
            #expect(desk.answer("GET", client.root + "/steps").json["steps"] as? [String] == [])
            let after = desk.answer("GET", client.root)
            #expect(after.json["digest"] as? String == (try json(before))["digest"] as? String)
            #expect(client.say("act", ",\"step\":\(number),\"basal\":0.05").status == 200)
            #expect(
                client.say("act", ",\"step\":\(number),\"basal\":0.05").json["code"] as? String == "not-held")
            // Somebody takes over; the first token is nobody's.
            #expect(client.sit("third", more: ",\"takes_over\":true").status == 201)
            #expect(client.say("advance", token: token).json["code"] as? String == "other-driver")
            #expect(client.say("driver/leave").status == 200)
            #expect(client.say("advance").json["code"] as? String == "no-driver")
            // The token stands nowhere.
            let journal = try String(
                contentsOfFile: folder + "/sessions/\(client.id)/live.journal", encoding: .utf8)
            #expect(!journal.contains(token) && journal.contains("driver "))
            for (body, status) in [
                (#"{"room":"flowering","pace":"step"}"#, 422), (#"{"person":"adult","pace":"step"}"#, 201),
                (#"{"person":"adult","pace":"step","history_hours":3}"#, 422),
                (#"{"person":"adult","pace":"steps"}"#, 422),
            ] {
                let made = desk.answer("POST", "/api/sessions", body)
                #expect(made.status == status, "\(body): \(made.text)")
            }
            let plain = try desk.session(from: 1)
            #expect(
                desk.answer("GET", "/api/sessions/\(plain)/driver").json["code"] as? String == "not-driven")
            #expect(desk.tell(plain, #"{"command":"pace","pace":"step"}"#).status == 422)
            #expect(desk.answer("GET", "/api/sessions/nobody/driver").status == 404)
        }
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Harm: a server that is begun anew forgets who drives, or asks for a step again.
    @Test func aServerThatIsBegunAnewStandsWhereItStood() throws {
        try withFolder { folder in
            var (client, number) = (try Client(try Desk(folder)), 0)
            _ = client.sit()
            for _ in 0..<10 {
                number = try #require(client.number(client.say("advance").json))
                if number < 9 { _ = client.say("act", ",\"step\":\(number),\"basal\":0.05") }
            }
            let before = client.desk.answer("GET", client.root + "/driver")
            let (id, token) = (client.id, client.token)
            client.desk.ward.close()
            let desk = try Desk(folder)
            let after = desk.answer("GET", "/api/sessions/\(id)/driver")
            #expect(after.text == before.text && after.json["driver"] as? String == "tester")
            let acted = desk.answer(
                "POST", "/api/sessions/\(id)/act",
                "{\"driver\":\"\(token)\",\"step\":\(number),\"basal\":0.05}")
            #expect(acted.status == 200, "\(acted.text)")
        }
    }

    @Test func whatIsAnsweredFitsTheDocument() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var client = try Client(desk)
            _ = client.sit()
            let document = try Document(desk)
            let root = "/api/sessions/{id}"
            func check(_ path: String, _ body: String?, _ status: Int) throws {
                let method = body == nil ? "GET" : "POST"
                let said = desk.answer(
                    method, path.replacingOccurrences(of: "{id}", with: client.id), body ?? "")
                #expect(said.status == status, "\(path) \(said.text)")
                let schema = try #require(try document.schema(method, path, said.status))
                #expect(
                    document.misfits(said.json, schema).isEmpty,
                    "\(path): \(document.misfits(said.json, schema))")
            }
            let token = "\"driver\":\"\(client.token)\""
            try check(root + "/driver", nil, 200)
            try check(root, nil, 200)
            try check(root + "/advance", "{\(token),\"minutes\":1}", 200)
            try check(
                root + "/advance", "{\(token)}",
                client.number(desk.answer("GET", client.root + "/driver").json) == nil ? 200 : 409)
            try check(root + "/driver", nil, 200)
            try check(root, nil, 200)
            try check(root + "/driver", "{\"name\":\"b\",\"takes_over\":true}", 201)
            try check(root + "/act", "{\(token),\"step\":0}", 409)
        }
    }
}
