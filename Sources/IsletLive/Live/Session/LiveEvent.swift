// What happened in a live session, as it is told.
//
// Guarantees: plain values, the same after a replay.

package import IsletDevices
package import IsletKernel

/// One thing that happened, with its place among all that happened in the session: the same after a replay.
package struct LiveEvent: Hashable, Sendable {
    /// From 1, without a gap.
    package var number: Int
    package var instant: Instant
    package var text: String
    /// What the alert center did, where that is what happened.
    package var alert: AlertRow?
    /// What the person read then; empty for what shows nothing.
    package var message = ""
    /// What they should do then.
    package var action = ""

    package init(
        number: Int, instant: Instant, text: String, alert: AlertRow? = nil, message: String = "",
        action: String = ""
    ) {
        self.number = number
        self.instant = instant
        self.text = text
        self.alert = alert
        self.message = message
        self.action = action
    }
}
