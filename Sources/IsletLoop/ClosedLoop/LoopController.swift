// The loop: one step of a dosing algorithm every five minutes, from what the ports say.
//
// Guarantees
// - Steps stand on a grid from the first step's instant. A step may begin up to 27 s early when the sensor has news. A late
//   one (the app was suspended or dead) runs at once if it is at most half a step late, else the next grid point's does;
//   missed points are counted, and none has two steps.
// - A reading serves one step, and only while it is at most 15 min old. Basal, correction and meal are one request
//   under the step's number. An algorithm that throws or answers nonsense delivers nothing: the step is recorded as
//   failed with its cause, the algorithm's state goes back, and what the person said stays for the next step.
// - A request that was sent and not answered counts as delivered, and no other is sent, until the pump says what became
//   of it. Parts of a pulse are carried to the next request, never lost.
// - The person's programmed basal is the floor: see `LoopController+Basal.swift`. What the person waits for is given within
//   15 min or not at all, no bolus is above the therapy's maximum: see `LoopController+Owed.swift`.
//
// Does not: talk to real devices, draw, or know which model is behind the ports.

public import IsletDevices
public import IsletKernel

public actor LoopController: SessionActor, LoopInputs, DeviceObserver {
    public nonisolated let executor: SessionExecutor
    /// The executor's. Held here, so that an event counts no references.
    let journal: Journal

    let algorithm: any DosingAlgorithm
    /// What the algorithm says of itself once and for all: steps ask for it three times.
    private(set) var algorithmDosesBasal: Bool
    var settings: LoopSettings
    let sensor: any GlucoseSensorPort
    let pump: any InsulinPumpPort
    let recorder: SessionRecorder
    let log: StepLog?
    /// What the algorithm remembers.
    let state: StateCell
    var atDeath: StateAtDeath<LoopMemory>
    /// What its first launch goes on from in place of a new session; nil for an ordinary one.
    var adopted: LoopMemory?
    var memory = LoopMemory()
    /// The programmed basal that the pump was last given.
    var programmedBasal: InsulinRate?
    /// Until when the pump, as it confirmed in this life of the app, gives no basal of its own.
    var zeroEnds: Instant?
    /// The pump, when it was last told to, didn't take the zero.
    var wasZeroRefused = false
    /// It is told again until then.
    var zeroIsPaidUntil: Instant?
    private var observers: [Held<any LoopObserver>] = []
    /// The same, uncounted: they hear of every step.
    private(set) var callable: [Unmanaged<Held<any LoopObserver>>] = []
    private var tick: Wakeup? { didSet { movableTick = .unretained(tick) } }
    /// The same, uncounted: it moves at every step.
    private var movableTick: Unmanaged<Wakeup>?
    var sensorWork: Wakeup?
    /// When the newest reading arrived in its own time.
    var lastArrival: Instant?
    private var pumpWork: Wakeup?
    private var temporaryBasalEnd: Wakeup?
    /// What observers were told last of the insulin.
    var toldInsulin = ToldInsulin()
    /// From when on it is known what the pump gave, as the pump last said; nil for all time.
    var insulinKnownSince: Instant?
    /// What was asked for and given in the last hours.
    var account = InsulinAccount()
    var isSuspended = false
    private var lastPoll: Instant?

    /// - Parameters:
    ///   - log: gets every step; it changes nothing.
    ///   - diesBetweenInstants: the app is killed when nothing is under way, as in virtual time (`StateAtDeath`).
    public init(
        executor: SessionExecutor, algorithm: any DosingAlgorithm, settings: LoopSettings,
        sensor: any GlucoseSensorPort, pump: any InsulinPumpPort, recorder: SessionRecorder,
        log: StepLog? = nil, diesBetweenInstants: Bool = false
    ) {
        self.executor = executor
        journal = executor.journal
        self.algorithm = algorithm
        algorithmDosesBasal = algorithm.basalSource == .algorithm
        self.settings = settings
        self.sensor = sensor
        self.pump = pump
        self.recorder = recorder
        self.log = log
        atDeath = StateAtDeath(diesBetweenInstants: diesBetweenInstants)
        state = algorithm.makeCell()
        memory.forcesOpenLoop = settings.isOpenLoop
    }

    // MARK: Life

    /// Launches: goes on with the session that the loop died in, or starts one at this instant.
    public func begin(observers: [any LoopObserver] = []) throws {
        launch(observers: observers)
        // Whoever had ended the session before an upgrade has ended it.
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

    /// Behind the algorithm stands another one from this instant on, as after an update of the app: a state that it doesn't understand is begun
    /// anew, and it hears of the hours before.
    public func algorithmDidChange() {
        algorithmDosesBasal = algorithm.basalSource == .algorithm
        memory.algorithmState = state.saved
        let before = memory.algorithm
        takeUpState()
        // One that goes on with its state has its basal already.
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
        // Woken by a step that has run meanwhile, or with no news that a step could begin early for.
        let now = executor.now
        guard memory.nextStep <= now || memory.nextStep <= now.adding(LoopTiming.earlyWindow) && hasNews
        else { return schedule() }
        if isReadingLate {
            moveTick(to: memory.nextStep.adding(LoopTiming.earlyWindow))
            return
        }
        try step()
        schedule()
    }

    /// The temporary basal ends at its own instant, steps or not.
    func waitForTemporaryBasal() { temporaryBasalEnd?.schedule(at: memory.temporaryBasalEnds) }

    private func endTemporaryBasal() {
        guard !isSuspended, let end = memory.temporaryBasalEnds, end <= executor.now else { return }
        // What a zero withheld until then goes by it.
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

    /// What the pump owes us: completed boluses, the outcome of a request, its basal. After an error it is tried again.
    private func workOnPump() throws {
        guard !isSuspended else { return }
        collect()
        applyBasal()
        // A zero that runs only now displaces the programme all the same, if the app dies next.
        if memory.temporaryBasal != nil { tellInsulin(of: memory.algorithmTime - 1) }
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
    /// What a relaunch would go on from.
    public var currentMemory: LoopMemory { memory }

    /// The oldest request of which something may become known; nil where none is under way.
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
    /// A request is on its way, and the pump says later what became of it. Words: request id, units (bits).
    public static let requestUnderWay = EventKind(0x308, "requestUnderWay")
    /// Nobody will know what became of a request: it counts as delivered. Words: request id, units (bits).
    public static let requestUnknowable = EventKind(0x309, "requestUnknowable")
}
