// The age of the newest reliable reading: a metric that nobody samples.
//
// Guarantees: counted from the session's start before the first reading; never stale; judged at the very instant at which
// it reaches a bound, by the engine's own deadlines, and at no other instant between readings.
// Does not: look at a reading's value. A backfilled one is no news, and still says how long ago the sensor was heard.

public import IsletKernel

extension AlertEngine {
    /// How old the newest reliable reading is at `now`, ns.
    public func readingAge(at now: Instant) -> Int64 {
        now.nanoseconds - (state.newestReading ?? .start).nanoseconds
    }

    /// The value of a metric as a rule at `now` judges by it, and how old it is; nil where it is stale or was never measured.
    public func known(_ metric: AlertMetric, at now: Instant) -> (value: Double, ageNanoseconds: Int64)? {
        if metric == .readingAge { return (ageInMinutes(at: now), 0) }
        guard metric.index < state.samples.count, let sample = state.samples[metric.index] else {
            return nil
        }
        let age = now.nanoseconds - sample.sampledAt.nanoseconds
        return age <= limits.freshness ? (sample.value, age) : nil
    }

    func ageInMinutes(at now: Instant) -> Double { Double(readingAge(at: now)) / Double(Nanoseconds.minute) }

    /// A reliable reading was taken at `sampledAt`, however late it is heard of.
    /// - Returns: whether the instant needs settling.
    public mutating func noteReading(sampledAt: Instant, at now: Instant) -> Bool {
        if let newest = state.newestReading, sampledAt <= newest { return false }
        followBlame(to: now)
        state.newestReading = sampledAt
        noteAgeInBlame()
        var needsSettling = false
        for rule in ageRules {
            let verdict = verdict(rule, at: now)
            if case .holds = verdict {
                weigh(rule, at: now)
            } else if state.tracks[rule].isQuiet, reports[rule] == nil {
                // Its deadline has moved on, and to look at the old one finds nothing; one that was passed in vain, because another
                // comparison was not breached, comes anew.
                if prepared.joinsTests[rule] { needsSettling = true }
                continue
            }
            put(rule, ConditionReport(verdict: verdict, order: order))
            needsSettling = true
        }
        return needsSettling
    }

    /// Judges a rule as time has made it.
    mutating func followAge(_ rule: Int, at now: Instant) {
        let verdict = verdict(rule, at: now)
        if case .holds = verdict {
            weigh(rule, at: now)
            if prepared.isCriticalAtOnce[rule] { watchCritical(rule, nil, nil, at: now) }
        } else if state.tracks[rule].isQuiet {
            return
        }
        isCalm[rule] = false
        isAtRest[rule] = false
        judge(rule, ConditionReport(verdict: verdict, order: order), at: now)
    }

    /// The instants at which the age alone changes what a rule says.
    func considerAge(_ rule: Int, _ consider: (Instant?) -> Void) {
        let from = state.newestReading ?? .start
        for age in prepared.ageEdges[rule] { consider(from.adding(age)) }
    }
}
