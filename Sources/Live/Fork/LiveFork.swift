// A live session as it was, and as it would have been with another policy or algorithm from some instant on.
//
// Guarantees: up to that instant both are one life: the same body, luck and inputs. From there the fork hears the same inputs at the same instants,
// but for those that make no sense in it, which are named with the reason. Both end where the journal stands. Changed nothing, the
// fork comes to the original's digest.
// Does not: change what people decide. Who ate or gave a bolus in the original does so in the fork, whatever the glucose is there.

package import Alerts
package import DosingAlgorithms
import ClosedLoop
import Devices
package import Records
package import SessionTime
package import SimulationKernel
package import Trials

package struct LiveFork {
    /// What is otherwise from the fork on.
    package struct Change: Sendable {
        package var policy: AlertPolicy?
        package var algorithm: TunedAlgorithm?

        package init(policy: AlertPolicy? = nil, algorithm: TunedAlgorithm? = nil) {
            self.policy = policy
            self.algorithm = algorithm
        }
    }

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
        let opening = try LiveOpening(content, studyPath: studyPath)
        guard !opening.isLinked else {
            throw InputError(
                file: content.path, line: 1, found: "a session whose pump and sensor are outside",
                expected:
                    "one whose devices are simulated: others answered once, and not what the fork would ask")
        }
        guard opening.subject.person != nil || change.algorithm == nil else {
            throw InputError(
                file: content.path, line: 1, found: "a session of a \(opening.study.subject.kind.spoken)",
                expected: "one of a person: nobody else has an algorithm that doses")
        }
        let end = content.lines.compactMap(\.instant).max() ?? .start
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

        let first = Life(try LiveSession(opening, journal: nil), from: at, marks)
        first.live.expectLate(content.lines)
        for (index, line) in content.lines.enumerated().dropFirst() {
            if let instant = line.instant { first.look(before: instant) }
            try first.live.play(line, on: index + 1, of: content.path)
        }
        original = first.finish(at: end)

        var seams = SessionSeams()
        let moment = ExchangedAlgorithm.Moment()
        if let algorithm = change.algorithm {
            seams.algorithm = {
                ExchangedAlgorithm(before: $0, after: algorithm.algorithm, moment: moment)
            }
        }
        let second = Life(
            try LiveSession(
                opening, journal: nil, seams: seams,
                // The algorithm that takes over must hear of what was given before.
                keepsSteps: change.algorithm != nil), from: at, marks)
        // An algorithm that isn't there any more is not late either.
        second.live.expectLate(
            content.lines.filter { line in change.algorithm == nil || line.instant.map { $0 <= at } ?? true })
        var hasParted = false
        func part() {
            guard !hasParted else { return }
            hasParted = true
            second.live.advance(to: at)
            guard second.live.phase == .running else { return }
            if change.algorithm != nil {
                moment.hasCome = true
                second.live.person?.algorithmDidChange()
            }
            if let policy = change.policy { second.live.door.exchange(policy) }
        }
        for (index, line) in content.lines.enumerated().dropFirst() {
            if let instant = line.instant, instant > at {
                part()
                second.look(before: instant)
            }
            guard hasParted else {
                try second.live.play(line, on: index + 1, of: content.path)
                continue
            }
            switch line {
            case .input(let number, let stamped, _):
                inputCount += 1
                if let reason = second.take(stamped, against: original) {
                    leftOut.append(
                        LeftOut(
                            number: number, instant: stamped.instant,
                            text: String(decoding: stamped.input.bytes, as: UTF8.self), reason: reason))
                }
            case .leap(_, let to):
                if second.live.phase == .running { second.live.jump(to: to) }
            case .open, .pace, .answer, .refusal, .late, .mark, .command, .end: break
            }
        }
        part()
        fork = second.finish(at: end)
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

/// One life, and what is kept of it.
private final class Life {
    let live: LiveSession
    private let from: Instant
    private var marks: ArraySlice<Instant>
    private var alerts: [AlertRow] = []
    private var insulin: [PumpLedgerUnits] = []

    init(_ live: LiveSession, from: Instant, _ marks: [Instant]) {
        self.live = live
        self.from = from
        self.marks = marks[...]
        live.onRows = { [unowned self] rows in
            alerts += rows.alerts
        }
    }

    /// Looks at the account at each mark before an instant.
    func look(before instant: Instant) {
        while let mark = marks.first, mark < instant {
            live.advance(to: mark)
            insulin.append(live.ledger)
            marks = marks.dropFirst()
        }
    }

    /// Takes an input of the other life at its instant.
    /// - Returns: why it was left out; nil where it was taken.
    func take(_ stamped: StampedInput, against original: LiveFork.Side) -> String? {
        live.advance(to: stamped.instant.adding(-1))
        guard live.phase == .running else { return "the fork is over" }
        live.inputCount += 1
        if let reason = nonsense(stamped.input, original) {
            live.door.leaveOut(reason)
            return reason
        }
        live.session.executor.replay([stamped])
        live.move(to: stamped.instant)
        guard case .refused(let reason)? = live.door.outcomes.last else { return nil }
        return reason
    }

    private func nonsense(_ input: ExternalInput, _ original: LiveFork.Side) -> String? {
        // What the original could not read it refused, and so does this.
        guard let input = LiveInput(bytes: input.bytes) else { return nil }
        if let problem = input.problem(in: live.inputContext) {
            return problem
        }
        switch input {
        case .bloodGlucose, .calibration:
            let mine = live.person?.plasmaTruth ?? []
            guard let last = mine.indices.last, original.plasma.indices.contains(last) else { return nil }
            let apart = abs(mine[last] - original.plasma[last])
            return apart <= LiveFork.sameGlucoseMgdl
                ? nil : "glucose is \(apart.rounded()) mg/dL away from where it was measured"
        case .acknowledge(let alert), .snooze(let alert, _):
            let active = live.session.executor.inspect { live.session.alerts.here { $0.active } }
            let wasActive = wasActive(alert, at: live.now, in: original)
            return !wasActive || active.contains { $0.code.rawValue == alert }
                ? nil : "\(alert) is not active here"
        default: return nil
        }
    }

    /// What was said about an alert that wasn't there did nothing, and does nothing here.
    private func wasActive(_ alert: String, at now: Instant, in original: LiveFork.Side) -> Bool {
        let rows = (original.earlierAlerts + original.alerts).filter {
            $0.code.rawValue == alert && $0.instant <= now
        }
        return rows.last { $0.effect == "raise" || $0.effect == "clear" }?.effect == "raise"
    }

    func finish(at end: Instant) -> LiveFork.Side {
        look(before: end.adding(1))
        live.advance(to: end)
        let (now, account) = (live.now, live.ledger)
        insulin += marks.map { _ in account }
        let outcome = live.finish()
        return LiveFork.Side(
            digest: outcome.digest, outcome: outcome, endedAt: now, plasma: live.person?.plasmaTruth ?? [],
            alerts: alerts.filter { $0.instant >= from },
            earlierAlerts: alerts.filter { $0.instant < from }, insulin: insulin)
    }
}
