// Upgrades that are killed: between any two of their steps, over hours of alarms and commands, and in a ward.

import Foundation
import Glibc
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletTrials
import Testing

@testable import DeviceLinks
@testable import IsletLive
@testable import IsletLoop

private typealias LinkedWorld = LinkedSessionTests.World

/// What a person relies on: none of it may be lost by an exchange of the program.
private struct Standing: Equatable {
    struct Alert: Equatable {
        var raisedAt: Instant
        var acknowledgedAt: Instant?
    }

    struct Waiting: Equatable {
        /// As the pump would know it.
        var id: Int64
        var units: Double
    }

    var alerts: [AlertName: Alert]
    var thresholds: [MetricThreshold]
    var quietHours: QuietHours?
    var target: GlucoseConcentration?
    var requested: Int?
    var owedUnits: Double?
    var onBoardUnits: Double
    var unknownUnits: Double
    /// A bolus that waits to be sent, or waited for too long, which the loop has not heard yet.
    var waiting: Waiting?
    /// What the loop and the pump's mirror know of the last bolus, for whoever reads of a loss.
    var request: String
    var algorithm: String

    init(_ session: LiveSession) throws {
        let (shown, carry) = (session.snapshot, try #require(session.carry()))
        alerts = [:]
        for one in shown.alerts {
            alerts[one.code] = Alert(raisedAt: one.raisedAt, acknowledgedAt: one.acknowledgedAt)
        }
        (thresholds, quietHours, target) = (shown.thresholds, shown.quietHours, shown.target)
        (requested, owedUnits) = (shown.requestedBolus?.number, shown.loop?.owed?.units)
        onBoardUnits = carry.loop.insulin.units
        // What was on its way is of unknown fate afterwards.
        if let request = carry.links?.pump.request, request.sentAt == nil, carry.unconfirmedUnits > 0 {
            waiting = Waiting(id: request.wireID, units: carry.unconfirmedUnits)
        }
        request = "\(carry.loop.memory.request as Any), \(carry.links?.pump.request as Any)"
        unknownUnits = max(carry.unknownUnits, carry.unconfirmedUnits)
        algorithm = shown.algorithm
    }

    /// What of it is not there any more; empty for nothing. More may be there: the pump has not been asked yet.
    /// - Parameter sent: ids of the boluses that the pump was sent. One that waited, and never was, may be settled as such.
    func lost(in after: Standing, sent: Set<Int64>) -> [String] {
        var lost: [String] = []
        var (onBoardUnits, unknownUnits) = (onBoardUnits, unknownUnits)
        if let waiting, !sent.contains(waiting.id), after.waiting == nil {
            onBoardUnits -= waiting.units
            unknownUnits -= waiting.units
        }
        for (code, alert) in alerts where after.alerts[code] != alert { lost.append("\(code)") }
        if after.thresholds != thresholds { lost.append("thresholds") }
        if after.quietHours != quietHours { lost.append("quiet hours") }
        if after.target != target { lost.append("target") }
        // Kept a moment before, one that has just lapsed lapses again.
        if requested != nil, after.requested != requested { lost.append("requested bolus") }
        if owedUnits != nil, after.owedUnits != owedUnits { lost.append("owed insulin") }
        if after.onBoardUnits < onBoardUnits - 1e-9 {
            lost.append("insulin on board \(onBoardUnits) to \(after.onBoardUnits)")
        }
        if after.unknownUnits < unknownUnits - 1e-9 {
            lost.append("unknown insulin \(unknownUnits) to \(after.unknownUnits)")
        }
        if after.algorithm != algorithm { lost.append("algorithm") }
        return lost.isEmpty ? [] : lost + ["of \(request)", "then \(after.request)"]
    }
}

/// Where an upgrade ends.
private enum Death: Equatable {
    /// It comes to its end.
    case none
    case after(LiveUpgrade.Step)
    /// While the hidden journal is written: so much of it is there, in hundredths.
    case within(Int)

