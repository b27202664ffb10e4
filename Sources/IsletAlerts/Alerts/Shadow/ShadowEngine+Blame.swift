// What stands in the way of the rules of policies that nobody hears.
//
// Guarantees: a part's log is the one that its policy would keep alone. Between two calls a part sleeps, and its log is traced when it is woken, by what
// the group knows: no value in between passed an edge, or the part would have been called; a gap's end calls whoever was blind.

import IsletKernel

/// What one part of a plan came to in one session.
package struct ShadowPartRecord: Sendable {
    /// What began or ended something for the person, in its order; rules are the part's.
    package var noticed: [ShadowEffect]
    /// nil where nothing is about a truth, or nobody is scored.
    package var blame: BlameLog?

    package init(noticed: [ShadowEffect] = [], blame: BlameLog? = nil) {
        (self.noticed, self.blame) = (noticed, blame)
    }
}

extension ShadowEngine {
    /// What is going on stands otherwise with the app in front; what is shown there may be notified when it is left.
    mutating func callForForeground(_ group: Int, _ input: AlertInput) {
        switch input {
        case .foreground, .background: break
        default: return
        }
        for part in plan.groups[group].parts
        where (keepsBlame[part] || parts[part].flow.holdsInFront()) && !parts[part].isCalm
            && !plan.parts[part].policy.notifiesInForeground
        {
            call(part)
        }
    }

    /// Nothing of a dead app can act.
    mutating func dieInBlame(at now: Instant) {
        for part in parts.indices where keepsBlame[part] {
            bringUp(part)
            parts[part].flow.engine.dieInBlame(at: now)
        }
    }

    mutating func reviveInBlame(at now: Instant) {
        for part in parts.indices where keepsBlame[part] {
            let blame = parts[part].flow.engine.takeBlame(at: now)
            parts[part].flow.engine.inherit(blame, at: now)
        }
    }

    /// What each part came to up to `now`. No more is kept from here on.
    mutating func takeRecords(at now: Instant) -> [ShadowPartRecord] {
        parts.indices.map { part in
            var blame: BlameLog?
            if keepsBlame[part] {
                if !isDead { bringUp(part) }
                blame = parts[part].flow.engine.takeBlame(at: now)
            }
            return ShadowPartRecord(noticed: log.noticed[part], blame: blame)
        }
    }
}
