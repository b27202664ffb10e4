// A person who looks at the sensor every five minutes: rescue carbohydrate against lows, corrections of highs in open loop.
//
// Guarantees: looks stand on the five minutes from the session's start, where the body's truth is kept anyway; a look that finds nothing to do
// draws nothing and costs an event. What the person does is journaled and recorded, and what is eaten against lows is added up.
// Does not: hear alarms; a person who does replaces this one.

public import IsletDevices
public import IsletKernel

public final class PersonWatch: @unchecked Sendable {
    private let habits: Habits
    private let sensor: any GlucoseSensorPort
    private let feeling: any PlasmaGlucoseSource
    private let isAsleep: @Sendable (Instant) -> Bool
    /// mg/dL a unit; nil where the loop corrects by itself.
    private let correctionFactor: Double?
    private let largestBolus: InsulinAmount

    private var executor: SessionExecutor?
    private var body: (any Eater)?
    private var loop: (any LoopInputs)?
    private var recorder: SessionRecorder?
    private var wakeup: Wakeup?
    private var nextRescue = Instant.start
    /// When something was eaten last against a low.
    private(set) var lastRescue: Instant?
    private var lastBolus = Instant.start
    /// Eaten against lows so far, g.
    private(set) var rescueGrams = 0.0

    /// Look this often.
    static let interval = 5 * Nanoseconds.minute

    /// - Parameters:
    ///   - correctionFactor: mg/dL a unit, for a person who corrects highs by hand; nil for one whose loop does.
    ///   - isAsleep: by local time.
    public init(
        habits: Habits, sensor: any GlucoseSensorPort, feeling: any PlasmaGlucoseSource,
        correctionFactor: Double?, largestBolus: InsulinAmount,
        isAsleep: @escaping @Sendable (Instant) -> Bool
    ) {
        self.habits = habits
        self.sensor = sensor
        self.feeling = feeling
        self.correctionFactor = correctionFactor
        self.largestBolus = largestBolus
        self.isAsleep = isAsleep
    }

    func begin(
        executor: SessionExecutor, body: any Eater, loop: any LoopInputs, recorder: SessionRecorder
    ) {
        self.executor = executor
        self.body = body
        self.loop = loop
        self.recorder = recorder
        let wakeup = Wakeup(executor, phase: .person, "look") { [unowned self] in try look() }
        self.wakeup = wakeup
        wakeup.schedule(at: executor.now.adding(Self.interval))
    }

    /// Meal insulin came at this instant: no correction for a while.
    func announced(at instant: Instant) { lastBolus = instant }

    /// Something was eaten against a low at this instant: nothing more for a while.
    func rescued(at instant: Instant) {
        lastRescue = instant
        nextRescue = instant.adding(Int64(habits.settings.rescueWait * Double(Nanoseconds.minute)))
    }

    private func look() throws {
        guard let executor else { return }
        let now = executor.now
        wakeup?.schedule(at: now.adding(Self.interval))
        let slot = UInt64(now.nanoseconds / Self.interval)
        let shown = freshReading(at: now)
        let felt = try feeling.feltGlucose().milligramsPerDecilitre
        let settings = habits.settings
        if (shown ?? .infinity) < settings.rescueBelow || felt < settings.feelsBelow {
            // A deep low wakes: its sleeper notices as one awake does.
            let sleeps = isAsleep(now) && felt >= settings.wakesBelow
            guard now >= nextRescue,
                let sugar = habits.rescue(slot: slot, isAsleep: sleeps, plasma: felt)
            else { return }
            rescued(at: now)
            try body?.swallowRescue(sugar)
            rescueGrams += sugar.grams
            executor.journal.record(.rescue, at: now, sugar.grams.bitPattern)
            recorder?.did(.rescue, sugar.grams, at: now)
        } else if let correctionFactor, let shown, shown > settings.correctsAbove {
            let wait = Int64(settings.correctsAfter * Double(Nanoseconds.hour))
            guard now.nanoseconds - lastBolus.nanoseconds >= wait, !isAsleep(now), habits.corrects(slot: slot)
            else { return }
            correct(shown, correctionFactor, now)
        }
    }

    /// To a tenth of a unit, as people dial.
    private func correct(_ shown: Double, _ factor: Double, _ now: Instant) {
        let wanted = (shown - habits.settings.correctsTowards) / factor
        let units = min((wanted * 10).rounded() / 10, largestBolus.units)
        guard units > 0 else { return }
        lastBolus = now
        do {
            try loop?.request(manualBolus: InsulinAmount(units: units))
            executor?.journal.record(.askedBolus, at: now, units.bitPattern)
            recorder?.did(.manualBolus, units, at: now)
        } catch {
            executor?.journal.record(.refused, at: now, units.bitPattern)
        }
    }

    /// What the display shows now, mg/dL; a reading older than 10 min is not looked at.
    private func freshReading(at now: Instant) -> Double? {
        guard let reading = sensor.latestReading,
            now.nanoseconds - reading.instant.nanoseconds <= 10 * Nanoseconds.minute
        else { return nil }
        return reading.glucose.milligramsPerDecilitre
    }
}
