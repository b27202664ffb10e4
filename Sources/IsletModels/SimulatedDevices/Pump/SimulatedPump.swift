// A patch pump: pulses of 0.05 U, a reservoir, limits, pods that are changed, alerts of its own, a link that can fail.
//
// Guarantees: what leaves the reservoir is counted in whole pulses, and requested = delivered + refused + lost +
// uncertain + held, to a pulse, at any instant; a request repeated under its id delivers nothing more; a bolus runs at
// the pump's own speed; the outcome of an unanswered request can be read once the pump is connected again.
// Does not: fail, occlude or leak, unless its plan says so. Without a plan, pods are changed seamlessly.
//
// The body receives a bolus pulse train as an amount over its length, and the programmed basal as its mean rate: a
// pulse of 0.05 U every few minutes and the same insulin spread evenly differ in glucose by less than the
// integrator's tolerance, and cost two integration steps a pulse.
//
// Files: `+Bolus` and `+Basal` delivery, `+Pod` life-cycle and reservoir, `+Site` leaks and occlusions at the infusion
// site, `+Link` the connection, `+Faults` the times of faults, `+Alerts` the pump's own alerts.

public import IsletDevices
public import IsletKernel

public actor SimulatedPump: SessionActor, InsulinPumpControls {
    public nonisolated let executor: SessionExecutor
    /// The executor's journal, held here to avoid reference counting per event.
    let journal: Journal
    public nonisolated var pulse: InsulinAmount { device.pulse }
    public nonisolated var limits: PumpLimits { device.limits }

    /// The make's constants, such as pulse, limits and reservoir.
    public nonisolated let device: PumpDevice
    let body: any InsulinReceiver
    let recorder: SessionRecorder
    let plan: FaultPlan
    let streams: RandomStreams
    let habits: PodHabits
    var observers: [any DeviceObserver] = []
    var truth = PumpTruth()
    var account = PumpLedger()
    var wakeups = Wakeups()

    // Bolus
    var bolus: Bolus?
    var lastRequest: BolusStatus?

    // Basal
    /// The basal rate that the pump delivers while no temporary rate replaces it; the same all day.
    var programmedRate = InsulinRate.zero
    var temporary: (rate: InsulinRate, ends: Instant)?
    var isSuspended = false
    /// The rate that the pump pushes evenly.
    var flow = InsulinRate.zero
    var flowSince = Instant.start
    /// The fraction of a pulse that was built up and not delivered before `flowSince`.
    var leftOver = 0.0
    /// Basal pulses since `flowSince` that are subtracted from the reservoir already.
    var countedPulses: Int64 = 0

    // Pod
    var pod = Pod()
    /// The number of pods so far, this one included.
    var podIndex: UInt64 = 0
    var reservoirPulses: Int64
    /// The reservoir level, in pulses, at or below which delivery checks the reservoir.
    var lookBelow = Int64.min
    var isEmptyWhenBolusEnds = false

    // Site, link, faults, alerts
    var site = Site()
    /// Fractions of a pulse that have leaked and are not in the ledger yet.
    var leak = (bolus: 0.0, basal: 0.0)
    var link = Link()
    var faultDraws: PumpFaultDraws?
    let log: FaultLog
    var alerts = PumpAlerts()

    /// - Parameters:
    ///   - habits: how pods are changed; nil for seamlessly without a plan and by hand with one.
    public init(
        executor: SessionExecutor, device: PumpDevice = .omnipod, body: any InsulinReceiver,
        recorder: SessionRecorder, faults: FaultPlan = .none,
        streams: RandomStreams = RandomStreams(seed: 0, subject: 0), habits: PodHabits? = nil
    ) {
        self.executor = executor
        journal = executor.journal
        self.device = device
        self.body = body
        self.recorder = recorder
        self.streams = streams
        plan = faults
        var chosen = habits ?? (faults.hasPumpFaults ? .manual : .seamless)
        if habits == nil, let hours = faults.rate(of: .latePodChange) {
            chosen.meanLateness = Int64(hours * Double(Nanoseconds.hour))
        }
        self.habits = chosen
        log = FaultLog(executor: executor, recorder: recorder)
        reservoirPulses = device.pulses(in: device.reservoir)
    }

    /// Attaches a fresh pod at this instant.
    public func begin(observers: [any DeviceObserver], alertObservers: [any PumpAlertObserver] = []) {
        self.observers = observers
        alerts.observers = alertObservers
        attachPod()
        if plan.hasPumpFaults { beginFaults() }
    }

    /// Continues from the basal, in pulses, that an earlier pump delivered. Must be called before `begin`.
    package func adopt(basal pulses: Int64) { account = PumpLedger(basal: pulses) }

    /// The ledger up to this instant. Changes nothing.
    public func ledger() -> PumpLedger { accountNow }

    /// Ends the session: faults that still last are recorded up to now.
    public func finish() {
        log.finish()
        truth.finish(at: executor.now)
    }

    /// The true spans of trouble, complete after `finish()`; an occluded pod counts as stopped.
    package func trueSpans() -> PumpTruth {
        var spans = truth
        for span in log.closed where span.kind == .occlusion { spans.add(.stopped, span.span) }
        return spans
    }

    /// Releases the observers, which retain the pump in turn.
    public func dismissObservers() {
        observers = []
        alerts.observers = []
    }

    /// The true content of the reservoir. Changes nothing.
    public func trueReservoir() -> InsulinAmount { device.amount(reservoirPulsesNow) }

    // MARK: Status

    func currentStatus() -> PumpStatus {
        if !link.isConnected, let known = link.lastKnown { return known }
        return trueStatus()
    }

    func canTakeBolus() -> Bool { link.isConnected && condition == .ready }

    func trueStatus() -> PumpStatus {
        let left = device.amount(reservoirPulsesNow)
        let isExact = left <= device.reservoirIsExactUpTo
        var status = PumpStatus(
            condition: condition, isConnected: link.isConnected,
            reservoir: isExact ? left : device.reservoirIsExactUpTo)
        status.isReservoirExact = isExact
        status.pod = podPhase
        status.podExpiresAt = pod.state == .active && !habits.isSeamless ? pod.expiresAt : nil
        status.unresolvedRequest = link.unresolved
        status.temporaryBasal = temporary?.rate
        return status
    }

    /// The basal that the pump has pushed so far, leaked and held back included; nil while it is out of reach.
    func ownBasal() -> InsulinAmount? {
        guard link.isConnected else { return nil }
        return device.amount(account.allBasal + uncountedPulses)
    }

    var condition: PumpStatus.Condition {
        switch pod.state {
        case .none, .priming: .noPod
        case .fault: .fault
        case .active: isSuspended ? .suspended : isBolusing ? .bolusing : .ready
        }
    }

    var isBolusing: Bool {
        guard let bolus else { return false }
        return bolus.endsAt > executor.now
    }

    /// Notifies the observers of the status, unless the pump is out of reach.
    func tellStatus() {
        guard link.isConnected else { return }
        let status = currentStatus()
        for observer in observers { observer.pumpDidUpdate(status: status) }
    }

    // MARK: Port

    public nonisolated var status: PumpStatus { here { $0.currentStatus() } }
    public nonisolated var isReady: Bool { here { $0.canTakeBolus() } }
    public nonisolated var basalDelivered: InsulinAmount? { here { $0.ownBasal() } }
    public nonisolated func completedBolus(after id: Int64?) throws -> BolusStatus? {
        try here(id) { try $0.readCompletedBolus(after: $1) }
    }
    public nonisolated func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        .accepted(try here((amount, id)) { try $0.deliver($1.0, id: $1.1) })
    }
    public nonisolated func outcome(of id: Int64) throws -> RequestOutcome {
        try here(id) { try $0.recall($1) }
    }
    public nonisolated func setProgrammedBasal(_ rate: InsulinRate) throws {
        try here(rate) { try $0.program($1) }
    }
    public nonisolated func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        try here((rate, nanoseconds)) { try $0.startTemporary($1.0, nanoseconds: $1.1) }
    }
    public nonisolated func cancelTemporaryBasal() throws { try here { try $0.cancelTemporary() } }
    public nonisolated func suspend(nanoseconds: Int64?) throws {
        try here(nanoseconds) { try $0.suspendDelivery(nanoseconds: $1) }
    }
    public nonisolated func resume() throws { try here { try $0.resumeDelivery() } }
    public nonisolated func cancelBolus() throws -> BolusStatus? { try here { try $0.cancelRunningBolus() } }
    public nonisolated func acknowledge(_ issue: PumpIssue) throws {
        try here(issue) { try $0.silence($1) }
    }
}

