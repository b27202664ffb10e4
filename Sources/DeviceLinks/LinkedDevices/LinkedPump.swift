// A pump outside of the session, as the session sees it: a mirror of its last report, and an outbox.
//
// Guarantees
// - One command is in flight at a time. While a bolus is queued, sent or asked about nothing else is sent that gives insulin.
// - A bolus is sent again only where the pump is known never to have got it. One that nobody will ever know of counts as delivered,
//   is told (`pumpDidLoseTrack`), and stays so for 8 h or until the pump says what became of it.
// - What a pump says that it can't truly have done (more than it was told, another number, a time that isn't now, an amount that is none) is no
//   answer: it is refused whole and journaled. Insulin that nobody asked for counts as given all the same, once. A pump that goes on so for 15 min
//   is met anew, as another pump is: only one that says that it gave more than it was told never gets anything more.
// - A setting of the basal counts once the pump has confirmed it. Nothing here keeps the programmed basal off for longer than asked for. A pump
//   that runs another programme is told the person's again, and of a stretch in which the pump was not heard the most counts that it may have given.
// - What the person wants at once (suspend, resume, stop) is told again for 15 min, until the pump has done it.
// - Its times are wake-ups of the session, its reports inputs of the session: it replays.
//
// Does not: know drivers. `takeOutbox` hands commands over, once; the session's owner writes them down before a driver gets them.
//
// Files: `+Port` what the loop asks for, `+Ownership` whose the pump is, `+Outbox` commands and their times, `+Reports` what is believed, `+Meeting` another pump and insulin that
// nobody asked for, `+Wishes` what is told again, `+Alerts` what the pump says of itself.

public import IsletDevices
public import IsletKernel

public actor LinkedPump: SessionActor, InsulinPumpControls {
    /// What is known of the newest bolus.
    struct Request: Hashable, Codable {
        enum State: Hashable, Codable {
            case queued
            case sent
            /// Nobody answered: the pump is asked what became of it.
            case asking
            case known(RequestOutcome)
        }

        var id: Int64
        var amount: InsulinAmount
        var requestedAt: Instant
        var state = State.queued
        /// Of the command that it was sent with last.
        var number: Int64?
        var sentAt: Instant?
        /// The pump that it was sent to, and the id that this one knows it by.
        var device = ""
        var wireID: Int64
        /// Its driver says that it never left. The pump is asked all the same.
        var isSaidUnsent = false

        var isOpen: Bool { if case .known = state { false } else { true } }
    }

    /// Insulin of one bolus that nobody here asked for.
    struct Extra: Hashable, Codable {
        var device: String
        var id: Int64
        var units: Double
    }

    /// What the pump is to run by itself.
    struct Programme: Hashable, Codable {
        var rate: InsulinRate
        /// The pump took it without refusing it, and says that it makes this rate of it, U/h; nil where it can't say.
        var isTaken = false
        var taken: Double?
    }

    struct Queued: Hashable, Codable {
        var act: LinkCommand.Act
        var since: Instant
    }

    public nonisolated let executor: SessionExecutor
    let journal: Journal
    let recorder: SessionRecorder
    public nonisolated let limits: PumpLimits
    public nonisolated let pulse: InsulinAmount
    var observers: [any DeviceObserver] = []
    var alertObservers: [any PumpAlertObserver] = []

    /// The last report that was believed, and when it came.
    var mirror: (report: PumpReport, heardAt: Instant)?
    /// The pump has answered what it was last asked.
    var isReachable = false
    /// The last that observers were told.
    var isToldConnected = false
    /// Ids are counted on from what the pump remembers of sessions before this one.
    var idBase: Int64 = 0
    /// Of this app; nil for a session of before there were owners, which goes on as it did.
    let owner: String?
    /// Somebody else has the pump: nothing is commanded until a person takes it over.
    var foreign: Foreign?
    /// Our own zero may run at a pump that is somebody else's, which was noticed then.
    var mayHaveZero = false
    var yieldedAt = Instant.start
    /// A number of somebody else's is the last word of the app before.
    var lastWordsUntil = Instant.start
    /// A person has said that the pump is to be this app's: the next report is the first of a meeting.
    var isTakingOver = false
    /// Insulin before this instant is known to nobody here; nil where all is known.
    var knownSince: Instant?
    /// What the pump said at the first meeting that it had given before.
    var before: InsulinHistory?
    var nextNumber: Int64 = 0
    var queue: [Queued] = []
    var inFlight: (command: LinkCommand, sentAt: Instant)?
    var outbox: [LinkCommand] = []
    var request: Request?
    /// The truth about a request that had been given up.
    var late: BolusStatus?
    /// What earlier pumps gave by themselves, and what a pump said that it gave beyond what it was told.
    var basalOffset = 0.0
    var surplus = 0.0
    var refused: (act: LinkCommand.Act, at: Instant)?
    /// Insulin of which nobody knows.
    var unknown: (amount: InsulinAmount, since: Instant)?
    /// Boluses with insulin that nobody here asked for; the newest.
    var extras: [Extra] = []
    /// What the pump had given before it was met first, as far as it still acts.
    var earlier: (amount: InsulinAmount, metAt: Instant)?
    /// Since when the pump has said nothing but what can't be.
    var disbelievedSince: Instant?
    /// By how much the pump's clock is ahead of the session's, ns; 0 for less than 2 min.
    var clockOffset: Int64 = 0
    /// The rate of a setting of the temporary basal that was sent and that no report has told of yet.
    var doubtfulBasal: Double?
    var programme: Programme?
    /// What is told again until the pump has done it.
    var wishes: [Queued] = []
    /// What those who listen have been told.
    var toldIssues: [PumpIssue] = []
    var podExpiresAt: Instant?
    /// For whoever follows the session.
    var notices: [(at: Instant, text: String, isSure: Bool)] = []
    /// It goes on from another engine's.
    var isAdopted = false
    var timeout: Wakeup?
    var poll: Wakeup?
    var giveUp: Wakeup?

    /// - Parameters:
    ///   - limits: of the make that is expected: what it can't have done is not believed.
    ///   - owner: what its commands say of whose they are; another app has another one.
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

    /// Asks the pump how it is; nothing is known before it answers.
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
        // That nobody has been heard yet is news, too: a pump that never answers must ring.
        for observer in observers { observer.pumpDidUpdate(status: statusNow) }
    }

    /// Lets go of those who listen.
    public func dismissObservers() {
        observers = []
        alertObservers = []
    }

    /// Commands since the last call, in their order; they are the caller's now.
    public func takeOutbox() -> [LinkCommand] {
        defer { outbox = [] }
        return outbox
    }

    /// Whether `takeOutbox` has something to give.
    public var hasOutbox: Bool { !outbox.isEmpty }

    /// What happened since the last call that no row of the record tells; not sure is what the pump has not confirmed.
    public func takeNotices() -> [(at: Instant, text: String, isSure: Bool)] {
        defer { notices = [] }
        return notices
    }

    /// The process died: what it had sent may have been carried out, and is asked about.
    public func relaunched() {
        outbox = []
        isReachable = false
        if inFlight != nil { lapse() } else { askFirst() }
        send()
        tell()
    }

    // MARK: Facts

    var now: Instant { executor.now }

    /// What was heard too long ago is not known.
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

    /// When the temporary basal that the pump last told of ends.
    var temporaryEnds: Instant? {
        guard let mirror, mirror.report.temporaryUnitsPerHour != nil else { return nil }
        return mirror.heardAt.adding(
            Int64(mirror.report.temporarySecondsLeft * Double(Nanoseconds.second)))
    }

    /// Tells everybody how the pump is.
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
