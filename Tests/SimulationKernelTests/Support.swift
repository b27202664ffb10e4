// What the kernel's tests share: small actors, a log, and sessions that end themselves.

import IsletKernel

/// Lines noted in a session. One thread at a time is inside a session, so it needs no lock.
final class Log: @unchecked Sendable {
    var lines: [String] = []
    func note(_ line: String) { lines.append(line) }
}

final class Token: Sendable {}

struct TestError: Error, Equatable { var name = "trouble" }

actor Counter: SessionActor {
    nonisolated let executor: SessionExecutor
    private(set) var value = 0

    init(_ executor: SessionExecutor) { self.executor = executor }

    func add() { value += 1 }
}

/// Calls another actor of its session with `await`, many times.
actor Caller: SessionActor {
    nonisolated let executor: SessionExecutor

    init(_ executor: SessionExecutor) { self.executor = executor }

    func call(_ counter: Counter, times: Int) async {
        for _ in 0..<times { await counter.add() }
    }

    func wait(times: Int) async throws {
        for minute in 0..<Int64(times) {
            try await clock.wait(until: .minutes(minute), phase: .loop, "waiter")
        }
    }
}

/// A sensor of sorts: samples every five minutes by a handler, hears inputs, and has a task that answers them later.
actor Echo: SessionActor {
    nonisolated let executor: SessionExecutor
    private var random: RandomStream
    private var tick: Wakeup?
    private let arrival: Wakeup
    private var unanswered: [[UInt8]] = []
    private let entropy: @Sendable () -> UInt64
    private(set) var heard: [[UInt8]] = []

    init(_ executor: SessionExecutor, seed: UInt64 = 1, entropy: @escaping @Sendable () -> UInt64 = { 0 }) {
        self.executor = executor
        self.entropy = entropy
        random = RandomStreams(seed: seed, subject: 0).stream("echo")
        arrival = Wakeup(executor, phase: .person, "echo")
    }

    func live() async throws {
        let tick = Wakeup(executor, phase: .sensor, "tick") { [unowned self] in here { $0.sample() } }
        self.tick = tick
        tick.schedule(at: clock.now)
        executor.receiveInputs { [unowned self] input in here(input) { $0.hear($1) } }
        while true {
            while unanswered.isEmpty { try await arrival.wait() }
            let bytes = unanswered.removeFirst()
            let delay = Int64(bytes.first ?? 0) * Nanoseconds.minute
            try await clock.wait(until: clock.now.adding(delay), phase: .person, "thinking")
            executor.journal.record(.answer, at: clock.now, words: Journal.words(of: bytes))
        }
    }

    private func sample() {
        executor.journal.record(.sample, at: clock.now, random.next(), entropy())
        tick?.schedule(at: clock.now.adding(5 * Nanoseconds.minute))
    }

    private func hear(_ input: ExternalInput) {
        heard.append(input.bytes)
        arrival.schedule(at: .start)
        unanswered.append(input.bytes)
    }
}

extension EventKind {
    static let sample = EventKind(0xF00, "sample")
    static let answer = EventKind(0xF01, "answer")
}

/// Runs `body` with a session and ends the session.
func withSession<R>(tieShuffle: RandomStream? = nil, _ body: (SessionExecutor) throws -> R) throws -> R {
    let session = SessionExecutor(tieShuffle: tieShuffle)
    defer { try? session.end() }
    return try body(session)
}
