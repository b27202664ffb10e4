// A pump outside of the session, as the session sees it: a mirror of its last report, and an outbox.
//
// Guarantees
// - One command is in flight at a time. While a bolus is queued, sent or of unknown outcome nothing else is sent that
//   delivers insulin.
// - A bolus is sent again only where the pump is known not to have received it. One whose outcome isn't known within
//   15 min counts as delivered, with notice (`pumpDidLoseTrack`), for 8 h or until the pump reports the outcome.
// - An impossible report (more insulin than commanded, another command's number, another time, invalid amounts) is
//   refused whole and journaled. Insulin in it that was not commanded counts as delivered nevertheless, once. A pump
//   that sends only such reports for 15 min is treated as a new one, unless it reports a larger bolus than this app
//   commanded.
// - A basal setting counts once the pump has confirmed it, and none replaces the programmed basal for longer than
//   requested. A pump that runs another programme is sent the person's again. For a time without reports the largest
//   amount of basal that the pump may have delivered counts.
// - The person's immediate commands (suspend, resume, cancel the bolus) are repeated for 15 min or until confirmed.
// - Its timers are wake-ups and its reports are inputs of the session, so that a session with it can be replayed.
//
// Does not: know drivers. `takeOutbox()` returns each command once; the session's owner journals it before a driver
// sends it.
//
// Files: `+Port` the loop's requests, `+Ownership` which app commands the pump, `+Outbox` sending and time-outs,
// `+Reports` which reports are believed, `+Meeting` another pump and insulin that was not commanded here, `+Wishes` the
// person's immediate commands, `+Alerts` the pump's own alerts.

public import IsletDevices
public import IsletKernel

