// A session whose thread does not come: every surface says so, and nothing reaches it.

import Foundation
import IsletDevices
import IsletKernel
import Synchronization
import Testing

@testable import Dashboard
@testable import IsletLive

/// A clock that a test moves.
private final class Clock: LiveClocks {
    private let time = Mutex(Nanoseconds.day)
    func continuousNanoseconds() -> Int64 { time.withLock { $0 } }
    func utcNanoseconds() -> Int64 { time.withLock { $0 } + Int64(1_700_000_000) * Nanoseconds.second }
    func move(by nanoseconds: Int64) { time.withLock { $0 += nanoseconds } }
}

@Suite("A frozen session") struct FrozenTests {
    @Test func isToldByPageListHealthCheckAndMetricsAndTakesNothing() throws {
        try withFolder { folder in
            let clock = Clock()
            let desk = try Desk(
                try Ward(Ward.Options(folder: folder), host: LiveHost(clocks: clock)), token: nil,
                names: [], isBack: true, guests: Guests { 0 })
            var wish = SessionRequest(.text(study))
            wish.pace = .real
            let id = try desk.ward.create(wish)
            desk.ward.host.turn()
            func look() -> (isFrozen: Bool?, inList: Bool?, healthy: Int?, page: String, metrics: String) {
                let list = desk.answer("GET", "/api/sessions").json["sessions"] as? [[String: Any]]
                return (
                    desk.answer("GET", "/api/sessions/\(id)").json["is_frozen"] as? Bool,
                    list?.first?["is_frozen"] as? Bool,
                    desk.answer("GET", "/healthz").json["sessions_frozen"] as? Int,
                    desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text,
                    desk.answer("GET", "/metrics").text
                )
            }
            let before = look()
            #expect(before.isFrozen == false && before.inList == false && before.healthy == 0)
            #expect(!before.page.contains("<strong>Frozen</strong>"))
            // No thread comes to it any more.
            let journal = try Data(contentsOf: URL(fileURLWithPath: desk.ward.journalPath(of: id)))
            clock.move(by: 6 * Nanoseconds.minute)
            let after = look()
            #expect(after.isFrozen == true && after.inList == true && after.healthy == 1)
            #expect(after.page.contains("Frozen"))
            #expect(after.metrics.contains("sessions_frozen 1"))
            let refused = desk.tell(id, #"{"command":"target","mgdl":120}"#)
            #expect(refused.status == 423 && refused.text.contains("frozen"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: desk.ward.journalPath(of: id))) == journal)
            // A thread comes, and all is as before.
            desk.ward.host.turn()
            let later = look()
            #expect(later.isFrozen == false && later.healthy == 0)
            #expect(desk.tell(id, #"{"command":"target","mgdl":120}"#).status == 202)
        }
    }

    /// A session that no thread comes to any more, and its clock.
    private func still(_ folder: String) throws -> (desk: Desk, clock: Clock, id: String) {
        let clock = Clock()
        let desk = try Desk(
            try Ward(Ward.Options(folder: folder), host: LiveHost(clocks: clock)), token: nil,
            names: [], isBack: true, guests: Guests { 0 })
        var wish = SessionRequest(.text(study))
        wish.pace = .real
        let id = try desk.ward.create(wish)
        desk.ward.host.turn()
        return (desk, clock, id)
    }

    /// Harm: a page with sound on is silent while a session hangs, as only what a session notifies would be heard.
    @Test func theWardsStreamAndItsOwnRingForItAgainAndAgain() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "still-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (desk, clock, id) = try still(folder)
        let dashboard = desk.dashboard
        clock.move(by: 6 * Nanoseconds.minute)
        desk.ward.siren.look(at: desk.ward.host)
        var own = EventStream(
            ward: desk.ward, news: desk.news, counters: dashboard.counters, screens: dashboard.screens,
            id: id,
            after: nil, page: nil)
        var all = WardStream(
            ward: desk.ward, news: desk.news, counters: dashboard.counters, screens: dashboard.screens,
            rings: dashboard.rings, known: nil)
        clock.move(by: 2 * Nanoseconds.second)
        // Looks at what rings that are nearer than this are one.
        try await Task.sleep(for: .milliseconds(100))
        for text in [await own.next(), await all.next()] { #expect(text == "retry: 1000\n\n") }
        for text in [await own.next() ?? "", await all.next() ?? ""] {
            #expect(text.contains("event: rang\n") && text.contains("\"code\":\"SESSION-FROZEN\""), "\(text)")
            #expect(
                text.contains("\"severity\":\"safetyCritical\"") && text.contains("\"session\":\"\(id)\""))
        }
        let rings = dashboard.rings
        let first = rings.newest
        clock.move(by: 31 * Nanoseconds.second)
        try await Task.sleep(for: .milliseconds(100))
        rings.look(at: desk.ward)
        // It rings again, and is listed once.
        #expect(rings.newest == first + 1)
        let listed = rings.latest(8).filter { $0.code == "SESSION-FROZEN" }
        #expect(listed.map(\.number) == [first + 1] && listed.first?.pace == .real)
        own.end()
        all.end()
    }

    @Test func whoHasSeenItSaysSoAndItIsShownAllTheSame() throws {
        try withFolder { folder in
            let (desk, clock, id) = try still(folder)
            func look() -> (isSounding: Bool?, inList: Bool?, row: String, page: String) {
                let list = desk.answer("GET", "/api/sessions").json["sessions"] as? [[String: Any]]
                return (
                    desk.answer("GET", "/api/sessions/\(id)").json["is_sounding"] as? Bool,
                    list?.first?["is_sounding"] as? Bool,
                    desk.answer("GET", "/", headers: ["accept": "text/html"]).text,
                    desk.answer("GET", "/sessions/\(id)", headers: ["accept": "text/html"]).text
                )
            }
            #expect(desk.answer("POST", "/api/sessions/\(id)/seen").status == 409)
            #expect(desk.answer("POST", "/api/sessions/nobody/seen").status == 404)
            clock.move(by: 6 * Nanoseconds.minute)
            let before = look()
            #expect(before.isSounding == true && before.inList == true)
            #expect(before.row.contains("data-seen") && before.page.contains("data-seen"))
            #expect(before.row.contains("<span class=\"band\">"))
            #expect(desk.answer("POST", "/api/sessions/\(id)/seen").status == 200)
            let after = look()
            #expect(after.isSounding == false && after.inList == false)
            #expect(!after.row.contains("data-seen") && !after.page.contains("data-seen"))
            // It is so all the same.
            #expect(after.row.contains("<span class=\"band answered\">") && after.row.contains("Frozen"))
            #expect(after.page.contains("<strong>Frozen.</strong>"))
            desk.ward.host.turn()
            #expect(desk.answer("POST", "/api/sessions/\(id)/seen").status == 409)
            clock.move(by: 6 * Nanoseconds.minute)
            #expect(look().isSounding == true)
        }
    }
}
