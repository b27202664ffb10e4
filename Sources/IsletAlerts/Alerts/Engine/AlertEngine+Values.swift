// What values come to: verdicts, severities, and what an episode has come to.

import IsletKernel

extension AlertEngine {
    /// A part that is fresh and clear clears the whole, wherever it stands; a part that is stale neither raises nor clears.
    func verdict(_ rule: Int, at now: Instant) -> Verdict {
        var allBreached = true
        for place in prepared.testsOfRule(rule) {
            let known = prepared.tests[place]
            let test = known.test
            if known.isAge {
                let age = readingAge(at: now)
                if test.isCleared(byAge: age) { return .away(.recovered) }
                if !test.isBreached(byAge: age) { allBreached = false }
                continue
            }
            guard let sample = state.samples[known.place],
                isFresh(sample, isPrediction: known.isPrediction, at: now)
            else {
                allBreached = false
                continue
            }
            if test.isCleared(by: sample.value) { return .away(.recovered) }
            if !test.isBreached(by: sample.value) { allBreached = false }
        }
        return allBreached ? .holds : .between
    }

    /// How severe a breach is: by the value of the rule's first metric.
    mutating func weigh(_ rule: Int, at now: Instant) {
        guard let sample = sample(rule, at: now) else { return }
        state.tracks[rule].details.severity = policy.rules[rule].severity(at: sample.value)
    }

    /// The newest value of the rule's first metric; nil where there is none.
    func sample(_ rule: Int, at now: Instant) -> Sample? {
        guard let place = prepared.testsOfRule(rule).first else { return nil }
        let first = prepared.tests[place]
        if first.isAge { return Sample(value: ageInMinutes(at: now), sampledAt: now) }
        return state.samples[first.place]
    }

    /// Keeps what an episode, or the wait for one, has come to.
    mutating func follow(_ rule: Int, _ metric: Int, _ value: Double) {
        guard !state.tracks[rule].isQuiet, let place = prepared.testsOfRule(rule).first,
            prepared.tests[place].place == metric
        else { return }
        take(rule, value, prepared.tests[place].test.side)
    }

    mutating func take(_ rule: Int, _ value: Double, _ side: MetricTest.Side) {
        state.tracks[rule].values?.take(value, side)
        let values = state.tracks[rule].values
        if state.tracks[rule].isRealActive { state.tracks[rule].active?.values = values }
    }
}