    static let all: [Death] =
        [.none] + LiveUpgrade.Step.allCases.map { .after($0) } + [0, 1, 40, 99].map { .within($0) }
}

/// Copies a folder; two names of one file stay so.
private func copy(_ folder: String, to other: String) throws {
    let files = FileManager.default
    try? files.removeItem(atPath: other)
    try files.createDirectory(atPath: other, withIntermediateDirectories: true)
    var seen: [UInt64: String] = [:]
    for name in try files.contentsOfDirectory(atPath: folder).sorted() {
        var status = stat()
        #expect(lstat(folder + "/" + name, &status) == 0)
        if status.st_mode & S_IFMT == S_IFDIR {
            try copy(folder + "/" + name, to: other + "/" + name)
        } else if let first = seen[UInt64(status.st_ino)] {
            #expect(link(first, other + "/" + name) == 0)
        } else {
            try files.copyItem(atPath: folder + "/" + name, toPath: other + "/" + name)
            seen[UInt64(status.st_ino)] = other + "/" + name
        }
    }
}

/// Begins an upgrade that is killed: the folder is as the process left it. Nobody holds the journal.
private func upgrade(_ path: String, to engine: Int, dying death: Death) throws {
    guard death != .none, LiveOpening.engine(ofJournal: path) != engine else { return }
    let folder = URL(filePath: path).deletingLastPathComponent().path()
    let dead = folder.hasSuffix("/") ? folder.dropLast() + ".dead" : folder + ".dead"
    let (file, content) = try JournalFile.reopen(path)
    var problem: (any Error)?
    try withExtendedLifetime(file) {
        try LiveUpgrade.begin(content, studyPath: nil, engine: engine) { step in
            var isHere = death == .after(step)
            if case .within = death { isHere = step == .written }
            guard isHere else { return }
            do { try copy(folder, to: String(dead)) } catch { problem = error }
        }
    }
    if let problem { throw problem }
    if case .within(let hundredths) = death {
        let hidden = dead + "/" + URL(filePath: path).lastPathComponent + ".new"
        let whole = try bytes(hidden)
        try write(Array(whole.prefix(whole.count * hundredths / 100)), to: hidden)
    }
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: String(dead), toPath: folder)
}

/// A session of either kind, as a study of upgrades handles it.
private final class Subject {
    let linked: LinkedWorld?
    let fed: FedWorld?
    private(set) var lost: [String] = []
    private var minute: Int64 = 0

