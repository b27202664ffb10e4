// Algorithms that answer from outside of a session, such as another process, which holds their state.
//
// Guarantees: a question says all that its answer may depend on: the input, whether the state begins anew, and whether the last answer was not used, so that the
// state goes back to what it was before. A loop that dies and is launched again goes on from the state that is out there.
// Does not: ask; whoever advances the session does.

/// What a step asks of an algorithm outside. A reference: an input is large, and goes through many hands.
public final class StepQuestion: Sendable {
    public let input: StepInput
    /// The state is to begin anew at this step.
    public let beginsAnew: Bool
    /// The last answer was not used: the state goes back to what it was before it.
    public let undoesLast: Bool

    public init(input: consuming StepInput, beginsAnew: Bool, undoesLast: Bool) {
        self.input = input
        (self.beginsAnew, self.undoesLast) = (beginsAnew, undoesLast)
    }
}

/// What an algorithm outside says.
public enum StepAnswer: Sendable {
    case dose(StepOutput)
    /// The step fails, and why.
    case failed(String)
}

/// What a step that is held asks: its algorithm, where that is outside, and who listens beside it.
public struct HeldQuestion: Sendable {
    /// The first that is asked: both questions have the step's input.
    public let asked: StepQuestion
    private let isOfAlgorithm: Bool
    /// Who listens beside an algorithm outside.
    private let beside: StepQuestion?

    public init(algorithm: StepQuestion, listener: StepQuestion? = nil) {
        (asked, isOfAlgorithm, beside) = (algorithm, true, listener)
    }

    public init(listener: StepQuestion) { (asked, isOfAlgorithm, beside) = (listener, false, nil) }

    /// nil where the algorithm is built in.
    public var algorithm: StepQuestion? { isOfAlgorithm ? asked : nil }
    /// nil where nobody listens.
    public var listener: StepQuestion? { isOfAlgorithm ? beside : asked }
}

/// What is said to it.
public struct HeldAnswer: Sendable {
    /// nil where the algorithm is built in.
    public var algorithm: StepAnswer?
    /// Numbers of the algorithm and of a program that listens; nil where neither has any by name, empty where none came.
    public var numbers: [OwnNumber]?
    /// Who listens has failed: its state goes back, and nobody's insulin hangs on it.
    public var hasListenerFailed = false

    public init(algorithm: StepAnswer? = nil, numbers: [OwnNumber]? = nil) {
        (self.algorithm, self.numbers) = (algorithm, numbers)
    }
}

/// An algorithm that answers from outside: the loop holds its session at each question.
public protocol OutsideAlgorithm: DosingAlgorithm where State == OutsideState {}

extension OutsideAlgorithm {
    public var answersOutside: Bool { true }
    public func makeCell() -> StateCell { OutsideCell() }

    /// - Throws: always: nobody is asked without a hold.
    public func run(_ input: borrowing StepInput, state: inout OutsideState) throws -> StepOutput {
        throw NobodyAsked()
    }
}

/// A step was run at once whose algorithm answers from outside.
public struct NobodyAsked: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "the algorithm answers from outside, and nobody asked it" }
}

/// Stands for the state that is outside: which answer left it, and whether it is to be forgotten.
public struct OutsideState: AlgorithmState {
    /// How many questions it has been asked.
    public var asked: Int64 = 0
    /// The next one begins it anew.
    public var beginsAnew = true

    public init() {}
}

/// Knows which state is out there. Belongs to the session's thread.
public final class OutsideCell: StateCell, @unchecked Sendable {
    private var state = OutsideState()
    private var undoesLast = false

    public override init() {}

    public override func undo() { undoesLast = true }
    public override func clear() { state.beginsAnew = true }
    public override var saved: SavedState { SavedState(state) }

    /// The one that is out there, or none. One that had not begun when the loop died, or was to begin anew, still is.
    public override func restore(_ saved: SavedState) -> Bool {
        guard let known = saved.value as? OutsideState, known.asked == state.asked else { return false }
        state = known
        return true
    }

    /// What the next step asks.
    public func question(_ input: consuming StepInput) -> StepQuestion {
        defer {
            state.asked += 1
            state.beginsAnew = false
            undoesLast = false
        }
        return StepQuestion(
            input: input, beginsAnew: state.beginsAnew, undoesLast: undoesLast && !state.beginsAnew)
    }
}
