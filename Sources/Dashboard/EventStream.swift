// Server-sent events: what happens in one session, or which sessions of the ward have changed.
//
// Guarantees: events come in their order, none twice, none left out that the host still has; `Last-Event-ID` goes on where a connection broke. What the ward's
// siren rings for meanwhile comes once each, without an id. What waits for a slow client is its place in the log and nothing else. The server says something every 2 s, news or none: who hears nothing for 5 s has lost it.

import IsletFiles
import IsletLive
import IsletDevices
import IsletKernel

struct EventStream: TextSource {
    private let ward: Ward
    private let counters: Counters
    private let id: String
    private var notes: AsyncStream<Void>.Iterator
    /// The newest event that was told; nil for as long as the session isn't there.
    private var sent: Int?
    /// The newest event that the client has; nil for from now on.
    private let after: Int?
    private var shown: Shown?
    private var beatAt: Int64
    private var hasBegun = false
    private var isOver = false
    /// What was said of a session that nobody lives now: it comes back, has failed, or was another engine's.
    private var absentAs: LiveSession.Phase?
    /// Whether the server was said to ring for it then.
    private var absentSounding = false
    private let screens: Screens
    /// The page that listens, where it shows the session's app.
    private let page: String?
    /// The siren's last ring that was told.
    private var rung: Int

    private struct Shown: Equatable {
        var number: Int
        var isFrozen: Bool
        var isSounding: Bool
        var pace: LivePace
        var isRunning: Bool
        var hasPhone: Bool
    }

    private static let batch = 100
    /// Notes come once a second: at the second one.
    static let beat = 3 * Nanoseconds.second / 2
    static let beatText = "event: beat\ndata: {}\n\n"

    /// - Parameter after: the newest event that the client has; nil for from now on.
    init(
        ward: Ward, news: WardNews, counters: Counters, screens: Screens, id: String, after: Int?,
        page: String?
    ) {
        (self.ward, self.counters, self.id) = (ward, counters, id)
        (self.screens, self.page) = (screens, page)
        rung = ward.siren.newest
        if let page { screens.streamBegan(page, of: id, at: ward.host.continuousNow) }
        notes = news.follow().makeAsyncIterator()
        self.after = after
        beatAt = ward.host.continuousNow
        counters.streamBegan()
    }

    func end() {
        if let page { screens.streamEnded(page, of: id, at: ward.host.continuousNow) }
        counters.streamEnded(isDropped: !isOver)
    }

    mutating func next() async -> String? {
        if isOver { return nil }
        if !hasBegun {
            hasBegun = true
            return "retry: 1000\n\n"
        }
        while true {
            if let text = news() { return text }
            if isOver { return nil }
            guard await notes.next(isolation: #isolation) != nil else { return nil }
        }
    }

    /// What there is to tell by now; nil for nothing.
    private mutating func news() -> String? {
        guard let state = ward.number(id) else {
            if let phase = ward.absentPhase(of: id) { return absent(phase) }
            isOver = true
            return ward.has(id) ? nil : "event: gone\ndata: {}\n\n"
        }
        // Who came while nothing was known knows of nothing: what happened long ago is no news to them.
        let from = absentAs != nil && after == 0 ? nil : after
        var sent = sent ?? min(max(0, from ?? state.number), state.number)
        defer { self.sent = sent }
        var text = ""
        if let found = ward.events(of: id, after: sent, atMost: Self.batch), let last = found.events.last {
            let calendar = ward.calendar(of: id)
            if found.missing > 0 {
                // What isn't kept any more is in the journal; who resumes hears that there is a gap.
                let gap = JSONValue.object([
                    .init("from", .integer(Int64(sent + 1))),
                    .init("to", .integer(Int64(sent + found.missing))),
                ])
                text += "event: missed\ndata: \(gap.compactText)\n\n"
            }
            for event in found.events {
                let data = SessionJSON.event(event, calendar).compactText
                text += "id: \(event.number)\nevent: happened\ndata: \(data)\n\n"
            }
            sent = last.number
            // What else there is comes first.
            if found.events.count == Self.batch { return text }
        }
        text += rings()
        let now = Shown(
            number: state.number, isFrozen: state.isFrozen, isSounding: state.isSounding, pace: state.pace,
            isRunning: state.phase == .running, hasPhone: screens.hasPhone(id))
        let clock = ward.host.continuousNow
        if now != shown {
            shown = now
            text += "event: view\ndata: \(data(state))\n\n"
        } else if text.isEmpty, clock - beatAt > Self.beat {
            text = Self.beatText
        }
        if text.isEmpty { return nil }
        beatAt = clock
        return text
    }

    /// What the siren has rung for it since.
    private mutating func rings() -> String {
        var text = ""
        for ring in ward.rung(after: rung) where ring.session == id {
            rung = ring.number
            guard let told = WardRing(ring, of: ward) else { continue }
            text += "event: rang\ndata: \(SessionJSON.ring(told).compactText)\n\n"
        }
        return text
    }

    /// While nobody lives it: once why, and then a beat. It may be there again at any time.
    private mutating func absent(_ phase: LiveSession.Phase) -> String? {
        let clock = ward.host.continuousNow
        let rings = rings()
        let view = phase == .returning ? nil : ward.view(id)
        let isSounding = view?.isSounding ?? false
        let isNews = absentAs != phase || absentSounding != isSounding
        guard isNews || !rings.isEmpty || clock - beatAt > Self.beat else { return nil }
        (beatAt, absentAs, absentSounding) = (clock, phase, isSounding)
        guard isNews else { return rings.isEmpty ? Self.beatText : rings }
        // Where it stood, for one that is shown.
        let now = view?.now
        let data = JSONValue.object(
            [
                .init("number", .integer(0)),
                .init("now", now.map { SessionJSON.seconds($0) } ?? .null),
                .init("at", now.map { .string(ward.calendar(of: id).iso8601(at: $0)) } ?? .null),
                .init("pace", SessionJSON.pace(.paused)), .init("frozen", .bool(false)),
                .init("sounding", .bool(isSounding)),
            ] + SessionJSON.phase(phase) + [.init("alerts", .integer(0))])
        return rings + "event: view\ndata: \(data.compactText)\n\n"
    }

    private func data(_ state: WardState) -> String {
        var members: [JSONValue.Member] = [
            .init("number", .integer(Int64(state.number))), .init("now", SessionJSON.seconds(state.now)),
            .init("at", .string(ward.calendar(of: id).iso8601(at: state.now))),
            .init("pace", SessionJSON.pace(state.pace)), .init("frozen", .bool(state.isFrozen)),
            .init("sounding", .bool(state.isSounding)),
        ]
        members += SessionJSON.phase(state.phase)
        members.append(.init("alerts", .integer(Int64(state.alertCount))))
        members.append(.init("has_phone", .bool(screens.hasPhone(id))))
        return JSONValue.object(members).compactText
    }
}

struct WardStream: TextSource {
    private let ward: Ward
    private let counters: Counters
    private var notes: AsyncStream<Void>.Iterator
    private var shown: [String: String] = [:]
    private var beatAt: Int64
    private var toldAt: Int64 = 0
    private var hasBegun = false

