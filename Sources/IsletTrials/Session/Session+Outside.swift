// A session that asks somebody outside at its steps: up to its next question, and on with the answer.
//
// Guarantees: whoever asks and answers, and however long it takes, the session is the same to the digest. Does not: pick who is asked; `TrialRunner` and `live` do, and
// of a session in real time `LiveSession`.

package import IsletDevices
import IsletKernel
import IsletLoop

extension Session {
    /// Runs up to the next question.
    /// - Returns: nil where the session is over, by its end or a failure.
    func question(until: Instant?) -> HeldQuestion? { runToQuestion(until: until) ? heldQuestion : nil }

    /// Runs up to the next question, which whoever is told of questions (`tellQuestions`) has heard by then.
    /// - Returns: whether there is one: false where the session is over, by its end or a failure.
    func runToQuestion(until: Instant?) -> Bool {
        guard failure == nil else { return false }
        do {
            try executor.advance(to: min(until ?? duration, duration))
        } catch {
            failure = error
        }
        return executor.isHeld
    }

    /// Who hears of each question as it is asked; the session is held at it.
    func tellQuestions(to hear: @escaping (HeldQuestion) -> Void) {
        let hears: (HeldQuestion) -> HeldAnswer? = { question in
            hear(question)
            return nil
        }
        executor.inspect { [loop] in loop.here(hears) { $0.askWithin($1) } }
    }

    /// What it is held at; nil where it isn't.
    package var heldQuestion: HeldQuestion? {
        guard executor.isHeld else { return nil }
        return executor.inspect { [loop] in loop.here { $0.question } }
    }

    /// Answers the question that the session is held at.
    package func answer(_ answer: HeldAnswer) {
        do {
            try executor.resume { [loop] in try loop.here(answer) { try $0.answer($1) } }
        } catch {
            failure = error
        }
    }

    /// Advances, and asks who is outside on the way, where somebody is.
    func live(to limit: Instant) throws {
        if hosts.areWithin, executor.now == .start {
            executor.inspect { [loop, hosts, asker] in loop.here { $0.askWithin(hosts.answers(to: asker)) } }
        }
        try executor.advance(to: limit)
        while executor.isHeld {
            guard !hosts.isEmpty, let question = heldQuestion else { throw NobodyAsked() }
            let seats = self.seats ?? PluginSeats(hosts, [asker])
            self.seats = seats
            answer(try seats.ask(question))
            if let failure { throw failure }
            try executor.advance(to: limit)
        }
    }
}
