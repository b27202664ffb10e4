// From events to spans: when a policy's rules held an alarm, when one stood there notified, and for how long of that it told anybody.
//
// Guarantees: one pass over the events, in their order; what is open at the session's end lasts up to it. What the system rang for a dead app begins an
// episode as a raise does. A notification tells until it is acknowledged, snoozed, withdrawn or over, and for at most `AlertRule.tells(atMost:)`; the next one
// begins that time anew. So what tells is a part of what annunciates.

package import IsletKernel

/// The spans of each rule of a policy.
package struct AlarmSpans: Sendable {
    /// Active episodes, by rule.
    package private(set) var active: [IntervalSet]
    /// From a notification to its end, acknowledgement or snooze, by rule.
    package private(set) var annunciating: [IntervalSet]
    /// By rule, the part of this that is recent enough to count as having told of an event.
    package private(set) var telling: [IntervalSet]
    /// Notifications, by instant.
    package private(set) var notifications: [(instant: Instant, rule: Int)] = []
    /// From a raise to its acknowledgement, ns.
    package private(set) var acknowledgeDelays: [Int64] = []

    /// - Parameter tellsFor: how long a notification tells at most, ns.
    package init(_ rules: [AlertRule], tellsFor: Int64, events: [AlertEvent], until reached: Instant) {
        var open = Open(rules.map { $0.tells(atMost: tellsFor) })
        for event in events where rules.indices.contains(event.rule) {
            open.take(event, into: &self.notifications)
        }
        active = open.close(\.active, at: reached)
        annunciating = open.close(\.annunciating, at: reached)
        telling = open.close(\.telling, at: reached)
        acknowledgeDelays = open.delays
    }

    /// The union over these rules.
    package static func union(_ sets: [IntervalSet], of rules: [Int]) -> IntervalSet {
        IntervalSet(rules.flatMap { sets[$0].intervals })
    }

    private struct Track {
        var since: Instant?
        /// Then it ends by itself.
        var until = Instant.distantFuture
        var spans: [Interval] = []

        mutating func begin(_ instant: Instant) { since = since ?? instant }
        /// Begins or goes on, to last for `length` from now.
        mutating func begin(_ instant: Instant, lasting length: Int64) {
            if until < instant { end(instant) }
            begin(instant)
            until = instant.adding(min(length, Instant.distantFuture.nanoseconds - instant.nanoseconds))
        }
        mutating func end(_ instant: Instant) {
            if let began = since { spans.append(Interval(began, min(instant, until))) }
            (since, until) = (nil, .distantFuture)
        }
    }

    private struct Open {
        struct Rule {
            var active = Track()
            var annunciating = Track()
            var telling = Track()
            /// How long a notification tells at most, ns.
            var tells: Int64
            var raisedAt: Instant?

            mutating func silence(_ now: Instant) {
                annunciating.end(now)
                telling.end(now)
            }
        }
        var rules: [Rule]
        var delays: [Int64] = []

        init(_ tells: [Int64]) { rules = tells.map { Rule(tells: $0) } }

        mutating func take(_ event: AlertEvent, into notifications: inout [(instant: Instant, rule: Int)]) {
            let (rule, now) = (event.rule, event.instant)
            switch event.kind {
            case .raise:
                rules[rule].active.begin(now)
                rules[rule].raisedAt = now
            case .notify:
                rules[rule].active.begin(now)
                rules[rule].annunciating.begin(now)
                rules[rule].telling.begin(now, lasting: rules[rule].tells)
                notifications.append((now, rule))
            case .acknowledge:
                rules[rule].silence(now)
                acknowledged(rule, now)
            case .snooze, .withdraw:
                rules[rule].silence(now)
                // Only the system had rung, and nothing came of it.
                if event.kind == .withdraw, rules[rule].raisedAt == nil { rules[rule].active.end(now) }
            case .clear, .close:
                if event.kind == .close { acknowledged(rule, now) }
                rules[rule].silence(now)
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

extension AlertRule {
    /// How long one of its notifications counts as telling, ns: its repeat interval, and no longer than `longest`.
    package func tells(atMost longest: Int64) -> Int64 { min(repeatEvery ?? longest, longest) }
}
