// What was shown in front only, because the app was open, and is notified after all.
//
// Guarantees: thresholds have it, unless their policy says otherwise; the catalogue's own flow has it where a policy asks for it.

import IsletDevices
import IsletKernel

/// Lengths of time since an alert was shown in front, ns; zero for never.
public struct AfterFront: Hashable, Sendable, Codable {
    /// The front was left, or turns out to have been left, within so long: notified then.
    public var left = 15 * Nanoseconds.second
    /// Urgent, and nobody answered for so long: notified then.
    public var unanswered = 5 * Nanoseconds.minute

    public init() {}
}

extension AlertPolicy {
    /// What holds for `rule`; nil where what was shown in front is never notified.
    func afterFront(of rule: AlertRule) -> AfterFront? {
        if rule.isLiteral || notifiesInForeground { return nil }
        return afterFront ?? (rule.code.isOfThreshold ? AfterFront() : nil)
    }
}