    init(_ folder: String, isLinked: Bool) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        linked = isLinked ? try LinkedWorld(folder) : nil
        fed = isLinked ? nil : try FedWorld(folder + "/fed.journal")
    }

    var path: String { linked?.path ?? fed?.path ?? "" }
    var engine: Int { linked?.engine ?? fed?.engine ?? 0 }
    var session: LiveSession? { linked?.session ?? fed?.session }
    var folder: String { URL(filePath: path).deletingLastPathComponent().path() }

    func live(minutes: Int64) throws {
        minute = max(minute, Int64(session?.now.minutes ?? 0)) + minutes
        try linked?.live(untilMinute: minute)
        fed?.live(untilMinute: minute)
    }

    func set(mgdl: Double) {
        linked?.mgdl = mgdl
        fed?.mgdl = mgdl
    }

    @discardableResult
    func say(_ input: LiveInput) -> LiveAnswer? {
        session.map { $0.take(LiveCommand(input), at: $0.now) }
    }

    /// The program is killed, another engine's begins, is killed amid its upgrade, and one more goes on.
    func exchange(dying death: Death, to next: Int, then last: Int) throws {
        let before = try Standing(try #require(session))
        let now = try #require(session).now
        linked?.session = try LiveSession(try opening(1), journal: nil)
        fed?.session = try LiveSession(try opening(1), journal: nil)
        try upgrade(path, to: next, dying: death)
        func look(_ session: LiveSession) {
            do {
                let sent = Set(linked?.simulator.boluses.map(\.id) ?? [])
                let missing = before.lost(in: try Standing(session), sent: sent)
                if !missing.isEmpty { lost.append("\(death), \(next), \(last): \(missing)") }
            } catch {
                lost.append("\(error)")
            }
        }
        if let linked {
            linked.engine = last
            linked.onResume = look
            try linked.relaunch(at: now)
            linked.onResume = { _ in }
        }
        if let fed {
            try fed.upgrade(to: last)
            look(fed.session)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        if names.contains(where: { $0.contains(".new") }) { lost.append("left over: \(names)") }
    }

    /// Nothing was given twice, no command has another's number, and the journal lives again.
    func check() throws {
        #expect(lost.isEmpty, "\(lost)")
        if let linked {
            let ids = linked.simulator.boluses.map(\.id)
            #expect(Set(ids).count == ids.count)
            let numbers = linked.simulator.arrived.map(\.number)
            #expect(Set(numbers).count == numbers.count)
        }
        if let fed { #expect(fed.readAgain().allSatisfy { $0.isRepeated }) }
        #expect(try LiveReplay(try JournalContent.read(path), engine: engine).divergence == nil)
    }
}

@Suite("Upgrades that are killed", .timeLimit(.minutes(45))) struct UpgradeKillTests {
    private static let isLong = ProcessInfo.processInfo.environment["ISLET_SOAK"] != nil
    private let low = AlertName(rawValue: "ALERT-CGM-URGENT-LOW")

    /// Whichever step it was killed after, the old engine goes on from there, and so does the new one, and a third.
    @Test(arguments: [true, false], Death.all) fileprivate func `every state between its steps goes on`(
        _ isLinked: Bool, _ death: Death
    ) throws {
        let this = BuildFacts.engine
        for last in this...this + 2 {
            try withFolder { folder in
                let subject = try Subject(folder + "/one", isLinked: isLinked)
                try subject.live(minutes: 40)
                subject.say(.target(mgdl: 130))
                subject.say(.threshold(metric: "glucose", low: 75, high: 260))
                subject.say(.quietHours(fromMinute: 0, toMinute: 420))
                subject.set(mgdl: 50)
                try subject.live(minutes: 15)
                if isLinked { subject.say(.requestBolus(units: 1)) }
                let active = try Standing(try #require(subject.session)).alerts
                #expect(active[low] != nil)
                try subject.exchange(dying: death, to: this + 1, then: last)
                #expect(subject.session?.opening.engine == last)
                try subject.live(minutes: 10)
                #expect(
                    subject.session?.snapshot.alerts.first { $0.code == low }?.raisedAt
                        == active[low]?.raisedAt)
                try subject.exchange(dying: .none, to: this + 1, then: this + (last - this + 1) % 3)
                try subject.live(minutes: 10)
                try subject.check()
            }
        }
    }

    /// A disk that is full, or a folder that nobody may write, leaves the old journal as it was.
    @Test func `an upgrade that fails leaves everything as it was`() throws {
        try withFolder { folder in
            let subject = try Subject(folder + "/one", isLinked: false)
            try subject.live(minutes: 30)
            let path = subject.path
            subject.fed?.session = try LiveSession(try opening(1), journal: nil)
            let before = try bytes(path)
            // A folder stands where the hidden journal would.
            try FileManager.default.createDirectory(
                atPath: path + ".new/x", withIntermediateDirectories: true)
            #expect(throws: (any Error).self) { try LiveReplay.resume(path, engine: BuildFacts.engine + 1) }
            #expect(try bytes(path) == before)
            try FileManager.default.removeItem(atPath: path + ".new")
            #expect(
                try LiveReplay.resume(path, engine: BuildFacts.engine + 1).opening.engine == BuildFacts.engine
                    + 1)
        }
    }

    // MARK: Hours of it

    /// What happens to a person between two kills, drawn.
    private func happen(to subject: Subject, _ random: inout RandomStream) throws {
        subject.set(mgdl: [45, 60, 120, 150, 320].randomElement(using: &random) ?? 120)
        let fate = Int.random(in: 0..<6, using: &random)
        subject.linked?.fate = { _ in fate == 0 ? .silent : .answered }
        try subject.live(minutes: Int64.random(in: 3...25, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: subject.say(.target(mgdl: Double.random(in: 100...150, using: &random).rounded()))
        case 1:
            subject.say(
                .threshold(
                    metric: "glucose", low: Double(Int.random(in: 65...80, using: &random)), high: 250))
        case 2:
            subject.say(.quietHours(fromMinute: 1320, toMinute: Int.random(in: 300...420, using: &random)))
        case 3: subject.say(.acknowledge(alert: low.rawValue))
        case 4: subject.say(.snooze(alert: low.rawValue, minutes: 20))
        case 5: subject.say(.meal(grams: 40, isEaten: false, isAnnounced: true))
        case 6:
            if let number = subject.say(.requestBolus(units: 0.5))?.number {
                subject.say(.confirmBolus(request: number, units: 0.5, anyway: true))
            }
        default: subject.say(.requestBolus(units: 0.5))
        }
        try subject.live(minutes: Int64.random(in: 0...7, using: &random))
    }

    /// Ten that go on, five of them linked and five fed, and ten in a ward that are shown and begun anew.
    @Test(arguments: UInt64(1)...(isLong ? 4 : 1)) func `a ward of twenty over hours`(_ seed: UInt64) throws {
        let kills = Self.isLong ? 30 : 4
        try withFolder { folder in
            var random = RandomStreams(seed: seed, subject: 0).stream("upgrades")
            let subjects = try (0..<10).map {
                try Subject(folder + "/s\($0)", isLinked: $0.isMultiple(of: 2))
            }
            let ward = try SimulatedWard(folder + "/ward", sessions: Self.isLong ? 10 : 3)
            for _ in 0..<kills {
                for subject in subjects {
                    try happen(to: subject, &random)
                    try subject.exchange(
                        dying: Death.all.randomElement(using: &random) ?? .none,
                        to: Int.random(in: 1...3, using: &random),
                        then: Int.random(in: 1...3, using: &random))
                }
                try ward.happen(&random)
                try ward.killAndUpgrade(folder + "/copy")
            }
            for subject in subjects {
                subject.linked?.fate = { _ in .answered }
                subject.set(mgdl: 140)
                try subject.live(minutes: 60)
                try subject.check()
            }
        }
    }

    /// The simulated ones of that ward.
    private struct SimulatedWard {
        let ward: Ward
        let ids: [String]

        init(_ folder: String, sessions: Int) throws {
            ward = try Ward(Ward.Options(folder: folder))
            let text = """
                study: simulated
                seed: 9
                start: 2026-03-02T06:00:00-05:00
                duration: 2d
                cohort: { generate: { model: uva-padova-2008, group: adult, count: 10 } }
                scenario: { meals: moderate }
                arms: [{ name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }]
                """
            ids = try (0..<sessions).map { [ward] number in
                var wish = SessionRequest(.text(text))
                (wish.pace, wish.from, wish.session) = (.paused, Nanoseconds.hour, number)
                return try ward.create(wish)
            }
        }

        func happen(_ random: inout RandomStream) throws {
            for id in ids {
                let alert = Bool.random(using: &random) ? "ALERT-CGM-URGENT-LOW" : "ALERT-CGM-URGENT-HIGH"
                _ = try ward.tell(id, WardCommand(.input(.preview(alert: alert))))
                let mgdl = Double(Int.random(in: 100...150, using: &random))
                _ = try ward.tell(id, WardCommand(.input(.target(mgdl: mgdl))))
            }
            ward.tend()
        }

        /// The server is killed: another engine's opens what is on disk then.
        func killAndUpgrade(_ copied: String) throws {
            try copy(ward.options.folder, to: copied)
            defer { try? FileManager.default.removeItem(atPath: copied) }
            var options = Ward.Options(folder: copied)
            options.engine = BuildFacts.engine + 1
            let other = try Ward(options)
            defer { other.close() }
            other.bringBack()
            for id in ids {
                let (before, after) = (try #require(ward.view(id)), try #require(other.view(id)))
                #expect(after.kept?.engine == BuildFacts.engine && after.kept?.isKnown == true)
                // What is written once a minute, and not at once, may be older.
                #expect(after.live.alerts == before.live.alerts && after.now <= before.now)
                #expect(after.log.readings == before.log.readings)
                let new = try other.anew(id)
                #expect(new.refused.isEmpty && other.view(new.id)?.phase == .running)
                #expect(other.view(new.id)?.live.target == before.live.target)
                #expect(other.view(new.id)?.live.thresholds == before.live.thresholds)
                #expect(try other.anew(id).id == new.id)
            }
            #expect(other.ids.count == 2 * ids.count)
        }
    }
}
