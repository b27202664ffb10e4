// One watched subject in one arm, start to end: assembled, run, and summed up.
//
// Guarantees: what `Session` does for people: a pure function of (study, subject, arm); nothing mutable crosses its border; alert center, listeners in shadow,
// truth and scoring are the same code. A body that ends early says why.
// Does not: have a pump, a loop or an app that dies: rules about these wait for what never comes, and the study's reader refuses them.

package import IsletAlerts
package import IsletDevices
import IsletFiles
package import IsletKernel

package final class WatchedSession: StudySession {
    package let executor: SessionExecutor
    package let recorder: SessionRecorder
    package let duration: Instant
    package let shadows: ShadowPolicies?

    private let metrics: [AlertMetric]
    private let outcomes: [Outcome]
    /// What the alerts are judged by at the end.
    private var policy: AlertPolicy
    private let scoring: PolicyScoring?
    private let monitor: SubjectMonitor
    package let alerts: AlertCenter
    private let keeper: Keeper
    private let isHeard: Bool
    /// How long a notification counts as telling at most, ns.
    private let tellsFor: Int64
    private var failure: (any Error)?

    init(
        _ study: Study, body: sending any WatchedBody, origin: BodyOrigin, arm: Study.Arm,
        shadows plan: ShadowPlan?,
        scoring: PolicyScoring?
    ) throws {
        let kind = study.subject.kind
        (metrics, outcomes, policy, self.scoring) = (kind.metrics, kind.outcomes, arm.alerts, scoring)
        duration = origin.duration
        tellsFor = study.tellsFor.nanoseconds
        executor = SessionExecutor()
        recorder = SessionRecorder(level: study.record)
        // Nothing is armed, and there is no pod: only what is measured counts.
        var environment = AppEnvironment()
        (environment.isArmed, environment.isFirstStepDone) = (false, false)
        (environment.hasPod, environment.hasPumpSession, environment.isPumpStatusKnown) = (
            false, false, false
        )
        let wallClock = WallClock(origin.calendar)
        shadows = (scoring?.plan ?? plan).map { [executor, environment] in
            ShadowPolicies(
                executor: executor, plan: $0, environment: environment, wallClock: wallClock,
                keepsEffects: study.record >= .events, isScored: scoring != nil)
        }
        alerts = try AlertCenter(
            executor: executor, policy: arm.preparedAlerts, recorder: recorder, wallClock: wallClock,
            environment: environment, shadows: shadows)
        monitor = SubjectMonitor(executor: executor, body: body, metrics: metrics, center: alerts)
        let settings = arm.keeper ?? study.keeper
        isHeard = !settings.isDeaf
        keeper = Keeper(
            executor: executor, settings: settings, origin: origin, center: alerts, monitor: monitor,
            recorder: recorder)
        executor.start("session") { [alerts, keeper, monitor, duration] in
            await alerts.keepBlame()
            await alerts.begin(listener: keeper)
            await keeper.begin()
            await monitor.begin(duration)
        }
    }

    package var evaluations: Int { executor.inspect { [monitor] in monitor.here { $0.evaluations } } }

    package func run(until: Instant?) -> SessionOutcome {
        do {
            if failure == nil { try executor.advance(to: min(until ?? duration, duration)) }
        } catch {
            failure = error
        }
        let outcome = sumUp(endedEarly: failure.map { "\($0)" })
        end()
        return outcome
    }

    package func end() { try? executor.end() }

    // MARK: In real time

    /// No app of its own stands between the monitor and its alerts.
    package var isAppAlive: Bool { true }
    package func reopenApp() {}

    package func follow(_ policy: AlertPolicy) {
        let prepared = PreparedPolicy(policy)
        alerts.here(prepared) { $0.follow($1) }
        self.policy = policy
    }

    /// Somebody goes there now and puts right what is broken. To be called on the session's thread.
    package func visit() throws { try keeper.here { try $0.visitNow() } }

    /// From here on readings are kept for whoever looks; it changes nothing else.
    package func keepReadings() { executor.inspect { [monitor] in monitor.here { $0.keepReadings() } } }

    /// What there is to see of the subject: nothing of what is true, and broken, unseen.
    package func look() -> WatchedLook {
        executor.inspect { [metrics, monitor, keeper] in
            let readings = monitor.here { $0.readings() }
            return WatchedLook(
                stage: monitor.here { $0.stage },
                readings: zip(metrics, readings).map { ($0, $1) },
                lastVisit: keeper.here { $0.lastVisit })
        }
    }

    /// Hands over what was shown and who was there since the last time.
    package func takeNews() -> (
        readings: [(metric: AlertMetric, values: [MetricReading])], visits: [KeeperVisit]
    ) {
        executor.inspect { [metrics, monitor, keeper] in
            let readings = monitor.here { $0.takeNews() }
            return (zip(metrics, readings).map { ($0, $1) }, keeper.here { $0.takeVisits() })
        }
    }

    // MARK: The end

    private func sumUp(endedEarly reason: String?) -> SessionOutcome {
        let reached = executor.now
        let (tallies, effects, blame, keeperFacts, kept, broken) = executor.inspect {
            [shadows, alerts, keeper, monitor] in
            shadows?.here { $0.finish() }
            return (
                alerts.here { $0.tallies() }, alerts.here { $0.noticed }, alerts.here { $0.takeBlame() },
                keeper.here { $0.told() }, monitor.here { $0.kept() }, monitor.here { $0.broken }
            )
        }
        for part in broken { recorder.fault(FaultRow(instant: part.since, end: reached, kind: part.kind)) }
        var truth = SessionTruth(plasma: [], every: SubjectMonitor.interval, reached: reached)
        for (metric, values) in zip(metrics, kept.truth) {
            truth.take(metric, values, every: SubjectMonitor.interval)
        }
        truth.endedEarly = reason != nil
        truth.nights = IntervalSet(keeperFacts.nights)
        truth.treatments = keeperFacts.visits.map { SessionTruth.Treatment($0.at, .app) }
        var facts = SessionFacts(
            days: truth.days, truth: nil, sensor: nil, sensorDays: 0, insulinUnits: 0, mealGrams: 0,
            rescueGrams: 0,
            alerts: tallies, person: nil, sessionTruth: truth,
            metrics: AlertMetrics(
                policy: policy, events: effects.compactMap(AlertEvent.init), truth: truth,
                tellsFor: tellsFor, blame: blame, heard: isHeard ? keeperFacts.heard : nil))
        facts.watched = WatchedFacts(
            metrics: metrics, truth: kept.truth, brokenReadings: kept.brokenReadings, keeper: keeperFacts)
        var values = OutcomeValues(minimumCapacity: outcomes.count)
        for outcome in outcomes { values[outcome.name] = outcome.value(facts) }
        let policies = scoring?.takeValues(of: shadows, on: executor, facts) ?? []
        return SessionOutcome(
            end: reason.map { .endedEarly(reason: $0) } ?? .completed, endedAt: reached,
            digest: executor.journal.digest, checkpoints: executor.journal.checkpoints,
            events: executor.eventsFired, jobs: executor.jobsRun, outcomes: values, alerts: tallies,
            policies: policies)
    }
}

/// What a watched subject shows.
package struct WatchedLook: Sendable {
    /// The stage of its life; empty for a kind without stages.
    package var stage: String
    /// In the order of the kind; a day and an hour of each, by time. Empty before `keepReadings`.
    package var readings: [(metric: AlertMetric, values: [MetricReading])]
    package var lastVisit: KeeperVisit?
}
