// One person in one arm, start to end: assembled, run, and summed up.
//
// Guarantees: a session is a pure function of (study, subject, arm): nothing mutable crosses its border, and its digest
// says so. A subject that leaves the physiological range ends it early, and the record names why and when.
// Does not: write files or know how many sessions there are.

public import IsletAlerts
import IsletFiles
public import IsletLoop
public import IsletDevices
import IsletPeople
public import IsletModels
public import IsletKernel

/// The live actors of one session.
///
///     let session = try Session(study: study, subject: subject, index: 0, arm: study.arms[0])
///     let outcome = session.run()
///     print(outcome.outcomes["mean_mgdl"] ?? .nan, outcome.digest)
public final class Session {
    public let executor: SessionExecutor
    public let recorder: SessionRecorder
    public let duration: Instant

    /// The session's actors live as long as it does: their wake-ups don't hold them.
    private let actors: [any SessionActor]
    let patient: VirtualPatient
    /// nil where pump and sensor are the study's.
    package let outside: (any OutsideDevices)?
    package let pump: SimulatedPump
    package let sensor: SimulatedSensor
    package let loop: LoopController
    package let alerts: AlertCenter
    let phoneAdapter: PersonPhoneAdapter
    /// nil where nobody listens in shadow.
    public let shadows: ShadowPolicies?
    private let app: AppFaults?
    let person: Person
    /// What the alerts are judged by at the end.
    var policy: AlertPolicy
    /// nil where no policy in shadow is scored.
    private let scoring: PolicyScoring?
    /// How long a notification counts as telling at most, ns.
    private let tellsFor: Int64
    private let calendar: SessionCalendar
    let stepLog: StepLog?
    /// Insulin that came from no pump, U.
    var givenByHand = 0.0
    var meals: [Meal] = []
    /// The programs of somebody's own that it asks.
    let hosts: PluginHosts
    /// Who answers, where it asks by itself.
    var seats: PluginSeats?
    /// Who asks, for a program that is asked.
    let asker: PluginAsker
    /// What ended it before its time.
    public internal(set) var failure: (any Error)?

    /// Assembles a session. Nothing runs yet.
    /// - Parameters:
    ///   - index: the subject's place in the cohort: the key of its random streams.
    ///   - keepsStepLog: whether `takeStepLog` has something to give; it costs memory, and changes nothing else.
    ///   - shadows: who listens in shadow; changes nothing else.
    ///   - seams: who stands between the actors.
    /// - Throws: `SensorDrawFailed`.
    public convenience init(
        study: Study, subject: VirtualSubject, index: Int, arm: Study.Arm, tieShuffle: RandomStream? = nil,
        keepsStepLog: Bool = false, shadows plan: ShadowPlan? = nil, seams: SessionSeams = SessionSeams()
    ) throws {
        try self.init(
            study: study, subject: subject, index: index, arm: arm, tieShuffle: tieShuffle,
            keepsStepLog: keepsStepLog, shadows: plan, scoring: nil, seams: seams)
    }

