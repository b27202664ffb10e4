// What is not well never looks well, and what is not live never looks live.

import Foundation
@testable import IsletLive
import IsletKernel
import Testing

@testable import Dashboard
@testable import Pages

@Suite("What is not well never looks well") struct JudgementTests {
    private let broken = study.replacing(
        "arms:", with: "faults: { scheduled: [{ at: 19h57m, kind: pod-fault }] }\nperson: deaf\narms:")

    private func health(_ desk: Desk, _ id: String) -> (isWell: Bool?, concerns: [[String: Any]]) {
        let health = desk.answer("GET", "/api/sessions/\(id)").json["health"] as? [String: Any]
        return (health?["is_well"] as? Bool, health?["concerns"] as? [[String: Any]] ?? [])
    }

    private func session(_ desk: Desk, _ text: String, hours: Int64, say: [LiveInput] = []) throws -> String {
        var wish = SessionRequest(.text(text))
        (wish.pace, wish.from, wish.say) = (.paused, hours * 3_600_000_000_000, say)
        return try desk.ward.create(wish)
    }

    private func ticks(_ text: String) -> Bool {
        text.contains("class=\"calm\"") || text.contains("data-class=\"well\"")
    }

    /// Acknowledged: whoever looks at the page must not take the silence for insulin.
    @Test func anAcknowledgedDeadPumpIsStillDead() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try session(desk, broken, hours: 20)
            let before = desk.answer("GET", "/api/sessions/\(id)/alerts/active").text
            #expect(before.contains("ALERT-PUMP-FAULT"))
            #expect(desk.tell(id, #"{"command":"acknowledge","alert":"ALERT-PUMP-FAULT"}"#).status == 202)
            #expect(
                !desk.answer("GET", "/api/sessions/\(id)/alerts/active").text.contains("ALERT-PUMP-FAULT"))
            let found = health(desk, id)
            #expect(found.isWell == false)
            let pump = found.concerns.first { $0["part"] as? String == "pump" }
            #expect(pump?["is_acknowledged"] as? Bool == true)
            #expect(pump?["severity"] as? String == "safetyCritical")
            for page in ["", "/alerts", "/pump"] {
                let text = desk.answer("GET", "/sessions/\(id)\(page)", headers: ["accept": "text/html"]).text
                #expect(!ticks(text) && !text.contains("state good"), "a tick on \(page)")
                #expect(text.contains("cknowledged, still so"), "\(page)")
            }
            let ward = desk.answer("GET", "/", headers: ["accept": "text/html"]).text
            #expect(
                ward.contains("data-class=\"urgent\"") && !ticks(ward)
                    && ward.contains("still so"))
            // Worse than a person whose loop is merely open.
            let quiet = try session(desk, study, hours: 20, say: [.openLoop])
            #expect(desk.ward.cards().map(\.id) == [id, quiet])
        }
    }

    @Test func aStoppedLoopAndAnOpenOneAreNotWell() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            for (input, word) in [(LiveInput.endSession, "stopped"), (.openLoop, "open")] {
                let id = try session(desk, study, hours: 20, say: [input])
                let found = health(desk, id)
                #expect(found.isWell == false)
                let texts = found.concerns.compactMap { $0["text"] as? String }
                #expect(texts.contains { $0.contains("the loop is \(word)") }, "\(texts)")
                #expect(!ticks(desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text))
            }
            #expect(!ticks(desk.answer("GET", "/", headers: ["accept": "text/html"]).text))
        }
    }

    /// The server speaks more than twice as often as the page's patience lasts, and that is no longer than 5 s.
    @Test func theServersBeatAndThePagesPatienceFit() throws {
        let script = try #require(Page.asset("live.js"))
        let text = String(decoding: script.bytes, as: UTF8.self)
        let match = try #require(text.firstMatch(of: /const silence = (\d+);/))
        let silence = try #require(Int64(match.1)) * 1_000_000
        // Notes come once a second.
        #expect(2 * (EventStream.beat + Nanoseconds.second) < silence + Nanoseconds.second)
        #expect(silence <= 5 * Nanoseconds.second)
        #expect(
            text.contains("addEventListener('beat', found)") && EventStream.beatText.contains("event: beat"))
    }
}

@Suite("What a bolus asks again") struct BolusDoubtTests {
    /// 9 U by hand, and an hour and a half later 5 more: nobody gets them by one press.
    @Test func asksAgainWithInsulinOnBoardAndTheReason() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var wish = SessionRequest(.text(study))
            (wish.pace, wish.from, wish.sayAt) = (.paused, 77_400_000_000_000, 72_000_000_000_000)
            wish.say = [.requestBolus(units: 6), .confirmBolus(request: 1, units: 1, anyway: true)]
            let id = try desk.ward.create(wish)
            let asked = desk.tell(id, #"{"command":"requestBolus","units":4}"#)
            #expect(asked.status == 202)
            let number = try #require(asked.json["number"] as? Int)
            let loop = desk.answer("GET", "/api/sessions/\(id)").json["loop"] as? [String: Any]
            let waiting = try #require(loop?["requested_bolus"] as? [String: Any])
            #expect((waiting["insulin_on_board_units"] as? Double ?? 0) > 2)
            let reason = try #require(waiting["asks_again"] as? String)
            #expect(reason.contains("of earlier boluses still act"))
            let parts = try #require(waiting["asks_again_parts"] as? [[String: Any]])
            #expect(parts.compactMap { $0["text"] as? String }.joined() == reason)
            let page = desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text
            #expect(page.contains("data-asks-again") && page.contains("still act"))
            #expect(page.contains("data-anyway=\"true\""))
            let plain = desk.tell(id, #"{"command":"confirmBolus","request":\#(number),"units":4}"#)
            #expect(plain.status == 409 && plain.text.contains("still act"))
            #expect(
                desk.answer("GET", "/api/sessions/\(id)/timeline").text.contains("REFUSED: 4.0 U asks again"))
            let anyway = desk.tell(
                id, #"{"command":"confirmBolus","request":\#(number),"units":4,"anyway":true}"#)
            #expect(anyway.status == 202)
        }
    }
}