    /// A ward is looked at, not listened to.
    private static let pause = Nanoseconds.second / 4
    private let screens: Screens

    private let rings: WardRings
    /// The last ring that was told.
    private var rung: Int

    /// - Parameter known: what the client has heard of rings: `EPOCH-NUMBER`; nil for one that comes anew. One that heard another run of the server is told all
    ///   that has rung in this one.
    init(
        ward: Ward, news: WardNews, counters: Counters, screens: Screens, rings: WardRings, known: String?
    ) {
        (self.ward, self.counters, self.screens, self.rings) = (ward, counters, screens, rings)
        rings.look(at: ward)
        let parts = (known ?? "").split(separator: "-")
        let number = parts.count == 2 && parts[0] == rings.epoch ? Int(parts[1]) : nil
        rung = min(rings.newest, max(0, known == nil ? rings.newest : number ?? 0))
        notes = news.follow().makeAsyncIterator()
        beatAt = ward.host.continuousNow
        counters.streamBegan()
    }

    func end() { counters.streamEnded(isDropped: true) }

    mutating func next() async -> String? {
        if !hasBegun {
            hasBegun = true
            return "retry: 1000\n\n"
        }
        while await notes.next(isolation: #isolation) != nil {
            let clock = ward.host.continuousNow
            // A ring waits for nothing.
            if let text = news() {
                beatAt = clock
                return text
            }
            guard clock - toldAt > Self.pause else { continue }
            var now: [String: String] = [:]
            for id in ward.ids {
                let state = ward.number(id)
                now[id] =
                    state.map {
                        "\($0.number) \($0.isFrozen) \($0.isSounding) \($0.pace) \(screens.hasPhone(id))"
                    } ?? "- \(ward.siren.isSeen(id))"
            }
            let changed = now.keys.filter { now[$0] != shown[$0] } + shown.keys.filter { now[$0] == nil }
            if !changed.isEmpty {
                (shown, toldAt, beatAt) = (now, clock, clock)
                let list = JSONValue.array(changed.sorted().map { .string($0) })
                return "event: ward\ndata: \(JSONValue.object([.init("changed", list)]).compactText)\n\n"
            }
            if clock - beatAt > EventStream.beat {
                beatAt = clock
                return EventStream.beatText
            }
        }
        return nil
    }

    /// What has rung since; nil for nothing.
    private mutating func news() -> String? {
        rings.look(at: ward)
        let found = rings.after(rung)
        guard let last = found.last else { return nil }
        rung = last.number
        var text = ""
        for ring in found where !ring.isOfBefore {
            text +=
                "id: \(rings.epoch)-\(ring.number)\nevent: rang\ndata: \(SessionJSON.ring(ring).compactText)\n\n"
        }
        return text.isEmpty ? nil : text
    }
}
