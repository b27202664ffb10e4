// What happens in a scenario, as its timeline says it.

import IsletAlerts
import IsletDevices

extension AlertWorldEvent {
    /// The entry of a timeline that means it.
    var words: String {
        func either(_ isFirst: Bool, _ first: String, _ second: String) -> String { isFirst ? first : second }
        switch self {
        case .app(let state): return "app: \(state.rawValue)"
        case .relaunch: return "app: relaunch"
        case .loop(let state): return "loop: \(state.rawValue)"
        case .steps(let isRunning): return "steps: " + either(isRunning, "running", "stopped")
        case .pod(let isActive): return "pod: " + either(isActive, "active", "none")
        case .podExpires(let span): return "podExpiresIn: \(TimeSpan(nanoseconds: span))"
        case .cgmState(let state): return "cgmState: \(state)"
        case .cgmLifecycle(let state): return "cgmLifecycle: \(state.rawValue)"
        case .glucose(let value): return "glucose: \(value)"
        case .clockSkew(let seconds): return "clockSkew: " + (seconds.map { "\($0) s" } ?? "unavailable")
        case .environment(let flag):
            return ScenarioWorld.changing.lazy.compactMap { $0.words(flag) }.first ?? ""
        case .zone(let zone): return "timeZone: \(zone.name)"
        case .reading(let value, _, _): return "reading: { glucose: \(value) }"
        case .value(let metric, let value): return "\(metric.rawValue): \(value)"
        case .readings(let isRunning): return "readings: " + either(isRunning, "running", "stopped")
        case .step(let succeeded): return "step: " + either(succeeded, "ok", "failed")
        case .handlers: return "handlers"
        case .timeChange(let jump): return "timeChange: \(TimeSpan(nanoseconds: jump))"
        case .user(let input): return input.words
        }
    }
}

extension AlertInput {
    fileprivate var words: String {
        switch self {
        case .acknowledge(let code): "user: { acknowledge: \(code) }"
        case .dismiss(let code): "user: { dismiss: \(code) }"
        case .snooze(let code, _): "user: { snooze: \(code) }"
        case .tap(let code): "user: { tap: \(code) }"
        case .preview(let code): "preview: \(code)"
        case .testAlert(let code): "testAlert: \(code)"
        case .settingsSaved: "settingsSaved"
        case .settingsOpened: "settingsOpened"
        case .pumpIssue(let issue, _): "pumpAlert: { issue: \(issue) }"
        case .pumpRetract(let issue): "pumpAlert: { retract: \(issue) }"
        case .cgmIssue(let issue, _): "cgmAlert: { issue: \(issue) }"
        case .cgmRetract(let issue): "cgmAlert: { retract: \(issue) }"
        case .environment, .loopReset, .step, .metric, .foreground, .background, .wallClock, .bannerShown:
            "\(self)"
        }
    }
}
