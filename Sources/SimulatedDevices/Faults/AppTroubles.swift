// When the phone's app dies, and when it is launched again.
//
// Guarantees: dying and launching come before anything else of their instant; each kind's instants and lengths are drawn
// from a stream of its own or taken from the plan; each span is logged. Body, sensor and pump live on. What strikes a dead
// app changes nothing but the end of its death.
// Does not: know what an app is. Who quits and launches is told.

import GSL
public import Records
import SessionTime
public import SimulationKernel

public actor AppTroubles: SessionActor {
    /// Minutes (assumed): most come back within the hour, one in a hundred within a night.
    static let deadMedian = 20.0
    static let deadSpread = 1.2

    public nonisolated let executor: SessionExecutor

    private let log: FaultLog
    private var scheduled: ArraySlice<ScheduledFault>
    private let relaunches: FaultTimes?
    private let quits: FaultTimes?
    private var nextRelaunch: Instant
    private var nextQuit: Instant
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
        relaunches = plan.rate(of: .appRelaunch).map {
            FaultTimes(streams.stream("fault.app-relaunch"), perHour: $0 / 24)
        }
        quits = plan.rate(of: .appQuit).map {
            FaultTimes(streams.stream("fault.app-quit"), perHour: $0 / 24)
        }
        nextRelaunch = relaunches?.next(after: executor.now) ?? .distantFuture
        nextQuit = quits?.next(after: executor.now) ?? .distantFuture
    }

    public func begin() {
        wakeup = Wakeup(executor, phase: .input, "app") { [unowned self] in here { $0.strike() } }
        scheduleNext()
    }

    /// The session is over: a span that still lasts is recorded up to now.
    public func finish() { log.finish() }

    private func strike() {
        let now = executor.now
        if let end = deadUntil, end <= now { revive(at: now) }
        while let first = scheduled.first, first.at <= now {
            scheduled.removeFirst()
            if first.kind == .appQuit { die(for: first.nanoseconds) } else { blink() }
        }
        if nextQuit <= now, let quits {
            let minutes = quits.random.logNormal(mu: logarithm(Self.deadMedian), sigma: Self.deadSpread)
            die(for: max(1, GSLRandom.minutes(minutes)))
            nextQuit = quits.next(after: now)
        }
        if nextRelaunch <= now {
            blink()
            nextRelaunch = relaunches?.next(after: now) ?? .distantFuture
        }
        scheduleNext()
    }

    private func die(for nanoseconds: Int64) {
        let end = executor.now.adding(nanoseconds)
        guard let current = deadUntil else {
            log.begin(.appQuit, at: executor.now)
            deadUntil = end
            return quit()
        }
        deadUntil = max(current, end)
    }

    private func revive(at now: Instant) {
        deadUntil = nil
        log.end(.appQuit, at: now)
        launch()
    }

    private func blink() {
        guard deadUntil == nil else { return }
        log.note(.appRelaunch)
        quit()
        launch()
    }

    private func scheduleNext() {
        let next = min(
            nextRelaunch, nextQuit, scheduled.first?.at ?? .distantFuture, deadUntil ?? .distantFuture)
        wakeup?.schedule(at: next == .distantFuture ? nil : next)
    }
}
