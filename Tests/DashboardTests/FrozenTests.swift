// A session whose thread does not come: every surface says so, and nothing reaches it.

import Foundation
import IsletDevices
import IsletKernel
import Synchronization
import Testing

@testable import Dashboard
@testable import IsletLive

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
            #expect(refused.status == 423 && refused.json["code"] as? String == "frozen")
            // An app that follows knows no 423, and takes what stands still for now.
            #expect(desk.answer("GET", "/ns/\(id)/api/v1/entries.json").status == 503)
            #expect(desk.answer("POST", "/ns/\(id)/api/v1/treatments", #"{"insulin":1}"#).status == 503)
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

    /// Harm: a bolus is on disk and will be given, its page says that it was refused and may be said again, and it is given twice.
    @Test func whatItsThreadHasInHandIsNotRefusedWhenItIsSaidAgain() throws {
        try withFolder { folder in
            let (desk, clock, id) = try still(folder)
            let path = desk.ward.journalPath(of: id)
            let isStalled = Atomic(false)
            let isReached = Atomic(false)
            desk.ward.host.remove(id)
            try desk.ward.host.add(id, pace: .real) { listener in
                let session = try LiveReplay.resume(path, listener: listener)
                session.journal?.observer = { _, isSynced in
                    guard isSynced, isStalled.load(ordering: .relaxed) else { return }
                    isReached.store(true, ordering: .relaxed)
                    while isStalled.load(ordering: .relaxed) { usleep(500) }
                }
                return session
            }
            func wait(until isSo: () -> Bool) {
                for _ in 0..<60_000 where !isSo() { usleep(1000) }
                #expect(isSo())
            }
            let said = #"{"command":"target","mgdl":130,"key":"k1"}"#
            let first = Mutex(0)
            isStalled.store(true, ordering: .relaxed)
            let thread = Thread {
                let status = desk.tell(id, said).status
                first.withLock { $0 = status }
            }
            thread.start()
            wait { isReached.load(ordering: .relaxed) }
            clock.move(by: 6 * Nanoseconds.second)
            let again = desk.tell(id, said)
            #expect(again.status == 503 && again.json["code"] as? String == "unanswered", "\(again.text)")
            #expect(again.text.contains("may be done, or not"))
            // Of anything else nothing has reached it.
            let other = desk.tell(id, #"{"command":"target","mgdl":140,"key":"k2"}"#)
            #expect(other.status == 423 && other.json["code"] as? String == "frozen", "\(other.text)")
            isStalled.store(false, ordering: .relaxed)
            wait { first.withLock { $0 } != 0 }
            #expect(first.withLock { $0 } == 202)
            let repeated = desk.tell(id, said)
            #expect(repeated.status == 202 && repeated.json["repeated"] as? Bool == true)
            let journal = try String(contentsOfFile: path, encoding: .utf8)
            #expect(journal.components(separatedBy: #"{"target":"#).count == 2)
        }
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

    /// Harm: a session whose disk is full has stopped with everything that would ring, and nobody hears that.
    @Test func whatCouldNotWriteIsRungForUntilSomebodyHasSeenIt() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "full-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (desk, clock, id) = try still(folder)
        fillDisk(under: desk.ward.journalPath(of: id))
        #expect(desk.tell(id, #"{"command":"target","mgdl":140}"#).status == 409)
        try await ringsThatItFailed(desk, clock, id, isThere: true)
        // It goes on, and what comes then is news.
        #expect(desk.answer("POST", "/api/sessions/\(id)/resume", "{}").status == 200)
        clock.move(by: Nanoseconds.second)
        #expect(desk.answer("POST", "/api/sessions/\(id)/seen").status == 409)
        fillDisk(under: desk.ward.journalPath(of: id))
        #expect(desk.tell(id, #"{"command":"target","mgdl":140}"#).status == 409)
        clock.move(by: Nanoseconds.second)
        #expect(desk.answer("GET", "/api/sessions/\(id)").json["is_sounding"] as? Bool == true)
        desk.ward.close()
    }

    /// Harm: after a power cut a person's session does not come back, and only a row of a list says so.
    @Test func whatCouldNotGoOnIsRungForUntilSomebodyHasSeenIt() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "damaged-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (first, clock, id) = try still(folder)
        let path = first.ward.journalPath(of: id)
        first.ward.close()
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: path))
        let desk = try Desk(
            try Ward(Ward.Options(folder: folder), host: LiveHost(clocks: clock)), token: nil,
            names: [], isBack: true, guests: Guests { 0 })
        try await ringsThatItFailed(desk, clock, id, isThere: false)
        #expect(desk.answer("DELETE", "/api/sessions/\(id)").status == 204)
        try await Task.sleep(for: .milliseconds(100))
        desk.dashboard.rings.look(at: desk.ward)
        #expect(desk.dashboard.rings.latest(8).isEmpty)
        desk.ward.close()
    }

    /// - Parameter isThere: whether the host has the session; its time is not known else.
    private func ringsThatItFailed(_ desk: Desk, _ clock: Clock, _ id: String, isThere: Bool) async throws {
        let dashboard = desk.dashboard
        var own = EventStream(
            ward: desk.ward, news: desk.news, counters: dashboard.counters, screens: dashboard.screens,
            id: id, after: nil, page: nil)
        desk.ward.rung()
        clock.move(by: 2 * Nanoseconds.second)
        #expect(await own.next() == "retry: 1000\n\n")
        let told = await own.next() ?? ""
        #expect(
            told.contains("\"code\":\"SESSION-FAILED\"") && told.contains("\"severity\":\"safetyCritical\""),
            "\(told)")
        #expect(told.contains("\"phase\":\"failed\"") && told.contains("\"sounding\":true"), "\(told)")
        #expect(told.contains("\"t\":null") == !isThere)
        let rings = dashboard.rings
        rings.look(at: desk.ward)
        let first = rings.newest
        #expect(rings.latest(8).map(\.code) == ["SESSION-FAILED"])
        func pages() -> [String] {
            ["/", "/sessions/\(id)"].map { desk.answer("GET", $0, headers: ["accept": "text/html"]).text }
        }
        #expect(pages().allSatisfy { $0.contains("data-seen") })
        #expect(pages()[0].contains("its time is not known") == !isThere)
        clock.move(by: 31 * Nanoseconds.second)
        try await Task.sleep(for: .milliseconds(100))
        rings.look(at: desk.ward)
        #expect(rings.newest == first + 1)
        #expect(desk.answer("POST", "/api/sessions/\(id)/seen").status == 200)
        let seen = await own.next() ?? ""
        #expect(seen.contains("\"sounding\":false"), "\(seen)")
        // It is so all the same, and silent.
        #expect(pages().allSatisfy { !$0.contains("data-seen") && $0.contains("ailed") })
        clock.move(by: 120 * Nanoseconds.second)
        try await Task.sleep(for: .milliseconds(100))
        rings.look(at: desk.ward)
        #expect(rings.newest == first + 1)
        own.end()
    }
}
