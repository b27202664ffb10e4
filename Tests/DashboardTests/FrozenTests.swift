// A session whose thread does not come: every surface says so, and nothing reaches it.

import Dashboard
import Foundation
import IsletKernel
import Synchronization
import Testing

@testable import IsletLive
@testable import Pages

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

    /// Harm: a page with sound on is silent while its session hangs, as only what a session notifies would be heard.
    @Test func aPageThatSoundsRingsForItsFrozenSession() throws {
        let script = String(decoding: try #require(Page.asset("live.js")).bytes, as: UTF8.self)
        let body = try #require(script.components(separatedBy: "function followFrozen").last)
            .components(separatedBy: "\n}\n")[0]
        for call in ["announce(", "ring(", "notifyFrozen("] { #expect(body.contains(call), "\(call)") }
        #expect(body.contains("'safetyCritical'"))
    }
}
