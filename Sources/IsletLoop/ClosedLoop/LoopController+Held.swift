// A step that somebody outside of the session is asked about: its algorithm, or who listens beside it.
//
// Guarantees: the session is held at the question: nothing fires and no input enters until `answer`, which finishes the step, and what follows it, as if it had
// been answered at once. However long an answer takes, the session is the same to the digest. Who only listens changes no dose: numbers go to the observers
// once the step is finished, with the minutes since there last were any.
// Does not: ask. Whoever advances the session does.

public import IsletDevices
import IsletKernel

/// A step that has been asked and not answered.
struct HeldStep {
    var input: StepInput
    var question: HeldQuestion
    /// What the pump had given by itself when it was asked.
    var basalGiven: InsulinAmount?
}

extension LoopController {
    /// What the session is held at; nil where it isn't.
    public var question: HeldQuestion? { held?.question }

    func ask(_ input: StepInput, basalGiven: InsulinAmount?) {
        let question = HeldQuestion(
            algorithm: (state as? OutsideCell)?.question(input), listener: listener?.question(input))
        held = HeldStep(input: input, question: question, basalGiven: basalGiven)
        executor.hold()
    }

    /// Finishes the step that the session is held at.
    public func answer(_ answer: HeldAnswer) throws {
        guard let step = held else { return }
        held = nil
        if answer.hasListenerFailed { listener?.undo() }
        switch answer.algorithm {
        case nil: try dose(step.input, basalGiven: step.basalGiven)
        case .dose(let output):
            try finish(step.input, output, Self.nonsense(in: output), basalGiven: step.basalGiven)
        case .failed(let cause):
            try finish(
                step.input, StepOutput(), cause.isEmpty ? "the algorithm failed" : cause,
                basalGiven: step.basalGiven)
        }
        if let numbers = answer.numbers { tell(numbers, at: step.input.now) }
        schedule()
    }

    private func tell(_ numbers: [OwnNumber], at now: Instant) {
        if numbersHeard == nil || !numbers.isEmpty { numbersHeard = now }
        let silent = now.minutes - (numbersHeard ?? now).minutes
        let told = numbers + [OwnNumber(OwnNumber.silence, silent)]
        for index in callable.indices { callable[index].call(told) { $0.loopDidHear($1) } }
    }
}
