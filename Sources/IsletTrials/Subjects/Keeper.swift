// Somebody who looks after a watched subject: hears notifications, comes, and puts right what is broken.
//
// Guarantees: luck hangs on the day, the five minutes and the how many-th ring within them, never on how many alerts came before: two policies that ring at the same
// time find the same keeper awake or asleep, and as quick. Whatever rings until somebody is there is answered by one visit. A keeper comes by once a
// day, whoever rings, and mends what they find.
// Does not: see the air. Who comes mends what is broken, and does nothing about what isn't.

import IsletAlerts
import IsletNumerics
import Glibc
import IsletDevices
package import IsletKernel

/// What the keeper did, up to now.
struct KeeperFacts {
    var heard = 0
    var unheard = 0
    var wakings = 0
    /// Because something rang.
    var calls = 0
    var nightCalls = 0
    /// Calls at which nothing was broken.
    var vain = 0
    var mended = 0
    /// From the break to the mend, ns, summed.
    var brokenFor: Int64 = 0
    var visits: [KeeperVisit] = []
    var nights: [Interval] = []
}

/// Somebody was there.
package struct KeeperVisit: Hashable, Sendable, Codable {
    package enum Reason: Hashable, Sendable, Codable {
        /// Something rang.
        case called
        /// The daily round.
        case round
        /// Somebody outside of the session said so.
        case asked
    }
    package var at: Instant
    package var reason: Reason
    /// What was broken, and is no more.
    package var mended: [BrokenPart]
}

