// A policy over inputs that are written down: what it does, and what stood in its way.
//
// Guarantees: the app is judged at each instant with inputs and at each of its deadlines, and at no other; equal tapes give equal runs.
// Does not: kill the app or show anything. `AlertWorld` does, which the programs run.

import IsletAlerts
import IsletDevices
import IsletKernel

/// Inputs by instant.
struct AlertTape: Sendable {
    var inputs: [(at: Instant, input: AlertInput)]
    var wallClock: WallClock
    var environment = AppEnvironment()

    init(_ inputs: [(at: Instant, input: AlertInput)], wallClock: WallClock) {
        self.inputs = inputs.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        self.wallClock = wallClock
    }

    /// What a policy makes of the tape, the app being in the background at its start.
    /// - Parameters:
    ///   - looks: where the app is judged besides; that changes nothing.
    ///   - keepsBlame: whether the log is kept; that changes nothing else.
    /// - Returns: the effects, and the log up to `end`.
    func run(
        _ policy: AlertPolicy, until end: Instant, looks: [Instant] = [], keepsBlame: Bool = true
    ) throws -> (effects: [AlertEffect], blame: BlameLog?) {
        var app = try AlertApp(
            policy: PreparedPolicy(policy), wallClock: wallClock, environment: environment)
        if keepsBlame { app.flow.engine.keepBlame(from: .start) }
        try app.launch(inForeground: false, at: .start)
        var effects: [AlertEffect] = []
        var (now, next, look) = (Instant.start, 0, 0)
        while now < end {
            while next < inputs.count, inputs[next].at == now {
                if case .metric(let metric, let value, let sampledAt) = inputs[next].input {
                    // As in a session: what says nothing new costs no judgement.
                    _ = app.flow.hear(metric, value, sampledAt: sampledAt, at: now)
                } else {
                    try app.apply(inputs[next].input, at: now)
                }
                next += 1
            }
            effects += try app.settle(at: now)
            var later = app.flow.nextDeadline(after: now) ?? end
            if next < inputs.count { later = min(later, inputs[next].at) }
            while look < looks.count, looks[look] <= now { look += 1 }
            if look < looks.count { later = min(later, looks[look]) }
            now = later
        }
        return (effects, app.flow.engine.takeBlame(at: end))
    }
}
