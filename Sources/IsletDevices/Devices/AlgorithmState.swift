// What an algorithm remembers, of whatever type, and a copy to go back to.
//
// Guarantees: the loop holds the state of any algorithm without knowing its type; a step costs no allocation for a state of plain values.

/// What an algorithm remembers from step to step. A new one is what the first step gets.
///
/// Plain values cost a step nothing; what allocates, such as an array, does so in each step that changes it.
public protocol AlgorithmState: Codable, Hashable, Sendable {
    init()
}

/// For algorithms that remember nothing.
public struct NoState: AlgorithmState {
    public init() {}
}

/// A state of whatever type. A store writes it as it encodes itself, and reads it by the algorithm whose it is:
///
///     let text = try JSONEncoder().encode(saved)
///     let again = try SavedState(of: algorithm, from: decoder)
///
/// A class, because a struct with a value of any type in it is copied whole for each of its fields, and so is what holds it.
public final class SavedState: Hashable, Sendable, Codable {
    public let value: any AlgorithmState

    public init(_ value: any AlgorithmState) { self.value = value }

    public init(of algorithm: some DosingAlgorithm, from decoder: any Decoder) throws {
        func state<Algorithm: DosingAlgorithm>(_: Algorithm) throws -> Algorithm.State {
            try Algorithm.State(from: decoder)
        }
        value = try state(algorithm)
    }

    /// - Throws: always; whoever knows whose it is reads it with `init(of:from:)`.
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "a state is read by its algorithm"))
    }

    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

    public static func == (a: SavedState, b: SavedState) -> Bool {
        func isEqual<State: AlgorithmState>(_ state: State) -> Bool { b.value as? State == state }
        return isEqual(a.value)
    }

    public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

/// Where the loop keeps an algorithm's state. Belongs to the session's thread.
public class StateCell: @unchecked Sendable {
    @usableFromInline init() {}

    /// The state goes back to what it was before the last step.
    public func undo() {}
    /// A new state.
    public func clear() {}
    public var saved: SavedState { SavedState(NoState()) }
    /// Says whether it is a state of this cell's type.
    public func restore(_ saved: SavedState) -> Bool { false }
}

/// A cell of one type: what an algorithm's own step reads and writes.
@usableFromInline
final class TypedCell<State: AlgorithmState>: StateCell, @unchecked Sendable {
    @usableFromInline var state = State()
    @usableFromInline var before = State()

    @usableFromInline override init() {}

    override func undo() { state = before }
    override func clear() { state = State() }
    override var saved: SavedState { SavedState(state) }

    override func restore(_ saved: SavedState) -> Bool {
        guard let state = saved.value as? State else { return false }
        self.state = state
        return true
    }
}

/// A step was handed another algorithm's cell.
public struct ForeignState: Error {
    @usableFromInline init() {}
}

// Inlinable, so that each algorithm's module makes code of its own for them: the loop then calls an algorithm at the cost of one
// indirect call.
extension DosingAlgorithm {
    @inlinable
    public func makeCell() -> StateCell { TypedCell<State>() }

    @inlinable
    public func step(_ input: borrowing StepInput, _ cell: StateCell) throws -> StepOutput {
        guard type(of: cell) == TypedCell<State>.self else { throw ForeignState() }
        // A checked cast would count references at each step.
        let cell = unsafeDowncast(cell, to: TypedCell<State>.self)
        cell.before = cell.state
        return try run(input, state: &cell.state)
    }
}
