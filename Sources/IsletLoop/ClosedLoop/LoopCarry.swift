// What a loop hands on to the loop of another engine.
//
// Guarantees: everything that a relaunch goes on from, insulin of the last eight hours, what is owed, withheld, missing and
// under way, and the person's settings and therapy. What the algorithm itself remembered stays behind: another engine's may mean something else by
// it, and it begins anew with the insulin of those hours, as after any change of algorithm.
// Does not: hold for a loop with a store; that one is the store's to hand on.

package import IsletDevices
import IsletKernel

/// A loop's memory and account between two engines.
package struct LoopCarry: Hashable, Sendable, Codable {
    /// Without the algorithm's own state.
    var memory: LoopMemory
    /// Steps of the last eight hours, oldest first.
    var steps: [StepInsulin]
    var subjectID: String
    var therapy: TherapySettings
    var target: GlucoseConcentration

    /// The newest bolus request whose outcome nobody knows yet; nil where none is under way.
    package var unconfirmed: InsulinAmount? { memory.request?.amount }
    /// Insulin of those steps; a request that nobody has answered for counts as given.
    package var insulin: InsulinAmount { steps.reduce(.zero) { $0 + ($1.accepted ?? $1.requested ?? .zero) } }
    /// The number of the next step.
    package var nextStep: Int64 { memory.algorithmTime }
}

extension LoopController {
    /// What another engine goes on from.
    package var carry: LoopCarry {
        var memory = memory
        memory.algorithmState = nil
        return LoopCarry(
            memory: memory,
            steps: account.rows(since: executor.now.adding(-LoopTiming.insulinMemory)),
            subjectID: settings.subjectID, therapy: settings.therapy, target: settings.target)
    }

    /// Goes on from another engine's loop. To be called before it is launched.
    package func adopt(_ carry: LoopCarry) {
        var memory = carry.memory
        memory.algorithm = memory.isInSession ? AlgorithmIdentity(algorithm) : nil
        memory.beginAnew()
        adopted = memory
        account = InsulinAccount(carry.steps)
        (settings.subjectID, settings.therapy) = (carry.subjectID, carry.therapy)
        settings.target = carry.target
    }
}
