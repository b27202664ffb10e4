// From a session's outbox to a driver, and back.
//
// Guarantees: a driver has one command at a time, in their order; each command has an answer within its timeout. A driver that hangs is
// cancelled, and handed nothing more before it lets go: what comes meanwhile was surely never sent, and the answer says so.
// What a driver says after its timeout is handed on all the same: it may be what became of a bolus.
// Does not: believe an answer, or try anything again. The session does both.

import Synchronization

public final class PumpLink: Sendable {
    public enum Answer: Hashable, Sendable {
        case report(PumpReport)
        case failed(number: Int64, wasSent: Bool, reason: String)
    }

    private struct State {
        var queue: [LinkCommand] = []
        /// The command that the driver has.
        var running: Int64?
        /// Its timeout has passed, and the driver has not let go of it.
        var isHanging = false
        var isStopped = false
        var task: Task<Void, Never>?
    }

    private let driver: any PumpDriver
    private let timeout: Duration
    private let answer: @Sendable (Answer) -> Void
    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter answer: called from any thread.
    public convenience init(
        driver: any PumpDriver, timeout: Duration = .seconds(20), answer: @escaping @Sendable (Answer) -> Void
    ) {
        self.init(driver: driver, timeout: timeout, now: { ContinuousClock.now }, answer: answer)
    }

    /// - Parameter now: what a command's time is measured by before it is handed over.
    package init(
        driver: any PumpDriver, timeout: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant,
        answer: @escaping @Sendable (Answer) -> Void
    ) {
        self.now = now
        self.driver = driver
        self.timeout = timeout
        self.answer = answer
    }

    /// Hands a command to the driver, after those before it.
    public func send(_ command: LinkCommand) {
        let isRefused = state.withLock { state in
            if state.isHanging || state.isStopped { return true }
            state.queue.append(command)
            return false
        }
        if isRefused {
            return answer(.failed(number: command.number, wasSent: false, reason: "the driver hangs"))
        }
        next()
    }

    /// Nothing more reaches the driver; what it has is cancelled.
    public func stop() {
        let (task, left) = state.withLock { state in
            state.isStopped = true
            defer { state.queue = [] }
            return (state.task, state.queue)
        }
        task?.cancel()
        for command in left {
            answer(.failed(number: command.number, wasSent: false, reason: "the link was stopped"))
        }
    }

    private func next() {
        state.withLock { state in
            guard state.running == nil, !state.isStopped, !state.queue.isEmpty else { return }
            let command = state.queue.removeFirst()
            state.running = command.number
            let due = now() + timeout
            let task = Task { [self] in await carryOut(command, by: due) }
            state.task = task
            Task { [self] in
                try? await Task.sleep(for: timeout)
                lateness(of: command.number, task)
            }
        }
    }

    private func carryOut(_ command: LinkCommand, by due: ContinuousClock.Instant) async {
        let result: Answer
        do {
            // A process that was stopped wakes hours later: what it had not handed over never leaves.
            guard now() < due else { throw PumpDriverError.notSent("its time has passed") }
            result = .report(try await driver.perform(command))
        } catch PumpDriverError.notSent(let reason) {
            result = .failed(number: command.number, wasSent: false, reason: reason)
        } catch {
            let reason = (error as? PumpDriverError)?.reason ?? "\(error)"
            result = .failed(number: command.number, wasSent: true, reason: reason)
        }
        let isLate = state.withLock { state in
            defer {
                state.isHanging = false
                state.running = nil
                state.task = nil
            }
            return state.isHanging
        }
        // A failure after the timeout says nothing new.
        if case .failed = result, isLate {} else { answer(result) }
        next()
    }

    private func lateness(of number: Int64, _ task: Task<Void, Never>) {
        let left = state.withLock { state -> [LinkCommand]? in
            guard state.running == number, !state.isHanging else { return nil }
            state.isHanging = true
            defer { state.queue = [] }
            return state.queue
        }
        guard let left else { return }
        task.cancel()
        answer(.failed(number: number, wasSent: true, reason: "no answer within \(timeout)"))
        for command in left {
            answer(.failed(number: command.number, wasSent: false, reason: "the driver hangs"))
        }
    }
}
