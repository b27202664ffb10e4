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

    // MARK: Who has left

    private func isInFront(_ desk: Desk, _ id: String) -> Bool? {
        desk.answer("GET", "/api/sessions/\(id)").json["is_in_foreground"] as? Bool
    }

    private func show(_ page: String, _ desk: Desk, _ id: String) {
        #expect(desk.tell(id, "{\"command\":\"foreground\",\"page\":\"\(page)\"}").status == 202)
    }

    /// A page was closed three seconds ago.
    private func close(_ page: String, _ desk: Desk, _ id: String) {
        desk.dashboard.screens.see(
            page, isShown: false, of: id, at: desk.ward.host.continuousNow - 3 * Self.second)
        desk.dashboard.tend()
    }

    private func real(_ folder: String, _ clock: Clock) throws -> Desk {
        try Desk(try Ward(Ward.Options(folder: folder), host: LiveHost(clocks: clock)))
    }

    /// Harm: a page is closed while the disk stands still, and from then on the alarms of that person notify nobody.
    @Test func whoLeavesAFrozenSessionHasLeftItAfterwards() throws {
        try withFolder { folder in
            let clock = Clock()
            let desk = try real(folder, clock)
            var wish = SessionRequest(.text(study))
            wish.pace = .real
            let id = try desk.ward.create(wish)
            desk.ward.host.turn()
            show("p1", desk, id)
            clock.move(by: 6 * Nanoseconds.minute)
            #expect(desk.ward.host.watch() == [id])
            close("p1", desk, id)
            #expect(isInFront(desk, id) == true)
            desk.ward.host.turn()
            #expect(isInFront(desk, id) == false)
            // Somebody who looks again before it has heard of that stays in front.
            show("p1", desk, id)
            clock.move(by: 6 * Nanoseconds.minute)
            close("p1", desk, id)
            show("p2", desk, id)
            desk.ward.host.turn()
            #expect(isInFront(desk, id) == true)
            close("p2", desk, id)
            desk.ward.host.turn()
            #expect(isInFront(desk, id) == false)
        }
    }

    /// Harm: of a session that is driven a step waits nearly always; who leaves then is in front for good, also over a restart.
    @Test func whoLeavesWhileAStepWaitsHasLeftOnceItHasItsDose() throws {
        try withFolder { folder in
            let first = try Desk(folder)
            let (id, token) = try first.driven(study)
            let root = "/api/sessions/\(id)"
            func step(_ desk: Desk) throws -> Int {
                let held = desk.answer("POST", root + "/advance", "{\"driver\":\"\(token)\"}")
                return try #require((held.json["step"] as? [String: Any])?["step"] as? Int)
            }
            func act(_ desk: Desk, _ step: Int) {
                let dose = "{\"driver\":\"\(token)\",\"step\":\(step),\"basal\":0.05}"
                #expect(desk.answer("POST", root + "/act", dose).status == 200)
            }
            show("p1", first, id)
            let waiting = try step(first)
            close("p1", first, id)
            first.ward.host.turn()
            #expect(isInFront(first, id) == true)
            act(first, waiting)
            #expect(isInFront(first, id) == false)
            show("p1", first, id)
            let waitingStill = try step(first)
            first.ward.close()
            let second = try Desk(folder)
            #expect(isInFront(second, id) == true)
            act(second, waitingStill)
            #expect(isInFront(second, id) == false)
        }
    }

    /// Harm: a server ends with a page open; what rings of the time that was missed is held back, as if somebody had looked.
    @Test func nobodyLooksWhileTimeThatWasMissedIsLived() throws {
        try withFolder { folder in
            let clock = Clock()
            let first = try real(folder, clock)
            var wish = SessionRequest(.text(study))
            (wish.pace, wish.from) = (.real, 3_600 * Self.second)
            let id = try first.ward.create(wish)
            show("p1", first, id)
            first.ward.close()
            clock.move(by: 30 * Nanoseconds.minute)
            let desk = try real(folder, clock)
            #expect(isInFront(desk, id) == false)
            let now = try #require(desk.ward.view(id)).now
            #expect(now > .minutes(85))
            let events = desk.answer("GET", "/api/sessions/\(id)/timeline").json["events"]
            let left = (events as? [[String: Any]])?.last {
                ($0["text"] as? String)?.contains("background") == true
            }
            #expect(try #require(left?["t"] as? Double) < 3_660)
        }
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
