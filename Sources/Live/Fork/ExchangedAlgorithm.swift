// One algorithm up to a moment, and another from there.
//
// Guarantees: either gets its own state and what the loop tells it; until the moment has come the session is what it is without this, to the digest.
// Does not: tell the loop that the moment has come (`LoopController.algorithmDidChange` does).

import Devices

struct ExchangedAlgorithm: HandingAlgorithm {
    /// Whether the moment has come. Belongs to the session's thread.
    final class Moment: @unchecked Sendable {
        var hasCome = false
    }

    let before: any DosingAlgorithm
    let after: any DosingAlgorithm
    let moment: Moment

    var current: any DosingAlgorithm { moment.hasCome ? after : before }

    func run<Algorithm: DosingAlgorithm>(
        _ algorithm: Algorithm, _ input: borrowing StepInput, _ state: inout HandedState
    ) throws -> StepOutput {
        var own = state.saved?.value as? Algorithm.State ?? Algorithm.State()
        let output = try algorithm.run(input, state: &own)
        state.saved = SavedState(own)
        return output
    }
}
