// How many have had it by when, where something else may come first: cumulative incidence with competing risks.
//
// Guarantees: the Aalen-Johansen estimate, as lifelines 0.30 gives it without ties and statsmodels 0.15 with them; at every time the
// shares of those who have had the event, of those for whom it can come no more, and of those who still wait add up to 1. What
// was cut off (censored) counts as waiting up to that moment, and no longer.
// Does not: give an interval. Episodes of one person are not independent, so a formula for independent ones would be too
// narrow: bootstrap over people (`Statistics.bootstrap`), all episodes of a person kept together.

/// The Aalen-Johansen estimate of the cumulative incidence of an event.
public struct CumulativeIncidence: Hashable, Sendable {
    /// How somebody's waiting ended.
    public enum Ending: Hashable, Sendable {
        /// What is waited for came.
        case event
        /// Something came after which it can come no more, such as the end of an episode that nobody was told of.
        case competing
        /// Nobody looked any longer, such as after a session's end.
        case censored
    }

    /// One that waits.
    public struct Observation: Hashable, Sendable {
        /// Time waited, at least 0, in any unit.
        public var time: Double
        public var ending: Ending

        public init(time: Double, ending: Ending) {
            self.time = time
            self.ending = ending
        }
    }

    /// The curves from one time on, up to the next step's.
    public struct Step: Hashable, Sendable {
        public var time: Double
        /// Who waited until just before `time`.
        public var atRisk: Int
        /// The share that has had the event by `time`, this moment included.
        public var incidence: Double
        /// The share for which it can come no more.
        public var competing: Double
        /// The share that still waits, neither had.
        public var waiting: Double
    }

    /// By rising time, one for each time at which anything ended, censoring included.
    public let steps: [Step]

    /// - Parameter observations: in any order; the order changes no bit.
    /// - Throws: `StatisticsError` without observations, or for a time that is negative or not finite.
    public init(_ observations: [Observation]) throws(StatisticsError) {
        guard !observations.isEmpty else { throw .tooFewValues(needed: 1, found: 0) }
        for index in observations.indices {
            let time = observations[index].time
            guard time.isFinite else { throw .notFinite(index: index) }
            guard time >= 0 else {
                throw .badParameter("the time at index \(index) is \(time), expected at least 0")
            }
        }
        let sorted = observations.sorted { $0.time < $1.time }
        var steps: [Step] = []
        var (waiting, incidence, competing) = (1.0, 0.0, 0.0)
        var start = 0
        while start < sorted.count {
            var end = start
            var (events, competitors) = (0, 0)
            while end < sorted.count, sorted[end].time == sorted[start].time {
                switch sorted[end].ending {
                case .event: events += 1
                case .competing: competitors += 1
                // Who is censored at a time was at risk at it.
                case .censored: break
                }
                end += 1
            }
            let atRisk = sorted.count - start
            incidence += waiting * Double(events) / Double(atRisk)
            competing += waiting * Double(competitors) / Double(atRisk)
            waiting *= Double(atRisk - events - competitors) / Double(atRisk)
            steps.append(
                Step(
                    time: sorted[start].time, atRisk: atRisk, incidence: incidence, competing: competing,
                    waiting: waiting))
            start = end
        }
        self.steps = steps
    }

    /// The share that has had the event by `time`, this moment included.
    public func incidence(at time: Double) -> Double { steps.last { $0.time <= time }?.incidence ?? 0 }

    /// When the share `p` of all has had the event; nil where so many never have it, as far as anybody looked.
    /// - Parameter p: above 0, up to 1.
    public func time(ofShare p: Double) -> Double? {
        // Sums of shares are a few last bits off.
        steps.first { $0.incidence >= p - 1e-12 }?.time
    }
}
