// What a live session is told, and what it answers.
//
// Guarantees: an input is on disk before it counts, and answered after; said again under the same key it is taken once, and anything else under that key not at
// all. What makes no sense is refused
// with a reason, and the journal has that too.

import IsletLoop
import IsletDevices
package import IsletKernel
import IsletTrials

extension LiveSession {
    /// Takes an input in at `goal`, up to which the session is advanced first. When this returns the input is on disk and has taken effect, or is
    /// refused.
    package func take(_ command: LiveCommand, at goal: Instant) -> LiveAnswer {
        if var known = answer(to: command.key, command.input.bytes) {
            if known.outcome == .taken { known.note = note(command.input) }
            return known
        }
        // Its key may be older than those that were handed on.
        if wasRead(command.input) { return LiveAnswer(outcome: .taken, isRepeated: true) }
        advance(to: goal)
        guard phase == .running else { return LiveAnswer(outcome: .refused(Self.refusal(phase))) }
        guard !isHeld else {
            return LiveAnswer(
                outcome: .refused(
                    .held, "a step waits for its driver's dose: nothing enters before it has one"))
        }
        let problem =
            Self.isKey(command.key)
            ? command.input.problem(in: inputContext)
            : LiveRefusal(
                .badKey, "key: expected up to 64 letters, digits, points, hyphens and underscores")
        if let problem {
            let key = Self.isKey(command.key) ? command.key : ""
            keep(.refusal(now, key: key, problem), isSynced: true)
            if phase == .running { tell(.refusal(problem)) }
            look()
            return LiveAnswer(outcome: .refused(problem))
        }
        let number = inputCount + 1
        let entered: Instant
        do {
            entered = try session.executor.accept(
                ExternalInput(kind: LiveInput.kind, bytes: command.input.bytes)
            ) { try journal?.append(.input(number: number, $0, key: command.key), sync: true) }
        } catch {
            fail("\(error)")
            return LiveAnswer(
                outcome: .refused(.notWritten, ValueText(String("the journal can't be written: \(error)"))))
        }
        inputCount = number
        note(command.key, of: number)
        move(to: entered)
        answer(number)
        report()
        let outcome = outcome(of: number)
        return LiveAnswer(
            outcome: outcome, number: number, note: outcome == .taken ? note(command.input) : "")
    }

    /// Nobody looks at its app any more: whoever does says so anew. Where it is held for a driver's dose it stays as it is.
    /// - Returns: whether it was told.
    @discardableResult
    package func leaveFront() -> Bool {
        guard snapshot.isInForeground else { return false }
        return take(LiveCommand(.background), at: now).outcome == .taken
    }

    /// Insulin that was asked for is only noted while the pump can't give it: nobody may think that it was given.
    private func note(_ input: LiveInput) -> String {
        // A meal that is not announced asks for none.
        guard input.isMarked(.asksInsulin), input.flag("isAnnounced") != false else { return "" }
        guard let session = person, phase == .running else { return "" }
        let status = session.executor.inspect { session.controls.status }
        let why: String
        switch status.condition {
        case _ where !status.isConnected: why = "the pump can't be reached"
        case .suspended: why = "the pump is suspended"
        case .noPod: why = "there is no pod"
        case .fault: why = "the pod has failed"
        case .ready, .bolusing: return ""
        }
        let minutes = LoopTiming.owed / Nanoseconds.minute
        return "nothing is given yet: \(why); it is asked for during \(minutes) min, then it lapses"
    }

    /// What a key has come to already; nil for a new one.
    private func answer(to key: String, _ bytes: [UInt8]) -> LiveAnswer? {
        guard !key.isEmpty, answers[key] != nil || said[key] != nil else { return nil }
        // A key says the same thing twice: another thing under it is a slip, and who sent it must not take it for done.
        guard let number = answers[key], said(as: number) == bytes else {
            return LiveAnswer(outcome: .refused(.otherBody, Self.otherBody(key)))
        }
        return LiveAnswer(outcome: outcome(of: number), number: number, isRepeated: true)
    }

    /// What somebody said: a fork may have left it out.
    private func said(as number: Int) -> [UInt8] {
        let bytes = bytes(of: number)
        return LiveInput(bytes: bytes)?.leftOut.map { Array($0.input.utf8) } ?? bytes
    }

    static func otherBody(_ key: String) -> ValueText {
        "key: \(key) was another command's, which was taken; this one was not"
    }

    /// Something that is no input is said under a key: what it has come to already; nil where it is new. `keepSaid` writes it down, once it is done.
    func saidBefore(_ text: String, key: String) -> LiveAnswer? {
        guard !key.isEmpty else { return nil }
        if let known = said[key] {
            return known == text
                ? LiveAnswer(outcome: .taken, isRepeated: true)
                : LiveAnswer(outcome: .refused(.otherBody, Self.otherBody(key)))
        }
        guard answers[key] == nil else {
            return LiveAnswer(outcome: .refused(.otherBody, Self.otherBody(key)))
        }
        return nil
    }

    func keepSaid(_ text: String, key: String) {
        guard phase == .running, !key.isEmpty else { return }
        keep(.said(now, key: key, text: text), isSynced: true)
        if phase == .running { said[key] = text }
    }

    /// An input that broke the body has none.
    private func outcome(of number: Int) -> LiveOutcome { known(number) ?? .refused(Self.refusal(phase)) }

    /// nil where nobody has answered it.
    func known(_ number: Int) -> LiveOutcome? {
        door.outcome(of: number) ?? upgrades.earlier[number]?.outcome
    }

    /// As the journal has it.
    func bytes(of number: Int) -> [UInt8] {
        upgrades.earlier[number]?.said
            ?? session.executor.journal.inputs[number - 1 - door.inputsBefore].input.bytes
    }

    /// Writes and tells what became of an input.
    func answer(_ number: Int) {
        guard let outcome = door.outcome(of: number) else { return }
        keep(.answer(number: number, outcome))
        if phase == .running { tellAnswer(number, outcome) }
    }

    func tellAnswer(_ number: Int, _ outcome: LiveOutcome) {
        let said = String(decoding: bytes(of: number), as: UTF8.self)
        tell(.input(number: number, said: said, outcome))
    }

    /// Why a session in this phase takes nothing.
    static func refusal(_ phase: Phase) -> LiveRefusal {
        switch phase {
        // What breaks the body has no answer, and the session has not ended yet.
        case .running: LiveRefusal(.over, "the session is over")
        case .returning: LiveRefusal(.returning, "the session is being lived again")
        case .ended(let reason):
            LiveRefusal(.over, reason.isEmpty ? "the session is over" : "the session is over: \(reason)")
        case .failed(let reason): LiveRefusal(.failed, "the session has failed: \(reason)")
        }
    }

    package static func isKey(_ key: String) -> Bool {
        key.utf8.count <= 64 && key != "-"
            && key.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "._-".utf8.contains($0)
            }
    }
}
