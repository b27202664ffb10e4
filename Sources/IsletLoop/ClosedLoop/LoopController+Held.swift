// A step that somebody outside of the session is asked about: its algorithm, or who listens beside it.
//
// Guarantees: the session is held at the question: nothing fires and no input enters until `answer`, which finishes the step, and what follows it, as if it had
// been answered at once, and is where somebody answers within the step (`askWithin`). However long an answer takes, the session is the same to the digest. Who only
// listens changes no dose: numbers go to the observers once the step is finished, with the minutes since there last were any.
// Does not: pick who is asked. Whoever advances the session does.

public import IsletDevices
import IsletKernel

/// A step that has been asked and not answered.
struct HeldStep {
    var question: HeldQuestion
    /// What the pump had given by itself when it was asked.
    var basalGiven: InsulinAmount?
}

extension LoopController {
    /// What the session is held at; nil where it isn't.
    public var question: HeldQuestion? { held?.question }

    /// - Throws: `NobodyAsked` where neither an algorithm nor a listener is outside.
    func ask(_ input: consuming StepInput, basalGiven: InsulinAmount?) throws {
        let question: HeldQuestion
        if let outsideState {
            let asked = outsideState.question(input)
            question = HeldQuestion(algorithm: asked, listener: listener?.question(asked.input))
        } else if let listener {
            question = HeldQuestion(listener: listener.question(input))
        } else {
            throw NobodyAsked()
        }
        if let answers, let answer = try answers(question) {
            return try take(answer, to: question.asked, basalGiven)
        }
        held = HeldStep(question: question, basalGiven: basalGiven)
        executor.hold()
    }

    /// Who hears each question within its step from here on.
    /// - Parameter answers: nil where the answer comes later: the session is held.
    public func askWithin(_ answers: @escaping (HeldQuestion) throws -> HeldAnswer?) {
        self.answers = answers
    }

    /// Finishes the step that the session is held at.
    public func answer(_ answer: borrowing HeldAnswer) throws {
        guard let step = held.take() else { return }
        try take(answer, to: step.question.asked, step.basalGiven)
        schedule()
    }

    private func take(
        _ answer: borrowing HeldAnswer, to asked: StepQuestion, _ basalGiven: InsulinAmount?
    ) throws {
        if answer.hasListenerFailed { listener?.undo() }
        switch answer.algorithm {
        case nil: try dose(asked.input, basalGiven: basalGiven)
        case .dose(let output):
            try finish(asked.input, output, Self.nonsense(in: output), basalGiven: basalGiven)
        case .failed(let cause):
            try finish(
                asked.input, StepOutput(), cause.isEmpty ? "the algorithm failed" : cause,
                basalGiven: basalGiven)
        }
        if let numbers = answer.numbers { tell(numbers, at: asked.input.now) }
    }

    private func tell(_ numbers: [OwnNumber], at now: Instant) {
        if numbersHeard == nil || !numbers.isEmpty { numbersHeard = now }
        let silent = now.minutes - (numbersHeard ?? now).minutes
        let told = numbers + [OwnNumber(OwnNumber.silence, silent)]
        for index in callable.indices { callable[index].call(told) { $0.loopDidHear($1) } }
    }
}
