// The app: flow, store and notification center put together, in the order that survives a kill.
//
// Guarantees
// - An input's source documents are written before its episode, the episode with what the system is to be asked in one
//   transaction, and the system is asked after that, by token. Killed between any two of these, a launch finds the
//   rest of the work in the store: nothing is lost, and nothing rings twice.
// - An input that was being processed when the app died may be delivered again; it counts once.
// - What the store doesn't take is counted, and written before anything newer once it does. The person is told all the same: after a
//   death before that, what was told may be told again, and nothing critical was silent.
// Does not: decide when. Its owner calls `settle` in the alerts phase and wakes it at `nextDeadline`.

import IsletDevices
public import IsletKernel

public struct AlertApp: Sendable {
    /// Inputs that need neither store nor port go to it directly; its effects come with `settle`.
    public package(set) var flow: AlertFlow
    /// Store and port may be exchanged, not come or go.
    public var store: (any AlertStore)?
    public var port: (any NotificationPort)?
    /// Whether anything that is said here must be written.
    let hasStore: Bool
    private let mustSettleSteps: Bool
    private var written: AlertMemory
    /// What the store holds is not known: all of it is written.
    private var mustWriteAll: Bool
    /// How often the store took not all of what it was to take.
    public private(set) var storeFailures = 0
    /// What the person sees over the app while it is in front.
    private var banners: AlertBannerQueue
    private var cameToFront = false

    /// Launches the app.
    /// - Parameters:
    ///   - remembered: what it goes on from; nil for what its store holds.
    ///   - bannerTime: who counts the ten seconds of a banner.
    /// - Throws: what the store throws when it is read.
    public init(
        policy: PreparedPolicy, wallClock: WallClock, environment: AppEnvironment,
        store: (any AlertStore)? = nil, port: (any NotificationPort)? = nil,
        remembered: AlertMemory? = nil, bannerTime: AlertBannerTime = .front
    ) throws {
        let memory = try remembered ?? store?.load() ?? AlertMemory()
        written = memory
        mustWriteAll = remembered != nil
        self.store = store
        self.port = port
        hasStore = store != nil
        mustSettleSteps = store != nil || port != nil
        banners = AlertBannerQueue(bannerTime, remembered: memory.center?.banners ?? [])
        flow = AlertFlow(policy: policy, wallClock: wallClock, memory: memory, environment: environment)
        flow.schedulesAhead = port != nil
    }

    /// Restores, replays and cleans up. Its effects come when the instant is settled.
    /// - Parameter isNew: false where only the policy is another: nobody has come to the front.
    public mutating func launch(inForeground: Bool, isNew: Bool = true, at now: Instant) throws {
        // An app that was installed anew knows none of its tokens; what it asks must be news to the system.
        if let port { flow.engine.startTokens(after: port.newestToken) }
        try performOutbox(at: now)
        flow.launch(inForeground: inForeground, at: now)
        cameToFront = inForeground && isNew
        if inForeground, !isNew { banners.stayInFront(at: now) }
        try save(withCenter: false)
    }

    public mutating func apply(_ input: AlertInput, at now: Instant) throws {
        flow.apply(input, at: now)
        switch input {
        case .foreground: cameToFront = true
        case .background:
            banners.leaveFront(at: now)
            cameToFront = false
        case .dismiss(let code):
            banners.dismiss(code, at: now)
            keepBanners()
        case .bannerShown(let code):
            banners.wasShown(code, at: now)
            keepBanners()
        case .environment, .loopReset, .step, .pumpIssue, .pumpRetract, .cgmIssue, .cgmRetract, .metric,
            .wallClock, .settingsSaved, .settingsOpened, .acknowledge, .snooze, .tap, .preview, .testAlert:
            break
        }
        try save(withCenter: false)
    }

    /// The banner that is seen at `now`; nil where there is none.
    public func banner(at now: Instant) -> AlertBanner? { banners.banner(at: now) }

    /// Banners of thresholds that any page shows at `now`, first first.
    public func waitingBanners(at now: Instant) -> [AlertBanner] { banners.waiting(at: now) }
    var bannerTime: AlertBannerTime { banners.time }
    mutating func letPhoneTimeBanners() {
        banners = AlertBannerQueue(.phone, remembered: flow.engine.state.banners)
    }

    private mutating func keepBanners() { flow.engine.keep(banners: banners.marks) }

    /// A step succeeded; says whether the instant needs settling. Cheap where nothing comes of it.
    @inline(__always)
    mutating func stepped(at now: Instant) -> Bool {
        let mayClear = mustSettleSteps || flow.isSteppingInterrupted
        flow.step(succeeded: true, at: now)
        return mayClear
    }

    /// Judges the instant, writes what came of it, and asks the system.
    /// - Throws: `AppDied`, where a store throws it.
    public mutating func settle(at now: Instant) throws -> [AlertEffect] {
        flow.settle(at: now)
        let effects = flow.engine.takeEffects()
        // A page may show banners of an app that is not in front.
        if flow.engine.isForeground || banners.time == .phone, cameToFront || !effects.isEmpty {
            showBanner(at: now)
        }
        try save(withCenter: true)
        try performOutbox(at: now)
        return effects
    }

    /// What is raised or said anew in front is shown, and so is what waits when the person comes to the front.
    private mutating func showBanner(at now: Instant) {
        banners.follow(flow.engine.active, at: now)
        if cameToFront { banners.comeToFront(flow.engine.active, at: now) }
        cameToFront = false
        keepBanners()
    }

    /// The app dies at `now`, between two instants: what the system is to show ahead of time is scheduled, and the store is told.
    mutating func die(at now: Instant) throws -> LastInstant {
        flow.scheduleAhead(at: now)
        let effects = flow.engine.takeEffects()
        let requests = flow.engine.state.outbox
        if let last = requests.last { flow.engine.settleOutbox(upTo: last.token) }
        try save(withCenter: true)
        return LastInstant(memory: flow.rememberedMemory, requests: requests, effects: effects)
    }

    // MARK: Writing

    /// Writes what the store lacks, the sources before the center.
    private mutating func save(withCenter: Bool) throws {
        guard hasStore else { return }
        do {
            try writeSources()
            if withCenter { try writeCenter() }
        } catch let death as AppDied {
            throw death
        } catch {
            storeFailures += 1
        }
    }

    private mutating func writeSources() throws {
        let memory = flow.memory
        if mustWriteAll || memory.pump != written.pump { try write(.pump(memory.pump)) }
        if mustWriteAll || memory.cgm != written.cgm { try write(.cgm(memory.cgm)) }
        if mustWriteAll || memory.pendingAcknowledgements != written.pendingAcknowledgements {
            try write(.pendingAcknowledgements(memory.pendingAcknowledgements))
        }
        if mustWriteAll || memory.monitor != written.monitor { try write(.monitor(memory.monitor)) }
    }

    private mutating func writeCenter() throws {
        guard mustWriteAll || flow.engine.state != written.center else { return }
        try write(.center(flow.engine.state))
        mustWriteAll = false
    }

    private mutating func write(_ document: AlertMemory.Document) throws {
        try store?.commit(document)
        written.replace(document)
    }

    private mutating func performOutbox(at now: Instant) throws {
        let outbox = flow.engine.state.outbox
        guard let last = outbox.last else { return }
        for request in outbox { port?.perform(request, at: now) }
        flow.engine.settleOutbox(upTo: last.token)
        try save(withCenter: true)
    }
}

/// What an app leaves behind that dies between two instants.
struct LastInstant {
    var memory: AlertMemory
    var requests: [NotificationRequest]
    var effects: [AlertEffect]
}
