// From events to spans: when a policy's rules held an alarm, and when somebody was being told.
//
// Guarantees: one pass over the events, in their order; what is open at the session's end lasts up to it. What the system rang for a dead app begins an
// episode as a raise does.

package import IsletKernel

/// The spans of each rule of a policy.
package struct AlarmSpans: Sendable {
    /// Active episodes, by rule.
    package private(set) var active: [IntervalSet]
    /// From a notification to its end, acknowledgement or snooze, by rule.
    package private(set) var annunciating: [IntervalSet]
    /// Notifications, by instant.
    package private(set) var notifications: [(instant: Instant, rule: Int)] = []
    /// From a raise to its acknowledgement, ns.
    package private(set) var acknowledgeDelays: [Int64] = []

    package init(rules: Int, events: [AlertEvent], until reached: Instant) {
        var open = Open(rules: rules)
        for event in events where event.rule >= 0 && event.rule < rules {
            open.take(event, into: &self.notifications)
        }
        active = open.close(\.active, at: reached)
        annunciating = open.close(\.annunciating, at: reached)
        acknowledgeDelays = open.delays
    }

    /// The union over these rules.
    package static func union(_ sets: [IntervalSet], of rules: [Int]) -> IntervalSet {
        IntervalSet(rules.flatMap { sets[$0].intervals })
    }

    private struct Track {
        var since: Instant?
        var spans: [Interval] = []

        mutating func begin(_ instant: Instant) { since = since ?? instant }
        mutating func end(_ instant: Instant) {
            if let began = since { spans.append(Interval(began, instant)) }
            since = nil
        }
    }

    private struct Open {
        struct Rule {
            var active = Track()
            var annunciating = Track()
            var raisedAt: Instant?
        }
        var rules: [Rule]
        var delays: [Int64] = []

        init(rules: Int) { self.rules = [Rule](repeating: Rule(), count: rules) }

        mutating func take(_ event: AlertEvent, into notifications: inout [(instant: Instant, rule: Int)]) {
            let (rule, now) = (event.rule, event.instant)
            switch event.kind {
            case .raise:
                rules[rule].active.begin(now)
                rules[rule].raisedAt = now
            case .notify:
                rules[rule].active.begin(now)
                rules[rule].annunciating.begin(now)
                notifications.append((now, rule))
            case .acknowledge:
                rules[rule].annunciating.end(now)
                acknowledged(rule, now)
            case .snooze, .withdraw:
                rules[rule].annunciating.end(now)
                // Only the system had rung, and nothing came of it.
                if event.kind == .withdraw, rules[rule].raisedAt == nil { rules[rule].active.end(now) }
            case .clear, .close:
                if event.kind == .close { acknowledged(rule, now) }
                rules[rule].annunciating.end(now)
                rules[rule].active.end(now)
                rules[rule].raisedAt = nil
            }
        }

        private mutating func acknowledged(_ rule: Int, _ now: Instant) {
            guard let raised = rules[rule].raisedAt else { return }
            delays.append(now.nanoseconds - raised.nanoseconds)
        }

        mutating func close(_ track: WritableKeyPath<Rule, Track>, at reached: Instant) -> [IntervalSet] {
            rules.indices.map {
                rules[$0][keyPath: track].end(reached)
                return IntervalSet(rules[$0][keyPath: track].spans)
            }
        }
    }
}
