// Somebody about to exercise: a quarter of an hour before, they look, may eat something against the low to come, and may lower the basal of their pump.
//
// Guarantees: the same whoever listens to alarms. What is done is journaled and recorded; that exercise begins is recorded too. Does not: move the
// bout, or call it off: bodies know of it before the session begins (`ExerciseCourse`). A loop in closed loop is told nothing.

public import IsletDevices
public import IsletModels
public import IsletKernel

public final class ExerciseWatch: @unchecked Sendable {
    private let bouts: [ExerciseBout]
    private let habits: Habits
    private let sensor: any GlucoseSensorPort
    private let lowersBasal: Bool

    private var executor: SessionExecutor?
    private var body: (any Eater)?
    private var loop: (any LoopInputs)?
    private var recorder: SessionRecorder?
    private var wakeup: Wakeup?
    private var next = 0
    private var isPrepared = false
    /// Eaten before exercise so far, g.
    private(set) var grams = 0.0

    /// How long before it people prepare.
    static let lead = 15 * Nanoseconds.minute

    /// - Parameters:
    ///   - bouts: by rising instant, from the session's start on.
    ///   - lowersBasal: whether there is a programmed basal that somebody could lower.
    public init(
        bouts: [ExerciseBout], habits: Habits, sensor: any GlucoseSensorPort, lowersBasal: Bool
    ) {
        self.bouts = bouts
        self.habits = habits
        self.sensor = sensor
        self.lowersBasal = lowersBasal
    }

    func begin(
        executor: SessionExecutor, body: any Eater, loop: any LoopInputs, recorder: SessionRecorder
    ) {
        (self.executor, self.body, self.loop, self.recorder) = (executor, body, loop, recorder)
        next = bouts.firstIndex { $0.from > executor.now } ?? bouts.count
        wakeup = Wakeup(executor, phase: .person, "exercise") { [unowned self] in try wake() }
        schedule()
    }

    private func schedule() {
        guard let executor, bouts.indices.contains(next) else { return }
        let from = bouts[next].from
        wakeup?.schedule(at: isPrepared ? from : max(executor.now, from.adding(-Self.lead)))
    }

    private func wake() throws {
        guard let executor, bouts.indices.contains(next) else { return }
        let (bout, now) = (bouts[next], executor.now)
        if !isPrepared {
            isPrepared = true
            try prepare(bout, now)
        }
        if now >= bout.from {
            executor.journal.record(.exercise, at: now, bout.minutes.bitPattern, bout.counts.bitPattern)
            recorder?.did(.exercise, bout.minutes, at: now)
            (isPrepared, next) = (false, next + 1)
        }
        schedule()
    }

    private func prepare(_ bout: ExerciseBout, _ now: Instant) throws {
        let shown = sensor.latestReading.flatMap {
            now.nanoseconds - $0.instant.nanoseconds <= 10 * Nanoseconds.minute
                ? $0.glucose.milligramsPerDecilitre : nil
        }
        let does = habits.beforeExercise(
            slot: UInt64(now.nanoseconds / PersonWatch.interval), glucose: shown)
        if let carbohydrate = does.eats {
            try body?.swallowRescue(carbohydrate)
            grams += carbohydrate.grams
            executor?.journal.record(.beforeExercise, at: now, carbohydrate.grams.bitPattern)
            recorder?.did(.exerciseCarbs, carbohydrate.grams, at: now)
        }
        guard lowersBasal, does.lowersBasal else { return }
        let length = bout.until.nanoseconds - now.nanoseconds
        let steps = Int((length + PersonWatch.interval - 1) / PersonWatch.interval)
        do {
            try loop?.request(temporaryBasal: habits.settings.lowersBasalTo, steps: steps)
        } catch {
            executor?.journal.record(.refused, at: now, habits.settings.lowersBasalTo.bitPattern)
        }
    }
}

extension EventKind {
    /// Exercise begins. Words: minutes (bits), counts (bits).
    public static let exercise = EventKind(0x508, "exercise")
    /// Carbohydrate before exercise. Words: grams (bits).
    public static let beforeExercise = EventKind(0x509, "beforeExercise")
}