public actor LinkedPump: SessionActor, InsulinPumpControls {
    /// What is known of the newest bolus.
    struct Request: Hashable, Codable {
        enum State: Hashable, Codable {
            case queued
            case sent
            /// The pump didn't answer, and is asked for the outcome.
            case asking
            case known(RequestOutcome)
        }

        var id: Int64
        var amount: InsulinAmount
        var requestedAt: Instant
        var state = State.queued
        /// The number of the command that it was last sent with.
        var number: Int64?
        var sentAt: Instant?
        /// The pump that it was sent to, and its id there.
        var device = ""
        var wireID: Int64
        /// Whether the driver says that it was never sent. The pump is asked nevertheless.
        var isSaidUnsent = false

        var isOpen: Bool { if case .known = state { false } else { true } }
    }

    /// Insulin of one bolus that this app didn't command.
    struct Extra: Hashable, Codable {
        var device: String
        var id: Int64
        var units: Double
    }

    /// The programmed basal that the pump is to run.
    struct Programme: Hashable, Codable {
        var rate: InsulinRate
        /// Whether the pump accepted it, and the rate that it reports for it, U/h; nil where it reports none.
        var isTaken = false
        var taken: Double?
    }

    struct Queued: Hashable, Codable {
        var act: LinkCommand.Act
        var since: Instant
        /// Of a bolus that is to be stopped, its id there: what is asked for after that is another one's.
        var bolus: Int64?
    }

    public nonisolated let executor: SessionExecutor
    let journal: Journal
    let recorder: SessionRecorder
    public nonisolated let limits: PumpLimits
    public nonisolated let pulse: InsulinAmount
    var observers: [any DeviceObserver] = []
    var alertObservers: [any PumpAlertObserver] = []

    /// The last report that was believed, and when it arrived.
    var mirror: (report: PumpReport, heardAt: Instant)?
    /// Whether a report has been believed since a status read was last left unanswered.
    var isReachable = false
    /// Whether observers were last notified of a connected pump.
    var isToldConnected = false
    /// Added to request ids on the wire, so that they continue those that the pump remembers of earlier sessions.
    var idBase: Int64 = 0
    /// This app's name in its commands; nil in journals from before commands had one.
    let owner: String?
    /// How another app was noticed to command the pump; until a person takes it over, this app changes nothing at it.
    var foreign: Foreign?
    /// Whether this app's zero temporary basal may still run after it yielded the pump, at `yieldedAt`.
    var mayHaveZero = false
    var yieldedAt = Instant.start
    /// Until when a foreign command number counts as the earlier app's last command after a take-over.
    var lastWordsUntil = Instant.start
    /// Whether a person is taking the pump over: the next report is treated as the pump's first.
    var isTakingOver = false
    /// Since when delivered insulin is known; nil where all is known.
    var knownSince: Instant?
    /// What the pump's first report said that it had delivered before.
    var before: InsulinHistory?
    var nextNumber: Int64 = 0
    var queue: [Queued] = []
    var inFlight: (command: LinkCommand, sentAt: Instant)?
    var outbox: [LinkCommand] = []
    var request: Request?
    /// The outcome of a request that had been given up as unknowable.
    var late: BolusStatus?
    /// Added to the pump's basal total for earlier pumps; and what pumps reported beyond what was commanded; both in U.
    var basalOffset = 0.0
    var surplus = 0.0
    var refused: (act: LinkCommand.Act, at: Instant)?
    /// Insulin that may have been delivered, and since when it is unknown.
    var unknown: (amount: InsulinAmount, since: Instant)?
    /// The newest boluses with insulin that this app didn't command.
    var extras: [Extra] = []
    /// What the pump had delivered before its first report, as far as it still acts.
    var earlier: (amount: InsulinAmount, metAt: Instant)?
    /// Since when every report has been refused as impossible.
    var disbelievedSince: Instant?
    /// By how much the pump's clock is ahead of the session's, ns; 0 for less than 2 min.
    var clockOffset: Int64 = 0
    /// The highest temporary rate sent since the last report, U/h (0 for a cancellation); nil where none was.
    var doubtfulBasal: Double?
    var programme: Programme?
    /// The person's immediate commands that the pump has not confirmed yet.
    var wishes: [Queued] = []
    /// The issues that alert observers were last notified of.
    var toldIssues: [PumpIssue] = []
    var podExpiresAt: Instant?
    /// Messages for the session's timeline.
    var notices: [(at: Instant, text: String, isSure: Bool)] = []
    /// Whether it continues the state of an earlier link.
    var isAdopted = false
    var timeout: Wakeup?
    var poll: Wakeup?
    var giveUp: Wakeup?

    /// - Parameters:
    ///   - limits: the expected make's; a report beyond them is not believed.
    ///   - owner: this app's name in its commands, different for each app.
    public init(
        executor: SessionExecutor, recorder: SessionRecorder, limits: PumpLimits, pulse: InsulinAmount,
        owner: String? = nil
    ) {
        self.owner = owner
        self.executor = executor
        journal = executor.journal
        self.recorder = recorder
        self.limits = limits
        self.pulse = pulse
    }

    /// Reads the pump's status; nothing is known before it answers.
    public func begin(observers: [any DeviceObserver], alertObservers: [any PumpAlertObserver] = []) {
        self.observers = observers
        self.alertObservers = alertObservers
        timeout = Wakeup(executor, phase: .pump, "linked pump's answer") { [unowned self] in
            here { $0.timeOut() }
        }
        poll = Wakeup(executor, phase: .pump, "linked pump's status") { [unowned self] in
            here { $0.pollNow() }
        }
        giveUp = Wakeup(executor, phase: .pump, "linked pump's bolus") { [unowned self] in
            here { $0.giveUpRequest() }
        }
        if isAdopted { goOnAdopted() } else { pollNow() }
        // Observers must know that no pump has answered yet: one that never does must raise an alert.
        for observer in observers { observer.pumpDidUpdate(status: statusNow) }
    }

    /// Releases the observers.
    public func dismissObservers() {
        observers = []
        alertObservers = []
    }

    /// Returns the commands since the last call, in order. The caller must send them: they are returned once.
    public func takeOutbox() -> [LinkCommand] {
        defer { outbox = [] }
        return outbox
    }

    /// Whether `takeOutbox()` would return a command.
    public var hasOutbox: Bool { !outbox.isEmpty }

    /// Returns the messages since the last call. `isSure` is false for what the pump has not confirmed.
    public func takeNotices() -> [(at: Instant, text: String, isSure: Bool)] {
        defer { notices = [] }
        return notices
    }

    /// Continues after the process died: asks the pump about what was sent, which it may have carried out.
    public func relaunched() {
        outbox = []
        isReachable = false
        if inFlight != nil { lapse() } else { askFirst() }
        send()
        tell()
    }

    // MARK: Facts

    var now: Instant { executor.now }

    /// Whether this app commands the pump and has a report of it at most 10 min old.
    var isConnected: Bool {
        guard foreign == nil, isReachable, let mirror else { return false }
        return now.nanoseconds - mirror.heardAt.nanoseconds <= LinkTiming.freshness
    }

    var statusNow: PumpStatus {
        guard let mirror else {
            var status = PumpStatus(condition: .ready, isConnected: false, reservoir: .zero)
            status.isCommandedByOther = foreign != nil
            return status
        }
        let report = mirror.report
        var status = PumpStatus(
            condition: condition, isConnected: isConnected,
            reservoir: InsulinAmount(units: report.reservoirUnits))
        status.isReservoirExact = report.isReservoirExact
        status.podExpiresAt = podExpiresAt
        status.pod =
            switch report.condition {
            case .noPod: .none
            case .fault: .fault
            default: .active
            }
        if let request, request.isOpen { status.unresolvedRequest = request.id }
        status.insulinKnownSince = knownSince
        status.isCommandedByOther = foreign != nil
        let ends = temporaryEnds
        status.basalReplacedUntil = ends ?? .start
        if let ends, ends > now { status.temporaryBasal = temporaryRate }
        return status
    }

    var condition: PumpStatus.Condition {
        switch mirror?.report.condition {
        case .ready, nil: .ready
        case .bolusing: .bolusing
        case .suspended: .suspended
        case .noPod: .noPod
        case .fault: .fault
        }
    }

    var temporaryRate: InsulinRate? {
        mirror?.report.temporaryUnitsPerHour.map { InsulinRate(unitsPerHour: $0) }
    }

    /// The end of the temporary basal in the pump's last report.
    var temporaryEnds: Instant? {
        guard let mirror, mirror.report.temporaryUnitsPerHour != nil else { return nil }
        return mirror.heardAt.adding(
            Int64(mirror.report.temporarySecondsLeft * Double(Nanoseconds.second)))
    }

    /// Notifies observers of the pump's status, while it is connected and once when it no longer is.
    func tell() {
        let status = statusNow
        guard status.isConnected || isToldConnected else { return }
        isToldConnected = status.isConnected
        for observer in observers { observer.pumpDidUpdate(status: status) }
        if status.isConnected { tellIssues() }
    }
}

extension EventKind {
    /// Words: number, kind of the act.
    public static let linkCommand = EventKind(0x2c0, "linkCommand")
    /// A report was believed. Words: number, 1 where the command was carried out.
    public static let linkReport = EventKind(0x2c1, "linkReport")
    /// A report was no answer. Words: number, why (`LinkRefusal`).
    public static let linkRefused = EventKind(0x2c2, "linkRefused")
    /// A command was not answered. Words: number.
    public static let linkTimeout = EventKind(0x2c3, "linkTimeout")
    /// What became of a bolus. Words: request id, 0 carried out, 1 never arrived, 2 unknowable; units (bits); 0.
    public static let linkOutcome = EventKind(0x2c4, "linkOutcome")
}
