// What the journal calls an effect of an alert.

public import IsletKernel

extension EventKind {
    /// Words: rule's place in the policy, effect, severity, reason.
    public static let alertEffect = EventKind(0x400, "alertEffect")
}
