// From samples to episodes: the consensus rule of a quarter of an hour to begin and to end (Battelino 2023), for whoever counts or spans events.
//
// Guarantees: an episode begins with a run beyond the bound that lasts `shortest` or longer, and ends with a run of that length that isn't beyond it, with a gap longer
// than `longestGap`, or with the samples; it reaches to the end of its last run beyond the bound, and shorter returns are part of it. Time decides, not the
// number of samples: a sample stands for `standsFor`, and a gap that isn't too long counts as time of the run before it.
// Does not: know what is beyond a bound, or in what unit time runs; both are the caller's.

/// What makes an episode of samples. All in one unit of time.
public struct EpisodeRule: Hashable, Sendable {
    /// How long a run that begins or ends an episode lasts, at least.
    public var shortest: Int64
    /// How long one sample counts.
    public var standsFor: Int64
    /// No episode spans more than this without a sample.
    public var longestGap: Int64
    /// Nothing lasts beyond it.
    public var end: Int64

    public init(
        shortest: Int64, standsFor: Int64, longestGap: Int64 = .max, end: Int64 = .max / 2
    ) {
        self.shortest = shortest
        self.standsFor = standsFor
        self.longestGap = longestGap
        self.end = end
    }

    /// Hands on each episode, in order. Linear; allocates nothing.
    /// - Parameters:
    ///   - instant: of a sample; they rise.
    ///   - take: from the first sample of an episode to its end.
    @inlinable @inline(__always)  // A call would ask two closures a sample.
    public func forEachEpisode(
        of count: Int, at instant: (Int) -> Int64, isBeyond: (Int) -> Bool, _ take: (Int64, Int64) -> Void
    ) {
        var onset: Int64?
        /// How far the last run beyond the bound reaches, ns.
        var reach: Int64 = 0
        var isRunBeyond = false
        var runStart: Int64 = 0
        var previous: Int64 = 0
        var place = 0
        while true {
            // Outside an episode and its beginning nothing happens before the next sample beyond the bound.
            if onset == nil, !isRunBeyond { while place < count, !isBeyond(place) { place += 1 } }
            guard place < count else { break }
            let now = instant(place)
            let beyond = isBeyond(place)
            let isFirst = place == 0
            let isGap = !isFirst && now - previous > longestGap
            place += 1
            if isGap, let began = onset {
                take(began, reach)
                onset = nil
            }
            if isFirst || isGap || beyond != isRunBeyond {
                if isRunBeyond, !beyond, !isGap { reach = min(end, now) }
                isRunBeyond = beyond
                runStart = now
            }
            previous = now
            let until = min(end, now + standsFor)
            if beyond { reach = until }
            guard until - runStart >= shortest else { continue }
            if beyond {
                onset = onset ?? runStart
            } else if let began = onset {
                take(began, reach)
                onset = nil
            }
        }
        if let began = onset { take(began, reach) }
    }
}
