// An algorithm with what it remembers.
//
// Guarantees: one type for all algorithms, so that the loop knows none of them; a step costs no allocation for a state of plain
// values.

import Devices

/// An algorithm with its state, and a copy to go back to when a step fails. `TypedRun` is the only one.
class AlgorithmRun: @unchecked Sendable {
    /// The algorithm with a new state.
    static func of(_ algorithm: any DosingAlgorithm) -> AlgorithmRun {
        func typed<Algorithm: DosingAlgorithm>(_ algorithm: Algorithm) -> AlgorithmRun {
            TypedRun(algorithm)
        }
        return typed(algorithm)
    }

    func run(_ input: borrowing StepInput) throws -> StepOutput { StepOutput() }
    /// The state goes back to what it was before the last `run`.
    func undo() {}
    /// A new state.
    func clear() {}
    var saved: SavedState { SavedState(NoState()) }
    /// Says whether it is a state of this algorithm's type.
    func restore(_ saved: SavedState) -> Bool { false }
}

private final class TypedRun<Algorithm: DosingAlgorithm>: AlgorithmRun, @unchecked Sendable {
    private let algorithm: Algorithm
    private var state = Algorithm.State()
    private var before = Algorithm.State()

    init(_ algorithm: Algorithm) { self.algorithm = algorithm }

    override func run(_ input: borrowing StepInput) throws -> StepOutput {
        before = state
        return try algorithm.run(input, state: &state)
    }

    override func undo() { state = before }
    override func clear() { state = Algorithm.State() }
    override var saved: SavedState { SavedState(state) }

    override func restore(_ saved: SavedState) -> Bool {
        guard let state = saved.value as? Algorithm.State else { return false }
        self.state = state
        return true
    }
}
