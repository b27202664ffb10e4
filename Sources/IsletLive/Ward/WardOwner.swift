// The ward's owner: thresholds, sensitivity and quiet hours are theirs, in the store that `islet thresholds` and `islet-live sync` have.
//
// Guarantees: what a page or a program sets in a session is in the store before it is answered; what is set in the store, here or by a sync, holds in the session about a
// second later, as an input like any other, so that a replay comes to the same. A session's folder says which write of each setting it has followed: of the two that
// differ, the one that was changed since is the newer, also after a kill in between. A store that can't be read or written costs no session anything.
// Does not: follow in forks, which are what-ifs, nor in sessions that are watched. The store's quiet hours hold by each session's own clock.

import IsletAlerts
import IsletFiles
import Foundation
import Glibc
import IsletResults
import IsletDevices
import IsletKernel
import Synchronization

package final class WardOwner: Sendable {
    package let name: String
    /// The name of the store's file, without its folder: what a page may say.
    package let file: String
    private let store: SQLiteOwnerStore
    private let path: String
    private let state = Mutex(State())

    private struct State {
        /// By session and key: the write that it has followed.
        var followed: [String: [String: String]] = [:]
        /// What the store's files were at the last look, and which sessions there were.
        var seen: [Int64] = []
        var ids: [String] = []
        var isBehind = true
    }

    /// Opens the store, or makes one.
    /// - Parameter owner: whose a new one is; nil for one that must be there.
    package init(path: String, owner: String?) throws {
        if let owner {
            try AlertSubject.check(id: owner)
            let device = "page-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let isThere = FileManager.default.fileExists(atPath: path)
            store =
                try isThere
                ? SQLiteOwnerStore(path: path) : SQLiteOwnerStore(path: path, owner: owner, device: device)
        } else {
            store = try SQLiteOwnerStore(path: path)
        }
        (self.path, name) = (path, store.owner)
        file = path.split(separator: "/").last.map(String.init) ?? path
    }

    private static var clock: Int64 { Int64(Date().timeIntervalSince1970) }

    private static func stamp(_ write: SettingWrite) -> String {
        "\(write.time.seconds).\(write.time.sequence).\(write.device)"
    }

    // MARK: From the session

    /// What a session was told is the owner's from now on.
    /// - Throws: what the store throws: the session has it then, and the store gets it at the next look.
    func take(_ input: LiveInput, from view: SessionView) throws {
        state.withLock { $0.isBehind = true }
        try write(view) { key in
            // One metric's, the quiet hours, or all thresholds.
            if let metric = input.text("metric") { return key == "threshold/\(view.id)/\(metric)" }
            return (input.name == "quietHours") == (key == OwnerSetting.quietHoursKey)
        }
    }

    private func write(_ view: SessionView, where isMeant: (String) -> Bool) throws {
        var stamps: [String: String] = [:]
        try store.update { ledger in
            let subject = AlertSubject(
                id: view.id, name: view.name.utf8.count <= 100 ? view.name : view.id,
                kind: view.kind.rawValue, stage: view.live.room?.stage ?? "")
            if ledger.row("subject/\(view.id)")?.write.setting == nil {
                _ = try ledger.set(.subject(subject), clock: Self.clock)
            }
            for set in view.live.thresholds {
                let key = OwnerSetting.key(view.id, set.metric)
                guard isMeant(key) else { continue }
                if let threshold = Self.threshold(set, view.id, before: ledger.row(key)?.write.setting) {
                    if ledger.row(key)?.write.setting != .threshold(threshold) {
                        _ = try ledger.set(.threshold(threshold), clock: Self.clock)
                    }
                } else {
                    ledger.delete(key, clock: Self.clock)
                }
                stamps[key] = ledger.row(key).map { Self.stamp($0.write) }
            }
            let key = OwnerSetting.quietHoursKey
            guard isMeant(key) else { return }
            var zone = TimeZone.current.identifier
            if case .quietHours(let before) = ledger.row(key)?.write.setting { zone = before.timeZone }
            if let quiet = view.live.quietHours {
                let times = QuietTimes(
                    from: Int(quiet.from / Nanoseconds.minute), to: Int(quiet.to / Nanoseconds.minute),
                    timeZone: zone)
                _ = try ledger.set(.quietHours(times), clock: Self.clock)
            } else {
                ledger.delete(key, clock: Self.clock)
            }
            stamps[key] = ledger.row(key).map { Self.stamp($0.write) }
        }
        state.withLock { $0.followed[view.id, default: [:]].merge(stamps) { $1 } }
    }

    /// nil where nobody watches either side. Critical bounds of the owner's own stay where they still lie outside.
    private static func threshold(
        _ set: MetricThreshold, _ subject: String, before: OwnerSetting?
    ) -> AlertThreshold? {
        guard set.low != nil || set.high != nil else { return nil }
        var threshold = AlertThreshold(
            subject: subject, metric: set.metric, min: set.low, max: set.high, isEnabled: set.isEnabled,
            sensitivity: set.sensitivity)
        if case .threshold(let old) = before {
            if let below = old.criticalBelow, let low = set.low, below <= low {
                threshold.criticalBelow = below
            }
            if let above = old.criticalAbove, let high = set.high, above >= high {
                threshold.criticalAbove = above
            }
        }
        return threshold
    }

    // MARK: From the store

    /// To be called about once a second: sessions follow what has changed in the store, and the store what it missed of a session.
    /// - Parameters:
    ///   - views: of the sessions that follow.
    ///   - folder: of a session.
    ///   - tell: tells a session an input.
    func look(
        _ ids: [String], view: (String) -> SessionView?, folder: (String) -> String,
        tell: (String, LiveInput) -> LiveOutcome
    ) throws {
        let seen = [path, path + "-wal"].flatMap { Self.facts(of: $0) }
        guard state.withLock({ $0.isBehind || $0.seen != seen || $0.ids != ids }) else { return }
        let ledger = try store.ledger()
        var isBehind = false
        for id in ids {
            // Most sessions have nothing there, and a look at them costs.
            guard
                ledger.row(OwnerSetting.quietHoursKey) != nil
                    || ledger.rows.contains(where: { $0.write.key.hasPrefix("threshold/\(id)/") }),
                let view = view(id)
            else { continue }
            let before = state.withLock { $0.followed[id] } ?? Self.read(folder(id))
            state.withLock { $0.followed[id] = before }
            isBehind = try !follow(view, ledger, tell: { tell(id, $0) }) || isBehind
            let now = state.withLock { $0.followed[id] } ?? [:]
            if now != Self.read(folder(id)) { try Self.write(now, folder(id)) }
        }
        state.withLock { ($0.isBehind, $0.seen, $0.ids) = (isBehind, seen, ids) }
    }

    /// - Returns: false where the session can't hear it now.
    private func follow(_ view: SessionView, _ ledger: SettingsLedger, tell: (LiveInput) -> LiveOutcome)
        throws
        -> Bool
    {
        var known = state.withLock { $0.followed[view.id] } ?? [:]
        var newer: Set<String> = []
        var isHeard = true
        for row in ledger.rows {
            let key = row.write.key
            guard key == OwnerSetting.quietHoursKey || key.hasPrefix("threshold/\(view.id)/"),
                known[key] != "refused " + Self.stamp(row.write)
            else { continue }
            let wanted = Self.input(row.write, view)
            if known[key] == Self.stamp(row.write) {
                if wanted != nil { newer.insert(key) }
            } else if let wanted {
                guard view.phase == .running, !view.isFrozen, view.live.isAppAlive else {
                    isHeard = false
                    continue
                }
                switch tell(wanted) {
                case .taken: known[key] = Self.stamp(row.write)
                case .refused(let refusal) where refusal.isOfContent:
                    known[key] = "refused " + Self.stamp(row.write)
                // What stood in the way passes: it is told again.
                case .refused: isHeard = false
                }
            } else {
                known[key] = Self.stamp(row.write)
            }
        }
        state.withLock { $0.followed[view.id] = known }
        if !newer.isEmpty { try write(view) { newer.contains($0) } }
        return isHeard
    }

    /// What would make the session have it; nil where it has it.
    private static func input(_ write: SettingWrite, _ view: SessionView) -> LiveInput? {
        let parts = write.key.split(separator: "/")
        if parts.first == "threshold", parts.count == 3 {
            let metric = String(parts[2])
            guard let set = view.live.thresholds.first(where: { $0.metric.rawValue == metric }) else {
                return nil
            }
            guard case .threshold(let wanted) = write.setting else {
                return set.low == nil && set.high == nil
                    ? nil : .changeThreshold(metric: metric, low: .off, high: .off)
            }
            let minutes = (wanted.sensitivity + Nanoseconds.minute - 1) / Nanoseconds.minute
            if set.low == wanted.min, set.high == wanted.max, set.isEnabled == wanted.isEnabled,
                set.sensitivity == minutes * Nanoseconds.minute, hasCriticals(wanted, view)
            {
                return nil
            }
            return .changeThreshold(
                metric: metric, low: ThresholdBound(wanted.min), high: ThresholdBound(wanted.max),
                sensitivityMinutes: Int(minutes), isEnabled: wanted.isEnabled,
                criticalBelow: ThresholdBound(wanted.criticalBelow),
                criticalAbove: ThresholdBound(wanted.criticalAbove))
        }
        let quiet = view.live.quietHours
        guard case .quietHours(let times) = write.setting else {
            return quiet == nil ? nil : .quietHours(fromMinute: nil, toMinute: nil)
        }
        let minute = Nanoseconds.minute
        let isSo = quiet?.from == Int64(times.from) * minute && quiet?.to == Int64(times.to) * minute
        return isSo ? nil : .quietHours(fromMinute: times.from, toMinute: times.to)
    }

    /// What is off has no rule to have them in.
    private static func hasCriticals(_ wanted: AlertThreshold, _ view: SessionView) -> Bool {
        guard wanted.isEnabled else { return true }
        return view.thresholds.first { $0.metric == wanted.metric }.map {
            (wanted.min == nil || $0.criticalBelow == wanted.criticalBelow ?? wanted.metric.criticalBelow)
                && (wanted.max == nil
                    || $0.criticalAbove == wanted.criticalAbove ?? wanted.metric.criticalAbove)
        } ?? true
    }

    // MARK: Files

    /// What tells a file from what it was; a write leaves one of them another.
    private static func facts(of path: String) -> [Int64] {
        var found = stat()
        guard stat(path, &found) == 0 else { return [-1] }
        return [
            Int64(found.st_size), Int64(found.st_mtim.tv_sec), Int64(found.st_mtim.tv_nsec),
            Int64(found.st_ino),
        ]
    }

    private static func read(_ folder: String) -> [String: String] {
        guard let bytes = FileManager.default.contents(atPath: folder + "/owner.json") else { return [:] }
        return (try? JSONDecoder().decode([String: String].self, from: bytes)) ?? [:]
    }

    private static func write(_ followed: [String: String], _ folder: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        try AtomicFile.write(
            String(decoding: try encoder.encode(followed), as: UTF8.self), to: folder + "/owner.json")
    }
}
