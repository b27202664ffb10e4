// Who answers the steps that a live session is held at, and for how long that is waited for.
//
// Guarantees: a session is held at each step (`LoopController.answer`), and its algorithm is asked on a thread of its own, with copies of all it is given: whoever advances the
// session may go elsewhere meanwhile. A step that has no answer by its deadline fails, as one that throws does, and what the call says later is heard by nobody. While it
// hangs no other call is made: the steps fail at once. When it has returned after all, the next step asks again. A step that was late once is late in every
// replay, whatever the algorithm does there. A stop of the whole process is nobody's lateness.
// Does not: end a thread. What hangs for ever keeps one, and one only a session.

import IsletDevices
import IsletFiles
import IsletKernel
import Synchronization

/// To the loop and the person the algorithm that is asked; the session is held at its steps.
struct HeldAlgorithm: AlgorithmWrapper, OutsideAlgorithm {
    let asker: StepAsker
    var wrapped: any DosingAlgorithm { asker.current }
}

/// Why a step failed that its algorithm gave no answer for.
struct NoAnswerInTime: Error, CustomStringConvertible {
    var description: String { "the algorithm gave no answer in time" }
}

/// Asks one session's algorithm, whose state it holds. Belongs to the session's thread.
final class StepAsker: @unchecked Sendable {
    /// How long whoever advances a session waits for a step's answer.
    enum Patience: Sendable {
        /// Until there is one, or the deadline has passed.
        case untilDeadline
        /// For a moment, in which most answer: the session may be left held, and looked at again.
        case brief
    }

    /// Who is asked until another one takes over.
    private let first: any DosingAlgorithm
    /// Who has taken over; the loop must be told of it (`LoopController.algorithmDidChange`).
    var successor: (any DosingAlgorithm)?
    var current: any DosingAlgorithm { successor ?? first }
    /// How long a call may take, ns; nil for as long as it takes.
    let deadline: Int64?
    /// Instants of steps that had, or in the original had, no answer in time.
    var late: Set<Instant> = []
    /// The last step had none.
    private(set) var isDegraded = false
    /// What the last step foretold; nil where it said nothing.
    private(set) var forecast: GlucoseForecast?
    /// Told before the step goes on without.
    var onLate: ((Instant) -> Void)?
    /// Told from another thread that a call is over that somebody went elsewhere from.
    var onAnswer: (@Sendable () -> Void)?
    /// As its last good step left it, and as the one before did; nil for a new one.
    private var (state, before): (SavedState?, SavedState?) = (nil, nil)
    /// The call that the session is held for.
    private var underWay: AlgorithmCall?
    private var (waited, lookedAt): (Int64, Int64) = (0, 0)
    /// A call that nobody waits for any more, and that had not returned then.
    private var stray: AlgorithmCall?
    /// The time by which a deadline passes, ns.
    private let time: @Sendable () -> Int64

    init(_ first: any DosingAlgorithm, deadline: Int64?, time: (@Sendable () -> Int64)? = nil) {
        self.first = first
        self.deadline = deadline
        self.time = time ?? { SystemClocks().continuousNanoseconds() }
    }

    /// Whether a call that nobody waits for any more has still not returned.
    var isHanging: Bool { stray.map { !$0.isOver } ?? false }
    /// Whether the session is held for a call.
    var isAsking: Bool { underWay != nil }

    /// How long nobody need look whether there is an answer: `onAnswer` says so before, ns.
    static func pause(_ deadline: Int64) -> Int64 {
        min(max(deadline / 20, Nanoseconds.second / 1000), Nanoseconds.second / 5)
    }

    /// What the step is answered that the session is held at.
    /// - Returns: nil where there is no answer yet: to be asked again, about the same step.
    func answer(_ question: StepQuestion, _ patience: Patience) -> StepAnswer? {
        let now = question.input.now
        guard let deadline else { return ask(question) }
        if underWay == nil {
            if let known = prepare(question) { return known }
            guard !isHanging else { return isLate(at: now) }
            begin(question)
        }
        guard let call = underWay else { return isLate(at: now) }
        if let answer = wait(for: call, atMost: deadline, patience) {
            underWay = nil
            return settle(answer, question.input)
        }
        guard waited >= deadline else { return nil }
        underWay = nil
        stray = call
        return isLate(at: now)
    }

    /// The answer is somebody else's, and this is what it foretells.
    func note(_ output: StepOutput, _ input: borrowing StepInput) {
        isDegraded = false
        forecast = nil
        guard let glucose = output.forecast, let minutes = current.forecastMinutes,
            let reading = input.cgm?.instant
        else { return }
        forecast = GlucoseForecast(
            glucose: glucose, at: reading.adding(Int64((minutes * Double(Nanoseconds.minute)).rounded())))
    }

