// The monitor of a watched subject: measures every five minutes, and tells the alert center.
//
// Guarantees: the body lives up to a reading when it is due, and never beyond; what was true then is kept beside it, so that alerts are judged by what was so and not
// by what was shown. All values of a reading come at one instant.

import IsletAlerts
package import IsletKernel

actor SubjectMonitor: SessionActor {
    /// The interval of readings and of the truth, ns.
    static let interval = 5 * Nanoseconds.minute

    nonisolated let executor: SessionExecutor
    private let body: any WatchedBody
    private let metrics: [AlertMetric]
    private let center: AlertCenter
    private var wakeup: Wakeup?
    /// One a metric: a value an interval from the session's start.
    private var truth: [[Float]]
    /// Readings at which something was broken.
    private var brokenReadings = 0
    /// What the monitor showed, one list a metric; nil where nobody looks.
    private var shown: [[MetricReading]]?
    /// Those that nobody has taken yet.
    private var news: [[MetricReading]] = []

    /// How many of the newest readings of each metric are shown: a day and an hour.
    static let shownCount = Int(25 * Nanoseconds.hour / interval) + 1

    init(
        executor: SessionExecutor, body: sending any WatchedBody, metrics: [AlertMetric], center: AlertCenter
    ) {
        (self.executor, self.body, self.metrics, self.center) = (executor, body, metrics, center)
        truth = metrics.map { _ in [] }
    }

    /// - Parameter duration: of the session: room for its truth.
    func begin(_ duration: Instant) {
        let count = Int(duration.nanoseconds / Self.interval) + 1
        for place in truth.indices { truth[place].reserveCapacity(count) }
        wakeup = Wakeup(executor, phase: .sensor, "monitor") { [unowned self] in try here { try $0.measure() }
        }
        wakeup?.schedule(at: executor.now)
    }

    private func measure() throws {
        let now = executor.now
        try body.advance(to: now)
        for (place, value) in body.truth.enumerated() { truth[place].append(Float(value)) }
        if !body.broken.isEmpty { brokenReadings += 1 }
        let values = body.measure()
        if shown != nil { show(values, at: now) }
        for (place, value) in values.enumerated() {
            executor.journal.record(.measured, at: now, UInt64(metrics[place].index), value.bitPattern)
            center.here((metrics[place], value, now)) { $0.hear($1.0, $1.1, sampledAt: $1.2) }
        }
        wakeup?.schedule(at: now.adding(Self.interval))
    }

    /// Somebody is there: lives up to now, and puts right what is broken.
    /// - Returns: what was broken.
    func visit() throws -> [BrokenPart] {
        try body.advance(to: executor.now)
        let broken = body.broken
        body.mend()
        return broken
    }

    // MARK: What is shown

    /// From here on readings are kept for whoever looks at a session in real time; it changes nothing else.
    func keepReadings() {
        guard shown == nil else { return }
        shown = metrics.map { _ in [] }
        news = metrics.map { _ in [] }
    }

    private func show(_ values: [Double], at now: Instant) {
        for (place, value) in values.enumerated() {
            shown?[place].append(MetricReading(at: now, value: value))
            news[place].append(MetricReading(at: now, value: value))
            // Half at a time: moving all for each new one would cost more than it saves.
            if let count = shown?[place].count, count >= 2 * Self.shownCount {
                shown?[place].removeFirst(count - Self.shownCount)
            }
        }
    }

    /// The newest of each metric, by time.
    func readings() -> [[MetricReading]] { (shown ?? []).map { Array($0.suffix(Self.shownCount)) } }

    /// Hands over what was shown since the last time: one list a metric.
    func takeNews() -> [[MetricReading]] {
        defer { for place in news.indices { news[place].removeAll(keepingCapacity: true) } }
        return news
    }

    // MARK: What it came to

    var stage: String { body.stage }

    var broken: [BrokenPart] { body.broken }
    var evaluations: Int { body.evaluations }
    func kept() -> (truth: [[Float]], brokenReadings: Int) { (truth, brokenReadings) }
}

/// A value of a metric, as a monitor showed it.
package struct MetricReading: Hashable, Sendable, Codable {
    package var at: Instant
    /// In the metric's unit.
    package var value: Double

    package init(at: Instant, value: Double) { (self.at, self.value) = (at, value) }
}

extension EventKind {
    /// Words: the metric's index, the value (bits).
    static let measured = EventKind(0x800, "measured")
}
