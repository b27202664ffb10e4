// What the alert center has to show at an instant, in one look.

public import IsletDevices
import IsletKernel

/// Plain values.
public struct AlertFace: Sendable {
    public var active: [ActiveAlert]
    /// Newest first.
    public var cleared: [ClearedAlert]
    /// Codes whose condition holds, and whose episode has not begun.
    public var waiting: [AlertName]
    /// Whether quiet hours are on.
    public var isQuiet: Bool
    public var isForeground: Bool
    public var isSignedIn: Bool
    /// What the cloud says of the subject's claim.
    public var isClaimOk: Bool
    /// What is on the screen while the app is in front; nil where nothing is.
    public var banner: AlertBanner?
    /// Banners of thresholds that nobody has put away and whose time isn't over, whether or not the app is in the foreground.
    public var waitingBanners: [AlertBanner]
    /// Snoozes of active alerts, with their ends.
    public var snoozes: [AlertSnooze]
}

extension AlertCenter {
    /// What the rules judge by at this instant; nil where it is stale or was never measured.
    public func known(_ metric: AlertMetric) -> (value: Double, ageNanoseconds: Int64)? {
        app.flow.engine.known(metric, at: executor.now)
    }

    /// The comparisons of an effect's rule.
    public func tests(of effect: AlertEffect) -> [MetricTest] {
        prepared.policy.rules.indices.contains(effect.rule)
            && prepared.policy.rules[effect.rule].code == effect.code
            ? prepared.policy.rules[effect.rule].tests : []
    }

    public var face: AlertFace {
        let now = executor.now
        let engine = app.flow.engine
        return AlertFace(
            active: engine.activeNow(at: now), cleared: engine.state.recentlyCleared, waiting: engine.pending,
            isQuiet: engine.isQuiet(at: now), isForeground: isForeground,
            isSignedIn: app.flow.environment.isSignedIn, isClaimOk: app.flow.environment.isClaimOk,
            banner: app.banner(at: now), waitingBanners: app.waitingBanners(at: now),
            snoozes: engine.snoozes(at: now))
    }
}
