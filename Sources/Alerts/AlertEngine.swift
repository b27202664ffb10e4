// Three layers: a condition is true; an episode is what the center holds active; an annunciation is what the person
// is shown or woken by.
//
// Guarantees: a pure state machine. What it does depends on the conditions it was told and their instants, never on how
// often it was asked: a debounce fires at the first instant t ≥ t0 + d at which the condition still holds, whether
// or not a reading arrives then. Debounce and off-delay act between condition and episode, cooldown between episode
// and annunciation; a muted alert is active all the same. Every decision is an effect with its reason.
// Does not: know glucose, devices or clocks. `AlertCenter` feeds it.

public import SessionTime

/// One thing that the engine did or decided not to do.
public struct AlertEffect: Hashable, Sendable {
    public enum Kind: String, Sendable {
        case raise
        case clear
        case notify
        case withdraw
        /// An annunciation that a policy held back.
        case suppress
    }

    public enum Reason: String, Sendable {
        case conditionHeld = "condition held"
        case recovered
        case acknowledged
        case cooldown
        case foreground = "app in the foreground"
        case sourceRule = "source never notifies"
        case severity
    }

    public var instant: Instant
    public var kind: Kind
    public var code: AlertCode
    public var severity: AlertSeverity
    public var reason: Reason
}

/// An alert that the center holds active.
public struct ActiveAlert: Hashable, Sendable {
    public var code: AlertCode
    public var severity: AlertSeverity
    public var raisedAt: Instant
    public var acknowledgedAt: Instant?
    public var isAnnunciated: Bool
}

/// An alert that was active.
public struct ClearedAlert: Hashable, Sendable {
    public var code: AlertCode
    public var severity: AlertSeverity
    public var raisedAt: Instant
    public var clearedAt: Instant
    public var reason: AlertEffect.Reason
}

public struct AlertEngine: Sendable {
    public static let recentlyClearedLimit = 100

    private struct Track {
        var holds = false
        /// When an episode begins if the condition goes on holding.
        var raiseAt: Instant?
        /// When the episode ends if the condition stays away.
        var clearAt: Instant?
        var active: ActiveAlert?
        var lastNotified: Instant?
    }

    public let policy: AlertPolicy
    /// Whether the app is in the foreground: a banner is seen there, and nothing is notified.
    public var isForeground = false
    public private(set) var recentlyCleared: [ClearedAlert] = []

    private var tracks: [Track]
    private let ruleIndex: [Int]
    private var effects: [AlertEffect] = []

    public init(policy: AlertPolicy) {
        self.policy = policy
        tracks = policy.rules.map { _ in Track() }
        ruleIndex = AlertCode.allCases.map { code in policy.rules.firstIndex { $0.code == code } ?? -1 }
    }

    /// Active alerts: most severe first, then newest, then by code.
    public var active: [ActiveAlert] {
        tracks.compactMap(\.active).sorted {
            if $0.severity != $1.severity { return $0.severity > $1.severity }
            if $0.raisedAt != $1.raisedAt { return $0.raisedAt > $1.raisedAt }
            return $0.code.rawValue < $1.code.rawValue
        }
    }

    /// The next instant at which time alone changes something.
    public var nextDeadline: Instant? {
        var next: Instant?
        for track in tracks {
            for deadline in [track.raiseAt, track.clearAt] {
                if let deadline, next.map({ deadline < $0 }) ?? true { next = deadline }
            }
        }
        return next
    }

    /// Whether telling the engine this would change anything. Cheap: asked at every reading.
    public func changes(_ code: AlertCode, holds: Bool) -> Bool {
        let index = ruleIndex[code.index]
        return index >= 0 && tracks[index].holds != holds
    }

    /// A condition begins or ends to hold.
    public mutating func set(_ code: AlertCode, holds: Bool, at now: Instant) {
        let index = ruleIndex[code.index]
        guard index >= 0, tracks[index].holds != holds else { return }
        tracks[index].holds = holds
        let rule = policy.rules[index]
        if holds {
            tracks[index].clearAt = nil
            if tracks[index].active == nil { tracks[index].raiseAt = now.adding(rule.debounce) }
        } else {
            tracks[index].raiseAt = nil
            if tracks[index].active != nil { tracks[index].clearAt = now.adding(rule.keepFiringFor) }
        }
    }

    /// Carries out what is due at `now`, once all conditions of this instant are told.
    public mutating func settle(at now: Instant) {
        for index in tracks.indices {
            if let due = tracks[index].raiseAt, due <= now { raise(index, at: now) }
            if let due = tracks[index].clearAt, due <= now { clear(index, at: now, reason: .recovered) }
        }
    }

    /// The person acknowledges. Says whether there was something to acknowledge.
    @discardableResult
    public mutating func acknowledge(_ code: AlertCode, at now: Instant) -> Bool {
        let index = ruleIndex[code.index]
        guard index >= 0, tracks[index].active != nil else { return false }
        switch policy.rules[index].acknowledgement {
        case .none: return false
        case .reviews:
            guard tracks[index].active?.acknowledgedAt == nil else { return false }
            tracks[index].active?.acknowledgedAt = now
        case .closes: clear(index, at: now, reason: .acknowledged)
        }
        return true
    }

    /// What was done since the last call.
    public mutating func takeEffects() -> [AlertEffect] {
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }

    private mutating func raise(_ index: Int, at now: Instant) {
        let rule = policy.rules[index]
        tracks[index].raiseAt = nil
        tracks[index].active = ActiveAlert(
            code: rule.code, severity: rule.severity, raisedAt: now, isAnnunciated: false)
        emit(.raise, rule, .conditionHeld, at: now)
        annunciate(index, at: now)
    }

    private mutating func annunciate(_ index: Int, at now: Instant) {
        let rule = policy.rules[index]
        guard rule.notifies else {
            emit(.suppress, rule, rule.code.source == .cgm ? .sourceRule : .severity, at: now)
            return
        }
        if isForeground {
            emit(.suppress, rule, .foreground, at: now)
            return
        }
        if let last = tracks[index].lastNotified, now < last.adding(rule.cooldown) {
            emit(.suppress, rule, .cooldown, at: now)
            return
        }
        tracks[index].lastNotified = now
        tracks[index].active?.isAnnunciated = true
        emit(.notify, rule, .conditionHeld, at: now)
    }

    private mutating func clear(_ index: Int, at now: Instant, reason: AlertEffect.Reason) {
        let rule = policy.rules[index]
        tracks[index].clearAt = nil
        guard let alert = tracks[index].active else { return }
        tracks[index].active = nil
        recentlyCleared.insert(
            ClearedAlert(
                code: alert.code, severity: alert.severity, raisedAt: alert.raisedAt, clearedAt: now,
                reason: reason),
            at: 0)
        if recentlyCleared.count > Self.recentlyClearedLimit { recentlyCleared.removeLast() }
        emit(.clear, rule, reason, at: now)
        if alert.isAnnunciated { emit(.withdraw, rule, reason, at: now) }
    }

    private mutating func emit(
        _ kind: AlertEffect.Kind, _ rule: AlertRule, _ reason: AlertEffect.Reason, at now: Instant
    ) {
        effects.append(
            AlertEffect(
                instant: now, kind: kind, code: rule.code, severity: rule.severity, reason: reason))
    }
}

extension AlertCode {
    /// The place of the code in `allCases`.
    var index: Int {
        switch self {
        case .pumpSignalLoss: 0
        case .cgmUnavailable: 1
        case .cgmUrgentLow: 2
        }
    }
}
