// An algorithm that hands its steps to another.
//
// Guarantees: to the loop and the person it is that other one (`AlgorithmWrapper`); the other one's state is its own.

import IsletDevices

protocol HandingAlgorithm: AlgorithmWrapper where State == HandedState {
    /// Who is asked.
    var current: any DosingAlgorithm { get }

    func run<Algorithm: DosingAlgorithm>(
        _ algorithm: Algorithm, _ input: borrowing StepInput, _ state: inout HandedState
    ) throws -> StepOutput
}

extension HandingAlgorithm {
    var wrapped: any DosingAlgorithm { current }

    func run(_ input: borrowing StepInput, state: inout HandedState) throws -> StepOutput {
        try run(current, input, &state)
    }
}

/// The state of whoever is asked; kept in memory only.
struct HandedState: AlgorithmState {
    var saved: SavedState?

    init() {}

    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws { try saved?.encode(to: encoder) }
}
