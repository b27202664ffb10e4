// When the phone's app dies and is launched again.
//
// Guarantees: a relaunch comes before anything else of its instant; its instants are drawn from a stream of their own
// or taken from the plan; each is logged. Body, sensor and pump live on.
// Does not: know what an app is. Who relaunches is told.

public import Records
import SessionTime
public import SimulationKernel

public actor AppTroubles: SessionActor {
    public nonisolated let executor: SessionExecutor

    private let log: FaultLog
    private var scheduled: ArraySlice<ScheduledFault>
    private let times: FaultTimes?
    private var drawn: Instant
    private let relaunch: @Sendable () -> Void
    private var wakeup: Wakeup?

    /// - Parameter relaunch: called on the session's thread.
    public init(
        executor: SessionExecutor, plan: FaultPlan, streams: RandomStreams, recorder: SessionRecorder,
        relaunch: @escaping @Sendable () -> Void
    ) {
        self.executor = executor
        self.relaunch = relaunch
        log = FaultLog(executor: executor, recorder: recorder)
        scheduled = plan.scheduled.filter { $0.kind == .appRelaunch }[...]
        times = plan.rate(of: .appRelaunch).map {
            FaultTimes(streams.stream("fault.app-relaunch"), perHour: $0 / 24)
        }
        drawn = times?.next(after: executor.now) ?? .distantFuture
    }

    public func begin() {
        let wakeup = Wakeup(executor, phase: .input, "app relaunch") { [unowned self] in here { $0.strike() }
        }
        self.wakeup = wakeup
        scheduleNext()
    }

    private func strike() {
        log.note(.appRelaunch)
        relaunch()
        let now = executor.now
        while let first = scheduled.first, first.at <= now { scheduled.removeFirst() }
        if drawn <= now { drawn = times?.next(after: now) ?? .distantFuture }
        scheduleNext()
    }

    private func scheduleNext() {
        let next = min(drawn, scheduled.first?.at ?? .distantFuture)
        wakeup?.schedule(at: next == .distantFuture ? nil : next)
    }
}
