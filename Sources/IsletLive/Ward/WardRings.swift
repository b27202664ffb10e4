// What rang lately in a ward, of all its sessions: what the ward's page sounds, speaks and lists.
//
// Guarantees: each notification that a session makes while somebody looks stands here once, with a number of its own, in the order in which it was found; of what is found
// at once, as at the first look, what rang longest ago comes first. What became of it (heard, slept on, late) is noted beside it as the session tells it. What rang before a server had a session is listed, and marked as of before: nobody
// is rung for it; what rings as a session catches up with the time that its server was down is news. What the ward's siren rings for stands among them, its newest ring in place of the one before. Memory holds the newest few hundred.
// Does not: decide what rings. Sessions do, and the siren for one that can't.

package import IsletAlerts
package import IsletDevices
package import IsletKernel
import IsletTrials
import Synchronization

/// A notification of a session, or a ring of the siren for it.
package struct WardRing: Hashable, Sendable {
    /// From 1; no other ring has it of those that it stands among.
    package var number: Int
    package var session: String
    package var name: String
    /// nil for a session that could not go on: its time is not known.
    package var at: Instant?
    package var calendar: SessionCalendar
    package var code: AlertName
    package var severity: AlertSeverity
    package var reason: AlertEffect.Reason?
    package var message: ValueText
    package var action: String
    package var pace: LivePace
    /// It rang before this server had the session.
    package var isOfBefore: Bool
    /// What reached the simulated person; nil where nobody is simulated, and before it is known.
    package var hearing: PersonRow.Kind?
    /// When they looked at it.
    package var lookedAt: Instant?

    /// Shown, and never rung on purpose.
    package var isShow: Bool { reason == .test || reason == .preview }
}

package final class WardRings: Sendable {
    /// Names this run of the server: a ring's number of another run means nothing here.
    package let epoch = String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)

    fileprivate struct State {
        var rings: [WardRing] = []
        var newest = 0
        /// By session, the number of the newest event that was looked at.
        var seen: [String: Int] = [:]
        /// What a person did in the same instant may stand before the ring.
        var personRows: [String: [PersonRow]] = [:]
        /// The siren's newest ring that stands here.
        var siren = 0
        var lookedAt = Int64.min
    }

    private let state = Mutex(State())
    private static let limit = 300
    /// How many events of a session are looked at when it is looked at first.
    fileprivate static let before = 600
    /// Looks that are nearer to each other are one: a look at a thousand sessions costs more than one at a dozen.
    private static func pause(_ sessions: Int) -> Int64 { Nanoseconds.second / (sessions > 100 ? 4 : 40) }

    package init() {}

    package var newest: Int { state.withLock { $0.newest } }

    /// What came after a ring, the oldest first.
    package func after(_ number: Int) -> [WardRing] {
        state.withLock { state in state.rings.filter { $0.number > number } }
    }

    /// The newest first.
    package func latest(_ count: Int) -> [WardRing] {
        state.withLock { state in Array(state.rings.reversed().lazy.filter { !$0.isShow }.prefix(count)) }
    }

    /// Finds what has rung since.
    package func look(at ward: Ward) {
        let clock = ward.host.continuousNow
        let ids = ward.ids
        state.withLock { state in
            guard state.lookedAt == .min || clock - state.lookedAt >= Self.pause(ids.count) else { return }
            state.lookedAt = clock
            let from = state.rings.count
            for id in ids { state.look(at: ward, id) }
            state.order(from: from, of: ward)
            for ring in ward.rung(after: state.siren) { state.take(ring, of: ward) }
            for id in state.seen.keys where !ids.contains(id) {
                (state.seen[id], state.personRows[id]) = (nil, nil)
                state.rings.removeAll { $0.session == id }
            }
            state.rings.removeAll { $0.at == nil && !ids.contains($0.session) }
            if state.rings.count > Self.limit { state.rings.removeFirst(state.rings.count - Self.limit) }
        }
    }
}

