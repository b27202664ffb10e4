// A step whose algorithm answers from outside of the session.
//
// Guarantees: the session is held at the question: nothing fires and no input enters until `answer`, which finishes the step, and what follows it, as if the
// algorithm had answered at once. However long an answer takes, the session is the same to the digest.
// Does not: ask. Whoever advances the session does.

public import IsletDevices
import IsletKernel

/// A step that has been asked and not answered.
struct HeldStep {
    var question: StepQuestion
    /// What the pump had given by itself when it was asked.
    var basalGiven: InsulinAmount?
}

extension LoopController {
    /// What the session is held at; nil where it isn't.
    public var question: StepQuestion? { held?.question }

    func ask(_ input: consuming StepInput, basalGiven: InsulinAmount?) {
        guard let cell = state as? OutsideCell else { return }
        held = HeldStep(question: cell.question(input), basalGiven: basalGiven)
        executor.hold()
    }

    /// Finishes the step that the session is held at.
    public func answer(_ answer: StepAnswer) throws {
        guard let step = held else { return }
        held = nil
        switch answer {
        case .dose(let output):
            try finish(
                step.question.input, output, Self.nonsense(in: output), basalGiven: step.basalGiven)
        case .failed(let cause):
            try finish(
                step.question.input, StepOutput(), cause.isEmpty ? "the algorithm failed" : cause,
                basalGiven: step.basalGiven)
        }
        schedule()
    }
}