    /// - Parameter scoring: who listens in shadow and is scored at the end; in place of `plan`.
    init(
        study: Study, subject: VirtualSubject, index: Int, arm: Study.Arm, tieShuffle: RandomStream? = nil,
        keepsStepLog: Bool = false, shadows plan: ShadowPlan? = nil, scoring: PolicyScoring?,
        seams: SessionSeams = SessionSeams()
    ) throws {
        self.scoring = scoring
        hosts = try PluginHosts(arm)
        duration = Instant(nanoseconds: study.duration.nanoseconds)
        tellsFor = study.tellsFor.nanoseconds
        calendar = study.start.calendar
        policy = arm.alerts
        executor = SessionExecutor(tieShuffle: tieShuffle)
        recorder = SessionRecorder(level: study.record)
        let streams = RandomStreams(seed: study.seed, subject: UInt64(index)).offset(by: arm.luckOffset)
        asker = PluginAsker(index: index, streams)
        let personSettings = study.person(in: arm)?.own(streams, subject: subject)
        let weeks = SessionWeeks(study, streams: streams, person: personSettings, subject: subject)
        meals = weeks.meals

        let lowersHighs = arm.algorithm.algorithm.lowersHighs
        let faults = study.faults.plan(
            start: study.start, duration: study.duration, group: subject.group)
        let patient = VirtualPatient(
            executor: executor, model: subject.makeModel(options: weeks.bodyOptions),
            variation: weeks.variation)
        let sensor = SimulatedSensor(
            executor: executor, model: study.sensor(in: arm).model,
            streams: streams,
            body: patient, recorder: recorder, faults: faults, startOfDay: calendar.startOfDayOffset,
            isFed: seams.isFed)
        let pump = SimulatedPump(
            executor: executor, device: study.pump.device, body: seams.body(patient), recorder: recorder,
            faults: faults, streams: streams)
        var environment = AppEnvironment()
        environment.isFirstStepDone = false
        // An app that may die lives on a phone, which stands between it and everything else.
        let phone =
            faults.hasAppFaults && seams.outside == nil
            ? Phone(executor: executor, sensor: sensor, pump: pump) : nil
        let shadows = (scoring?.plan ?? plan).map { [executor, calendar, environment] in
            ShadowPolicies(
                executor: executor, plan: $0, environment: environment, wallClock: WallClock(calendar),
                keepsEffects: study.record >= .events, isScored: scoring != nil)
        }
        let alerts = try AlertCenter(
            executor: executor, policy: arm.preparedAlerts, recorder: recorder,
            wallClock: WallClock(calendar),
            environment: environment, port: phone, diesBetweenInstants: phone != nil, shadows: shadows)
        var settings = TherapySettings(subject)
        settings.basalRate = min(settings.basalRate, study.pump.device.largestBasal)
        let therapy = settings
        let stepLog = keepsStepLog ? StepLog() : nil
        let outside = seams.outside?(study, executor, recorder)
        self.outside = outside
        let loopPump: any InsulinPumpPort = outside?.pumpPort ?? seams.pump(pump)
        let ownSensor: any GlucoseSensorPort = phone ?? sensor
        let loopSensor = outside?.sensorPort ?? ownSensor
        let loop = LoopController(
            executor: executor, algorithm: seams.algorithm(arm.algorithm(of: index)),
            settings: LoopSettings(
                subjectID: subject.name, therapy: therapy, target: Self.target, isOpenLoop: seams.isFed),
            sensor: loopSensor, pump: loopPump, recorder: recorder,
            log: stepLog, isListenedTo: hosts.listener != nil,
            diesBetweenInstants: phone != nil)
        let app = phone.map { [executor, recorder] phone in
            AppFaults(
                executor: executor, plan: faults, streams: streams, recorder: recorder,
                quit: { [unowned phone] in phone.here { $0.quit() } },
                launch: { [unowned phone] in phone.here { $0.launch() } })
        }
        let person = Person(
            executor: executor, meals: weeks.plannedMeals, body: patient, loop: phone ?? loop,
            recorder: recorder,
            configuration: personSettings.map { [calendar, duration] in
                PersonConfiguration(
                    settings: $0, age: PersonAge(subject.group), calendar: calendar, streams: streams,
                    therapy: therapy, duration: duration, isBesideLoop: lowersHighs)
            },
            watch: weeks.watch(
                sensor: phone ?? sensor, feeling: patient, therapy: therapy,
                correctsManually: !lowersHighs),
            exercise: weeks.exercise(
                sensor: phone ?? sensor, exerciser: patient, isProgrammed: !lowersHighs))
        let phoneAdapter = PersonPhoneAdapter(
            alerts: alerts, loop: loop, sensor: sensor, pump: pump, phone: phone, app: app,
            recorder: recorder, body: outside == nil ? patient : nil)
        self.person = person
        self.phoneAdapter = phoneAdapter
        let phoneActors: [(any SessionActor)?] = [phone, app, shadows]
        actors = [patient, sensor, pump, alerts, loop, person] + phoneActors.compactMap { $0 }
        self.app = app
        self.patient = patient
        self.pump = pump
        self.sensor = sensor
        self.alerts = alerts
        self.shadows = shadows
        self.loop = loop
        self.stepLog = stepLog

        let (sessionEnd, watchers) = (duration, seams.observers)
        if let outside {
            executor.start("session") {
                try await outside.begin(alerts: alerts, loop: loop, watchers: watchers)
            }
            return
        }
        // Of a session that lives for months, among ten thousand others, no room is taken for what has not been yet.
        let first = min(sessionEnd, .minutes(1440))
        recorder.expect(readings: Int(first.nanoseconds / VirtualPatient.truthInterval) + 1)
        executor.start("session") {
            await patient.expect(first)
            await phone?.begin(alerts: alerts, loop: loop)
            // Only where somebody listens: what is in the way matters to nobody else.
            if personSettings != nil { await alerts.keepBlame() }
            await alerts.begin(pump: pump, listener: personSettings == nil ? nil : person)
            await alerts.tellSeen(to: loop)
            let observers: [any DeviceObserver] = watchers + (phone.map { [$0] } ?? [alerts, loop])
            try await sensor.begin(observers: observers)
            await pump.begin(observers: observers, alertObservers: [phone ?? alerts])
            // Until the loop sets it, the pump runs what a clinic has programmed.
            try await pump.preset(therapy.basalRate)
            try await loop.begin(observers: [alerts])
            await app?.begin()
            if let personSettings {
                if let felt = personSettings.feltBelow { await patient.tellLows(below: felt, to: person) }
                await person.begin(phone: phoneAdapter, devices: phoneAdapter)
            }
        }
        executor.start("person") { try await person.live() }
    }

