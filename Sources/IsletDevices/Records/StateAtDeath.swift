// What the launch of an app goes on from: one rule for the loop and for the alert center.
//
// An app that dies between two instants, as virtual ones do, had finished what it was doing. Its launch goes on from its state at
// death, whether it has a store, has none, or has one that can't write or be read. Its store is told that state too, at the death
// or as soon as it writes again. An app that may die at any moment keeps nothing here: its launch goes on from what its store holds.
//
// Guarantees: a dead app doesn't die again; the state serves one launch.
// Does not: write to a store, or read one. Its owner does.

public struct StateAtDeath<State: Sendable>: Sendable {
    /// Whether the app dies between two instants and at no other moment.
    public let isKept: Bool
    /// What a launch goes on from, before any store; nil where nothing is kept.
    public private(set) var state: State?

    public init(diesBetweenInstants: Bool) { isKept = diesBetweenInstants }

    /// Whether a death now is one whose state is to be kept.
    public var awaitsDeath: Bool { isKept && state == nil }

    /// The app dies with this state.
    public mutating func keep(_ state: State) {
        if awaitsDeath { self.state = state }
    }

    /// The app lives again.
    public mutating func discard() { state = nil }
}
