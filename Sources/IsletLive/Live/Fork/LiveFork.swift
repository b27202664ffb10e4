// A live session as it was, and as it would have been with another policy or algorithm from some instant on.
//
// Guarantees: up to that instant both are one life: the same body, luck and inputs. From there the fork hears the same inputs at the same instants,
// but for those that make no sense in it, which are named with the reason. Both end where the journal stands. Changed nothing, the
// fork comes to the original's digest.
// Does not: change what people decide. Who ate or gave a bolus in the original does so in the fork, whatever the glucose is there.

import IsletLoop
package import IsletDevices
package import IsletKernel
package import IsletTrials

package struct LiveFork {
    /// One of the two lives.
    package struct Side: Sendable {
        package var digest = Digest128()
        package var outcome: SessionOutcome
        /// Where it ended: before the journal's end where the body broke.
        package var endedAt: Instant
        /// True plasma glucose every five minutes from the start, mg/dL.
        package var plasma: [Double]
        /// Effects of alerts from the fork on, in their order.
        package var alerts: [AlertRow]
        /// And those before.
        var earlierAlerts: [AlertRow]
        /// Insulin at the fork, at each of `marks` after it, and at the end.
        package var insulin: [PumpLedgerUnits]

        /// The true plasma glucose at an instant, mg/dL; nil where it was over by then.
        package func plasma(at instant: Instant) -> Double? {
            let index = Int(instant.nanoseconds / (5 * Nanoseconds.minute))
            return plasma.indices.contains(index) && instant <= endedAt ? plasma[index] : nil
        }
    }

    /// An input that the fork did not take.
    package struct LeftOut: Hashable, Sendable {
        package var number: Int
        package var instant: Instant
        package var text: String
        package var reason: String
    }

    /// A finger-stick value that is further from the fork's own glucose than this is somebody else's, mg/dL.
    static let sameGlucoseMgdl = 1.0

    package let opening: LiveOpening
    package let at: Instant
    /// Where the journal stands.
    package let end: Instant
    /// Instants between them at which the two are compared, the fork's and the end included.
    package let marks: [Instant]
    package let original: Side
    package let fork: Side
    /// Inputs after the fork.
    package private(set) var inputCount = 0
    package private(set) var leftOut: [LeftOut] = []

    /// - Parameters:
    ///   - studyPath: what a cohort table's path is relative to; nil for the journal.
    ///   - at: where the two part; before the journal's end.
    /// - Throws: `InputError`; `LiveSession.Divergence` for a journal that isn't what it comes to here.
    package init(_ content: JournalContent, studyPath: String? = nil, at: Instant, change: Change) throws {
        let opening = try Self.opening(of: content, studyPath, change, at: at)
        let change = change.fitted(to: opening.study.subject.kind)
        let end = content.end
        guard at < end else {
            throw InputError(
                file: content.path, found: "a fork at minute \(at.minutes)",
                expected:
                    "one before minute \(end.minutes), where the journal stands: nothing is left to run otherwise"
            )
        }
        self.opening = opening
        self.at = at
        self.end = end
        marks = Self.marks(from: at, to: end)
        original = try Self.original(content, opening, from: at, marks)
        let second = try Self.second(content, opening, change, from: at, marks)
        var hasParted = false
        func part() throws {
            guard !hasParted else { return }
            hasParted = true
            second.live.advance(to: at)
            guard second.live.phase == .running else { return }
            try Self.refuse(atStepOf: second.live, content, at)
            second.live.exchange(change, isRecorded: false)
        }
        for (index, line) in content.lines.enumerated().dropFirst() {
            if let instant = line.instant, instant > at {
                try part()
                second.look(before: instant)
            }
            guard hasParted else {
                try second.live.play(line, on: index + 1, of: content.path)
                continue
            }
            if case .input = line { inputCount += 1 }
            if let left = try second.follow(line, change, against: original) { leftOut.append(left) }
        }
        try part()
        fork = second.finish(at: end)
    }

    /// - Throws: `InputError` for a session that can't be forked.
    /// - Throws: `InputError` for what can't be forked so.
    static func opening(of content: JournalContent, _ studyPath: String?, _ change: Change, at: Instant)
        throws
        -> LiveOpening
    {
        let opening = try LiveOpening(content, studyPath: studyPath)
        guard !opening.isLinked else {
            throw InputError(
                file: content.path, line: 1, found: "a session whose pump and sensor are outside",
                expected:
                    "one whose devices are simulated: others answered once, and not what the fork would ask")
        }
        if let upgrade = opening.upgrade, at < upgrade.carry.at {
            throw upgrade.before(at, content.path)
        }
        guard opening.subject.person != nil || change.algorithm == nil else {
            throw InputError(
                file: content.path, line: 1, found: "a session of a \(opening.study.subject.kind.spoken)",
                expected: "one of a person: nobody else has an algorithm that doses")
        }
        return opening
    }

    /// The life that the journal has.
    static func original(
        _ content: JournalContent, _ opening: LiveOpening, from at: Instant, _ marks: [Instant] = [],
        isWanted: @escaping () -> Bool = { true }
    ) throws -> Side {
        let life = ForkLife(
            try LiveSession(opening, journal: nil), from: at, marks)
        life.live.expectLate(content.lines)
        life.live.isWanted = isWanted
        life.live.goOnUpgraded()
        for (index, line) in content.lines.enumerated().dropFirst() {
            guard isWanted() else { throw NobodyWaits() }
            if let instant = line.instant { life.look(before: instant) }
            try life.live.play(line, on: index + 1, of: content.path)
        }
        return life.finish(at: content.end)
    }

    /// The life that is to part from it.
    static func second(
        _ content: JournalContent, _ opening: LiveOpening, _ change: Change, from at: Instant,
        _ marks: [Instant] = []
    ) throws -> ForkLife {
        let life = ForkLife(
            try LiveSession(opening, journal: nil), from: at, marks)
        // An algorithm that isn't there any more is not late either.
        life.live.expectLate(
            content.lines.filter { line in change.algorithm == nil || line.instant.map { $0 <= at } ?? true })
        // Nobody is told of what a fork lives again: it is kept when it goes on.
        life.live.upgrades.isHeldBack = true
        life.live.goOnUpgraded()
        return life
    }

    /// Every hour, or so many hours that there are about 24 of them.
    private static func marks(from at: Instant, to end: Instant) -> [Instant] {
        let hours = (end.nanoseconds - at.nanoseconds) / Nanoseconds.hour
        let step = max(1, (hours + 23) / 24) * Nanoseconds.hour
        var marks: [Instant] = []
        var next = at
        while next < end {
            marks.append(next)
            next = next.adding(step)
        }
        return marks + [end]
    }

    /// Alerts of one side by code: how often each was raised, and rang.
    package static func counts(_ rows: [AlertRow]) -> [AlertName: (raised: Int, rang: Int)] {
        var counts: [AlertName: (raised: Int, rang: Int)] = [:]
        for row in rows {
            if row.effect == "raise" { counts[row.code, default: (0, 0)].raised += 1 }
            if row.effect == "notify" { counts[row.code, default: (0, 0)].rang += 1 }
        }
        return counts
    }
}
