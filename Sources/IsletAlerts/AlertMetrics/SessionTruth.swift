// What was truly so in one session: the standard by which every policy's alerts are judged.
//
// Guarantees: a plasma episode is a run beyond its bound of 15 min or more, ended by a run of 15 min or more that isn't, or by the session's end; shorter
// returns are part of it (consensus 2023). A value stands for the interval that it begins. What nobody knows is nil and judges no alert: it is not "never true".
// Does not: look at a sensor. Computed once a session, shared by all policies.

package import IsletKernel

package struct SessionTruth: Sendable {
    /// A run beyond a bound, and one that ends an episode, last at least this long, ns.
    package static let shortest = 15 * Nanoseconds.minute
    /// An episode of this length is a prolonged one, ns.
    package static let prolonged = 120 * Nanoseconds.minute

    /// Something that the person did about it.
    package struct Treatment: Hashable, Sendable {
        package var instant: Instant
        package var topic: AlertTopic
        package init(_ instant: Instant, _ topic: AlertTopic) {
            self.instant = instant
            self.topic = topic
        }
    }

    /// How far the session got: its days are the wear-days.
    package let reached: Instant
    /// The session ended before its planned end: what was so then ended it, or ended with it. An episode that nobody was told of by then was missed.
    package var endedEarly = false
    /// mg/dL, one a `plasmaInterval` from the session's start.
    package let plasma: [Float]
    package let plasmaInterval: Int64
    /// When it is night for whoever hears the alerts; nil where nobody knows.
    package var nights: IntervalSet?
    /// By instant.
    package var treatments: [Treatment] = []
    /// When nobody listened: no part of the wear-days.
    package var unwatched = IntervalSet() { didSet { countDays() } }
    /// When nobody knows the plasma: nothing is judged by it there, neither as fine nor as false. Its values are NaN there.
    package var unknown = IntervalSet() { didSet { countDays() } }
    /// The wear-days.
    package private(set) var days: Double
    /// Those in which somebody knows the plasma: what is found, missed or false is so much a day of these.
    package private(set) var glucoseDays: Double
    private var spans: [IntervalSet?]

    /// - Parameter plasma: the true plasma glucose, mg/dL, every `interval` nanoseconds from the session's start; empty where there is none.
    package init(plasma: [Float], every interval: Int64, reached: Instant) {
        self.reached = reached
        self.plasma = plasma
        plasmaInterval = interval
        days = Self.days(reached.nanoseconds)
        glucoseDays = days
        let (lowest, highest) = Self.range(of: plasma)
        spans = AlertTruth.allCases.map { truth in
            guard let (side, bound) = truth.plasma, !plasma.isEmpty else { return nil }
            // Most sessions never go as far.
            if side == .low ? lowest >= bound : highest <= bound { return IntervalSet() }
            return Self.episodes(
                of: plasma, every: interval, until: reached,
                isBeyond: { side == .low ? Double($0) < bound : Double($0) > bound })
        }
    }

    /// When it was so; nil where nobody knows.
    package subscript(_ truth: AlertTruth) -> IntervalSet? {
        get { spans[truth.index] }
        set { spans[truth.index] = newValue?.intersection(Interval(.start, reached)) }
    }

    /// What was so of a metric, by its true values.
    /// - Parameter values: one every `interval` nanoseconds from the session's start.
    package mutating func take(_ metric: AlertMetric, _ values: [Float], every interval: Int64) {
        for truth in AlertTruth.allCases {
            guard let breach = truth.breach, breach.metric == metric else { continue }
            self[truth] = Self.episodes(
                of: values, every: interval, until: reached, isBeyond: { breach.isBreached(by: Double($0)) })
        }
    }

    private mutating func countDays() {
        days = Self.days(reached.nanoseconds - unwatched.nanoseconds)
        glucoseDays = Self.days(reached.nanoseconds - unwatched.union(unknown).nanoseconds)
    }

    private static func days(_ nanoseconds: Int64) -> Double {
        Double(nanoseconds) / Double(Nanoseconds.day)
    }

    /// The days in which it is known whether it was so.
    func days(of truth: AlertTruth) -> Double { truth.plasma == nil ? days : glucoseDays }

    /// Whether nobody can say if it was so between these instants: not known to have been, and the plasma is unknown for a part of the time.
    func isUnknown(_ truth: AlertTruth, _ from: Instant, _ to: Instant) -> Bool {
        guard !unknown.isEmpty, truth.plasma != nil, unknown.touches(from, to) else { return false }
        return !(self[truth]?.touches(from, to) ?? false)
    }

    /// The episodes that lasted two hours or more.
    package func prolonged(_ truth: AlertTruth) -> [Interval] {
        self[truth]?.intervals.filter { $0.nanoseconds >= Self.prolonged } ?? []
    }

    /// mg/dL at an instant: the value of the interval that it lies in; nil outside.
    package func plasma(at instant: Instant) -> Double? {
        guard instant >= .start, !plasma.isEmpty, plasmaInterval > 0 else { return nil }
        let slot = Int(instant.nanoseconds / plasmaInterval)
        return plasma.indices.contains(slot) && !plasma[slot].isNaN ? Double(plasma[slot]) : nil
    }

    /// How far and how long the plasma was below `bound` in these intervals, mg/dL × min.
    package func area(below bound: Double, in intervals: IntervalSet) -> Double {
        var area = 0.0
        for interval in intervals.intervals where plasmaInterval > 0 {
            var slot = Int(interval.from.nanoseconds / plasmaInterval)
            while slot < plasma.count {
                let from = Instant(nanoseconds: Int64(slot) * plasmaInterval)
                guard from < interval.to else { break }
                let part = Interval(from, from.adding(plasmaInterval)).intersection(interval)
                if plasma[slot] < Float(bound) { area += (bound - Double(plasma[slot])) * part.minutes }
                slot += 1
            }
        }
        return area
    }

    /// Lows (level 1) that were followed by more than 180 mg/dL within two hours of their end, and all that were watched for so long.
    package var rebounds: (some: Int, all: Int) {
        var (some, all) = (0, 0)
        for low in self[.low70]?.intervals ?? [] {
            let until = low.to.adding(Self.prolonged)
            let first = Int(low.to.nanoseconds / max(1, plasmaInterval))
            let last = min(plasma.count - 1, Int(until.nanoseconds / max(1, plasmaInterval)))
            let isHigh = first <= last && plasma[first...last].contains { $0 > 180 }
            // The session ended before anybody could tell.
            guard isHigh || until <= reached else { continue }
            all += 1
            some += isHigh ? 1 : 0
        }
        return (some, all)
    }

    private static func range(of values: [Float]) -> (lowest: Double, highest: Double) {
        var (lowest, highest) = (Float.infinity, -Float.infinity)
        for value in values {
            if value < lowest { lowest = value }
            if value > highest { highest = value }
        }
        return (Double(lowest), Double(highest))
    }

    private static func episodes(
        of values: [Float], every interval: Int64, until reached: Instant, isBeyond: (Float) -> Bool
    ) -> IntervalSet {
        var episodes: [Interval] = []
        EpisodeRule(shortest: shortest, standsFor: interval, end: reached.nanoseconds).forEachEpisode(
            of: values.count, at: { Int64($0) * interval }, isBeyond: { isBeyond(values[$0]) }
        ) { episodes.append(Interval(Instant(nanoseconds: $0), Instant(nanoseconds: $1))) }
        return IntervalSet(episodes)
    }
}
