import Foundation
import IsletLive
import IsletKernel
import Testing

@testable import Dashboard

/// Whether a browser is the phone, and what follows: who is in front, and who was told.
@Suite struct PhoneTests {
    private static let second = Nanoseconds.second

    /// Harm: somebody opens the page to look, and from then on the phone of the person is silent.
    @Test func aFirstVisitLooks() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let first = desk.answer("GET", "/sessions/\(id)").text
            #expect(!first.contains("data-phone=\"1\"") && first.contains("Use this browser as the phone"))
            #expect(first.contains("No phone: no notification reaches anybody."))
            let chosen = desk.answer("GET", "/sessions/\(id)", headers: ["cookie": "phone=1"]).text
            #expect(chosen.contains("data-phone=\"1\""))
            let old = desk.answer("GET", "/sessions/\(id)", headers: ["cookie": "look=1"]).text
            #expect(!old.contains("data-phone=\"1\""))
            // Listening alone makes no page the phone.
            #expect(desk.answer("GET", "/api/sessions/\(id)").json["has_phone"] as? Bool == false)
        }
    }

    /// Harm: a page that froze, or whose network is gone, keeps the phone silent for as long as its stream hangs on.
    @Test func whoIsNotHeardForTenSecondsIsNotInFront() {
        let screens = Screens()
        screens.streamBegan("a", of: "s", at: 0)
        screens.see("a", isShown: true, of: "s", at: 0)
        #expect(screens.left(at: 9 * Self.second).isEmpty)
        screens.see("a", isShown: true, of: "s", at: 9 * Self.second)
        #expect(screens.left(at: 18 * Self.second).isEmpty)
        #expect(screens.left(at: 20 * Self.second) == ["s"])
        #expect(screens.left(at: 21 * Self.second).isEmpty)
        // Its stream is still there: it is a phone, and may notify.
        #expect(screens.hasPhone("s"))
        screens.streamEnded("a", of: "s", at: 30 * Self.second)
        _ = screens.left(at: 41 * Self.second)
        #expect(!screens.hasPhone("s"))
    }

    /// Harm: any page, or program, says that somebody was told.
    @Test func onlyAPhoneConfirms() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            let told = #"{"command":"told","alert":"ALERT-PUMP-FAULT","page":"p1"}"#
            #expect(desk.tell(id, told).status == 409)
            #expect(desk.tell(id, #"{"command":"told","alert":"ALERT-PUMP-FAULT"}"#).status >= 400)
            #expect(desk.tell(id, #"{"command":"foreground","page":"p1"}"#).status == 202)
            #expect(desk.answer("GET", "/api/sessions/\(id)").json["has_phone"] as? Bool == true)
            #expect(desk.tell(id, told).status == 202)
            let shown = #"{"command":"bannerShown","alert":"THRESHOLD-GLUCOSE-LOW","episode":1,"page":"p2"}"#
            #expect(desk.tell(id, shown).status == 409)
        }
    }

    /// Harm: "sent: look for it", where nothing was sent anywhere.
    @Test func aTestSaysWhetherItReachesSomebody() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session(from: 1)
            func said(_ code: String) -> String {
                desk.tell(id, #"{"command":"testAlert","alert":"\#(code)"}"#).json["said"] as? String ?? ""
            }
            #expect(said("ALERT-PUMP-FAULT").contains("reached nobody"))
            #expect(said("ALERT-CGM-URGENT-LOW").contains("never notifies"))
            #expect(desk.tell(id, #"{"command":"foreground","page":"p1"}"#).status == 202)
            #expect(said("ALERT-PUMP-FAULT") == "Sent to the phone.")
            #expect(said("ALERT-CGM-URGENT-LOW").contains("never notifies"))
        }
    }

    /// Harm: it rang, nobody was there, and the ward says "notified".
    @Test func whatRangWithoutAPhoneIsSaidInHeaderWardAndStory() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var wish = SessionRequest(.text(study))
            (wish.pace, wish.from, wish.sayAt) = (.paused, 7_200_000_000_000, 3_600_000_000_000)
            wish.say = [.threshold(metric: "glucose", low: 390, high: nil)]
            let id = try desk.ward.create(wish)
            let all = desk.answer("GET", "/api/sessions/\(id)/alerts/active").json["alerts"]
            let alert = (all as? [[String: Any]])?.first {
                $0["code"] as? String == "THRESHOLD-GLUCOSE-LOW" && $0["notified"] is [String: Any]
            }
            try #require(alert != nil)
            #expect(alert?["told"] is NSNull)
            #expect(desk.answer("GET", "/sessions/\(id)").text.contains("Rang, no phone: Glucose low"))
            #expect(
                desk.answer("GET", "/sessions/\(id)/alerts").text.contains(
                    "Last notification: rang, no phone."))
            #expect(desk.answer("GET", "/").text.contains("Rang, no phone"))
            #expect(desk.tell(id, #"{"command":"background","page":"p1"}"#).status == 202)
            #expect(desk.tell(id, #"{"command":"foreground","page":"p1"}"#).status == 202)
            let told = #"{"command":"told","alert":"THRESHOLD-GLUCOSE-LOW","page":"p1"}"#
            #expect(desk.tell(id, told).status == 202)
            #expect(!desk.answer("GET", "/sessions/\(id)").text.contains("Rang, no phone"))
            #expect(
                desk.answer("GET", "/sessions/\(id)/alerts").text.contains(
                    "Last notification: reached the phone.")
            )
        }
    }
}
