// What a live session is told, and what it answers.
//
// Guarantees: an input is on disk before it counts, and answered after; said again under the same key it is taken once. What makes no sense is refused
// with a reason, and the journal has that too.

package import SessionTime
import SimulationKernel
import Trials

extension LiveSession {
    /// Takes an input in at `goal`, up to which the session is advanced first. When this returns the input is on disk and has taken effect, or is
    /// refused.
    package func take(_ command: LiveCommand, at goal: Instant) -> LiveAnswer {
        if !command.key.isEmpty, let number = answers[command.key] {
            return LiveAnswer(outcome: outcome(of: number), number: number, isRepeated: true)
        }
        advance(to: goal)
        guard phase == .running else { return LiveAnswer(outcome: .refused(Self.why(phase))) }
        let problem =
            Self.isKey(command.key)
            ? command.input.problem(in: inputContext)
            : "key: expected up to 64 letters, digits, points, hyphens and underscores"
        if let problem {
            let reason = JournalLine.line(problem)
            let key = Self.isKey(command.key) ? command.key : ""
            keep(.refusal(now, key: key, reason: reason), isSynced: true)
            if phase == .running { tell("refused    \(reason)") }
            look()
            return LiveAnswer(outcome: .refused(reason))
        }
        let number = inputCount + 1
        let entered: Instant
        do {
            entered = try session.executor.accept(
                ExternalInput(kind: LiveInput.kind, bytes: command.input.bytes)
            ) { try journal?.append(.input(number: number, $0, key: command.key), sync: true) }
        } catch {
            fail("\(error)")
            return LiveAnswer(outcome: .refused("the journal can't be written: \(error)"))
        }
        inputCount = number
        if !command.key.isEmpty { answers[command.key] = number }
        move(to: entered)
        answer(number)
        report()
        return LiveAnswer(outcome: outcome(of: number), number: number)
    }

    /// An input that broke the body has none.
    private func outcome(of number: Int) -> LiveOutcome {
        door.outcomes.count >= number ? door.outcomes[number - 1] : .refused(Self.why(phase))
    }

    /// Writes and tells what became of an input.
    func answer(_ number: Int) {
        guard door.outcomes.count >= number else { return }
        let outcome = door.outcomes[number - 1]
        keep(.answer(number: number, outcome))
        if phase == .running { tellAnswer(number, outcome) }
    }

    func tellAnswer(_ number: Int, _ outcome: LiveOutcome) {
        let bytes = session.executor.journal.inputs[number - 1].input.bytes
        let said = String(decoding: bytes, as: UTF8.self)
        switch outcome {
        case .taken: tell("input \(number)    \(said)")
        case .refused(let reason): tell("input \(number)    \(said) REFUSED: \(reason)")
        }
    }

    private static func why(_ phase: Phase) -> String {
        switch phase {
        case .running: ""
        case .ended(let reason): reason.isEmpty ? "the session is over" : "the session is over: \(reason)"
        case .failed(let reason): "the session has failed: \(reason)"
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
