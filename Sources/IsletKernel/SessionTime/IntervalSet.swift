// Spans of session time, and sets of them.
//
// Guarantees: an interval holds its start and not its end; a set is sorted, its intervals neither touch nor overlap and none is
// empty, so that equal sets are equal values. All operations are linear in what they are given, `contains` is logarithmic.

/// From `from`, inside, to `to`, outside.
package struct Interval: Hashable, Sendable {
    package var from: Instant
    package var to: Instant

    package init(_ from: Instant, _ to: Instant) {
        self.from = from
        self.to = to
    }

    /// Its length; 0 where it is turned round.
    package var nanoseconds: Int64 { max(0, to.nanoseconds - from.nanoseconds) }
    package var minutes: Double { Double(nanoseconds) / Double(Nanoseconds.minute) }
    package var isEmpty: Bool { to <= from }

    package func contains(_ instant: Instant) -> Bool { from <= instant && instant < to }

    package func intersection(_ other: Interval) -> Interval {
        Interval(max(from, other.from), min(to, other.to))
    }
}

/// A set of instants, as intervals.
package struct IntervalSet: Hashable, Sendable {
    /// Rising; they neither touch nor overlap.
    package private(set) var intervals: [Interval] = []

    package init() {}

    /// The instants that are in any of these, in whatever order they stand.
    package init(_ some: [Interval]) {
        for interval in some.sorted(by: { $0.from < $1.from }) where !interval.isEmpty {
            if let last = intervals.indices.last, interval.from <= intervals[last].to {
                intervals[last].to = max(intervals[last].to, interval.to)
            } else {
                intervals.append(interval)
            }
        }
    }

    package var isEmpty: Bool { intervals.isEmpty }
    package var nanoseconds: Int64 { intervals.reduce(0) { $0 + $1.nanoseconds } }
    package var minutes: Double { Double(nanoseconds) / Double(Nanoseconds.minute) }

    /// The place of the first interval that ends after `instant`.
    private func place(after instant: Instant) -> Int {
        var (low, high) = (0, intervals.count)
        while low < high {
            let middle = (low + high) / 2
            if intervals[middle].to <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package func contains(_ instant: Instant) -> Bool {
        let place = place(after: instant)
        return place < intervals.count && intervals[place].from <= instant
    }

    /// Whether an instant of the set lies within `from` and `to`, both ends included.
    package func touches(_ from: Instant, _ to: Instant) -> Bool {
        let place = place(after: from)
        return place < intervals.count && intervals[place].from <= to
    }

    package func union(_ other: IntervalSet) -> IntervalSet { IntervalSet(intervals + other.intervals) }

    package func intersection(_ other: IntervalSet) -> IntervalSet {
        var common = IntervalSet()
        var (a, b) = (0, 0)
        while a < intervals.count, b < other.intervals.count {
            let both = intervals[a].intersection(other.intervals[b])
            if !both.isEmpty { common.intervals.append(both) }
            if intervals[a].to <= other.intervals[b].to { a += 1 } else { b += 1 }
        }
        return common
    }

    package func intersection(_ interval: Interval) -> IntervalSet {
        intersection(IntervalSet([interval]))
    }

    /// The instants of this set that are not in the other.
    package func subtracting(_ other: IntervalSet) -> IntervalSet {
        var rest = IntervalSet()
        var next = 0
        for interval in intervals {
            var from = interval.from
            while next < other.intervals.count, other.intervals[next].to <= from { next += 1 }
            var place = next
            while place < other.intervals.count, other.intervals[place].from < interval.to {
                let hole = other.intervals[place]
                if from < hole.from { rest.intervals.append(Interval(from, hole.from)) }
                from = max(from, hole.to)
                place += 1
            }
            if from < interval.to { rest.intervals.append(Interval(from, interval.to)) }
        }
        return rest
    }
}
