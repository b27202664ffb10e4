// The loop controller: runs one step of a dosing algorithm every five minutes on what the device ports report.
//
// Guarantees
// - Steps stand on a grid from the first step's instant. A step may begin up to 27 s early when the sensor has news. A
//   late one (the app was suspended or dead) runs at once if it is at most half a step late, else the next grid point's
//   does; missed points are counted, and none has two steps.
// - A reading serves one step, and only while it is at most 15 min old. Basal, correction and meal are one request
//   under the step's number. An algorithm that throws or answers nonsense delivers nothing: the step is recorded as
//   failed with its cause, the algorithm's state goes back, and what the person said stays for the next step.
// - A request that was sent and not answered counts as delivered, and no other is sent, until the pump says what became
//   of it. Parts of a pulse are carried to the next request, never lost.
// - The pump's programmed basal runs unless a temporary basal replaces it (`+Basal`). A meal's or manual insulin is
//   requested within 15 min or dropped, and no bolus is above the therapy's maximum (`+Owed`).
//
// Does not: talk to real devices, draw, or know which model is behind the ports.

public import IsletDevices
public import IsletKernel

public actor LoopController: SessionActor, LoopInputs, DeviceObserver {
    public nonisolated let executor: SessionExecutor
    /// The executor's journal, held here to avoid reference counting per event.
    let journal: Journal

    let algorithm: any DosingAlgorithm
    /// Whether the algorithm doses all basal itself. Cached, since each step reads it three times.
    private(set) var algorithmDosesBasal: Bool
    /// Whether it answers with temporary basal rates.
    private(set) var algorithmSetsTemporary: Bool
    private(set) var algorithmLowersHighs: Bool
    var settings: LoopSettings
    let sensor: any GlucoseSensorPort
    let pump: any InsulinPumpPort
    let recorder: SessionRecorder
    let log: StepLog?
    /// The algorithm's own state.
    let state: StateCell
    /// `state`, where the algorithm is outside.
    let outsideState: OutsideCell?
    /// Whether somebody outside is asked at its steps, the session held meanwhile (`+Held`).
    let holds: Bool
    /// Who listens outside beside the algorithm: which state is out there; nil for nobody.
    let listener: OutsideCell?
    /// When a step was last answered a number of somebody's own.
    var numbersHeard: Instant?
    /// What the session is held at; nil where it isn't.
    var held: HeldStep?
    /// Who answers within the step; nil where the session is held for that.
    var answers: ((HeldQuestion) throws -> HeldAnswer?)?
    var atDeath: StateAtDeath<LoopMemory>
    /// What the first launch continues from instead of starting a session; nil ordinarily.
    var adopted: LoopMemory?
    var memory = LoopMemory()
    /// The programmed basal rate that was last set at the pump.
    var programmedBasal: InsulinRate?
    /// The end of the zero temporary basal that the pump has confirmed since the app's launch.
    var zeroEnds: Instant?
    /// Whether the last attempt to set a zero temporary basal failed.
    var wasZeroRefused = false
    /// Until when a zero temporary basal that couldn't be set is tried again.
    var zeroIsPaidUntil: Instant?
    private var observers: [Held<any LoopObserver>] = []
    /// `observers`, unretained, to avoid reference counting at every step.
    private(set) var callable: [Unmanaged<Held<any LoopObserver>>] = []
    private var tick: Wakeup? { didSet { movableTick = .unretained(tick) } }
    /// `tick`, unretained, to avoid reference counting at every step.
    private var movableTick: Unmanaged<Wakeup>?
    var sensorWork: Wakeup?
    /// When the newest reading arrived on time.
    var lastArrival: Instant?
    private var pumpWork: Wakeup?
    private var temporaryBasalEnd: Wakeup?
    /// The missing insulin that was last reported to observers.
    var toldInsulin = ToldInsulin()
    /// Since when delivered insulin is known, as the pump last reported; nil where all is known.
    var insulinKnownSince: Instant?
    /// The insulin requests of recent steps and their outcomes.
    var account = InsulinAccount()
    var isSuspended = false
    private var lastPoll: Instant?

    /// - Parameters:
    ///   - log: records every step; it has no influence on them.
    ///   - isListenedTo: whether somebody outside hears each step beside the algorithm.
    ///   - diesBetweenInstants: whether the app is killed only between instants, as in virtual time (`StateAtDeath`).
    public init(
        executor: SessionExecutor, algorithm: any DosingAlgorithm, settings: LoopSettings,
        sensor: any GlucoseSensorPort, pump: any InsulinPumpPort, recorder: SessionRecorder,
        log: StepLog? = nil, isListenedTo: Bool = false, diesBetweenInstants: Bool = false
    ) {
        self.executor = executor
        journal = executor.journal
        self.algorithm = algorithm
        algorithmDosesBasal = algorithm.basalSource == .algorithm
        algorithmSetsTemporary = algorithm.basalSource == .temporary
        algorithmLowersHighs = algorithm.lowersHighs
        self.settings = settings
        self.sensor = sensor
        self.pump = pump
        self.recorder = recorder
        self.log = log
        atDeath = StateAtDeath(diesBetweenInstants: diesBetweenInstants)
        state = algorithm.makeCell()
        outsideState = state as? OutsideCell
        listener = isListenedTo ? OutsideCell() : nil
        holds = algorithm.answersOutside || isListenedTo
        memory.forcesOpenLoop = settings.isOpenLoop
    }

    // MARK: Life

    /// Launches the loop: continues the session that it died in, or starts one at this instant.
    public func begin(observers: [any LoopObserver] = []) throws {
        launch(observers: observers)
        // A session that was ended before an upgrade stays ended.
        guard adopted == nil else { return adopted = nil }
        if !memory.isInSession { try startSession() }
    }

    /// Launches without starting a session: devices are polled until somebody starts one.
    public func launch(observers: [any LoopObserver] = []) {
        self.observers = observers.map { Held($0) }
        callable = self.observers.map { .passUnretained($0) }
        // Owned by this actor: not counted, as it fires for every step.
        let me = Unmanaged.passUnretained(self)
        tick = Wakeup(executor, phase: .loop, "loop step") {
            try me._withUnsafeGuaranteedRef { try $0.here { try $0.work() } }
        }
        pumpWork = Wakeup(executor, phase: .loop, "pump work") { [unowned self] in
            try here { try $0.workOnPump() }
        }
        sensorWork = Wakeup(executor, phase: .loop, "sensor work") { [unowned self] in
            here { $0.workOnSensor() }
        }
        temporaryBasalEnd = Wakeup(executor, phase: .loop, "temporary basal ends") { [unowned self] in
            here { $0.endTemporaryBasal() }
        }
        takeUpLife()
        if memory.awaitsOutcome { pumpWork?.schedule(at: executor.now) }
        waitForTemporaryBasal()
        dropLapsedOnWaking()
        schedule()
        tellInsulinAtLaunch()
    }

    /// The app is suspended: nothing of the loop runs until `resume`.
    public func suspend() { isSuspended = true }

    public func resume() {
        guard isSuspended else { return }
        isSuspended = false
        dropLapsedOnWaking()
        waitForTemporaryBasal()
        schedule()
    }

    /// The app dies, if it is not dead, and is launched again at this instant.
    public func relaunch() {
        guard atDeath.isKept else { return }
        kill()
        isSuspended = false
        programmedBasal = nil
        zeroEnds = nil
        wasZeroRefused = false
        zeroIsPaidUntil = nil
        lastPoll = nil
        memory = LoopMemory()
        state.clear()
        launch(observers: observers.map(\.value))
        atDeath.discard()
        applyBasal()
    }

    /// The app dies: nothing of this controller runs until it, or another one, is launched.
    public func kill() {
        isSuspended = true
        moveTick(to: nil)
        pumpWork?.schedule(at: nil)
        sensorWork?.schedule(at: nil)
        lastArrival = nil
        temporaryBasalEnd?.schedule(at: nil)
        guard atDeath.awaitsDeath else { return }
        memory.algorithmState = state.saved
        atDeath.keep(memory)
    }

    /// Adapts to another algorithm from this instant on, as after an update of the app. A state that it can't read is
    /// replaced by a new one, with the insulin history of the hours before.
    public func algorithmDidChange() {
        algorithmDosesBasal = algorithm.basalSource == .algorithm
        algorithmSetsTemporary = algorithm.basalSource == .temporary
        algorithmLowersHighs = algorithm.lowersHighs
        memory.algorithmState = state.saved
        let before = memory.algorithm
        takeUpState()
        // An algorithm that keeps its state has set its basal already.
        if memory.algorithm != before, !isSuspended { applyBasal() }
    }

    // MARK: Work

    func moveTick(to instant: Instant?) { movableTick?.schedule(at: instant) }

    func schedule() {
        guard !isSuspended else { return }
        moveTick(to: memory.isInSession ? memory.nextStep.adding(waitForReading) : executor.now)
        if sensor.isPolled { scheduleSensorRead() }
    }

    private func work() throws {
        guard !isSuspended else { return }
        guard memory.isInSession else {
            // Devices are read at a slower pace than that of the grid.
            if lastPoll.map({ executor.now >= $0.adding(LoopTiming.idlePoll) }) ?? true {
                lastPoll = executor.now
                collect()
                readSensor()
            }
            moveTick(to: executor.now.adding(LoopTiming.step))
            return
        }
        skipMissedSteps()
        // The wake-up is void when its step has run already, or when it is early and there is no new reading.
        let now = executor.now
        guard memory.nextStep <= now || memory.nextStep <= now.adding(LoopTiming.earlyWindow) && hasNews
        else { return schedule() }
        if isReadingLate {
            moveTick(to: memory.nextStep.adding(LoopTiming.earlyWindow))
            return
        }
        try step()
        // What is held goes on with it.
        if held == nil { schedule() }
    }

    /// The temporary basal ends at its own instant, steps or not.
    func waitForTemporaryBasal() { temporaryBasalEnd?.schedule(at: memory.temporaryBasalEnds) }

    private func endTemporaryBasal() {
        guard !isSuspended, let end = memory.temporaryBasalEnds, end <= executor.now else { return }
        // Basal withheld up to now is computed with this temporary basal, before it is removed.
        if memory.isInSession { skipMissedSteps() }
        memory.cancelTemporaryBasal()
        applyBasal()
    }

    /// A step may be late by half a step; older grid points were missed, and their numbers are spent.
    @inline(__always)
    private func skipMissedSteps() {
        let late = executor.now.nanoseconds - memory.nextStep.nanoseconds
        if late > LoopTiming.latest { skipSteps(late) }
    }

    private func skipSteps(_ late: Int64) {
        let missed = (late - LoopTiming.latest + LoopTiming.step - 1) / LoopTiming.step
        if memory.firstStepTime == nil {
            memory.sessionStart = memory.sessionStart.adding(missed * LoopTiming.step)
        } else {
            displaced(from: memory.algorithmTime, to: memory.algorithmTime + missed)
            memory.algorithmTime += missed
        }
        memory.stepsSkipped += Int(missed)
        journal.record(.stepsSkipped, at: executor.now, UInt64(missed))
        dropLapsedOnWaking()
    }

    /// Reads completed boluses and the outcome of a request from the pump and sets its basal. Errors are retried later.
    private func workOnPump() throws {
        guard !isSuspended else { return }
        // What the pump says may end the zero: what that took of missed steps counts before.
        if memory.isInSession, memory.temporaryBasal != nil { skipMissedSteps() }
        collect()
        heedPumpsRate(isStep: false)
        applyBasal()
        tellInsulinBetweenSteps()
    }

    func retryPumpWork() { pumpWork?.schedule(at: executor.now.adding(LoopTiming.retry)) }

    func tellObservers(succeeded: Bool, _ forecast: LoopForecast? = nil) {
        for index in callable.indices {
            callable[index].call((succeeded, forecast)) { $0.loopDidStep(succeeded: $1.0, forecast: $1.1) }
        }
    }

    private func notePump(_ status: PumpStatus) {
        insulinKnownSince = status.insulinKnownSince
        if memory.before == nil, status.isConnected, let before = pump.insulinBefore {
            take(before)
        }
        if let until = status.basalReplacedUntil {
            zeroEnds = status.temporaryBasal == .zero ? until : nil
        }
        // A pod that comes off takes its temporary basal with it, and a suspension ends it.
        switch status.condition {
        case .suspended, .noPod, .fault: zeroEnds = nil
        case .ready, .bolusing: break
        }
        notePod()
        if status.isConnected, !isSuspended { pumpWork?.schedule(at: executor.now) }
    }

    // MARK: Devices

    public nonisolated func sensorDidUpdate(reading: GlucoseReading?, state: SensorState) {
        here(reading != nil) { $0.noteReading(isNew: $1) }
    }

    public nonisolated func pumpDidUpdate(status: PumpStatus) { here(status) { $0.notePump($1) } }

    // MARK: Facts

    public var stepsRun: Int64 { Int64(memory.stepsRun) }
    public var stepsFailed: Int { memory.stepsFailed }
    /// The memory that a relaunch would continue from.
    public var currentMemory: LoopMemory { memory }

    /// The id of the oldest request whose outcome or delivery is still open; nil where none is.
    public var firstOpenRequest: Int64? {
        guard let request = memory.request?.id else { return memory.delivery?.id }
        return memory.delivery.map { min($0.id, request) } ?? request
    }
}

extension EventKind {
    /// Words: algorithm time, units asked for (bits), units accepted (bits), 1 where the step failed.
    public static let step = EventKind(0x300, "step")
    /// The algorithm wanted insulin, and the pump was unavailable.
    public static let deliverySkipped = EventKind(0x301, "deliverySkipped")
    /// Words: 1 started, 0 ended.
    public static let loopSession = EventKind(0x302, "loopSession")
    /// Words: how many grid points.
    public static let stepsSkipped = EventKind(0x303, "stepsSkipped")
    /// Words: request id.
    public static let requestUncertain = EventKind(0x304, "requestUncertain")
    /// Words: request id, units delivered (bits).
    public static let requestReconciled = EventKind(0x305, "requestReconciled")
    /// The pump reports a request's outcome later. Words: request id, units (bits).
    public static let requestUnderWay = EventKind(0x308, "requestUnderWay")
    /// A request's outcome can't be learnt: it counts as delivered. Words: request id, units (bits).
    public static let requestUnknowable = EventKind(0x309, "requestUnknowable")
}
