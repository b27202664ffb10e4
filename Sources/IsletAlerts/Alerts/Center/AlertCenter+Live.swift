// What a session in real time tells its alert center beside what a study does: other settings, and a clock that was set.
//
// Guarantees: settings take effect as at a launch of the app: what is remembered goes by code, an episode that no rule stands for any
// more is cleared, one that goes on has the severity that its rule gives it now. No timer hangs on the wall clock.

import IsletDevices
import IsletKernel

extension AlertCenter {
    func change(_ body: (inout AppEnvironment) -> Void) {
        var environment = app.flow.environment
        body(&environment)
        tell(.environment(environment))
    }

    /// Goes on under `policy` from this instant. Its rules begin with those of the policy before, in their order, so that counts and
    /// effects so far keep their rules.
    public func follow(_ policy: PreparedPolicy) {
        let now = executor.now
        guarding {
            for effect in try app.settle(at: now) { take(effect) }
            let blame = app.flow.engine.takeBlame(at: now)
            let launched = try AlertApp(
                policy: policy, wallClock: wallClock, environment: app.flow.environment, store: app.store,
                port: app.port, remembered: app.flow.rememberedMemory, bannerTime: app.bannerTime)
            earlierFailures += app.storeFailures
            app = launched
            prepared = policy
            watchesReservoir = policy.watchesReservoir
            watchesForecast.own = policy.watchesForecast
            counts.follow(policy.policy)
            app.flow.engine.inherit(blame, at: now)
            try app.launch(inForeground: isForeground, isNew: false, at: now)
            if atDeath.isKept { app.flow.engine.forgetSchedule() }
        }
        judgeLater()
    }

    /// Gives a dead app another policy, which it has at its next launch.
    public func followAtLaunch(_ policy: PreparedPolicy) {
        prepared = policy
        watchesReservoir = policy.watchesReservoir
        watchesForecast.own = policy.watchesForecast
        counts.follow(policy.policy)
    }

    /// The phone's clock was moved by so many nanoseconds; no answer about the true time comes with it, so all of it counts as skew.
    public func wallClockMoved(by nanoseconds: Int64) {
        var clock = wallClock
        clock.jump += nanoseconds
        let skew = Double(clock.jump) / Double(Nanoseconds.second)
        change { $0.clockSkewSeconds = skew }
        tell(.wallClock(clock))
    }

    /// What is said past a dead app, and is so all the same.
    func keepForLaunch(_ input: AlertInput) {
        switch input {
        case .wallClock(let clock):
            wallClock = clock
            shadows?.here(clock) { $0.keepForLaunch($1) }
        case .environment(let environment): app.flow.environment = environment
        default: break
        }
    }

    /// Somebody signed in or out, or the loop's session began or ended meanwhile.
    public func signedIn(_ isSignedIn: Bool, hasSession: Bool) {
        // Where no session is, no step is missed.
        change { ($0.isSignedIn, $0.hasSession, $0.isArmed) = (isSignedIn, hasSession, hasSession) }
    }

    /// What the cloud says of the subject's claim from now on; a dead app finds it at its launch.
    public func claimed(isOk: Bool) { change { $0.isClaimOk = isOk } }

    /// From here on a page that is the phone says when a banner's ten seconds are over. To be called before the session begins.
    public func letPhoneTimeBanners() { app.letPhoneTimeBanners() }

    /// The policy that holds now.
    public var currentPolicy: AlertPolicy { prepared.policy }
}
