// What another life went through, lived again in a session of its own journal.
//
// Guarantees: each is written down before it counts, as if it had come from outside just now; nothing is synced but by the owner, at the end.

import IsletDevices
import IsletKernel
import IsletTrials

extension LiveSession {
    /// An input, at its own instant, up to just before which the session has been advanced.
    func relive(_ stamped: StampedInput, key: String) {
        guard phase == .running else { return }
        let number = inputCount + 1
        keep(.input(number: number, stamped, key: key))
        guard phase == .running else { return }
        session.executor.replay([stamped])
        inputCount = number
        note(key, of: number)
        move(to: stamped.instant)
        answer(number)
        report()
    }

    /// What was refused before it reached the session.
    func noteRefusal(_ refusal: LiveRefusal, key: String) {
        keep(.refusal(now, key: key, refusal))
        if phase == .running { tell(.refusal(refusal)) }
    }

    /// The algorithm gave no answer in time then, and isn't asked for that step here.
    func noteLateAgain(_ instant: Instant) {
        guard phase == .running else { return }
        keep(.late(instant))
        if phase == .running { tellLate(instant) }
    }
}
