// What a policy's alerts did, as far as metrics ask.
//
// Guarantees: one event an effect of the engine that begins or ends something for the person; tests, previews and whatever nobody notices are none.

package import IsletKernel

/// One thing that happened to an alert of a rule.
package struct AlertEvent: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// An episode begins.
        case raise
        /// A notification: the first of an episode or a later one.
        case notify
        case acknowledge
        /// Acknowledged, and over by that.
        case close
        case snooze
        case clear
        /// What was shown is taken away.
        case withdraw
    }

    package var instant: Instant
    /// The rule's place in the policy.
    package var rule: Int
    package var kind: Kind

    package init(_ instant: Instant, _ rule: Int, _ kind: Kind) {
        self.instant = instant
        self.rule = rule
        self.kind = kind
    }

    /// nil for what no metric asks about.
    package init?(_ effect: AlertEffect) {
        self.init(
            effect.instant, rule: effect.rule, effect.kind, effect.reason, wasDelivered: effect.wasDelivered)
    }

    /// Makes an event from an effect's parts, as a store keeps them.
    package init?(
        _ instant: Instant, rule: Int, _ effect: AlertEffect.Kind, _ reason: AlertEffect.Reason,
        wasDelivered: Bool = true
    ) {
        guard reason != .preview, reason != .test else { return nil }
        switch effect {
        case .raise: self.init(instant, rule, .raise)
        case .notify: self.init(instant, rule, .notify)
        case .clear: self.init(instant, rule, reason == .acknowledged ? .close : .clear)
        case .withdraw where wasDelivered: self.init(instant, rule, .withdraw)
        case .acknowledge: self.init(instant, rule, .acknowledge)
        case .snooze: self.init(instant, rule, .snooze)
        case .withdraw, .update, .route, .refresh, .suppress, .schedule, .wait, .drop: return nil
        }
    }
}
