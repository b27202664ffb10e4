// Runs the cases of a scenario and says what differs.

import IsletAlerts
import IsletDevices
import IsletKernel

/// What one case came to.
package struct AlertCaseResult: Sendable {
    package var name: String
    /// Empty where the case passed; else a diff, line by line.
    package var differences: [String]
    package var passed: Bool { differences.isEmpty }
}

extension AlertScenario.Case {
    /// Runs the case in virtual time.
    package func run() -> AlertCaseResult {
        var world = world
        var differences: [String] = []
        var moments: [(at: Instant, events: [AlertWorldEvent]?, state: AlertScenario.StateExpectation?)] =
            timeline.filter { $0.at <= until }.map { ($0.at, $0.events, nil) }
        if moments.first?.at != .start { moments.insert((.start, [], nil), at: 0) }
        for state in states {
            // Behind everything of its instant.
            let place = moments.firstIndex { $0.at > state.at } ?? moments.count
            moments.insert((state.at, nil, state), at: place)
        }
        for moment in moments {
            if let events = moment.events {
                world.run(to: moment.at.adding(-1))
                world.happen(events, at: moment.at)
            } else if let state = moment.state {
                world.run(to: state.at)
                differences += Self.compare(state, world)
            }
        }
        world.run(to: until)
        differences = compareEffects(world.effects) + differences
        differences += world.idle.map { "! { at: \(Self.time($0.at)), \($0.event.words) } did nothing" }
        return AlertCaseResult(name: name, differences: differences)
    }

    // MARK: Effects

    private func compareEffects(_ all: [AlertEffect]) -> [String] {
        let got = all.filter { effect in
            guard compare.contains(effect.kind), effect.instant <= until else { return false }
            // What nobody has seen yet is withdrawn as silently as it was scheduled.
            return effect.kind != .withdraw || effect.wasDelivered || compare.contains(.schedule)
        }
        let isSame = got.count == expect.count && zip(expect, got).allSatisfy { Self.matches($0, $1) }
        return isSame ? [] : diff(got)
    }

    private static func matches(_ expected: AlertScenario.Expectation, _ got: AlertEffect) -> Bool {
        guard expected.at == got.instant, expected.kind == got.kind, expected.code == got.code else {
            return false
        }
        if let severity = expected.severity, severity != got.severity.name { return false }
        if let reason = expected.reason, reason != got.reason.rawValue { return false }
        if let part = expected.messageContains, !got.message.text.contains(part) { return false }
        if let to = expected.to, to != got.to { return false }
        return true
    }

    /// The longest common subsequence as a diff: `-` was expected and did not happen, `+` happened.
    private func diff(_ got: [AlertEffect]) -> [String] {
        let (a, b) = (expect, got)
        var length = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in stride(from: a.count - 1, through: 0, by: -1) {
            for j in stride(from: b.count - 1, through: 0, by: -1) {
                length[i][j] =
                    Self.matches(a[i], b[j])
                    ? length[i + 1][j + 1] + 1 : max(length[i + 1][j], length[i][j + 1])
            }
        }
        var lines: [String] = []
        var (i, j) = (0, 0)
        while i < a.count || j < b.count {
            if i < a.count, j < b.count, Self.matches(a[i], b[j]) {
                lines.append("  " + Self.text(a[i]))
                i += 1
                j += 1
            } else if j == b.count || (i < a.count && length[i + 1][j] >= length[i][j + 1]) {
                lines.append("- " + Self.text(a[i]))
                i += 1
            } else {
                lines.append("+ " + Self.text(b[j], for: i < a.count ? a[i] : nil))
                j += 1
            }
        }
        return lines
    }

    private static func time(_ instant: Instant) -> String {
        let text = TimeSpan(nanoseconds: instant.nanoseconds).description
        return instant.nanoseconds % 1_000_000_000 == 0
            ? text : "\(text)+\(instant.nanoseconds % 1_000_000_000)ns"
    }

    private static func text(_ expected: AlertScenario.Expectation) -> String {
        var text = "{ at: \(time(expected.at)), \(expected.kind.rawValue): \(expected.code)"
        if let severity = expected.severity { text += ", severity: \(severity)" }
        if let reason = expected.reason { text += ", reason: \(reason)" }
        if let part = expected.messageContains { text += ", message: { contains: \"\(part)\" }" }
        if let to = expected.to { text += ", to: \(to)" }
        return text + " }"
    }

    private static func text(_ got: AlertEffect, for expected: AlertScenario.Expectation?) -> String {
        var text =
            "{ at: \(time(got.instant)), \(got.kind.rawValue): \(got.code), severity: \(got.severity.name)"
        text += ", reason: \(got.reason.rawValue)"
        if got.kind == .route { text += ", to: \(got.to)" }
        if expected?.messageContains != nil { text += ", message: \"\(got.message)\"" }
        return text + " }"
    }

    // MARK: States

    private static func compare(_ state: AlertScenario.StateExpectation, _ world: AlertWorld) -> [String] {
        let engine =
            world.app?.flow.engine
            ?? AlertEngine(
                policy: PreparedPolicy(world.policy), wallClock: world.wallClock, state: world.memory.center)
        var lines: [String] = []
        func check(_ key: String, _ expected: [AlertName]?, _ got: [AlertName]) {
            guard let expected, expected != got else { return }
            lines.append(
                "- { at: \(time(state.at)), \(key): [\(expected.map(\.rawValue).joined(separator: ", "))] }")
            lines.append(
                "+ { at: \(time(state.at)), \(key): [\(got.map(\.rawValue).joined(separator: ", "))] }")
        }
        check("active", state.active, engine.active.map(\.code))
        check("pending", state.pending?.sorted(), engine.pending)
        check("cleared", state.cleared, engine.state.recentlyCleared.map(\.alert.code))
        func check<Value: Equatable>(
            _ key: String, _ expected: Value?, _ got: Value, _ text: (Value) -> String
        ) {
            guard let expected, expected != got else { return }
            lines.append("- { at: \(time(state.at)), \(key): \(text(expected)) }")
            lines.append("+ { at: \(time(state.at)), \(key): \(text(got)) }")
        }
        check("badge", state.badge, engine.badge) { "\($0)" }
        check("banner", state.banner, world.app?.banner(at: state.at)?.code.rawValue ?? "") {
            $0.isEmpty ? AlertScenario.noBanner : $0
        }
        check("quiet", state.quiet, engine.isQuiet(at: state.at)) { "\($0)" }
        return lines
    }
}
