// The alert center of a session.
//
// Guarantees: conditions are judged in the alerts phase, once all inputs of an instant are in; a quiet reading costs
// a few comparisons and no event; every effect is journaled and recorded. A relaunch rebuilds everything from
// the store, while body, sensor and pump live on. What the person acknowledges is silenced at the pump too, as soon as it
// can be reached. What arrives late is history: no decision hangs on a backfilled reading.
// Does not: fail with its store. What can't be written is counted, and everything rings as if it had been.

public import IsletDevices
public import IsletKernel

public actor AlertCenter: SessionActor, DeviceObserver, PumpAlertObserver, LoopObserver {
    public nonisolated let executor: SessionExecutor

    var prepared: PreparedPolicy
    private var policy: AlertPolicy { prepared.policy }
    private let recorder: SessionRecorder
    var app: AlertApp
    var wallClock: WallClock
    var typedLow: TypedLow?
    private var wakeup: Wakeup? { didSet { movableWakeup = .unretained(wakeup) } }
    /// Mirrors `wakeup`, unretained, to avoid reference counting per step.
    private var movableWakeup: Unmanaged<Wakeup>?
    private let port: (any NotificationPort)?
    private(set) var atDeath: StateAtDeath<AlertMemory>
    private var pump: (any InsulinPumpControls)?
    var watchesReservoir: Bool
    private let shadowsWatchReservoir: Bool
    /// Whether anybody here asks for the algorithm's forecast.
    var watchesForecast: (own: Bool, shadows: Bool)
    /// Numbers of somebody's own that rules here, or in shadow, compare.
    let shadowsOwnMetrics: [AlertMetric]
    private weak var listener: (any AlertListener)?
    /// Policies that hear all that this one hears.
    let shadows: ShadowPolicies?
    private var silencing: Wakeup?
    /// After a command that didn't reach the pump it is sent again this much later.
    private static let retry = 10 * Nanoseconds.second
    var isForeground = false
    /// From its death to its relaunch.
    private(set) var isDead = false
    /// What the loop said last of its insulin.
    var insulin = HeardInsulin()
    private var isTold = false
    private var quietDeadline: Instant?
    var counts: AlertTallies
    private static let night = QuietHours(from: 23 * Nanoseconds.hour, to: 7 * Nanoseconds.hour)
    /// Reads of the store that failed, and the writes of earlier lives that did.
    var earlierFailures = 0
    /// How often the store couldn't be read or written.
    public var storeFailures: Int { earlierFailures + app.storeFailures }
    /// Effects that a person could notice, in their order, for metrics.
    package private(set) var noticed: [AlertEffect] = []
    private var lastSuccess: Instant?
    private var interruptions: [Interval] = []
    /// Sees every effect; nil in ordinary runs.
    public var observer: (@Sendable (AlertEffect) -> Void)?

    /// - Parameters:
    ///   - store: where the app's memory lives; nil for nowhere.
    ///   - environment: what the app finds at the session's start.
    ///   - diesBetweenInstants: the app is killed when nothing is under way, as in virtual time (`StateAtDeath`). What it would
    ///     have scheduled by then is scheduled at its death: nobody can tell, and it costs nothing before.
    ///   - shadows: who hears all that this one hears; nil for nobody.
    /// - Throws: what the store throws when it is read.
    public init(
        executor: SessionExecutor, policy: PreparedPolicy, recorder: SessionRecorder,
        wallClock: WallClock = WallClock(SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0)),
        environment: AppEnvironment = AppEnvironment(), store: (any AlertStore)? = nil,
        port: (any NotificationPort)? = nil, diesBetweenInstants: Bool = false,
        shadows: ShadowPolicies? = nil
    ) throws {
        self.executor = executor
        self.shadows = shadows
        self.port = port
        atDeath = StateAtDeath(diesBetweenInstants: diesBetweenInstants)
        prepared = policy
        counts = AlertTallies(policy.policy)
        watchesReservoir = policy.watchesReservoir
        shadowsWatchReservoir = shadows?.plan.watchesReservoir ?? false
        watchesForecast = (policy.watchesForecast, shadows?.plan.watchesForecast ?? false)
        shadowsOwnMetrics = shadows?.plan.ownMetrics ?? []
        self.recorder = recorder
        self.wallClock = wallClock
        app = try AlertApp(
            policy: policy, wallClock: wallClock, environment: environment, store: store,
            port: diesBetweenInstants ? nil : port)
    }

    /// Launches the app at this instant.
    /// - Parameters:
    ///   - pump: where acknowledged alerts are silenced; nil for nowhere.
    ///   - listener: who hears what rings; nil for nobody.
    public func begin(
        pump: (any InsulinPumpControls)? = nil, listener: (any AlertListener)? = nil
    ) {
        self.pump = pump
        self.listener = listener
        if listener != nil { counts.expectListener() }
        silencing = Wakeup(executor, phase: .alerts, "silencing") { [unowned self] in here { $0.silence() } }
        wakeup = Wakeup(executor, phase: .alerts, "alert center") { [unowned self] in here { $0.wake() } }
        shadows?.here { $0.begin() }
        guarding { try app.launch(inForeground: isForeground, at: executor.now) }
        judgeLater()
    }

    /// From here on every rule's standing is kept, with all that is in its way.
    public func keepBlame() { app.flow.engine.keepBlame(from: executor.now) }

    /// What was kept up to this instant; nil where nobody asked.
    public func takeBlame() -> BlameLog? { app.flow.engine.takeBlame(at: executor.now) }

    /// The app dies: nothing of it runs until `relaunch`. Its owner keeps what happens meanwhile away from it.
    public func kill() {
        // Nobody looks at a dead app; who opens it again says so.
        isForeground = false
        isDead = true
        shadows?.here { $0.kill() }
        wakeup?.schedule(at: nil)
        silencing?.schedule(at: nil)
        app.flow.engine.dieInBlame(at: executor.now)
        guard atDeath.awaitsDeath else { return }
        guarding {
            let last = try app.die(at: executor.now)
            atDeath.keep(last.memory)
            for effect in last.effects { take(effect) }
            if var port {
                for request in last.requests { port.perform(request, at: executor.now) }
            }
        }
    }

    /// Launches a dead app at this instant, or quits and launches a living one. What it knows comes from its state at death or its
    /// store, and from what it finds.
    public func relaunch(finding sensor: SensorState? = nil, pump status: PumpStatus? = nil) {
        var environment = app.flow.environment
        if let sensor { environment.cgmState = sensor }
        if let status { Self.see(status, in: &environment) }
        if atDeath.isKept { kill() }
        let blame = app.flow.engine.takeBlame(at: executor.now)
        shadows?.here(environment) { $0.relaunch(finding: $1) }
        guarding {
            let launched = try AlertApp(
                policy: prepared, wallClock: wallClock, environment: environment, store: app.store,
                port: app.port, remembered: atDeath.state, bannerTime: app.bannerTime)
            earlierFailures += app.storeFailures
            app = launched
            app.flow.engine.inherit(blame, at: executor.now)
            try app.launch(inForeground: isForeground, at: executor.now)
            if atDeath.isKept { app.flow.engine.forgetSchedule() }
        }
        // Where its store couldn't be read the old life goes on.
        if app.flow.engine.blame == nil { app.flow.engine.inherit(blame, at: executor.now) }
        atDeath.discard()
        isDead = false
        passOnAtLaunch()
        silenceLater()
        judgeLater()
    }

    /// The system showed a notification that was scheduled with it: the app is dead, or it would have taken it back.
    public func systemDidDeliver(_ request: NotificationRequest) {
        let engine = app.flow.engine
        let rule = engine.index(of: request.category) ?? 0
        let effect = AlertEffect(
            instant: executor.now, kind: .notify, code: request.category,
            severity: request.severity, reason: .deadline, message: ValueText(request.body), rule: rule)
        app.flow.engine.noteDelivered(effect, at: executor.now)
        take(effect)
    }

    /// Tells the app something. Judged in the alerts phase of this instant. A dead app hears nothing: what is so all the same, it finds
    /// when it is launched.
    public func tell(_ input: AlertInput) {
        guard !isDead else { return keepForLaunch(input) }
        shadows?.here(input) { $0.tell($1) }
        switch input {
        case .foreground, .background: isForeground = input == .foreground
        case .wallClock(let clock): wallClock = clock
        default: break
        }
        guarding { try app.apply(input, at: executor.now) }
        if case .acknowledge = input {
            silence()
            noteSeen(input)
        }
        judgeLater()
    }

    /// Once the pump has said what is open at it: what it has issued again meanwhile is another alert, which nobody has acknowledged.
    private func silenceLater() { silencing?.schedule(at: executor.now) }

    /// Closes at the pump what the person acknowledged. A pump that can't be reached now is told when it is back.
    private func silence() {
        guard let pump, !isDead else { return }
        for name in app.flow.memory.pump.toSilence {
            do {
                if let issue = PumpIssue(rawValue: name) { try pump.acknowledge(issue) }
                guarding { try app.apply(.pumpRetract(name), at: executor.now) }
            } catch PumpError.notConnected {
                return
            } catch {
                silencing?.schedule(at: executor.now.adding(Self.retry))
                return
            }
        }
    }

    // MARK: What is shown

    /// What each code of the policy came to so far.
    public func tallies() -> [AlertTally] { counts.soFar(at: executor.now) }
    public var active: [ActiveAlert] { app.flow.engine.active }
    package var memory: AlertMemory { app.flow.rememberedMemory }

    // MARK: Judging

    func guarding(_ body: () throws -> Void) {
        do { try body() } catch { earlierFailures += 1 }
    }

    func judgeLater() {
        isTold = true
        wakeup?.schedule(at: executor.now)
    }

    private func wake() {
        let now = executor.now
        // A deadline that has moved on since it was set is nothing to judge.
        if !isTold, quietDeadline ?? .distantFuture > now,
            app.flow.watchedSteppingDeadline ?? .distantFuture > now
        {
            return scheduleNext()
        }
        isTold = false
        passOnLapses()
        guarding {
            for effect in try app.settle(at: now) { take(effect) }
        }
        quietDeadline = app.flow.lookUpDeadlineBesideStepping(after: now)
        scheduleNext()
        passOnSeen()
    }

    /// A step moves its own deadline and no other: the rest was looked up when it last changed.
    private func scheduleNext() {
        var next = quietDeadline
        if let stepping = app.flow.watchedSteppingDeadline, stepping > executor.now,
            stepping < next ?? .distantFuture
        {
            next = stepping
        }
        movableWakeup?.schedule(at: next)
    }

    /// A wake-up that comes before the moved deadline finds nothing to judge, and looks again: dearer than one look
    /// every quarter of an hour would be a new wake-up for every step.
    @inline(__always)
    private func waitForStepping() {
        if let due = wakeup?.instant, let stepping = app.flow.watchedSteppingDeadline, due <= stepping {
            return
        }
        scheduleNext()
    }

    func take(_ effect: AlertEffect) {
        executor.journal.record(
            .alertEffect, at: effect.instant, UInt64(effect.rule), UInt64(effect.kind.index),
            UInt64(effect.severity.rawValue), UInt64(effect.reason.index))
        recorder.alert(
            AlertRow(
                instant: effect.instant, effect: effect.kind.rawValue, code: effect.code,
                severity: effect.severity.name, reason: effect.reason.rawValue))
        observer?(effect)
        if effect.kind.isNoticed { noticed.append(effect) }
        counts.take(effect) { wallClock.isQuiet(Self.night, at: effect.instant) }
        switch effect.kind {
        case .notify:
            if let listener, listener.alertDidRing(ring(of: effect)) { counts.hear(effect.rule) }
        // What rang while the app was dead is before whoever opened the app for it.
        case .suppress
        where effect.reason == .foreground
            || effect.reason == .alreadyDelivered && app.flow.engine.isForeground:
            listener?.alertDidShow(ring(of: effect))
        default: break
        }
    }

    private func ring(of effect: AlertEffect) -> AlertRing {
        let rule = policy.rules.indices.contains(effect.rule) ? policy.rules[effect.rule] : nil
        return AlertRing(
            instant: effect.instant, code: effect.code, topic: rule?.topic ?? .app,
            severity: effect.severity, glucoseBound: rule?.glucoseBound)
    }

    // MARK: Truth

    /// Three steps without one are an interruption, whatever the policy says of it.
    private let missedSteps = AlertLimits().stepping

    @inline(__always)
    private func noteStep() {
        let since = (lastSuccess ?? .start).adding(missedSteps)
        if since < executor.now { interruptions.append(Interval(since, executor.now)) }
        lastSuccess = executor.now
    }

    /// When stepping truly was interrupted: from 15 min after a success, or after the start, to the next one. A dead app takes no steps.
    package func trueInterruptions() -> IntervalSet {
        let since = (lastSuccess ?? .start).adding(missedSteps)
        return IntervalSet(interruptions + [Interval(since, executor.now)])
    }

    // MARK: Devices

    private func hear(_ reading: GlucoseReading?, _ state: SensorState) {
        if state != app.flow.environment.cgmState { change { $0.cgmState = state } }
        guard let reading, reading.isReliable, !reading.isBackfilled else { return }
        let value = reading.glucose.milligramsPerDecilitre
        if typedLow != nil { followTypedLow(value, takenAt: reading.instant) }
        shadows?.here((value, reading.instant)) { $0.hear(.glucose, $1.0, sampledAt: $1.1) }
        let isNews = app.flow.hear(.glucose, value, sampledAt: reading.instant, at: executor.now)
        if isNews || app.hasStore { judgeLater() }
    }

    /// History: no threshold hears it. How long ago the sensor was heard it says all the same.
    private func hear(late readings: [GlucoseReading]) {
        guard let newest = readings.lazy.filter(\.isReliable).map(\.instant).max() else { return }
        shadows?.here(newest) { $0.hearHistory(sampledAt: $1) }
        if app.flow.hearHistory(sampledAt: newest, at: executor.now) || app.hasStore { judgeLater() }
    }

    private func hear(_ status: PumpStatus) {
        let known = app.flow.environment
        if known.isPumpStatusKnown != status.isConnected || known.hasPod != (status.condition != .noPod)
            || known.podExpiresAt != status.podExpiresAt
        {
            change { Self.see(status, in: &$0) }
            if status.isConnected { silenceLater() }
        }
        if let units = Self.exactReservoir(status) {
            shadows?.here(units) { $0.hear(.reservoir, $1, sampledAt: $0.executor.now) }
            hearReservoir(units)
        }
    }

    /// What the pump only calls "more than" says nothing to a threshold, nor does what it said before it was out of reach.
    private static func exactReservoir(_ status: PumpStatus) -> Double? {
        status.isConnected && status.isReservoirExact && status.pod != .none ? status.reservoir.units : nil
    }

    private func hearReservoir(_ units: Double) {
        if app.flow.hear(.reservoir, units, sampledAt: executor.now, at: executor.now) { judgeLater() }
    }

    private static func see(_ status: PumpStatus, in environment: inout AppEnvironment) {
        environment.podExpiresAt = status.podExpiresAt
        environment.isPumpStatusKnown = status.isConnected
        environment.hasPod = status.condition != .noPod
    }

    private func hear(stepSucceeded: Bool, _ forecast: LoopForecast?) {
        if let forecast, watchesForecast.own || watchesForecast.shadows { hear(forecast) }
        // The pump speaks up at its own milestones only: a threshold between them needs asking.
        if watchesReservoir || shadowsWatchReservoir, let pump,
            let units = Self.exactReservoir(pump.status)
        {
            if watchesReservoir { hearReservoir(units) }
            if shadowsWatchReservoir { shadows?.here(units) { $0.hearAsked(.reservoir, $1) } }
        }
        guard stepSucceeded else { return }
        noteStep()
        if !app.flow.environment.isFirstStepDone { change { $0.isFirstStepDone = true } }
        shadows?.here { $0.stepped() }
        if app.stepped(at: executor.now) {
            judgeLater()
        } else if !isTold {
            waitForStepping()
        }
    }

    public nonisolated func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        here((reading, state)) { $0.hear($1.0, $1.1) }
    }

    public nonisolated func sensorDidBackfill(_ readings: [GlucoseReading]) {
        here(readings) { $0.hear(late: $1) }
    }

    public nonisolated func pumpDidUpdate(status: PumpStatus) { here(status) { $0.hear($1) } }

    public nonisolated func pumpDidIssue(_ issue: PumpIssue, text: String) {
        here((issue, text)) { $0.tell(.pumpIssue($1.0.rawValue, text: $1.1)) }
    }

    public nonisolated func pumpDidRetract(_ issue: PumpIssue) {
        here(issue) { $0.tell(.pumpRetract($1.rawValue)) }
    }

    public nonisolated func loopDidStep(succeeded: Bool, forecast: LoopForecast?) {
        here((succeeded, forecast)) { $0.hear(stepSucceeded: $1.0, $1.1) }
    }
}
