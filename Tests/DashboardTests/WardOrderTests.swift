// Who stands first in a ward, and that nothing but danger decides it.

import IsletAlerts
import IsletDevices
@testable import IsletLive
import IsletKernel
import Testing

@testable import Dashboard

@Suite("Who is in most danger stands first") struct WardOrderTests {
    private static let now = Instant.minutes(3000)

    private func standing(
        _ mgdl: Double?, trend: Double? = 0, age: Int64 = 2, noInsulin: Int64? = nil, highFor: Int64 = 0,
        concerns: [SessionHealth.Concern] = [], isFrozen: Bool = false, phase: LiveSession.Phase = .running
    ) -> WardStanding {
        var facts = WardStanding.Facts()
        facts.now = Self.now
        (facts.health, facts.isFrozen, facts.phase) = (SessionHealth(concerns), isFrozen, phase)
        if let mgdl {
            let at = Self.now.adding(-age * Nanoseconds.minute)
            facts.reading = GlucoseReading(
                instant: at, glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl))
            facts.readings = stride(from: max(highFor, 0), through: 0, by: -5).map {
                MetricPoint(at.adding(-$0 * Nanoseconds.minute), mgdl)
            }
        }
        (facts.isStale, facts.trend) = (mgdl == nil || age > 5, trend)
        facts.noInsulinSince = noInsulin.map { Self.now.adding(-$0 * Nanoseconds.minute) }
        return WardStanding(facts)
    }

    private let needsAction = SessionHealth.Concern(.glucose, .actionable, "glucose is beyond")

    @Test func whatHarmsSoonestStandsFirst() {
        let order: [(String, WardStanding)] = [
            ("42", standing(42)), ("53", standing(53)),
            ("no insulin at 280", standing(280, noInsulin: 40, concerns: [needsAction])),
            ("frozen", standing(120, isFrozen: true)),
            ("54 in 5 min", standing(64, trend: -2)), ("54 in 18 min", standing(90, trend: -2)),
            ("56, steady", standing(56, concerns: [needsAction])),
            ("68", standing(68, concerns: [needsAction])),
            ("no insulin at 140", standing(140, noInsulin: 40, concerns: [needsAction])),
            ("no reading for 25 min", standing(140, age: 25, concerns: [needsAction])),
            ("310 for 70 min", standing(310, highFor: 70, concerns: [needsAction])),
            ("289", standing(289, concerns: [needsAction])),
            ("asks for action", standing(120, concerns: [needsAction])),
            ("old for 8 min", standing(120, age: 8)),
            ("200 for 70 min", standing(200, highFor: 70)), ("well", standing(120)),
        ]
        for (first, second) in zip(order, order.dropFirst()) {
            #expect(first.1.precedes(second.1) == true, "\(first.0) before \(second.0)")
            #expect(second.1.precedes(first.1) == false, "\(second.0) not before \(first.0)")
        }
    }

    @Test func groupsFollowTheDanger() {
        #expect(standing(42).group == .urgent)
        #expect(standing(280, noInsulin: 40).group == .urgent)
        #expect(standing(120, isFrozen: true).group == .urgent)
        #expect(standing(64, trend: -2).group == .urgent)
        #expect(standing(68, concerns: [needsAction]).group == .action)
        #expect(standing(140, age: 8).group == .noData)
        #expect(standing(nil).group == .noData)
        #expect(standing(120, phase: .returning).group == .noData)
        #expect(standing(200, highFor: 70).group == .watch)
        #expect(standing(120, concerns: [.init(.loop, .informational, "the loop is open")]).group == .watch)
        #expect(standing(200, highFor: 20).group == .well)
        #expect(standing(120).group == .well)
    }

    @Test func wordsSayWhatHarmsAndWhen() {
        #expect(standing(64, trend: -2).harm?.text(at: Self.now) == "below 54 in 5 min")
        #expect(standing(64, trend: -2).minutesToHarm == 5)
        #expect(standing(140, noInsulin: 26).harm?.text(at: Self.now) == "no insulin for 26 min")
        #expect(standing(42).minutesToHarm == 0)
        #expect(standing(120).harm == nil && standing(120, trend: 1).minutesToHarm == nil)
        #expect(standing(140, age: 46).harm?.text(at: Self.now) == "no reading for 46 min")
    }

    /// Check 3 of the ward: both ask for action, and the low stands first, whatever they are called and however many alerts the high has.
    @Test func aLowStandsBeforeAHighWhateverElse() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            // Thresholds make both ask for action at once.
            let ids = try [20, 20].map { try desk.session(from: $0) }
            for id in ids {
                #expect(
                    desk.tell(id, #"{"command":"threshold","metric":"glucose","low":399,"high":null}"#).status
                        == 202)
            }
            let cards = desk.ward.cards()
            #expect(cards.count == 2)
            for (card, next) in zip(cards, cards.dropFirst()) {
                #expect(!next.precedes(card) || next.standing == card.standing)
            }
            let answer = desk.answer("GET", "/api/sessions")
            let sessions = try #require(answer.json["sessions"] as? [[String: Any]])
            #expect(sessions.map { $0["id"] as? String } == cards.map(\.id))
            #expect(sessions.allSatisfy { $0["group"] is String && $0["danger"] is String })
        }
    }
}