    /// What the loop aims at, mg/dL.
    static let target = GlucoseConcentration(milligramsPerDecilitre: 120)

    /// Runs to the end at full speed, and sums up.
    /// - Parameter until: where to stop before the end; what it comes to then is of what it has lived.
    public func run(until: Instant? = nil) -> SessionOutcome {
        do {
            if failure == nil { try live(to: min(until ?? duration, duration)) }
        } catch {
            failure = error
        }
        return conclude()
    }

    /// Sums up what it has lived, and ends it, where it is held too.
    package func conclude() -> SessionOutcome {
        let outcome = sumUp(endedEarly: failure.map { "\($0)" })
        end()
        return outcome
    }

    /// Runs to the end as `run` does, and stops on the way at least every `span` nanoseconds for what `piece` has to do, the end included.
    /// - Throws: what `piece` throws.
    public func run(inPiecesOf span: Int64, _ piece: () throws -> Void) throws -> SessionOutcome {
        do {
            var next = Instant(nanoseconds: span)
            while next < duration, failure == nil {
                do {
                    try live(to: next)
                } catch {
                    failure = error
                }
                try piece()
                next = next.adding(span)
            }
        } catch {
            end()
            throw error
        }
        let outcome = run()
        try piece()
        return outcome
    }

    /// Hands over the steps of which nothing more can become known to the loop.
    func takeKnownSteps() -> [StepLog.Entry] {
        guard let stepLog else { return [] }
        return stepLog.takeKnown(before: executor.inspect { loop.here { $0.firstOpenRequest } })
    }

    /// Hands over all the steps so far that nobody has taken; nothing unless a log was asked for.
    func takeSteps() -> [StepLog.Entry] { stepLog?.takeAll() ?? [] }

    /// What `takeSteps` hands over, without what the steps were told later.
    public func takeStepLog() -> [StepRecord] { takeSteps().map(\.record) }

    /// The pump's account of insulin up to now.
    public var ledger: PumpLedger { executor.inspect { pump.here { $0.ledger() } } }

    /// The true plasma glucose so far, mg/dL, every five minutes from the start.
    package var plasmaTruth: [Double] {
        executor.inspect { patient.here { $0.plasmaTruthSoFar() } }.map(Double.init)
    }

    /// When each sensor so far measures.
    public var sensorTimings: [SensorTiming] { executor.inspect { sensor.here { $0.timings } } }

    /// Evaluations of the body's right-hand side so far.
    public var evaluations: Int { executor.inspect { patient.here { $0.evaluations() } } }

    /// Advances a live session; for callers that hold many at once.
    public func advance(to instant: Instant) throws { try live(to: min(instant, duration)) }

    /// Lets the session's tasks run out, and its actors go. What failed in the session has been reported by then.
    public func end() {
        seats?.end()
        seats = nil
        executor.inspect { [outside, pump, sensor, person] in
            outside?.dismissObservers()
            pump.here { $0.dismissObservers() }
            sensor.here { $0.dismissObservers() }
            person.here { $0.dismiss() }
        }
        try? executor.end()
    }

