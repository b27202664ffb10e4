// A session whose algorithm answers from outside: up to its next question, and on with the answer.
//
// Guarantees: whoever asks and answers, and however long it takes, the session is the same to the digest. Does not: pick who is asked; `TrialRunner` and `live` do.

import IsletDevices
import IsletKernel
import IsletLoop

extension Session {
    /// Runs up to the next question of an algorithm outside.
    /// - Returns: nil where the session is over, by its end or a failure.
    func question(until: Instant?) -> StepQuestion? {
        guard failure == nil else { return nil }
        do {
            try executor.advance(to: min(until ?? duration, duration))
        } catch {
            failure = error
        }
        guard executor.isHeld else { return nil }
        return executor.inspect { [loop] in loop.here { $0.question } }
    }

    /// Answers the question that the session is held at.
    func answer(_ answer: StepAnswer) {
        do {
            try executor.resume { [loop] in try loop.here(answer) { try $0.answer($1) } }
        } catch {
            failure = error
        }
    }

    /// Advances, and asks the algorithm outside on the way, where there is one.
    func live(to limit: Instant) throws {
        try executor.advance(to: limit)
        while executor.isHeld {
            guard let host = plugin, let question = executor.inspect({ [loop] in loop.here { $0.question } })
            else { throw NobodyAsked() }
            if group == nil { group = try PluginGroup(host, members: [person(of: host)]) }
            guard let answer = try group?.ask([(0, question)]).first else { throw NobodyAsked() }
            self.answer(answer)
            if let failure { throw failure }
            try executor.advance(to: limit)
        }
    }

    /// Who asks, for the program that is asked.
    func person(of host: PluginHost) -> PluginPerson {
        PluginPerson(slot: host.slot(of: index), seed: seed)
    }
}