actor Keeper: SessionActor, AlertListener {
    nonisolated let executor: SessionExecutor
    private let settings: KeeperSettings
    private let calendar: SessionCalendar
    private let hearing: RandomStream
    private let rounds: RandomStream
    private let center: AlertCenter
    private let monitor: SubjectMonitor
    private let recorder: SessionRecorder
    private var wakeup: Wakeup?
    private var callAt: Instant?
    private var roundAt: Instant?
    private var roundDay: Int64 = -1
    private var slot: (place: Int64, rings: UInt64) = (-1, 0)
    private var vainCalls: [Instant] = []
    private var facts = KeeperFacts()
    private var toldVisits = 0

    private static let slotLength = 5 * Nanoseconds.minute
    /// For so long a visit in vain is remembered, and no more than so much of the hearing is lost.
    private static let memory = 72 * Nanoseconds.hour
    private static let leastHearing = 0.3

    init(
        executor: SessionExecutor, settings: KeeperSettings, origin: BodyOrigin, center: AlertCenter,
        monitor: SubjectMonitor, recorder: SessionRecorder
    ) {
        self.executor = executor
        self.settings = settings
        calendar = origin.calendar
        hearing = origin.luck.stream("keeper.hearing")
        rounds = origin.luck.stream("keeper.rounds")
        (self.center, self.monitor, self.recorder) = (center, monitor, recorder)
    }

    func begin() {
        wakeup = Wakeup(executor, phase: .person, "keeper") { [unowned self] in try here { try $0.wake() } }
        planRound()
        scheduleNext()
    }

    private func scheduleNext() {
        wakeup?.schedule(at: min(callAt ?? .distantFuture, roundAt ?? .distantFuture))
    }

    /// Every day within an hour of the setting.
    private func planRound() {
        var day = max(roundDay + 1, calendar.day(of: executor.now))
        while true {
            var draw = rounds.at(UInt64(bitPattern: day))
            let hours = settings.roundAt + 2 * draw.uniform() - 1
            let at = calendar.instant(ofDay: day, nanosecondOfDay: Int64(hours * Double(Nanoseconds.hour)))
            roundDay = day
            if at > executor.now {
                roundAt = at
                return
            }
            day += 1
        }
    }

    private func isAsleep(at instant: Instant) -> Bool {
        let hour = Double(calendar.timeOfDay(at: instant)) / Double(Nanoseconds.hour)
        return settings.bed < 24
            ? hour >= settings.bed || hour < settings.rises
            : hour >= settings.bed - 24 && hour < settings.rises
    }

    // MARK: Hearing

    nonisolated func alertDidRing(_ ring: AlertRing) -> Bool { here(ring) { $0.hear($1, isSeen: false) } }
    nonisolated func alertDidShow(_ ring: AlertRing) { _ = here(ring) { $0.hear($1, isSeen: true) } }

    /// - Parameter isSeen: the app is in front: whoever has it there is awake, and sees it.
    private func hear(_ ring: AlertRing, isSeen: Bool) -> Bool {
        let now = executor.now
        let place = now.nanoseconds / Self.slotLength
        slot = slot.place == place ? (place, slot.rings + 1) : (place, 0)
        // 4096 rings in five minutes share the last one's luck.
        var draw = hearing.at(UInt64(place) << 12 | min(slot.rings, 4095))
        let isAsleep = !isSeen && isAsleep(at: now)
        vainCalls.removeAll { $0 < now.adding(-Self.memory) }
        let tired = max(Self.leastHearing, 1 - settings.fatigue * Double(vainCalls.count))
        let luck = draw.uniform()
        let isHeard = isSeen || luck < (isAsleep ? settings.hearsAsleep : settings.hearsAwake) * tired
        let delay =
            (isAsleep ? settings.delayAsleep : settings.delayAwake)
            * exp(settings.delaySpread * Normal.next(using: &draw))
        executor.journal.record(
            .keeperRang, at: now, isHeard ? 1 : 0, isAsleep ? 1 : 0, slot.rings,
            UInt64(ring.severity.rawValue))
        let kind: PersonRow.Kind = isHeard ? (isAsleep ? .woke : .heard) : isAsleep ? .sleptOn : .unheard
        if !isSeen {
            recorder.did(kind, Double(slot.rings + 1), at: now, code: ring.code)
            if isHeard { facts.heard += 1 } else { facts.unheard += 1 }
            if isHeard, isAsleep { facts.wakings += 1 }
        }
        guard isHeard else { return false }
        // Who is on their way already comes no later.
        let there = now.adding(Int64(delay * Double(Nanoseconds.minute)))
        callAt = min(callAt ?? .distantFuture, there)
        scheduleNext()
        return true
    }

    // MARK: Visits

    private func wake() throws {
        let now = executor.now
        if let due = callAt, due <= now {
            callAt = nil
            try visit(.called, isCalled: true)
        }
        if let due = roundAt, due <= now {
            planRound()
            try visit(.round, isCalled: false)
        }
        scheduleNext()
    }

    /// Somebody outside of the session sends them. Whatever has rung is answered by it, as by any visit.
    func visitNow() throws {
        let isCalled = callAt != nil
        callAt = nil
        scheduleNext()
        try visit(.asked, isCalled: isCalled)
    }

    private func visit(_ reason: KeeperVisit.Reason, isCalled: Bool) throws {
        let now = executor.now
        let broken = try monitor.here { try $0.visit() }
        for part in broken {
            facts.brokenFor += now.nanoseconds - part.since.nanoseconds
            recorder.fault(FaultRow(instant: part.since, end: now, kind: part.kind))
        }
        facts.mended += broken.count
        facts.visits.append(KeeperVisit(at: now, reason: reason, mended: broken))
        if isCalled {
            facts.calls += 1
            if isAsleep(at: now) { facts.nightCalls += 1 }
            if broken.isEmpty {
                facts.vain += 1
                vainCalls.append(now)
            }
        }
        executor.journal.record(
            .keeperVisit, at: now, reason == .asked ? 2 : isCalled ? 1 : 0, UInt64(broken.count))
        for alert in center.here({ $0.active })
        where alert.acknowledgement != .none && alert.acknowledgedAt == nil && alert.raisedAt < now {
            center.here(alert.code) { $0.tell(.acknowledge($1)) }
        }
    }

    /// Those that nobody has taken yet.
    func takeVisits() -> [KeeperVisit] {
        defer { toldVisits = facts.visits.count }
        return Array(facts.visits.dropFirst(toldVisits))
    }
    var lastVisit: KeeperVisit? { facts.visits.last }

    /// What they did up to now, and when it was night for them.
    func told() -> KeeperFacts {
        var facts = facts
        let now = executor.now
        var day = calendar.day(of: .start) - 1
        func at(_ day: Int64, _ hours: Double) -> Instant {
            calendar.instant(ofDay: day, nanosecondOfDay: Int64(hours * Double(Nanoseconds.hour)))
        }
        while at(day, settings.bed) < now {
            facts.nights.append(Interval(at(day, settings.bed), at(day + 1, settings.rises)))
            day += 1
        }
        return facts
    }
}

extension EventKind {
    /// A notification rang. Words: 1 for heard, 1 for asleep, the n-th of its five minutes, the severity.
    static let keeperRang = EventKind(0x801, "keeperRang")
    /// Words: 1 where something rang, 2 where somebody outside of the session sent them, how much was broken.
    static let keeperVisit = EventKind(0x802, "keeperVisit")
}
