// Somebody about to exercise: a quarter of an hour before, they look, may eat something against the low to come, and may lower the basal of their pump, or tell
// their loop. At its hour they look again: who is low waits, eats, and begins later or not at all.
//
// Guarantees: the same whoever listens to alarms. What is done is journaled and recorded; that exercise begins is recorded too. Nothing is eaten within
// a quarter of an hour of sugar against a low, and nothing against a low within that of what is eaten here. What a pump or a loop was told ends with the
// exercise, begun late or called off as it may be. One time of exercise never runs into the next.
// Does not: exercise for longer because it began later, or make up for what was called off.

public import IsletDevices
public import IsletModels
public import IsletKernel

public final class ExerciseWatch: @unchecked Sendable {
    private var bouts: [ExerciseBout]
    private let habits: Habits
    private let sensor: any GlucoseSensorPort
    private let exerciser: any Exerciser
    private let isProgrammed: Bool

    private var executor: SessionExecutor?
    private var body: (any Eater)?
    private var loop: (any LoopInputs)?
    private var recorder: SessionRecorder?
    private weak var person: Person?
    private var wakeup: Wakeup?
    private var next = 0
    /// Of the next one: when it was to begin first, once it is prepared for, and what pump or loop were told.
    private var plan: Plan?
    private struct Plan {
        var from: Instant
        var isBasalLowered = false
        var isLoopTold = false

        var slot: UInt64 { UInt64(from.nanoseconds / PersonWatch.interval) }
    }
    /// Eaten before exercise so far, g.
    private(set) var grams = 0.0

    /// How long before it people prepare.
    static let lead = 15 * Nanoseconds.minute

    /// - Parameters:
    ///   - bouts: by rising instant, from the session's start on.
    ///   - exerciser: whose body it is.
    ///   - isProgrammed: whether there is a programmed basal that somebody could lower, and not a loop that could be told.
    public init(
        bouts: [ExerciseBout], habits: Habits, sensor: any GlucoseSensorPort, exerciser: any Exerciser,
        isProgrammed: Bool
    ) {
        self.bouts = bouts
        self.habits = habits
        self.sensor = sensor
        self.exerciser = exerciser
        self.isProgrammed = isProgrammed
    }

    func begin(
        executor: SessionExecutor, body: any Eater, loop: any LoopInputs, recorder: SessionRecorder,
        person: Person
    ) {
        (self.executor, self.body, self.loop, self.recorder) = (executor, body, loop, recorder)
        self.person = person
        next = bouts.firstIndex { $0.from > executor.now } ?? bouts.count
        wakeup = Wakeup(executor, phase: .person, "exercise") { [unowned self] in try wake() }
        schedule()
    }

    private func schedule() {
        guard let executor, bouts.indices.contains(next) else { return }
        let from = bouts[next].from
        wakeup?.schedule(at: plan != nil ? from : max(executor.now, from.adding(-Self.lead)))
    }

    private func wake() throws {
        guard let executor, bouts.indices.contains(next) else { return }
        let (bout, now) = (bouts[next], executor.now)
        if plan == nil {
            plan = Plan(from: bout.from)
            try prepare(bout, now)
        }
        if now >= bout.from, try !waits(bout, now) {
            executor.journal.record(.exercise, at: now, bout.minutes.bitPattern, bout.counts.bitPattern)
            recorder?.did(.exercise, bout.minutes, at: now)
            (plan, next) = (nil, next + 1)
        }
        schedule()
    }

    /// mg/dL; nil for no fresh reading.
    private func shown(_ now: Instant) -> Double? {
        sensor.latestReading.flatMap {
            now.nanoseconds - $0.instant.nanoseconds <= 10 * Nanoseconds.minute
                ? $0.glucose.milligramsPerDecilitre : nil
        }
    }

    private func prepare(_ bout: ExerciseBout, _ now: Instant) throws {
        let does = habits.beforeExercise(
            slot: UInt64(now.nanoseconds / PersonWatch.interval), glucose: shown(now))
        if let carbohydrate = does.eats { try eat(carbohydrate, now) }
        if isProgrammed {
            plan?.isBasalLowered = does.lowersBasal
        } else {
            let isTold = plan.map { habits.tellsLoopOfExercise(slot: $0.slot) } ?? false
            plan?.isLoopTold = isTold
        }
        tell(until: bout.until, now)
    }

