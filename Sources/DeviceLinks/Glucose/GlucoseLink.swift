// From a glucose feed to a session's door.
//
// Guarantees: a reading is handed on once, by its time stamp; a feed that floods is cut to what a sensor can measure, one reading in 30 s of its own time and
// 300 at once; one that ends or fails is opened again, after a pause that grows to a minute.
// Does not: judge readings. The session does.

import IsletKernel
import Synchronization

public final class GlucoseLink: Sendable {
    private struct State {
        /// Ascending.
        var known: [Int64] = []
        var dropped = 0
        /// How many readings may come now, and since when that is so.
        var budget = GlucoseLink.burst
        var since: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let take: @Sendable (FedReading) -> Void
    /// What is remembered of time stamps; a day has 288.
    private static let memory = 600
    /// A day's readings, after a long silence.
    private static let burst = 300.0
    private let spacing: Int64
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - speed: seconds of the sensor's world per second of its time stamps.
    ///   - take: called from any thread.
    public convenience init(speed: Double = 1, take: @escaping @Sendable (FedReading) -> Void) {
        self.init(speed: speed, now: { ContinuousClock.now }, take: take)
    }

    package init(
        speed: Double = 1, now: @escaping @Sendable () -> ContinuousClock.Instant,
        take: @escaping @Sendable (FedReading) -> Void
    ) {
        self.now = now
        spacing = Int64(Double(30 * Nanoseconds.second) / max(1, speed))
        self.take = take
    }

    deinit { stop() }

    /// Readings that were not handed on.
    public var dropped: Int { state.withLock { $0.dropped } }

    public func run(_ feed: some GlucoseFeed, pause: Duration = .seconds(1)) {
        let task = Task { [weak self] in
            var wait = pause
            while !Task.isCancelled {
                do {
                    for try await reading in feed.readings() {
                        guard let self else { return }
                        hear(reading)
                        wait = pause
                    }
                } catch {
                    // It is opened again.
                }
                try? await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(60))
            }
        }
        self.task.withLock { $0 = task }
    }

    public func stop() { task.withLock { $0?.cancel() } }

    package func hear(_ reading: FedReading) {
        let now = now()
        let isNew = state.withLock { state in
            let known = state.known
            let place = known.firstIndex { $0 > reading.utcNanoseconds } ?? known.count
            func isNear(_ other: Int64) -> Bool {
                let (distance, overflows) = other.subtractingReportingOverflow(reading.utcNanoseconds)
                return !overflows && distance.magnitude < spacing
            }
            if place > 0 && isNear(known[place - 1]) || place < known.count && isNear(known[place])
                || place == 0 && known.count >= Self.memory
            {
                state.dropped += 1
                return false
            }
            if let since = state.since {
                let refill = since.duration(to: now) / .nanoseconds(spacing)
                state.budget = min(Self.burst, state.budget + max(0, refill))
            }
            state.since = now
            // Not known: it may come again when there is room.
            guard state.budget >= 1 else {
                state.dropped += 1
                return false
            }
            state.budget -= 1
            state.known.insert(reading.utcNanoseconds, at: place)
            if state.known.count > Self.memory { state.known.removeFirst() }
            return true
        }
        if isNew { take(reading) }
    }
}
