// One owner, one store: what is set on the page, on the command line and on another device is the same setting.

import IsletAlerts
import Foundation
@testable import IsletLive
import IsletResults
import IsletKernel
import Testing

@testable import Dashboard

@Suite("One owner has one store") struct OwnerTests {
    private func desk(_ folder: String) throws -> Desk {
        var options = Ward.Options(folder: folder + "/ward")
        (options.ownerStore, options.owner) = (folder + "/ann.sqlite", "ann")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try Desk(try Ward(options))
    }

    private func threshold(_ desk: Desk, _ id: String) -> [String: Any] {
        let settings = desk.answer("GET", "/api/sessions/\(id)/settings").json
        let all = settings["thresholds"] as? [[String: Any]] ?? []
        return all.first { $0["metric"] as? String == "glucose" } ?? [:]
    }

    private func quiet(_ desk: Desk, _ id: String) -> String? {
        let settings = desk.answer("GET", "/api/sessions/\(id)/settings").json
        return (settings["quiet_hours"] as? [String: Any])?["from"] as? String
    }

    @Test func whatIsSetOnThePageIsInTheOwnersStore() throws {
        try withFolder { folder in
            let desk = try desk(folder)
            let (id, other) = (try desk.session(from: 1), try desk.session(from: 1))
            #expect(desk.answer("GET", "/api/sessions/\(id)/settings").json["owner"] as? String == "ann")
            let page = desk.answer("GET", "/sessions/\(id)/settings", headers: ["accept": "text/html"]).text
            #expect(page.contains("those of <strong>ann</strong>"))
            let told = desk.tell(
                id, #"{"command":"threshold","metric":"glucose","low":75,"sensitivity_minutes":15}"#)
            #expect(told.status == 202)
            let store = try SQLiteOwnerStore(path: folder + "/ann.sqlite")
            let kept = try #require(OwnerSettings(try store.ledger()).thresholds(of: id).first)
            #expect(kept.metric == .glucose && kept.min == 75 && kept.max == 250 && kept.isEnabled)
            #expect(kept.sensitivity == 15 * Nanoseconds.minute)
            #expect(OwnerSettings(try store.ledger()).thresholds(of: other).isEmpty)
            // Quiet hours are one setting of the owner: every session has them.
            #expect(desk.tell(id, #"{"command":"quietHours","from":"21:30","to":"06:00"}"#).status == 202)
            #expect(OwnerSettings(try store.ledger()).quietTimes?.from == 21 * 60 + 30)
            desk.ward.followOwner()
            #expect(quiet(desk, other) == "21:30")
        }
    }

    @Test func whatIsSetInTheStoreHoldsInTheSessionAlsoAfterARestart() throws {
        try withFolder { folder in
            var id = ""
            do {
                let first = try desk(folder)
                id = try first.session(from: 1)
                let store = try SQLiteOwnerStore(path: folder + "/ann.sqlite")
                try store.update { ledger in
                    _ = try ledger.set(
                        .threshold(
                            AlertThreshold(
                                subject: id, metric: .glucose, min: 80, max: 200, sensitivity: 0,
                                criticalBelow: 60)), clock: 1_800_000_000)
                }
                first.ward.followOwner()
                let now = threshold(first, id)
                #expect(now["low"] as? Double == 80 && now["high"] as? Double == 200)
                #expect(now["critical_below"] as? Double == 60)
                let count = first.ward.number(id)?.number
                first.ward.followOwner()
                #expect(first.ward.number(id)?.number == count, "followed once")
                first.ward.close()
            }
            // Changed while no server ran, here or by a sync.
            try SQLiteOwnerStore(path: folder + "/ann.sqlite").update { ledger in
                _ = try ledger.set(
                    .threshold(
                        AlertThreshold(
                            subject: id, metric: .glucose, min: 85, max: 200, isEnabled: false)),
                    clock: 1_800_000_100)
            }
            let second = try desk(folder)
            second.ward.followOwner()
            #expect(threshold(second, id)["low"] as? Double == 85)
            #expect(threshold(second, id)["enabled"] as? Bool == false)
            second.ward.close()
        }
    }

    /// A kill between the session's journal and the store: what somebody set must not go back to what it was.
    @Test func whatTheStoreMissedOfASessionItGets() throws {
        try withFolder { folder in
            let first = try desk(folder)
            let id = try first.session(from: 1)
            #expect(first.tell(id, #"{"command":"threshold","metric":"glucose","low":75}"#).status == 202)
            first.ward.followOwner()
            // Past the store, as if the server had been killed before it got there.
            let input = LiveInput.changeThreshold(metric: "glucose", low: .at(90))
            #expect(first.ward.host.take(LiveCommand(input), for: id).outcome == .taken)
            first.ward.close()
            let second = try desk(folder)
            second.ward.followOwner()
            #expect(threshold(second, id)["low"] as? Double == 90)
            let store = try SQLiteOwnerStore(path: folder + "/ann.sqlite")
            #expect(OwnerSettings(try store.ledger()).thresholds(of: id).first?.min == 90)
            second.ward.close()
        }
    }

    /// Whoever lives by the alerts must not lose them to a settings file.
    @Test func aStoreThatCannotBeReadKeepsNoSessionFromRunning() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("no store at all, and long enough to be taken for one".utf8).write(
                to: URL(fileURLWithPath: folder + "/ann.sqlite"))
            let desk = try desk(folder)
            let id = try desk.session(from: 1)
            #expect(desk.tell(id, #"{"command":"threshold","metric":"glucose","low":75}"#).status == 202)
            #expect(threshold(desk, id)["low"] as? Double == 75)
            #expect(desk.answer("GET", "/api/sessions/\(id)/settings").json["owner"] is NSNull)
            #expect(desk.ward.ownerProblem != nil)
            let page = desk.answer("GET", "/sessions/\(id)/settings", headers: ["accept": "text/html"]).text
            #expect(page.contains("can’t be followed"))
        }
    }

    /// What was set while the store could not be opened is the newer of the two.
    @Test func aStoreThatOpensLaterGetsWhatItMissed() throws {
        try withFolder { folder in
            let (store, away) = (folder + "/ann.sqlite", folder + "/away.sqlite")
            var id = ""
            do {
                let first = try desk(folder)
                id = try first.session(from: 1)
                #expect(first.tell(id, #"{"command":"threshold","metric":"glucose","low":90}"#).status == 202)
                first.ward.followOwner()
                first.ward.close()
            }
            try FileManager.default.moveItem(atPath: store, toPath: away)
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
            let second = try desk(folder)
            second.ward.followOwner()
            #expect(second.ward.ownerProblem != nil)
            #expect(threshold(second, id)["low"] as? Double == 90)
            #expect(second.tell(id, #"{"command":"threshold","metric":"glucose","low":75}"#).status == 202)
            try FileManager.default.removeItem(atPath: store)
            try FileManager.default.moveItem(atPath: away, toPath: store)
            second.ward.followOwner()
            #expect(second.ward.ownerProblem == nil)
            #expect(threshold(second, id)["low"] as? Double == 75)
            let kept = try SQLiteOwnerStore(path: store)
            #expect(OwnerSettings(try kept.ledger()).thresholds(of: id).first?.min == 75)
            second.ward.close()
        }
    }
}
