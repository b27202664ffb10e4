// What a launch goes on from.
//
// Guarantees: a loop that died goes on from its state at death; a state that another algorithm, version or type left is begun anew, and the algorithm hears of the
// hours before.
// Does not: outlive the process. A journal that is lived again does (`LiveReplay`).

import IsletDevices
public import IsletKernel

extension LoopController {
    /// Goes on from the state at death, where there is one.
    func takeUpLife() {
        guard let known = atDeath.state ?? adopted else { return }
        memory = known
        takeUpState()
    }

    /// A state of another algorithm, version or type is not understood: the algorithm starts with a new one, and is told what the account
    /// knows of the hours before.
    func takeUpState() {
        guard let stored = memory.algorithm else { return }
        let mine = AlgorithmIdentity(algorithm)
        state.clear()
        guard stored != mine || memory.algorithmState.map(state.restore) == false else { return }
        memory.refusedState = stored
        memory.algorithm = mine
        memory.beginAnew()
        journal.record(
            .stateRefused, at: executor.now, UInt64(bitPattern: Int64(stored.version)),
            UInt64(bitPattern: Int64(mine.version)))
    }

    /// The outcome of a request.
    func noteOutcome(of requestID: Int64, accepted: InsulinAmount?, pumpError: String) {
        log?.settle(requestID, accepted: accepted, pumpError: pumpError)
        account.settle(requestID, accepted: accepted)
    }
}

extension EventKind {
    /// A saved state of another algorithm, version or type was refused. Words: version of the state, of the algorithm.
    public static let stateRefused = EventKind(0x321, "stateRefused")
}
