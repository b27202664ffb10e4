// When the phone's app dies, and when it is launched again.
//
// Guarantees: dying and launching come before anything else of their instant; each kind's instants and lengths are drawn
// from a stream of its own or taken from the plan; each span is logged. Body, sensor and pump live on. What strikes a dead
// app changes nothing but the end of its death.
// Does not: know what an app is. Who quits and launches is told.

public import IsletDevices
public import IsletKernel

public actor AppFaults: SessionActor {
    public nonisolated let executor: SessionExecutor

    private let log: FaultLog
    private var scheduled: ArraySlice<ScheduledFault>
    private var arrivals: [FaultArrival<AppFaults>]
    private var deadUntil: Instant?
    private let quit: @Sendable () -> Void
    private let launch: @Sendable () -> Void
    private var wakeup: Wakeup?

    /// - Parameters: `quit` and `launch` are called on the session's thread, in turns.
    public init(
        executor: SessionExecutor, plan: FaultPlan, streams: RandomStreams, recorder: SessionRecorder,
        quit: @escaping @Sendable () -> Void, launch: @escaping @Sendable () -> Void
    ) {
        self.executor = executor
        self.quit = quit
        self.launch = launch
        log = FaultLog(executor: executor, recorder: recorder)
        scheduled = plan.scheduled.filter(\.kind.isOfApp)[...]
        arrivals = FaultKind.all.compactMap { kind in
            guard case .app(let effect) = kind.effect else { return nil }
            return FaultArrival(effect.chance, of: kind, plan: plan, streams: streams, at: executor.now)
        }
    }

    public func begin() {
        wakeup = Wakeup(executor, phase: .input, "app") { [unowned self] in try here { try $0.strike() } }
        scheduleNext()
    }

    /// The session is over: a span that still lasts is recorded up to now.
    public func finish() { log.finish() }

    /// The person finds the app dead and opens it.
    public func reopen() {
        guard deadUntil != nil else { return }
        relaunch(at: executor.now)
        scheduleNext()
    }

    private func strike() throws {
        let now = executor.now
        if let end = deadUntil, end <= now { relaunch(at: now) }
        while let first = scheduled.first, first.at <= now {
            scheduled.removeFirst()
            if case .app(let effect) = first.kind.effect { effect.begin(self, first) }
        }
        for index in arrivals.indices where arrivals[index].next <= now {
            let arrival = arrivals[index]
            arrivals[index].next = try arrival.strike(self, at: now)
        }
        scheduleNext()
    }

    func die(for nanoseconds: Int64) {
        let end = executor.now.adding(nanoseconds)
        guard let current = deadUntil else {
            log.begin(.appQuit, at: executor.now)
            deadUntil = end
            return quit()
        }
        deadUntil = max(current, end)
    }

    private func relaunch(at now: Instant) {
        deadUntil = nil
        log.end(.appQuit, at: now)
        launch()
    }

    func restart() {
        guard deadUntil == nil else { return }
        log.note(.appRelaunch)
        quit()
        launch()
    }

    private func scheduleNext() {
        let planned = min(scheduled.first?.at ?? .distantFuture, deadUntil ?? .distantFuture)
        let next = arrivals.reduce(planned) { min($0, $1.next) }
        wakeup?.schedule(at: next == .distantFuture ? nil : next)
    }
}
