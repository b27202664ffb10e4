// What a person with ordinary habits says of their meals, and does about highs and lows that they see by themselves.
//
// Guarantees: each number comes from a stream indexed by what it is about (a meal, a five-minute slot), never by how often the person
// was asked. Does not: hear alarms.
//
// Sources: the counting error is Vettoretti, Roversi et al., DTT 2020 (doi 10.1089/dia.2019.0502), as GluCoEnv has it; the rates of missed
// boluses are of 22 964 users of smart pens.

public import IsletDevices
public import IsletModels
internal import IsletNumerics
public import IsletKernel

/// Which meal of the day.
public enum MealOccasion: Int, Hashable, Sendable {
    case breakfast, lunch, dinner, snack
}

/// The draws of a person's habits.
public struct Habits: Sendable {
    /// As this person has them: when a low is felt, and how much is eaten against it, is their own.
    public let settings: HabitSettings
    public let streams: RandomStreams
    /// How this person counts on average, as a factor.
    private let bias: Double
    /// A factor on the rates of missed boluses.
    private let forgetfulness: Double
    private let watchfulness: Double
    private let lowDraws: RandomStream
    private let highDraws: RandomStream
    private let exerciseDraws: RandomStream
    private let waitDraws: RandomStream

    /// - Parameter subject: whose body it is; nil for an adult's.
    public init(_ settings: HabitSettings, streams: RandomStreams, subject: VirtualSubject? = nil) {
        var settings = settings
        settings.feelsBelow = Awareness.feelsBelow(
            settings.feelsBelow, spread: settings.feelsBelowSpread, unaware: settings.unaware,
            unawareBelow: settings.unawareFeelsBelow, streams)
        let portion = RescuePortion.factor(
            of: (settings.smallestRescue * settings.largestRescue).squareRoot(),
            perKilogram: settings.rescuePerKilogram, subject)
        settings.smallestRescue *= portion
        settings.largestRescue *= portion
        settings.exerciseCarbs *= RescuePortion.factor(
            of: settings.exerciseCarbs, perKilogram: settings.rescuePerKilogram, subject)
        self.settings = settings
        self.streams = streams
        var own = streams.stream("habits")
        bias = exponential(settings.counting.countingBias * Normal.next(using: &own))
        forgetfulness = exponential(settings.counting.missedOfPerson * Normal.next(using: &own))
        watchfulness = exponential(settings.correctionOfPerson * Normal.next(using: &own))
        lowDraws = streams.stream("habits-low")
        highDraws = streams.stream("habits-high")
        exerciseDraws = streams.stream("habits-exercise")
        waitDraws = streams.stream("habits-exercise-wait")
    }

    /// By local time.
    public func isAsleep(minuteOfDay minute: Int) -> Bool {
        let (from, until, now) = (settings.sleepsFrom * 60, settings.sleepsUntil * 60, Double(minute))
        return from < until ? now >= from && now < until : now >= from || now < until
    }

    /// Missed by occasion: breakfast, lunch, dinner, snack.
    static let missedShares = [0.075, 0.122, 0.111, 0.194]

    /// Grams that a person says of so many, without chance.
    static func counted(_ grams: Double, at occasion: MealOccasion) -> Double {
        let shift: Double
        let slope: Double
        switch occasion {
        case .breakfast: (shift, slope) = (0, 0)
        case .lunch: (shift, slope) = (6.77, -0.08)
        case .dinner: (shift, slope) = (18.01, -0.25)
        case .snack: (shift, slope) = (-0.49, -0.06)
        }
        return grams + 3.56 - 0.07 * grams - 0.0008 * grams * grams + shift + slope * grams
    }

    /// What is said of a meal, and how long after its start; nil where nothing is.
    /// - Parameter place: which meal of the plan it is.
    public func announcement(
        of amount: Carbohydrate, at occasion: MealOccasion, place: UInt64
    ) -> (carbohydrate: Carbohydrate, delayNanoseconds: Int64)? {
        var numbers = streams.stream("habits-meal", index: place)
        let isMissed = numbers.uniform(), isKept = numbers.uniform(), isLate = numbers.uniform()
        let minutes = numbers.uniform(), z = Normal.next(using: &numbers)
        let share = min(
            settings.counting.largestMissed,
            Self.missedShares[occasion.rawValue] * settings.counting.missedBoluses * forgetfulness)
        guard isMissed >= share else { return nil }
        if occasion == .snack, isKept < settings.counting.unannouncedSnacks { return nil }
        let grams = amount.grams
        let counted = Self.counted(grams, at: occasion)
        let meant = (grams + settings.counting.countingRegression * (counted - grams)) * bias
        let said = (meant + settings.counting.countingSpread * grams * z).rounded()
        guard said >= 1 else { return nil }
        var delay: Int64 = 0
        if isLate < settings.counting.lateBoluses {
            let wait =
                settings.counting.earliestLate
                + (settings.counting.latestLate - settings.counting.earliestLate) * minutes
            delay = Int64(wait.rounded()) * Nanoseconds.minute
        }
        return (min(Carbohydrate(grams: said), MealAnnouncement.largest), delay)
    }

    /// Whether the person notices a low in this five-minute slot, and what they swallow then.
    /// - Parameter plasma: mg/dL.
    public func rescue(slot: UInt64, isAsleep: Bool, plasma: Double) -> Carbohydrate? {
        var numbers = lowDraws.at(slot)
        var chance = isAsleep ? settings.noticesAsleep : settings.noticesAwake
        if plasma < settings.helpedBelow { chance = 1 - (1 - chance) * (1 - settings.helped) }
        guard numbers.uniform() < chance else { return nil }
        // Two thirds of them lie between the two.
        let (low, high) = (settings.smallestRescue, settings.largestRescue)
        let half = naturalLogarithm(max(1, high / low)) / 2
        let z = min(max(Normal.next(using: &numbers), -2), 2)
        return Carbohydrate(grams: max(1, ((low * high).squareRoot() * exponential(half * z)).rounded()))
    }

    /// What somebody does who is about to exercise.
    /// - Parameter glucose: a fresh reading, mg/dL; nil for none.
    func beforeExercise(slot: UInt64, glucose: Double?) -> (eats: Carbohydrate?, lowersBasal: Bool) {
        var numbers = exerciseDraws.at(slot)
        let (eats, lowers) = (numbers.uniform(), numbers.uniform())
        let isLow = (glucose ?? .infinity) < settings.exerciseCarbsBelow
        return (
            isLow && eats < settings.exerciseCarbsChance
                ? Carbohydrate(grams: max(1, settings.exerciseCarbs.rounded())) : nil,
            lowers < settings.lowersBasal
        )
    }

    /// Whether somebody waits who finds glucose too low for exercise.
    /// - Parameter slot: of the instant at which it was to begin first.
    func putsOffExercise(slot: UInt64) -> Bool {
        var numbers = waitDraws.at(slot << 1)
        return numbers.uniform() < settings.exercisePutOff
    }

    /// Whether a loop is told of exercise.
    /// - Parameter slot: as in `putsOffExercise`.
    func tellsLoopOfExercise(slot: UInt64) -> Bool {
        var numbers = waitDraws.at(slot << 1 | 1)
        return numbers.uniform() < settings.tellsLoop
    }

    /// Hours of local time.
    public var sleep: (from: Double, until: Double) { (settings.sleepsFrom, settings.sleepsUntil) }

    /// Whether a high that the person could correct is corrected in this slot.
    public func corrects(slot: UInt64) -> Bool {
        var numbers = highDraws.at(slot)
        return numbers.uniform() < settings.correctionChance * watchfulness
    }
}
