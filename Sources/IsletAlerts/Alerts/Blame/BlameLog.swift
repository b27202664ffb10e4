// How each rule of one policy stood, from the session's start to its end.
//
// Guarantees: a change stands at the very instant at which it happened: that of an input, or a deadline that the engine knew; no instant is
// polled. Changes that last no time are not kept. Who keeps no log pays for one comparison an input.
// Does not: decide anything. The engine is the same with it and without.

public import IsletKernel

/// The standings of the rules over time.
public struct BlameLog: Hashable, Sendable {
    /// From then on a rule stood like this, up to the next change.
    public struct Change: Hashable, Sendable {
        public var instant: Instant
        public var standing: AlertStanding
    }

    /// One list a rule, by instant; a rule that never stood in any way has none.
    public private(set) var changes: [[Change]]
    /// Up to where it is known.
    public internal(set) var reached: Instant

    /// Whether the state may have changed since it was last looked at.
    var isDirty = true
    /// The metrics, by place, for want of which some rule could not be judged when it was last looked at: a fresh value of one ends that, and
    /// a calm one says nothing.
    var blindMetrics: UInt64 = 0
    /// Whether some rule that looks at the age of the newest reading stood in any way then: what else moves the others says so.
    var standsByAge = true
    /// When time alone may next change a standing.
    var deadline = Instant.start
    /// Whether the app is dead.
    var isDead = false
    /// What is known of each rule's annunciation beyond the engine's state.
    var memories: [Memory]

    struct Memory: Hashable, Sendable {
        var isAnnunciated = false
        /// An attempt was held back and is gone: what it was.
        var lapsed = AlertStanding()
        /// What held back the newest attempt to notify again of what stands there notified.
        var heldBack = AlertStanding()
        /// The value came back inside and not past the hysteresis while the episode was active.
        var isHeldOver = false
    }

    /// By rule, whether it stood in any way when it was last looked at.
    private(set) var isStanding: [Bool]

    init(rules: Int, from instant: Instant) {
        isStanding = [Bool](repeating: false, count: rules)
        changes = [[Change]](repeating: [], count: rules)
        memories = [Memory](repeating: Memory(), count: rules)
        reached = instant
    }

    /// A log from what is written down: for each rule, from when on it stood how.
    package init(_ standings: [[(at: Instant, standing: AlertStanding)]], reached: Instant) {
        self.init(rules: standings.count, from: .start)
        for (rule, list) in standings.enumerated() {
            for one in list { note(rule, one.standing, at: one.at) }
        }
        self.reached = reached
    }

    /// One log of a policy from those of its parts.
    /// - Parameter parts: each part's log, and for each of its rules the place in the policy.
    package init(merging parts: [(log: BlameLog, places: [Int])], rules: Int) {
        self.init(rules: rules, from: .start)
        for (log, places) in parts {
            for (rule, place) in places.enumerated() where changes.indices.contains(place) {
                changes[place] = log.changes[rule]
            }
            reached = max(reached, log.reached)
        }
    }

    /// Rules that came since stood in no way before.
    mutating func grow(to rules: Int) {
        while memories.count < rules {
            memories.append(Memory())
            changes.append([])
            isStanding.append(false)
        }
    }

    /// Goes on with a later log of the same rules; in between none stood in any way.
    package mutating func append(_ later: BlameLog) {
        for rule in changes.indices where later.changes.indices.contains(rule) {
            note(rule, AlertStanding(), at: reached)
            for change in later.changes[rule] { note(rule, change.standing, at: change.instant) }
        }
        reached = later.reached
    }

    mutating func note(_ rule: Int, _ standing: AlertStanding, at instant: Instant) {
        isStanding[rule] = !standing.isEmpty
        let count = changes[rule].count
        if count == 0, standing.isEmpty { return }
        if count > 0, changes[rule][count - 1].instant != instant,
            changes[rule][count - 1].standing == standing
        {
            return
        }
        if let last = changes[rule].last, last.instant == instant { changes[rule].removeLast() }
        if changes[rule].last?.standing ?? AlertStanding() != standing {
            changes[rule].append(Change(instant: instant, standing: standing))
        }
    }

    /// The intervals in which a rule stood so that `isMeant`.
    package func intervals(
        of rule: Int, where isMeant: (AlertStanding) -> Bool
    ) -> IntervalSet {
        guard changes.indices.contains(rule) else { return IntervalSet() }
        let list = changes[rule]
        return IntervalSet(
            list.indices.filter { isMeant(list[$0].standing) }.map {
                Interval(list[$0].instant, $0 + 1 < list.count ? list[$0 + 1].instant : reached)
            })
    }

    /// How a rule stood at an instant.
    public func standing(of rule: Int, at instant: Instant) -> AlertStanding {
        changes[rule].last { $0.instant <= instant }?.standing ?? AlertStanding()
    }

    /// Whoever takes over after a relaunch begins with what is shown.
    mutating func take(_ effect: AlertEffect) {
        guard memories.indices.contains(effect.rule) else { return }
        isDirty = true
        let rule = effect.rule
        switch effect.kind {
        case .notify where effect.reason != .test && effect.reason != .preview:
            memories[rule].isAnnunciated = true
            memories[rule].lapsed = []
            memories[rule].heldBack = []
        case .acknowledge, .snooze: memories[rule].isAnnunciated = false
        case .withdraw where effect.wasDelivered: memories[rule].isAnnunciated = false
        case .clear: memories[rule] = Memory()
        case .raise: memories[rule].isHeldOver = false
        case .suppress where effect.reason == .foreground: memories[rule].lapsed.insert(.init(.foreground))
        case .suppress where effect.reason == .cooldown: memories[rule].lapsed.insert(.init(.cooldown))
        case .suppress where effect.reason == .quietHours: memories[rule].lapsed.insert(.init(.quietHours))
        default: break
        }
        if effect.kind == .suppress, let obstacle = AlertObstacle(effect.reason) {
            memories[rule].heldBack = .init(obstacle)
        }
    }
}

extension AlertObstacle {
    /// What an attempt was held back by; nil for what is no reason to hold back.
    fileprivate init?(_ reason: AlertEffect.Reason) {
        switch reason {
        case .stale: self = .stale
        case .inhibited: self = .inhibited
        case .snoozed: self = .snoozed
        case .quietHours: self = .quietHours
        case .foreground: self = .foreground
        case .cooldown: self = .cooldown
        default: return nil
        }
    }
}
