// What a wait is cut short by, and what it waits for beside time: a critical value, and the company of a second one.
//
// Guarantees: a critical value of a threshold is raised when it is read; one that came faster than its metric moves is raised at the next value that is critical
// too, or one interval and 30 s after it, whichever comes first: silence never drops it. It is brought forward by this and never held up: what is due
// by its sensitivity is raised then.
// Does not: judge how severe a value is.

import IsletKernel

extension AlertEngine {
    /// The longest interval that a value's confirmation is waited for, and what is added to it.
    static let longestInterval = 5 * Nanoseconds.minute
    static let lateness = 30 * Nanoseconds.second

    /// Notes by when the newest value of the rule's first metric is raised, where it is critical.
    /// - Parameters:
    ///   - metric: whose value came; nil where none did, and the one that is there is judged by other bounds.
    ///   - before: the value of that metric before.
    mutating func watchCritical(_ rule: Int, _ metric: AlertMetric?, _ before: Sample?, at now: Instant) {
        guard let first = policy.rules[rule].tests.first?.metric, metric == nil || metric == first else {
            return
        }
        guard let value = sample(rule, at: now)?.value, policy.rules[rule].isCritical(value) else {
            state.tracks[rule].criticalBy = nil
            return
        }
        guard let sample = state.samples[first.index], let before,
            !policy.rules[rule].isCritical(before.value),
            let confirmedBy = confirmation(of: sample, first, before)
        else {
            // As it is read, or as the second one of its kind.
            state.tracks[rule].criticalBy = now
            return
        }
        state.tracks[rule].criticalBy = confirmedBy
    }

    /// By when another value must have come before this one counts alone; nil where the metric can have moved like this.
    private func confirmation(of sample: Sample, _ metric: AlertMetric, _ before: Sample) -> Instant? {
        guard let fastest = metric.fastest else { return nil }
        let minutes = sample.sampledAt.minutes - before.sampledAt.minutes
        guard abs(sample.value - before.value) > fastest * minutes else { return nil }
        let gap = sample.sampledAt.nanoseconds - before.sampledAt.nanoseconds
        // Never later than it is fresh.
        return sample.sampledAt.adding(min(min(gap, Self.longestInterval) + Self.lateness, limits.freshness))
    }

    /// Whether a critical value has been waited for long enough.
    func isCriticalDue(_ rule: Int, at now: Instant) -> Bool {
        guard prepared.isCriticalAtOnce[rule], state.tracks[rule].pendingSince != nil,
            let due = state.tracks[rule].criticalBy
        else { return false }
        return now >= due
    }

    /// Whether a value has breached beside the one with which the wait began.
    func hasCompany(_ rule: Int, at now: Instant) -> Bool {
        guard prepared.needsCompany[rule], let first = state.tracks[rule].firstValueAt else { return true }
        return sample(rule, at: now).map { $0.sampledAt > first } ?? false
    }

    /// Whether the next value decides, and no edge that it passes.
    func isWaitingForValue(_ rule: Int) -> Bool {
        guard state.tracks[rule].pendingSince != nil, prepared.needsCompany[rule] else { return false }
        if state.tracks[rule].criticalBy != nil { return true }
        guard let place = prepared.testsOfRule(rule).first, let first = state.tracks[rule].firstValueAt else {
            return false
        }
        return state.samples[prepared.tests[place].place].map { $0.sampledAt <= first } ?? true
    }
}
