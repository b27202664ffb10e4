// The policies that listen to a session in shadow: one actor for all of them, beside the alert center.
//
// Guarantees: they hear what the alert center hears, word for word and at the same instant, but for what the person does with its
// alerts; nothing of theirs is written, asked of the system, journaled or heard. So a session is the same to the digest, whoever
// listens.
// Does not: decide. `ShadowEngine` does.

public import IsletDevices
public import IsletKernel

public actor ShadowPolicies: SessionActor {
    public nonisolated let executor: SessionExecutor

    public nonisolated let plan: ShadowPlan
    private var engine: ShadowEngine
    private var wakeup: Wakeup?
    private var isForeground = false

    /// - Parameters:
    ///   - environment: what the app finds at the session's start.
    ///   - keepsEffects: whether each decision is kept, or counts only.
    ///   - isScored: whether what stands in the way of each rule is kept.
    public init(
        executor: SessionExecutor, plan: ShadowPlan, environment: AppEnvironment, wallClock: WallClock,
        keepsEffects: Bool, isScored: Bool = false
    ) {
        self.executor = executor
        self.plan = plan
        engine = ShadowEngine(
            plan: plan, environment: environment, wallClock: wallClock, keepsEffects: keepsEffects,
            keepsBlame: isScored)
    }

    // MARK: What the alert center hears

    func begin() {
        wakeup = Wakeup(executor, phase: .alerts, "shadow policies") { [unowned self] in here { $0.wake() } }
        engine.launch(at: executor.now)
        judgeLater()
    }

    func hear(_ metric: AlertMetric, _ value: Double, sampledAt: Instant) {
        engine.hear(metric, value, sampledAt: sampledAt, at: executor.now)
        judgeLater()
    }

    func expectInsulin(missingAfter span: Int64?) {
        engine.expectInsulin(missingAfter: span, at: executor.now)
    }

    func hearAsked(_ metric: AlertMetric, _ value: Double) {
        engine.hearAsked(metric, value, at: executor.now)
        judgeLater()
    }

    func hearHistory(sampledAt: Instant) {
        engine.hearHistory(sampledAt: sampledAt, at: executor.now)
        judgeLater()
    }

    func tell(_ input: AlertInput) {
        switch input {
        case .acknowledge, .snooze, .tap, .dismiss, .bannerShown, .preview, .testAlert: return
        case .foreground: isForeground = true
        case .background: isForeground = false
        case .wallClock(let clock): engine.log.wallClock = clock
        case .environment, .loopReset, .step, .pumpIssue, .pumpRetract, .cgmIssue, .cgmRetract, .metric,
            .settingsSaved, .settingsOpened:
            break
        }
        engine.apply(input, at: executor.now)
        judgeLater()
    }

    func stepped() {
        engine.stepped(at: executor.now)
        if engine.isTold {
            judgeLater()
        } else if wakeup?.instant == nil {
            wakeup?.schedule(at: engine.nextDeadline(after: executor.now))
        }
    }

    func kill() {
        isForeground = false
        engine.kill(at: executor.now)
        wakeup?.schedule(at: nil)
    }

    /// The clock was set while the app is dead.
    func keepForLaunch(_ clock: WallClock) { engine.set(clock) }

    func relaunch(finding environment: AppEnvironment) {
        engine.relaunch(environment, inForeground: isForeground, at: executor.now)
        judgeLater()
    }

    // MARK: Judging

    private func judgeLater() {
        if engine.isTold {
            wakeup?.schedule(at: executor.now)
        } else if let next = engine.nextDeadline(after: executor.now),
            next < wakeup?.instant ?? .distantFuture
        {
            wakeup?.schedule(at: next)
        }
    }

    private func wake() {
        engine.settle(at: executor.now)
        wakeup?.schedule(at: engine.nextDeadline(after: executor.now))
    }

    /// What the rules of the plan's first policy judge by at this instant; nil where it is stale or was never measured.
    package func known(_ metric: AlertMetric) -> (value: Double, ageNanoseconds: Int64)? {
        engine.groups.first?.flow.engine.known(metric, at: executor.now)
    }

    // MARK: What it came to

    /// The session is over.
    public func finish() { engine.finish(at: executor.now) }

    /// How often parts were judged so far: what listening costs.
    package func judgements() -> Int { engine.judgements }

    /// What each part of the plan came to. Once, at the session's end.
    package func takeRecords() -> [ShadowPartRecord] { engine.takeRecords(at: executor.now) }

    /// The tallies of each policy, by its rules.
    public func tallies() -> [[AlertTally]] { engine.log.tallies(at: executor.now) }

    /// The effects of each policy as text, as a store keeps them.
    public func texts(_ numbers: ShadowNumbers) -> [[UInt8]] { engine.log.texts(numbers) }

    /// The effects of each policy, in the order in which it alone would have them; empty unless they are kept.
    public func effects() -> [[ShadowEffect]] { engine.log.effects() }
}