    private func sumUp(endedEarly reason: String?) -> SessionOutcome {
        executor.inspect { [shadows] in
            if let shadows { shadows.here { $0.finish() } }
        }
        let reached = executor.now
        let (truth, ledger, tallies, personFacts, rescueGrams, steps, judged) = executor.inspect {
            [patient, pump, sensor, loop, alerts, app, person, isLinked = outside != nil] in
            app?.here { $0.finish() }
            pump.here { $0.finish() }
            sensor.here { $0.finish() }
            if reason == nil, !isLinked { _ = try? patient.here { try $0.plasmaTruth() } }
            return (
                patient.here { $0.plasmaTruthSoFar() }, pump.here { $0.ledger() },
                alerts.here { $0.tallies() }, person.here { $0.facts() },
                person.here { $0.rescueGrams() }, loop.here { ($0.stepsRun, $0.stepsFailed) },
                (
                    pump: pump.here { $0.trueSpans() },
                    alerts: alerts.here {
                        (
                            interruptions: $0.trueInterruptions(), effects: $0.noticed, blame: $0.takeBlame()
                        )
                    }
                )
            )
        }
        // The last value stands at the end itself: the trace covers the intervals before it.
        let begun = calendar.startOfDayOffset / Self.millisecond
        let trace = try? GlucoseTrace(
            count: truth.count, mgdl: { Double(truth[$0]) },
            localMilliseconds: { begun + Int64($0) * Self.truthMilliseconds })
        let points = recorder.takeSensorTrace()
        let shown = sensorTrace(points)
        var sessionTruth = SessionTruth(
            plasma: truth, reached: reached, pump: judged.pump, interruptions: judged.alerts.interruptions,
            readings: points, personFacts: personFacts)
        sessionTruth.endedEarly = reason != nil
        recorder.finish(plasma: truth, every: VirtualPatient.truthInterval, sensor: points)
        let facts = SessionFacts(
            days: Double(reached.nanoseconds) / Double(Nanoseconds.day),
            truth: trace.map(GlucoseMetrics.init),
            sensor: shown.map(GlucoseMetrics.init), sensorDays: shown?.sampledDays ?? 0,
            insulinUnits: Double(ledger.delivered + ledger.basal) * pump.pulse.units + givenByHand
                + phoneAdapter.penUnits,
            mealGrams: meals.reduce(0) {
                $0 + ($1.instantNanoseconds <= reached.nanoseconds ? $1.grams : 0)
            }, rescueGrams: rescueGrams, steps: steps,
            alerts: tallies,
            person: personFacts.map {
                PersonOutcomeFacts($0, plasma: truth, reached: reached, endedEarly: reason != nil)
            },
            sessionTruth: sessionTruth,
            metrics: AlertMetrics(
                policy: policy, events: judged.alerts.effects.compactMap(AlertEvent.init),
                truth: sessionTruth, tellsFor: tellsFor, blame: judged.alerts.blame,
                heard: personFacts?.heard.sum))
        let policies = scoring?.takeValues(of: shadows, on: executor, facts) ?? []
        return SessionOutcome(
            end: reason.map { .endedEarly(reason: $0) } ?? .completed, endedAt: reached,
            digest: executor.journal.digest, checkpoints: executor.journal.checkpoints,
            events: executor.eventsFired, jobs: executor.jobsRun, outcomes: OutcomeValues(facts),
            alerts: tallies, policies: policies)
    }

    private static let millisecond = Nanoseconds.second / 1000
    private static let truthMilliseconds = VirtualPatient.truthInterval / millisecond

    /// What the sensor said, by the time of measurement; nil for a sensor that said nothing.
    private func sensorTrace(_ points: [SessionRecorder.SensorPoint]) -> GlucoseTrace? {
        var readings = points
        // Late readings stand where they arrived. Of two for one instant the first one counts.
        if !isAscending(readings) {
            readings = readings.enumerated().sorted {
                ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset)
            }.map(\.element)
            var kept: [SessionRecorder.SensorPoint] = []
            for reading in readings where kept.last?.instant != reading.instant { kept.append(reading) }
            readings = kept
        }
        guard !readings.isEmpty else { return nil }
        let offset = calendar.startOfDayOffset
        return try? GlucoseTrace(
            count: readings.count, mgdl: { readings[$0].mgdl },
            localMilliseconds: { (offset + readings[$0].instant.nanoseconds) / Self.millisecond })
    }

    private func isAscending(_ points: [SessionRecorder.SensorPoint]) -> Bool {
        var before = Int64.min
        for point in points {
            guard point.instant.nanoseconds > before else { return false }
            before = point.instant.nanoseconds
        }
        return true
    }
}

extension PersonSettings {
    /// Below which lows may be felt, wake the person, or bring somebody who helps; nil where none does.
    fileprivate var feltBelow: GlucoseConcentration? {
        guard feelsAwake > 0 || feelsAsleep > 0 || noticesAwake > 0 || helped > 0 else { return nil }
        return GlucoseConcentration(milligramsPerDecilitre: max(feelsBelow, wakesBelow, helpedBelow))
    }
}
