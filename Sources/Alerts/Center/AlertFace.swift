// What the alert center has to show at an instant, in one look.

public import Records
import SimulationKernel

/// Plain values.
public struct AlertFace: Sendable {
    public var active: [ActiveAlert]
    /// Newest first.
    public var cleared: [ClearedAlert]
    /// Codes whose condition holds, and whose episode has not begun.
    public var waiting: [AlertName]
    /// Quiet hours are on.
    public var isQuiet: Bool
    public var isForeground: Bool
    public var isSignedIn: Bool
    /// What the cloud says of the subject's claim.
    public var isClaimOk: Bool
    /// What is on the screen while the app is in front; nil where nothing is.
    public var banner: AlertBanner?
}

extension AlertCenter {
    public var face: AlertFace {
        let now = executor.now
        let engine = app.flow.engine
        return AlertFace(
            active: engine.active, cleared: engine.state.recentlyCleared, waiting: engine.pending,
            isQuiet: engine.isQuiet(at: now), isForeground: isForeground,
            isSignedIn: app.flow.environment.isSignedIn, isClaimOk: app.flow.environment.isClaimOk,
            banner: app.banner(at: now))
    }
}