@Suite("What rang in a ward") struct WardRingsTests {
    fileprivate let broken = study.replacing(
        "arms:", with: "faults: { scheduled: [{ at: 19h57m, kind: pod-fault }] }\nperson: typical\narms:")

    /// What rang before anybody looked is listed and rings nobody; what rings afterwards is told once, with what became of it.
    @Test func eachNotificationIsThereOnce() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var wish = SessionRequest(.text(broken))
            (wish.pace, wish.from) = (.paused, 20 * 3_600_000_000_000)
            let id = try desk.ward.create(wish)
            let rings = WardRings()
            rings.look(at: desk.ward)
            let before = rings.after(0)
            let told = (desk.ward.events(of: id, after: 0, atMost: .max)?.events ?? []).filter {
                $0.alert?.effect == "notify"
            }
            #expect(!before.isEmpty && before.map(\.at) == told.suffix(before.count).map(\.instant))
            #expect(before.allSatisfy { $0.isOfBefore && $0.session == id })
            #expect(before.contains { $0.hearing != nil })
            let newest = rings.newest
            // A test rings at once.
            #expect(desk.tell(id, #"{"command":"testAlert","alert":"ALERT-PUMP-FAULT"}"#).status == 202)
            let from = ContinuousClock.now
            while rings.newest == newest, ContinuousClock.now - from < .seconds(5) {
                rings.look(at: desk.ward)
            }
            let after = rings.after(newest)
            #expect(
                after.map(\.code) == ["ALERT-PUMP-FAULT"] && after.allSatisfy { !$0.isOfBefore && $0.isShow })
            rings.look(at: desk.ward)
            let last = try #require(after.last)
            #expect(rings.after(last.number).isEmpty)
            try desk.ward.delete(id)
            let later = ContinuousClock.now
            while !rings.after(0).isEmpty, ContinuousClock.now - later < .seconds(5) {
                rings.look(at: desk.ward)
            }
            #expect(rings.after(0).isEmpty)
        }
    }
}

extension WardRingsTests {
    /// Harm: who opens a ward reads first what rang yesterday, and takes the ring of three minutes ago for one that never was.
    @Test func whatRangLongestAgoIsListedLastWhoeversClockItIs() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            for (name, hours) in [("a", 20), ("b", 26), ("c", 21)] {
                var wish = SessionRequest(.text(broken))
                (wish.name, wish.pace, wish.from) = (name, .paused, Int64(hours) * 3_600_000_000_000)
                _ = try desk.ward.create(wish)
            }
            let rings = WardRings()
            rings.look(at: desk.ward)
            let listed = rings.latest(300)
            #expect(Set(listed.map(\.session)).count == 3)
            let ages = try listed.map { ring in
                let now = try #require(desk.ward.number(ring.session)).now
                return now.nanoseconds - (try #require(ring.at)).nanoseconds
            }
            #expect(ages == ages.sorted() && ages.count > 3, "\(ages)")
            #expect(listed.map(\.number) == listed.map(\.number).sorted(by: >))
            // Of one session they stand as they rang.
            for id in desk.ward.ids {
                let own = listed.filter { $0.session == id }.compactMap(\.at)
                #expect(own == own.sorted(by: >))
            }
        }
    }
}

@Suite("A snooze has an end, and can be taken back") struct SnoozeTests {
    @Test func untilWhenAndUndone() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            var wish = SessionRequest(.text(study))
            (wish.pace, wish.from, wish.sayAt) = (.paused, 72_000_000_000_000, 70_000_000_000_000)
            wish.say = [.threshold(metric: "glucose", low: 399, high: nil)]
            let id = try desk.ward.create(wish)
            let code = "THRESHOLD-GLUCOSE-LOW"
            #expect(desk.answer("GET", "/api/sessions/\(id)/alerts/active").text.contains(code))
            let early = desk.tell(id, #"{"command":"endSnooze","alert":"\#(code)"}"#)
            #expect(early.status == 409 && early.text.contains("is not snoozed"))
            let snoozed = desk.tell(id, #"{"command":"snooze","alert":"\#(code)","minutes":30}"#)
            #expect(snoozed.status == 202)
            #expect((snoozed.json["said"] as? String)?.hasPrefix("Snoozed until ") == true, "\(snoozed.text)")
            let snoozes = desk.answer("GET", "/api/sessions/\(id)").json["snoozes"] as? [[String: Any]]
            #expect(snoozes?.first?["alert"] as? String == code)
            let row = desk.answer("GET", "/", headers: ["accept": "text/html"]).text
            #expect(row.contains("snoozed until") && row.contains("data-command=\"endSnooze\""))
            #expect(desk.tell(id, #"{"command":"endSnooze","alert":"\#(code)"}"#).status == 202)
            #expect(
                (desk.answer("GET", "/api/sessions/\(id)").json["snoozes"] as? [[String: Any]])?.isEmpty
                    == true)
            let page = desk.answer("GET", "/sessions/\(id)/alerts", headers: ["accept": "text/html"]).text
            #expect(page.contains("Snooze taken back"))
        }
    }
}