extension WardRings.State {
    fileprivate mutating func look(at ward: Ward, _ id: String) {
        guard let now = ward.number(id) else { return }
        let isFirst = seen[id] == nil
        let from = seen[id] ?? max(0, now.number - WardRings.before)
        guard now.number > from else { return seen[id] = now.number }
        guard let found = ward.events(of: id, after: from, atMost: .max) else { return }
        let (name, calendar, before) = (ward.name(of: id), ward.calendar(of: id), ward.eventsOfBefore(of: id))
        for event in found.events {
            switch event.what {
            case .row(.person(let row), _): note(row, id)
            case .row(.alert(let row), _) where row.effect == AlertEffect.Kind.notify.rawValue:
                newest += 1
                var ring = WardRing(
                    number: newest, session: id, name: name, at: event.instant, calendar: calendar,
                    code: row.code, severity: AlertSeverity(name: row.severity) ?? .actionable,
                    reason: AlertEffect.Reason(rawValue: row.reason), message: event.message,
                    action: event.action, pace: now.pace, isOfBefore: isFirst && event.number <= before)
                ring.hearing =
                    personRows[id]?.last { $0.code == row.code && $0.instant == event.instant }?.kind
                rings.append(ring)
            default: break
            }
        }
        seen[id] = max(from, found.events.last?.number ?? now.number)
    }

    /// What one look has found of several sessions, each with a clock of its own: what rang longest ago first.
    fileprivate mutating func order(from: Int, of ward: Ward) {
        guard rings.count - from > 1 else { return }
        let found = rings[from...]
        let nows = Dictionary(
            Set(found.map(\.session)).compactMap { id in ward.number(id).map { (id, $0.now) } }
        ) { one, _ in one }
        func age(_ ring: WardRing) -> Int64 {
            guard let now = nows[ring.session], let at = ring.at else { return 0 }
            return now.nanoseconds - at.nanoseconds
        }
        let sorted = found.sorted { (age($0), $1.number) > (age($1), $0.number) }
        for ((place, number), ring) in zip(zip(found.indices, found.map(\.number)), sorted) {
            rings[place] = ring
            rings[place].number = number
        }
    }

    fileprivate mutating func take(_ ring: WardSiren.Ring, of ward: Ward) {
        siren = ring.number
        if ring.isAgain {
            let old = rings.lastIndex { $0.session == ring.session && $0.code == ring.cause.code }
            if let old { rings.remove(at: old) }
        }
        guard var new = WardRing(ring, of: ward) else { return }
        newest += 1
        new.number = newest
        rings.append(new)
    }

    /// What the person made of a ring.
    private mutating func note(_ row: PersonRow, _ id: String) {
        switch row.kind {
        case .heard, .unheard, .woke, .sleptOn, .parentHeard:
            personRows[id, default: []].append(row)
            if personRows[id]?.count ?? 0 > 20 { personRows[id]?.removeFirst(10) }
            if let place = rings.lastIndex(where: {
                $0.session == id && $0.code == row.code && $0.at == row.instant && $0.hearing == nil
            }) {
                rings[place].hearing = row.kind
            }
        case .looked:
            let oldest = row.instant.adding(-Nanoseconds.hour)
            for place in rings.indices.reversed() where rings[place].session == id {
                guard let at = rings[place].at else { continue }
                guard at >= oldest, rings[place].lookedAt == nil else { break }
                if [.heard, .woke, .parentHeard].contains(rings[place].hearing) {
                    rings[place].lookedAt = row.instant
                }
            }
        default: break
        }
    }
}

extension WardRing {
    /// Under the siren's own number; nil where the session has gone. It rings by the wall's clock, whatever the session's pace.
    package init?(_ ring: WardSiren.Ring, of ward: Ward) {
        guard ward.has(ring.session) else { return nil }
        self.init(
            number: ring.number, session: ring.session, name: ward.name(of: ring.session),
            at: ward.number(ring.session)?.now, calendar: ward.calendar(of: ring.session),
            code: ring.cause.code,
            severity: ring.cause.severity, message: ring.cause.message, action: ring.cause.action,
            pace: .real, isOfBefore: false)
    }
}

extension Ward {
    /// What people call a session.
    fileprivate func name(of id: String) -> String { entry(id)?.facts.name ?? id }

    fileprivate func eventsOfBefore(of id: String) -> Int { entry(id)?.eventsOfBefore ?? 0 }
}
