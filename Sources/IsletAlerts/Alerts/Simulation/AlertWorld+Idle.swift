// What a scenario says and what nothing comes of.

package import IsletKernel

extension AlertWorld {
    /// An event of which nothing could come: nobody was there to hear it, something else speaks in its place, or all that was said of its instant was so before.
    package struct Idle: Hashable, Sendable {
        package var at: Instant
        package var event: AlertWorldEvent
    }

    /// Whether an event says of the world what is so already.
    func isSo(_ event: AlertWorldEvent) -> Bool {
        switch event {
        case .app(let state): state == appState
        case .loop(let state): state != .reset && environment.isArmed == (state == .armed)
        case .steps(let isRunning): stepsRun == isRunning
        case .pod(let isActive): environment.hasPod == isActive
        case .podExpires(let span): environment.podExpiresAt == now.adding(span)
        case .cgmState(let state): environment.cgmState == state
        case .cgmLifecycle(let state): environment.cgmLifecycle == state
        case .glucose(let value): glucose == value
        case .clockSkew(let seconds): environment.clockSkewSeconds == seconds
        case .environment(let flag): environment[keyPath: flag.path] == flag.value
        case .zone(let zone): wallClock.zone == zone
        case .readings(let isRunning): readingsRun == isRunning
        case .handlers(let pump, let cgm):
            (pump ?? environment.isPumpHandlerRegistered) == environment.isPumpHandlerRegistered
                && (cgm ?? environment.isCGMHandlerRegistered) == environment.isCGMHandlerRegistered
        case .timeChange(let jump): jump == 0
        case .relaunch, .reading, .value, .step, .user: false
        }
    }
}
