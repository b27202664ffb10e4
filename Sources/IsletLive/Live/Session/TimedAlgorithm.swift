// An algorithm that is not waited for longer than its deadline.
//
// Guarantees: a step whose algorithm gives no answer in time fails, as one that throws does; the call that hangs has copies of all it was given, on a
// thread of its own, and whatever it says later is heard by nobody. While it hangs no other call is made: the steps fail at once. When it
// has returned after all, the next step asks again. A step that was late once is late in every replay, whatever the
// algorithm does there. A stop of the whole process is nobody's lateness.
// Does not: end a thread. What hangs for ever keeps one, and one only a session.

import IsletDevices
import IsletKernel
import Synchronization

struct TimedAlgorithm: HandingAlgorithm {
    /// Who is asked until another one takes over.
    let first: any DosingAlgorithm
    let watch: AlgorithmWatch
    var current: any DosingAlgorithm { watch.successor ?? first }

    func run<Algorithm: DosingAlgorithm>(
        _ algorithm: Algorithm, _ input: borrowing StepInput, _ state: inout HandedState
    ) throws -> StepOutput {
        if watch.late.contains(input.now) {
            watch.isDegraded = true
            throw NoAnswerInTime()
        }
        let before = state.saved?.value as? Algorithm.State ?? Algorithm.State()
        guard watch.deadline != nil else {
            var own = before
            let output = try algorithm.run(input, state: &own)
            state.saved = SavedState(own)
            watch.isDegraded = false
            watch.note(output, of: algorithm, input)
            return output
        }
        let given = copy input
        let answer = watch.ask {
            var own = before
            let output = try algorithm.run(given, state: &own)
            return (output, SavedState(own))
        }
        guard let answer else {
            watch.isLate(at: input.now)
            throw NoAnswerInTime()
        }
        watch.isDegraded = false
        let (output, saved) = try answer.get()
        state.saved = saved
        watch.note(output, of: algorithm, input)
        return output
    }
}

/// Why a step failed that its algorithm gave no answer for.
struct NoAnswerInTime: Error, CustomStringConvertible {
    var description: String { "the algorithm gave no answer in time" }
}

/// What is known of one session's algorithm. Belongs to the session's thread.
final class AlgorithmWatch: @unchecked Sendable {
    /// Who has taken over; the loop must be told of it (`LoopController.algorithmDidChange`). Its state is its own.
    var successor: (any DosingAlgorithm)?
    /// How long a call may take, ns; nil for as long as it takes.
    let deadline: Int64?
    /// Instants of steps that had, or in the original had, no answer in time.
    var late: Set<Instant> = []
    /// The last step had none.
    var isDegraded = false
    /// What the last step foretold; nil where it said nothing.
    private(set) var forecast: GlucoseForecast?
    /// Told before the step goes on without.
    var onLate: ((Instant) -> Void)?
    /// A call that nobody waits for any more, and that had not returned then.
    private var stray: AlgorithmCall?
    /// The time by which a deadline passes, ns.
    private let time: @Sendable () -> Int64

    init(deadline: Int64?, time: (@Sendable () -> Int64)? = nil) {
        self.deadline = deadline
        self.time = time ?? { SystemClocks().continuousNanoseconds() }
    }

    /// Whether a call that nobody waits for any more has still not returned.
    var isHanging: Bool { stray.map { !$0.isOver } ?? false }

    func note(_ output: StepOutput, of algorithm: some DosingAlgorithm, _ input: borrowing StepInput) {
        forecast = nil
        guard let glucose = output.forecast, let minutes = algorithm.forecastMinutes,
            let reading = input.cgm?.instant
        else { return }
        forecast = GlucoseForecast(
            glucose: glucose, at: reading.adding(Int64((minutes * Double(Nanoseconds.minute)).rounded())))
    }

    func isLate(at instant: Instant) {
        forecast = nil
        late.insert(instant)
        isDegraded = true
        onLate?(instant)
    }

    /// - Returns: nil where there was no answer in time.
    func ask(_ body: @escaping @Sendable () throws -> AlgorithmCall.Answer)
        -> Result<AlgorithmCall.Answer, any Error>?
    {
        guard !isHanging else { return nil }
        stray = nil
        let call = AlgorithmCall(body)
        AlgorithmThreads.shared.run(call)
        let answer = call.wait(atMost: deadline ?? .max, by: time)
        if answer == nil { stray = call }
        return answer
    }
}

/// One call of an algorithm.
final class AlgorithmCall: Sendable {
    typealias Answer = (output: StepOutput, state: SavedState)

    private let body: @Sendable () throws -> Answer
    private let result = Mutex<Result<Answer, any Error>?>(nil)
    private let bell = Bell()

    init(_ body: @escaping @Sendable () throws -> Answer) { self.body = body }

    var isOver: Bool { result.withLock { $0 != nil } }

    func run() {
        let answer = Result { try body() }
        result.withLock { $0 = answer }
        bell.ring()
    }

    /// A stretch in which this thread was held up counts as the short wait that it was to be: the process was stopped, or the machine busy.
    func wait(atMost limit: Int64, by time: () -> Int64) -> Result<Answer, any Error>? {
        let slice = min(max(limit / 20, Nanoseconds.second / 1000), Nanoseconds.second / 5)
        var waited: Int64 = 0
        while true {
            let heard = bell.count
            if let answer = result.withLock({ $0 }) { return answer }
            guard waited < limit else { return nil }
            let begun = time()
            bell.wait(after: heard, atMost: slice)
            waited += min(time() - begun, 2 * slice)
        }
    }
}
