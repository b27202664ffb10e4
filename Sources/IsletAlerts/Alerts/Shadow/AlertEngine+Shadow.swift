// The alert engine for a policy that is evaluated without notifying anybody (a shadow).
//
// Guarantees: a shadow engine decides what an ordinary one decides on the same inputs. It writes no message texts, no
// list of cleared alerts and no requests to the notification system, since nobody reads them.

import IsletKernel

extension AlertEngine {
    /// The sort key of an effect within its instant: replacements first, then by input; ties are sorted by alert code.
    struct Place: Hashable, Sendable {
        var isReplacement = false
        var order = AlertEngine.timerOrder
    }

    /// Discards the gathered effects, which the caller has read in place; keeps their storage.
    mutating func forgetGathered() {
        effects.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// What the operating system will ring by itself, and for which rule.
    var scheduled: [(rule: Int, ring: RingsAhead.Ring)] {
        policy.rules.indices.flatMap { rule in
            (state.tracks[rule].scheduled?.rings ?? []).map { (rule, $0) }
        }
    }

    /// Whether every value must be evaluated, even one that crosses no threshold: a rule is literal, joins several
    /// comparisons, or waits for a fresh or a second value.
    var isEager: Bool {
        for rule in policy.rules.indices {
            if policy.rules[rule].isLiteral { return true }
            if state.tracks[rule].isOwed, !policy.notifiesWhenStale { return true }
            if isWaitingForValue(rule) { return true }
            if prepared.testsOfRule(rule).count > 1, !state.tracks[rule].isQuiet { return true }
        }
        return false
    }

    /// Resets an instant's inputs and effects and the rules' flags, as in an engine newly made from this one's `state`.
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
