// What a person has of a server that was down, or whose disk fails for a moment: nothing that rang is lost, and nothing that was set.

import Foundation
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletResults
import IsletTrials
import Testing

@testable import Dashboard
@testable import IsletLive

@Suite("A server that was down, or whose disk fails", .timeLimit(.minutes(10))) struct DownTimeTests {
    private static let broken = study.replacing(
        "arms:", with: "faults: { scheduled: [{ at: 19h57m, kind: pod-fault }] }\narms:")

    /// Harm: what was raised while the server was down is active, and never sounds.
    @Test func whatRangWhileTheServerWasDownIsNewsAfterIt() async throws {
        let folder =
            FileManager.default.temporaryDirectory.path() + "down-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let clock = Clock()
        let options = Ward.Options(folder: folder)
        let first = try Ward(options, host: LiveHost(clocks: clock))
        var wish = SessionRequest(.text(Self.broken))
        (wish.pace, wish.from) = (.real, 19 * 3_600 * Nanoseconds.second)
        let id = try first.create(wish)
        first.host.turn()
        let lived = try #require(first.number(id)).number
        first.close()

        clock.move(by: 90 * Nanoseconds.minute)
        let desk = try Desk(try Ward(options, host: LiveHost(clocks: clock)), isBack: false)
        // A page that heard the server before, and comes back before the session does.
        var old = WardStream(
            ward: desk.ward, news: desk.news, counters: desk.dashboard.counters,
            screens: desk.dashboard.screens, rings: desk.dashboard.rings, known: "0badcafe-3")
        desk.ward.bringBack()
        desk.ward.host.turn()
        #expect(try #require(desk.ward.number(id)).now > .minutes(20 * 60))
        try await Task.sleep(for: .milliseconds(100))
        let rings = desk.dashboard.rings
        rings.look(at: desk.ward)
        let news = rings.after(0).filter { !$0.isOfBefore }
        #expect(news.contains { $0.code == "ALERT-PUMP-FAULT" }, "\(rings.after(0))")
        #expect(
            rings.after(0).filter(\.isOfBefore).allSatisfy {
                $0.at.map { $0 < .minutes(19 * 60 + 1) } ?? true
            })
        #expect(lived > 0)
        desk.ward.host.wake()
        #expect(await old.next() == "retry: 1000\n\n")
        let text = await old.next() ?? ""
        #expect(text.contains("event: rang\n") && text.contains("ALERT-PUMP-FAULT"), "\(text)")
        old.end()
        // Whoever opens the page anew is told of none of it: it stands in the list.
        let new = WardStream(
            ward: desk.ward, news: desk.news, counters: desk.dashboard.counters,
            screens: desk.dashboard.screens, rings: rings, known: nil)
        #expect(rings.latest(300).contains { $0.code == "ALERT-PUMP-FAULT" })
        new.end()
        desk.ward.close()
    }

    /// Harm: a server dies just as a session is there by name, and the next one has it paused: whoever was to be watched is not.
    @Test func aSessionWhoseServerDiesAsItBeginsGoesOnAtItsPace() throws {
        try withFolder { folder in
            let (files, clock) = (FileManager.default, Clock())
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let (alive, dead) = (folder + "/alive", folder + "/dead")
            let first = try Ward(Ward.Options(folder: alive), host: LiveHost(clocks: clock))
            var wish = SessionRequest(.text(study))
            (wish.pace, wish.from) = (.real, Nanoseconds.hour)
            let id = try first.create(wish) {
                // It has its name, and the host hasn't got it yet.
                let names = (try? files.contentsOfDirectory(atPath: alive + "/sessions")) ?? []
                if names.contains(where: { !$0.hasPrefix(".") }), !files.fileExists(atPath: dead) {
                    try? files.copyItem(atPath: alive, toPath: dead)
                }
                return true
            }
            first.close()
            clock.move(by: 90 * Nanoseconds.minute)
            let second = try Ward(Ward.Options(folder: dead), host: LiveHost(clocks: clock))
            second.bringBack()
            second.host.turn()
            let status = try #require(second.host.status(of: id))
            #expect(status.pace == .real && status.snapshot.now > .minutes(140))
            second.close()
        }
    }

    /// Harm: a pace that was answered and not written is gone after a restart, and under its key it is never asked for again.
    @Test func aPaceThatWasNotWrittenIsNotAnsweredAndMayBeAskedAgain() throws {
        try withFolder { folder in
            let desk = try Desk(folder)
            let id = try desk.session()
            fillDisk(under: desk.ward.journalPath(of: id))
            let words = #"{"command":"pace","pace":"60","key":"k1"}"#
            let refused = desk.tell(id, words)
            #expect(refused.status != 202, "\(refused)")
            #expect(desk.answer("POST", "/api/sessions/\(id)/resume").status < 300)
            let again = desk.tell(id, words)
            #expect(again.status == 202 && again.json["repeated"] as? Bool != true, "\(again)")
            #expect(desk.answer("GET", "/api/sessions/\(id)").json["pace"] as? String == "60")
        }
    }

    /// Harm: one write that failed, and the owner's threshold never holds in the session; the store says that it does.
    @Test func anOwnersThresholdIsToldAgainWhereTheDiskFailed() throws {
        try withFolder { folder in
            var options = Ward.Options(folder: folder + "/ward")
            (options.ownerStore, options.owner) = (folder + "/ann.sqlite", "ann")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let desk = try Desk(try Ward(options))
            let id = try desk.session(from: 1)
            try SQLiteOwnerStore(path: folder + "/ann.sqlite").update { ledger in
                _ = try ledger.set(
                    .threshold(AlertThreshold(subject: id, metric: .glucose, min: 83, max: 200)),
                    clock: 1_800_000_000)
            }
            func low() -> Double? {
                let all = desk.answer("GET", "/api/sessions/\(id)/settings").json["thresholds"]
                return (all as? [[String: Any]])?.first { $0["metric"] as? String == "glucose" }?["low"]
                    as? Double
            }
            fillDisk(under: desk.ward.journalPath(of: id))
            desk.ward.followOwner()
            #expect(desk.answer("POST", "/api/sessions/\(id)/resume").status < 300)
            desk.ward.followOwner()
            #expect(low() == 83)
            desk.ward.close()
        }
    }
}
