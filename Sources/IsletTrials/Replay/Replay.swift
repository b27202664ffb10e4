// One session of a study, run again and checked.
//
// Guarantees: the digest is compared with the stored one; where it differs, the session is run a second time: two runs
// here that differ are bisected to their first diverging event, both sides shown; two that agree leave the difference
// between this machine and the one that stored, narrowed down to a span of events by the stored checkpoints.

package import IsletAlerts
package import IsletFiles
package import IsletModels
import IsletDevices
package import IsletKernel

package struct Replay: Sendable {
    package enum Verdict: Sendable {
        case agrees
        /// The session isn't deterministic here: the first event that two runs do differently.
        case diverges(event: Int, first: String, second: String)
        /// Both runs here agree with each other and not with what was stored: the first checkpoint that differs.
        case differs(stored: String, here: String, afterEvent: Int, beforeEvent: Int?)
    }

    package var verdict: Verdict
    /// It was stopped before its end: outcomes are up to there, and the verdict is of the stored digests on the way only.
    package var stoppedEarly = false
    /// Events up to the last stored digest that was compared; set where it was stopped.
    package var checkedEvents = 0
    package var outcome: SessionOutcome
    package var story: SessionStory

    /// - Parameters:
    ///   - checkpoints: as stored; empty where there are none.
    ///   - until: where to stop; nil for the session's end.
    ///   - policy: whose alerts the story tells, heard by nobody; nil for the arm's own.
    ///   - unit: that the story tells glucose in.
    package init(
        _ study: Study, cohort: any StudyCohort, index: Int, arm: Study.Arm, storedDigest: String,
        checkpoints: [Journal.Checkpoint], until: Instant? = nil,
        policy: AlertPolicy? = nil, unit: GlucoseUnit = .mgdl
    ) throws {
        var study = study
        study.record = .full
        let session = try cohort.session(
            study, index: index, arm: arm, shadows: policy.map { ShadowPlan([$0]) })
        outcome = session.run(until: until)
        story = SessionStory(
            session.recorder, calendar: study.start.calendar,
            alerts: policy.map { policy in
                session.shadowEffects[0].map { AlertRow($0, of: policy) }
            }, unit: unit)
        if let until, until < session.duration, case .completed = outcome.end {
            let here = session.executor.journal.checkpoints
            let common = min(here.count, checkpoints.count)
            let matching = zip(here, checkpoints).prefix { $0 == $1 }.count
            stoppedEarly = true
            checkedEvents = matching == 0 ? 0 : here[matching - 1].count
            verdict =
                matching == common
                ? .agrees
                : .differs(
                    stored: storedDigest, here: outcome.digest.description, afterEvent: checkedEvents,
                    beforeEvent: here[matching].count)
            return
        }
        guard outcome.digest.description != storedDigest else {
            verdict = .agrees
            return
        }
        let runs = try (0..<2).map { _ in try Self.events(study, cohort, index, arm) }
        if let event = zip(runs[0], runs[1]).enumerated().first(where: { $1.0 != $1.1 })?.offset
            ?? (runs[0].count == runs[1].count ? nil : min(runs[0].count, runs[1].count))
        {
            verdict = .diverges(
                event: event, first: Self.text(runs[0], event), second: Self.text(runs[1], event))
            return
        }
        let here = session.executor.journal.checkpoints
        let matching = zip(here, checkpoints).prefix { $0 == $1 }.count
        verdict = .differs(
            stored: storedDigest, here: outcome.digest.description,
            afterEvent: matching == 0 ? 0 : here[matching - 1].count,
            beforeEvent: matching < min(here.count, checkpoints.count) ? here[matching].count : nil)
    }

    /// Of people; the rest as above.
    package init(
        _ study: Study, subject: VirtualSubject, index: Int, arm: Study.Arm, storedDigest: String,
        checkpoints: [Journal.Checkpoint], until: Instant? = nil,
        policy: AlertPolicy? = nil, unit: GlucoseUnit = .mgdl
    ) throws {
        try self.init(
            study, cohort: OnePerson(subject, index: index), index: index, arm: arm,
            storedDigest: storedDigest,
            checkpoints: checkpoints, until: until, policy: policy, unit: unit)
    }

    private static func events(
        _ study: Study, _ cohort: any StudyCohort, _ index: Int, _ arm: Study.Arm
    ) throws -> [JournalEvent] {
        let session = try cohort.session(study, index: index, arm: arm)
        let log = EventLog()
        session.executor.journal.observer = { log.events.append($0) }
        _ = session.run(until: nil)
        return log.events
    }

    private static func text(_ events: [JournalEvent], _ index: Int) -> String {
        guard events.indices.contains(index) else { return "nothing: the session is over" }
        let event = events[index]
        return "\(event.kind) at minute \(event.instant.minutes): \(event.words)"
    }
}

private final class EventLog {
    var events: [JournalEvent] = []
}
