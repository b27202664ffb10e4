// The time machine: a session as it was, and two sessions beside each other.
//
// Guarantees: the past is what the journal comes to, to the instant; looking at it touches no session that runs. Two sessions are compared over one stretch
// of time, which stands beside the numbers.

package import IsletDevices
package import IsletKernel

extension Ward {
    /// A session as it was at an instant.
    /// - Parameter isWanted: whether anybody still waits for it.
    /// - Throws: `Refusal`; what a replay throws, `NobodyWaits` among it.
    /// - Returns: the newest of its events: a page shows no more.
    package func past(
        _ id: String, at instant: Instant, isWanted: @escaping () -> Bool = { true }
    ) throws -> (view: SessionView, events: [LiveEvent]) {
        guard let entry = entry(id) else { throw Refusal.unknown }
        guard entry.returning == nil else { throw Refusal.returning }
        if let (by, _) = entry.kept {
            throw Refusal.conflict(
                "engine \(by.engine) lived it, and this is engine \(by.here): its past is Islet \(by.version)'s"
            )
        }
        guard let newest = view(id)?.now else { throw Refusal.unknown }
        guard instant >= .start, instant <= newest else {
            throw Refusal.invalid(
                "t: expected 0 to \(newest.nanoseconds / Nanoseconds.second), where the session stands")
        }
        // What was lived is gone when this returns, and then its memory is the system's again.
        defer { Self.giveBackMemory() }
        return try relive(id, entry, at: instant, now: newest, isWanted)
    }

    private func relive(
        _ id: String, _ entry: Entry, at instant: Instant, now newest: Instant,
        _ isWanted: @escaping () -> Bool
    ) throws -> (view: SessionView, events: [LiveEvent]) {
        let memory = SessionMemory()
        let past = Past()
        let then = try LivePast.open(
            try JournalContent.read(journalPath(of: id)), studyPath: try file(of: id).studyPath, at: instant,
            now: newest, onUpgrade: { memory.take($0, self.keptMemory(of: id)) },
            onRows: { memory.take($0) }, onInsulin: { memory.take($0) },
            isWanted: isWanted, listener: { past.take($0) })
        var view = SessionView(entry.facts, then.snapshot, .paused, isFrozen: false, memory.now)
        view.now = instant
        return (view, past.events)
    }

    private final class Past {
        private var kept: [LiveEvent] = []
        private static let limit = 2000

        var events: [LiveEvent] { kept.suffix(Self.limit) }

        func take(_ event: LiveEvent) {
            kept.append(event)
            // Half at a time: ten years have a million of them.
            if kept.count >= 2 * Self.limit { kept.removeFirst(Self.limit) }
        }
    }

    /// A session that is another's up to an instant, and goes on otherwise from where that one stands, at its pace.
    /// - Returns: its id, and what of the original's inputs made no sense in it.
    package func fork(
        _ id: String, at instant: Instant, change: LiveFork.Change, name: String?,
        isWanted: @escaping () -> Bool = { true }
    ) throws -> (id: String, leftOut: [LiveFork.LeftOut]) {
        defer { Self.giveBackMemory() }
        guard let entry = entry(id) else { throw Refusal.unknown }
        guard entry.returning == nil else { throw Refusal.returning }
        guard let state = number(id) else { throw Refusal.unknown }
        guard !change.isNothing else {
            throw Refusal.invalid("expected `policy`, `algorithm` or both: what is to be otherwise")
        }
        let studyPath = try file(of: id).studyPath
        var leftOut: [LiveFork.LeftOut] = []
        let new = try begin(
            SessionFile(
                name: name ?? "\(entry.facts.name), \(change)", studyPath: studyPath,
                origin: .fork(of: id, at: instant, change: "\(change)")), pace: state.pace
        ) { path in
            leftOut = try LiveFork.begin(
                from: try JournalContent.read(journalPath(of: id)), studyPath: studyPath, at: instant,
                now: state.now, change: change, to: path, isWanted: isWanted
            ).leftOut
        }
        return (new, leftOut)
    }

    /// One line of a comparison; what can't be said is nil.
    package struct ComparisonRow: Hashable, Sendable {
        package var name: ValueText
        package var unit: String
        package var left: Double?
        package var right: Double?
        package var places: Int
    }

    /// Two sessions over the stretch of time that both have lived, from where one was forked from the other, at most a day.
    package func compare(_ left: String, _ right: String) throws -> (
        from: Instant, to: Instant, rows: [ComparisonRow]
    ) {
        guard let a = view(left), let b = view(right) else { throw Refusal.unknown }
        let to = min(a.now, b.now)
        var from = to.adding(-Nanoseconds.day)
        for (view, other) in [(a, b), (b, a)] {
            if case .fork(let original, let at, _) = view.origin, original == other.id {
                from = max(from, at)
            }
        }
        from = max(from, .start)
        let sides = [a, b].map { Side($0, from, to) }
        func row(_ name: ValueText, _ unit: String, _ places: Int, _ value: (Side) -> Double?)
            -> ComparisonRow
        {
            ComparisonRow(
                name: name, unit: unit, left: value(sides[0]), right: value(sides[1]), places: places)
        }
        let rings = [left, right].map { id -> Double in
            let found = host.events(of: id, after: 0)?.events ?? []
            return Double(
                found.count { $0.alert?.effect == "notify" && $0.instant > from && $0.instant <= to })
        }
        return (
            from, to,
            [
                row("Mean glucose", "mg/dL", 0) { $0.mean },
                row("Lowest glucose", "mg/dL", 0) { $0.glucose.min() },
                row("Highest glucose", "mg/dL", 0) { $0.glucose.max() },
                row("Readings below \(70, unit: "mg/dL")", "%", 1) { $0.share { $0 < 70 } },
                row("Readings below \(54, unit: "mg/dL")", "%", 1) { $0.share { $0 < 54 } },
                row("Readings above \(180, unit: "mg/dL")", "%", 1) { $0.share { $0 > 180 } },
                row("Insulin given by the loop and by hand", "U", 2) { $0.insulin },
                row("Alerts raised", "", 0) { $0.raised },
                ComparisonRow(name: "Notifications", unit: "", left: rings[0], right: rings[1], places: 0),
            ]
        )
    }

    private struct Side {
        var glucose: [Double]
        var insulin: Double
        var raised: Double

        init(_ view: SessionView, _ from: Instant, _ to: Instant) {
            glucose = view.log.readings.filter { $0.instant > from && $0.instant <= to }.map(\.mgdl)
            insulin = view.log.deliveries.filter { $0.instant > from && $0.instant <= to }
                .reduce(0) { $0 + $1.units }
            raised = Double(view.log.spans.count { $0.from > from && $0.from <= to })
        }

        var mean: Double? { glucose.isEmpty ? nil : glucose.reduce(0, +) / Double(glucose.count) }
        func share(_ isSo: (Double) -> Bool) -> Double? {
            glucose.isEmpty ? nil : 100 * Double(glucose.count(where: isSo)) / Double(glucose.count)
        }
    }
}