    // MARK: Asking

    /// At once, on this thread.
    private func ask(_ question: StepQuestion) -> StepAnswer {
        if let known = prepare(question) { return known }
        let (algorithm, state) = (current, state)
        return settle(Result { try Self.step(algorithm, question.input, state) }, question.input)
    }

    /// The state is what it is to be at this step.
    /// - Returns: the answer to a step that is known to have been late.
    private func prepare(_ question: StepQuestion) -> StepAnswer? {
        if question.beginsAnew {
            state = nil
        } else if question.undoesLast {
            state = before
        }
        before = state
        guard late.contains(question.input.now) else { return nil }
        return fallBack()
    }

    private func begin(_ question: StepQuestion) {
        stray = nil
        let (algorithm, state, input) = (current, state, question.input)
        let call = AlgorithmCall(onAnswer) { try Self.step(algorithm, input, state) }
        (underWay, waited, lookedAt) = (call, 0, time())
        AlgorithmThreads.shared.run(call)
    }

    /// A state of another type is begun anew.
    private static func step(
        _ algorithm: any DosingAlgorithm, _ input: borrowing StepInput, _ state: SavedState?
    ) throws -> AlgorithmCall.Answer {
        let cell = algorithm.makeCell()
        if let state { _ = cell.restore(state) }
        let output = try algorithm.step(input, cell)
        return (output, cell.saved)
    }

    /// A stretch in which nobody looked counts as the short wait that it was to be: the process was stopped, or the machine busy.
    private func wait(for call: AlgorithmCall, atMost limit: Int64, _ patience: Patience)
        -> Result<AlgorithmCall.Answer, any Error>?
    {
        let slice = Self.pause(limit)
        func look() {
            let here = time()
            waited += min(max(0, here - lookedAt), 2 * slice)
            lookedAt = here
        }
        // Whoever comes again to look need not stay.
        var stays = patience == .untilDeadline || waited == 0
        while true {
            let heard = call.heard
            if let answer = call.answer { return answer }
            guard stays, waited < limit else {
                look()
                return call.leave()
            }
            call.wait(after: heard, atMost: patience == .brief ? min(slice, Self.moment) : slice)
            look()
            stays = patience == .untilDeadline
        }
    }

    private static let moment = Nanoseconds.second / 200

    private func settle(_ answer: Result<AlgorithmCall.Answer, any Error>, _ input: borrowing StepInput)
        -> StepAnswer
    {
        switch answer {
        case .success(let (output, saved)):
            state = saved
            note(output, input)
            return .dose(output)
        case .failure(let error):
            (isDegraded, forecast) = (false, nil)
            return .failed("\(error)")
        }
    }

    private func isLate(at instant: Instant) -> StepAnswer {
        late.insert(instant)
        onLate?(instant)
        return fallBack()
    }

    private func fallBack() -> StepAnswer {
        (isDegraded, forecast) = (true, nil)
        return .failed(NoAnswerInTime().description)
    }
}

/// One call of an algorithm.
final class AlgorithmCall: Sendable {
    typealias Answer = (output: StepOutput, state: SavedState)

    private let body: @Sendable () throws -> Answer
    private let onAnswer: (@Sendable () -> Void)?
    private let state = Mutex<(answer: Result<Answer, any Error>?, isLeft: Bool)>((nil, false))
    private let bell = Bell()

    init(_ onAnswer: (@Sendable () -> Void)? = nil, _ body: @escaping @Sendable () throws -> Answer) {
        (self.onAnswer, self.body) = (onAnswer, body)
    }

    /// nil before it is over.
    var answer: Result<Answer, any Error>? { state.withLock { $0.answer } }
    var isOver: Bool { answer != nil }
    var heard: UInt64 { bell.count }

    func run() {
        let answer = Result { try body() }
        let isLeft = state.withLock { state in
            state.answer = answer
            return state.isLeft
        }
        bell.ring()
        if isLeft { onAnswer?() }
    }

    /// Whoever waited goes elsewhere, and is told when it is over; the answer where it is by now.
    func leave() -> Result<Answer, any Error>? {
        state.withLock { state in
            state.isLeft = true
            return state.answer
        }
    }

    /// Returns when it is over since `heard`, or after so many nanoseconds.
    func wait(after heard: UInt64, atMost nanoseconds: Int64) {
        bell.wait(after: heard, atMost: nanoseconds)
    }
}
