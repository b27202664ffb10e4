// Notices when a controller has frozen.
//
// Guarantees: ten minutes after the last sign of life of any controller it trips, once; it recovers as soon as all of
// them have lived again. Wakes only when a deadline may have passed.

public import IsletKernel

public actor Watchdog: SessionActor {
    /// Who must show signs of life.
    public enum Controller: Int, CaseIterable, Sendable {
        case loop
        case sensor
        case pump
    }

    public nonisolated let executor: SessionExecutor
    /// The controllers that are frozen now; empty while all is well.
    public private(set) var frozen: [Controller] = []
    public var isTripped: Bool { !frozen.isEmpty }

    private let watched: [Controller]
    private let onChange: (@Sendable (_ frozen: [Controller]) -> Void)?
    private var lastSign: [Instant]
    private var deadline: Wakeup?

    /// - Parameters:
    ///   - watched: who counts; the loop alone by default.
    ///   - onChange: is told when controllers freeze and when all live again.
    public init(
        executor: SessionExecutor, watched: [Controller] = [.loop],
        onChange: (@Sendable (_ frozen: [Controller]) -> Void)? = nil
    ) {
        self.executor = executor
        self.watched = watched
        self.onChange = onChange
        lastSign = Controller.allCases.map { _ in .start }
    }

    /// Starts to watch: all count as alive at this instant.
    public func begin() {
        lastSign = lastSign.map { _ in executor.now }
        let deadline = Wakeup(executor, phase: .alerts, "watchdog") { [unowned self] in here { $0.look() } }
        self.deadline = deadline
        deadline.schedule(at: executor.now.adding(LoopTiming.watchdog))
    }

    public func ping(_ controller: Controller) {
        lastSign[controller.rawValue] = executor.now
        if !frozen.isEmpty { look() }
    }

    public func pingAll() {
        for index in lastSign.indices { lastSign[index] = executor.now }
        if !frozen.isEmpty { look() }
    }

    private func look() {
        let now = executor.now
        let before = frozen
        frozen = watched.filter { now >= lastSign[$0.rawValue].adding(LoopTiming.watchdog) }
        if before.isEmpty != frozen.isEmpty {
            executor.journal.record(.watchdog, at: now, UInt64(frozen.count))
            onChange?(frozen)
        }
        let next = watched.filter { !frozen.contains($0) }.map {
            lastSign[$0.rawValue].adding(LoopTiming.watchdog)
        }.min()
        deadline?.schedule(at: next)
    }
}

extension EventKind {
    /// Words: how many controllers are frozen.
    public static let watchdog = EventKind(0x306, "watchdog")
}
