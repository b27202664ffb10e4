// What the API's document says of a command is what is checked, and what does nothing is refused.

import IsletFiles
import IsletAlerts
import Foundation
@testable import IsletLive
import IsletKernel
import Testing

@testable import Dashboard

@Suite("Commands are taken as their document says") struct CommandTests {
    private func threshold(_ desk: Desk, _ id: String, _ metric: String = "glucose") -> [String: Any] {
        let settings = desk.answer("GET", "/api/sessions/\(id)/settings").json
        let all = settings["thresholds"] as? [[String: Any]] ?? []
        return all.first { $0["metric"] as? String == metric } ?? [:]
    }

    /// `{high: 80}` must not take the low side away: nobody would hear of a low any more.
    @Test func aFieldThatIsLeftOutIsLeftAlone() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            func tell(_ fields: String) -> Int {
                desk.tell(id, #"{"command":"threshold","metric":"glucose","# + fields + "}").status
            }
            #expect(tell(#""sensitivity_minutes":15"#) == 202)
            #expect(tell(#""high":80"#) == 202)
            var now = threshold(desk, id)
            #expect(now["low"] as? Double == 70 && now["high"] as? Double == 80)
            #expect(now["sensitivity_minutes"] as? Double == 15)
            // What comes of both must make sense.
            #expect(tell(#""low":85"#) == 409)
            #expect(tell(#""low":null"#) == 202)
            now = threshold(desk, id)
            #expect(now["low"] is NSNull && now["high"] as? Double == 80)
            #expect(tell(#""enabled":false"#) == 202)
            #expect(tell(#""high":200"#) == 202)
            now = threshold(desk, id)
            #expect(now["enabled"] as? Bool == false && now["high"] as? Double == 200)
            #expect(tell(#""enabled":true,"low":65"#) == 202)
            now = threshold(desk, id)
            #expect(now["enabled"] as? Bool == true && now["low"] as? Double == 65)
        }
    }

    @Test func nothingCanBeAcknowledgedWhereNothingIs() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let answer = desk.tell(id, #"{"command":"acknowledge","alert":"ALERT-PUMP-FAULT"}"#)
            #expect(answer.status == 409 && answer.text.contains("not active"))
            #expect(
                desk.answer("GET", "/api/sessions/\(id)/timeline").text.contains(
                    "REFUSED: ALERT-PUMP-FAULT is not active"))
        }
    }

    /// A body that fits a row, with each field at its lower end.
    static func body(_ row: WardCommand.Row) -> [String: Any] {
        var body: [String: Any] = ["command": row.name]
        for field in row.fields { body[field.name] = value(field) }
        return body
    }

    private static func value(_ field: WardCommand.Field) -> Any {
        switch field.kind {
        case .number(let range): range.lowerBound
        case .wholeNumber(let range): range.lowerBound
        case .flag: true
        case .text(_, let pattern):
            switch field.name {
            case "metric": "glucose"
            case "pace": "paused"
            case "from", "to": "22:00"
            default: pattern == nil ? "ALERT-PUMP-FAULT" : "somebody"
            }
        }
    }

    @Test func whatTheDocumentSaysOfAFieldIsChecked() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            func status(_ body: [String: Any]) throws -> Int {
                let bytes = try JSONSerialization.data(withJSONObject: body)
                return desk.tell(id, String(decoding: bytes, as: UTF8.self)).status
            }
            for row in WardCommand.rows {
                for field in row.fields {
                    var without = Self.body(row)
                    without[field.name] = nil
                    if field.isRequired {
                        #expect(try status(without) == 422, "\(row.name) without \(field.name)")
                    }
                    var wrong: [Any] = []
                    switch field.kind {
                    case .number(let range): wrong = [range.lowerBound - 1, range.upperBound + 1, "1", true]
                    case .wholeNumber(let range):
                        wrong = [range.lowerBound - 1, range.upperBound + 1, Double(range.lowerBound) + 0.5]
                    case .flag: wrong = [1, "true"]
                    case .text(_, let pattern): wrong = pattern == nil ? [1] : [1, "", "\u{1}"]
                    }
                    if !field.canBeNull { wrong.append(NSNull()) }
                    for other in wrong {
                        var given = Self.body(row)
                        given[field.name] = other
                        let found = try status(given)
                        #expect(
                            (400..<500).contains(found), "\(row.name), \(field.name): \(other) is \(found)")
                    }
                }
            }
        }
    }

    @Test func aRoomIsSetUpWithoutAStudyAndBeginsFromItsStagesRecommendation() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            for body in [
                #"{"room":"orchard"}"#, #"{"room":"flowering","session":1}"#,
                #"{"study":"x.yaml","recommended":true}"#,
            ] {
                #expect(desk.answer("POST", "/api/sessions", body).status == 422)
            }
            for stage in SessionRequest.stages {
                let made = desk.answer(
                    "POST", "/api/sessions", #"{"room":"\#(stage)","recommended":true,"pace":"paused"}"#)
                #expect(made.status == 201)
                let id = try #require(made.json["id"] as? String)
                for metric in [AlertMetric.temperature, .humidity, .vpd] {
                    let range = try #require(MetricRange.recommended("grow-room", stage, metric)).range
                    let now = threshold(desk, id, metric.rawValue)
                    #expect(now["low"] as? Double == range.lowerBound, "\(stage), \(metric.rawValue)")
                    #expect(now["high"] as? Double == range.upperBound)
                    #expect(now["enabled"] as? Bool == true)
                }
                // As it is recommended already, nothing is offered; after a change one press brings it back.
                func page() -> String {
                    desk.answer("GET", "/sessions/\(id)/settings", headers: ["accept": "text/html"]).text
                }
                #expect(!page().contains("data-recommend>"))
                let low = try #require(MetricRange.recommended("grow-room", stage, .temperature)).range
                    .lowerBound
                _ = desk.tell(
                    id, #"{"command":"threshold","metric":"temperature","low":\#(low + 1)}"#)
                #expect(page().contains("data-recommend>"))
                #expect(desk.tell(id, #"{"command":"recommendThresholds"}"#).status == 202)
                #expect(threshold(desk, id, "temperature")["low"] as? Double == low)
            }
        }
    }
}
