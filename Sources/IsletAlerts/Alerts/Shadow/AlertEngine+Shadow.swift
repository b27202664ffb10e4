// What an engine does for a policy that nobody hears.
//
// Guarantees: its decisions are those of any engine; words, lists of what was and requests to the system are left out, since nobody
// reads them.

import IsletKernel

extension AlertEngine {
    /// Where an effect stands among those of its instant, beside its code.
    struct Place: Hashable, Sendable {
        var isReplacement = false
        var order = AlertEngine.timerOrder
    }

    /// What was gathered has been taken from its place.
    mutating func forgetGathered() {
        effects.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// What the system will show by itself.
    var scheduled: [(rule: Int, due: Instant)] {
        policy.rules.indices.compactMap { rule in state.tracks[rule].scheduledFor.map { (rule, $0) } }
    }

    /// Whether every value of a metric counts, whatever it is: the sketch, comparisons that are joined, and what waits for a fresh value, or for a second one.
    var isEager: Bool {
        for rule in policy.rules.indices {
            if policy.rules[rule].isLiteral { return true }
            if state.tracks[rule].isOwed, !policy.notifiesWhenStale { return true }
            if isWaitingForValue(rule) { return true }
            if prepared.testsOfRule(rule).count > 1, !state.tracks[rule].isQuiet { return true }
        }
        return false
    }

    /// As an engine that was made anew from this one's state.
    mutating func restart() {
        for rule in reports.indices {
            reports[rule] = nil
            orderOf[rule] = Self.timerOrder
            isCalm[rule] = state.tracks[rule].isQuiet
            isAtRest[rule] = state.tracks[rule].isAtRest
        }
        touched = []
        actions = []
        attempts = []
        fresh = []
        orphaned = []
        effects = []
        places = []
        order = 0
    }
}
