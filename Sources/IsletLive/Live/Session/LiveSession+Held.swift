// The steps that a live session is held at.
//
// Guarantees: while it is held nothing fires and no input enters; the answer comes from its algorithm, which is asked aside (`StepAsker`), or from its driver
// (`Wheel`), and what follows from it is as in a study. Does not: know a clock.

import IsletDevices
import IsletKernel
import IsletTrials

extension LiveSession {
    /// Whether it stands at a step that has no answer yet.
    var isHeld: Bool { session.executor.isHeld }
    /// Whether its algorithm is asked aside: `advance` goes on when it has answered, or its deadline has passed.
    var isAsking: Bool { asker.isAsking }
    /// Whether it goes by no clock: a driver answers its steps.
    package var isDriven: Bool { opening.isDriven && asker.successor == nil }

    /// The step that it waits at; nil where it doesn't.
    var heldQuestion: StepQuestion? { person?.heldQuestion?.algorithm }

    /// - Returns: whether there was an answer, and the step is finished.
    func answerHeldStep(_ patience: StepAsker.Patience) throws -> Bool {
        guard let person, let question = heldQuestion else { throw NobodyAsked() }
        guard let answer = isDriven ? takeDose(of: question) : asker.answer(question, patience) else {
            return false
        }
        person.answer(HeldAnswer(algorithm: answer))
        if let failure = person.failure { throw failure }
        return true
    }

    /// The dose that a driver has just given.
    private func takeDose(of question: StepQuestion) -> StepAnswer? {
        guard let step = wheel.dose.take() else { return nil }
        wheel.answers.add(question.input.algorithmTime, step)
        let output = StepOutput(step)
        asker.note(output, question.input)
        return .dose(output)
    }
}