    private func eat(_ carbohydrate: Carbohydrate, _ now: Instant) throws {
        try body?.swallowRescue(carbohydrate)
        grams += carbohydrate.grams
        executor?.journal.record(.beforeExercise, at: now, carbohydrate.grams.bitPattern)
        recorder?.did(.exerciseCarbs, carbohydrate.grams, at: now)
    }

    /// Tells pump or loop that exercise will last until `end`; nil where it was called off.
    private func tell(until end: Instant?, _ now: Instant) {
        guard let plan, plan.isBasalLowered || plan.isLoopTold else { return }
        let settings = habits.settings
        let length = (end ?? now).nanoseconds - now.nanoseconds
        let steps = max(1, Int((length + PersonWatch.interval - 1) / PersonWatch.interval))
        do {
            if plan.isBasalLowered {
                try loop?.request(temporaryBasal: end == nil ? 1 : settings.lowersBasalTo, steps: steps)
            } else {
                let target = GlucoseConcentration(milligramsPerDecilitre: settings.tellsLoopTarget)
                try loop?.request(temporaryTarget: end == nil ? nil : target, steps: steps)
                if end != nil { recorder?.did(.exerciseTold, settings.tellsLoopTarget, at: now) }
            }
        } catch {
            executor?.journal.record(
                .refused, at: now,
                (plan.isBasalLowered ? settings.lowersBasalTo : settings.tellsLoopTarget).bitPattern)
        }
    }

    /// Whether it begins later, or not at all, as glucose is too low for it or was treated just now.
    private func waits(_ bout: ExerciseBout, _ now: Instant) throws -> Bool {
        guard let plan, let person, let glucose = shown(now) else { return false }
        let settings = habits.settings
        let wait = Self.nanoseconds(settings.exerciseWait)
        let rescue = person.here { $0.lastRescue }
        let isTreated = rescue.map { now.nanoseconds - $0.nanoseconds < Self.lead } ?? false
        guard glucose < settings.exerciseFrom || isTreated, habits.putsOffExercise(slot: plan.slot) else {
            return false
        }
        if !isTreated {
            let carbohydrate = Carbohydrate(grams: max(1, settings.exerciseCarbs.rounded()))
            try eat(carbohydrate, now)
            person.here(carbohydrate) { $0.ate(againstLow: $1) }
        }
        let later = ExerciseBout(
            from: now.adding(wait), until: bout.until.adding(now.nanoseconds - bout.from.nanoseconds + wait),
            counts: bout.counts)
        let isInTime =
            later.from.nanoseconds - plan.from.nanoseconds <= Self.nanoseconds(settings.exerciseLatest)
        let isFree = next + 1 >= bouts.count || later.until <= bouts[next + 1].from
        let late = Double(now.nanoseconds - plan.from.nanoseconds) / Double(Nanoseconds.minute)
        guard isInTime, isFree else {
            try exerciser.moveExercise(from: bout.from, to: nil)
            executor?.journal.record(.exerciseMoved, at: now, UInt64.max)
            recorder?.did(.exerciseCalledOff, late, at: now)
            tell(until: nil, now)
            (self.plan, next) = (nil, next + 1)
            return true
        }
        bouts[next] = later
        try exerciser.moveExercise(from: bout.from, to: later)
        executor?.journal.record(.exerciseMoved, at: now, UInt64(later.from.nanoseconds))
        recorder?.did(.exercisePutOff, late + settings.exerciseWait, at: now)
        tell(until: later.until, now)
        return true
    }

    private static func nanoseconds(_ minutes: Double) -> Int64 {
        Int64(minutes * Double(Nanoseconds.minute))
    }
}

extension EventKind {
    /// Exercise begins. Words: minutes (bits), counts (bits).
    public static let exercise = EventKind(0x508, "exercise")
    /// Carbohydrate before exercise. Words: grams (bits).
    public static let beforeExercise = EventKind(0x509, "beforeExercise")
    /// Exercise that was to begin now begins later. Words: when, all ones for never.
    public static let exerciseMoved = EventKind(0x50a, "exerciseMoved")
}
