// An owner's settings on the disk: kept whole, or not changed at all.

import IsletAlerts
import Foundation
import IsletResults
import IsletDevices
import IsletKernel
import Testing

@Suite struct SQLiteOwnerStoreTests {
    private func withPath(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "islet-owner-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/phone.sqlite")
    }

    private static let threshold = AlertThreshold(
        subject: "basil", metric: .vpd, min: 0.8, max: 1.2, isEnabled: false,
        sensitivity: 15 * Nanoseconds.minute, criticalBelow: 0.3, criticalAbove: 2.2)

    @Test func `1 what is set, changed, switched off and deleted is there when the file is opened again`()
        throws
    {
        try withPath { path in
            let quiet = OwnerSetting.quietHours(QuietTimes(from: 1320, to: 420, timeZone: "Europe/Berlin"))
            var expected: SettingsLedger
            do {
                let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
                try store.update { ledger in
                    try ledger.set(.threshold(Self.threshold), clock: 100)
                    try ledger.set(quiet, clock: 100)
                    try ledger.set(.subject(AlertSubject(id: "basil", name: "Basil, tent “2”")), clock: 100)
                    try ledger.set(
                        .threshold(AlertThreshold(subject: "ann", metric: .glucose, min: 70)), clock: 101)
                }
                try store.update { _ = $0.delete(OwnerSetting.key("ann", .glucose), clock: 102) }
                try store.set(.allowed)
                expected = try store.ledger()
            }
            let store = try SQLiteOwnerStore(path: path)
            #expect(store.owner == "ann")
            #expect(try store.permission() == .allowed)
            #expect(try store.ledger() == expected)
            let settings = OwnerSettings(expected)
            #expect(settings.thresholds == [Self.threshold] && settings.quietTimes?.from == 1320)
            // The deletion is there, for the other devices.
            let row = try #require(expected.row(OwnerSetting.key("ann", .glucose)))
            #expect(row.write.setting == nil && row.isPending)
        }
    }

    @Test func `12 the hub's answer, a refusal and the place in the hub survive, too`() throws {
        try withPath { path in
            let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            var hub = SettingsLedger(device: "hub")
            try store.update { ledger in
                try ledger.set(.threshold(Self.threshold), clock: 1_772_000_000)
                let request = ledger.request()
                ledger.take(hub.answer(request, clock: 1_772_000_000, epoch: "e"), to: request)
                try ledger.set(
                    .threshold(AlertThreshold(subject: "ann", metric: .glucose, min: 70)),
                    clock: 1_772_000_000 + 400 * 86_400)
                let second = ledger.request()
                ledger.take(hub.answer(second, clock: 1_772_000_000, epoch: "e"), to: second)
            }
            let kept = try SQLiteOwnerStore(path: path).ledger()
            #expect(kept.hub == SettingsLedger.HubPlace(epoch: "e", position: 1))
            #expect(kept.refused.count == 1 && kept.newestTime == hub.newestTime)
            #expect(try store.ledger() == kept)
        }
    }

    @Test func `nothing is changed where something is refused`() throws {
        try withPath { path in
            let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            let before = try store.ledger()
            #expect(throws: InputError.self) {
                try store.update { ledger in
                    try ledger.set(.threshold(Self.threshold), clock: 1)
                    try ledger.set(
                        .threshold(AlertThreshold(subject: "ann", metric: .glucose, min: 9, max: 1)), clock: 1
                    )
                }
            }
            #expect(try store.ledger() == before)
        }
    }

    @Test func `two processes' changes are both kept`() throws {
        try withPath { path in
            let first = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            let second = try SQLiteOwnerStore(path: path)
            for number in 0..<20 {
                let store = number % 2 == 0 ? first : second
                try store.update {
                    try $0.set(
                        .threshold(
                            AlertThreshold(subject: "s\(number)", metric: .glucose, min: 70)), clock: 100)
                }
            }
            let rows = try first.ledger().rows
            #expect(rows.count == 20 && Set(rows.map(\.position)).count == 20)
            #expect(Set(rows.map(\.write.time)).count == 20)
        }
    }

    @Test func `another file, another owner, and no file are refused`() throws {
        try withPath { path in
            let missing = #expect(throws: InputError.self) { try SQLiteOwnerStore(path: path) }
            #expect(missing?.kind == .missing && !FileManager.default.fileExists(atPath: path))
            _ = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            #expect(throws: InputError.self) {
                try SQLiteOwnerStore(path: path, owner: "ben", device: "phone")
            }
            _ = try SQLiteSyncCursors(path: path + ".cursors", endpoint: "http://x")
            #expect(throws: InputError.self) { try SQLiteOwnerStore(path: path + ".cursors") }
            #expect(throws: InputError.self) {
                try SQLiteOwnerStore(path: path + ".cursors", owner: "ann", device: "phone")
            }
            try Data("not a database, but long enough to be looked at as one".utf8).write(
                to: URL(fileURLWithPath: path + ".txt"))
            #expect(throws: InputError.self) { try SQLiteOwnerStore(path: path + ".txt") }
        }
    }

    @Test func `9 the history is a timeline: once an episode, newest first, and what went on is closed`()
        throws
    {
        try withPath { path in
            let store = try SQLiteOwnerStore(path: path, owner: "ann", device: "phone")
            var open = ThresholdEpisode(
                subject: "basil", metric: .vpd, side: .high, threshold: 1.2, onset: 1.3, worst: 1.4,
                last: 1.35,
                beganAt: 100, raisedAt: 200, notifiedAt: nil, style: .warning)
            let older = ThresholdEpisode(
                subject: "mint", metric: .humidity, side: .low, threshold: 40, onset: 39, worst: 15, last: 41,
                beganAt: 10, raisedAt: 20, notifiedAt: 20, endedAt: 90, ended: "recovered", style: .critical)
            try store.record([open, older])
            #expect(try store.history(of: nil) == [open, older])
            open.endedAt = 300
            open.ended = "recovered"
            try store.record([open])
            #expect(try SQLiteOwnerStore(path: path).history(of: nil) == [open, older])
            #expect(try store.history(of: "mint") == [older])
        }
    }
}