/// The pump's scheduled wake-ups, each created when it is first needed.
struct Wakeups {
    var lifecycle: Wakeup?
    var reservoir: Wakeup?
    var empty: Wakeup?
    var podChange: Wakeup?
    var primed: Wakeup?
    var temporary: Wakeup?
    var temporaryPulse: Wakeup?
    var suspension: Wakeup?
    var occlusion: Wakeup?
    var occlusionAlarm: Wakeup?
    var occlusionEnd: Wakeup?
    var siteRamp: Wakeup?
    var faults: Wakeup?
    var link: Wakeup?
}

extension SimulatedPump {
    /// Schedules the wake-up in `slot` for `instant`, or cancels it for nil. A slot keeps its first handler for good.
    func schedule(
        _ slot: WritableKeyPath<Wakeups, Wakeup?>, _ name: StaticString, at instant: Instant?,
        _ handler: @escaping @Sendable (isolated SimulatedPump) throws -> Void
    ) {
        if let wakeup = wakeups[keyPath: slot] {
            wakeup.schedule(at: instant)
            return
        }
        guard let instant else { return }
        let wakeup = Wakeup(executor, phase: .pump, name) { [unowned self] in try here { try handler($0) } }
        wakeups[keyPath: slot] = wakeup
        wakeup.schedule(at: instant)
    }
}

extension EventKind {
    /// Words: request id, pulses.
    public static let bolus = EventKind(0x200, "bolus")
    /// Words: the rate's bits (U/h).
    public static let basalRate = EventKind(0x201, "basalRate")
    /// Words: pulses that the pods delivered by request so far.
    public static let podChanged = EventKind(0x202, "podChanged")
    /// Words: 1 connected, 0 not.
    public static let pumpConnection = EventKind(0x203, "pumpConnection")
    /// Words: request id, pulses that the pump had pushed.
    public static let bolusCut = EventKind(0x204, "bolusCut")
    /// Words: why, as `PodEnd.rawValue`.
    public static let podStopped = EventKind(0x205, "podStopped")
    /// Words: request id, 1 where the pump carried it out.
    public static let unanswered = EventKind(0x206, "unanswered")
    /// Words: request id, pulses that it came to.
    public static let resolved = EventKind(0x207, "resolved")
    /// Words: issue, 1 issued, 0 retracted.
    public static let pumpAlert = EventKind(0x208, "pumpAlert")
    /// Words: 1 suspended, 0 resumed.
    public static let suspension = EventKind(0x209, "suspension")
    /// Words: pulses released of requests, and of basal.
    public static let occlusionReleased = EventKind(0x20a, "occlusionReleased")
}
