// How a body differs from hour to hour: its sensitivity to insulin, what its liver makes at dawn, what it does against lows and by exercise.
//
// Guarantees: a pure function of the instant; continuous, so that no integration step need end at a change. Levels hold from
// their instant on and are reached over two hours. Values are handed in: nothing is drawn here.
// Does not: know days, windows or time zones; whoever makes the levels does.
//
// Sources: a factor on insulin's effects that changes at meal windows with transitions of 2 h, LoopInsighT1 (Visentin 2015) and ReplayBG
// (S2017); a dawn rise of production, S2017 (Visentin 2018). The shape of that rise, a bell, is our choice.

public import IsletKernel

/// What varies in one body over a session.
public struct BodyVariation: Hashable, Sendable {
    /// Sensitivity to insulin from an instant on.
    public struct Level: Hashable, Sendable {
        public var from: Instant
        /// A factor on all that insulin does; 1 is the body as its parameters say.
        public var sensitivity: Double
        public var rescue: RescueUptake

        public init(from: Instant, sensitivity: Double, rescue: RescueUptake = .usual) {
            self.from = from
            self.sensitivity = sensitivity
            self.rescue = rescue
        }
    }

    /// Production above what the parameters say, from 0 to its height in the middle and back.
    public struct Rise: Hashable, Sendable {
        public var from: Instant
        public var until: Instant
        /// A share of basal production.
        public var height: Double

        public init(from: Instant, until: Instant, height: Double) {
            self.from = from
            self.until = until
            self.height = height
        }
    }

    /// A time of sleep.
    public struct Night: Hashable, Sendable {
        public var from: Instant
        public var until: Instant

        public init(from: Instant, until: Instant) {
            self.from = from
            self.until = until
        }
    }

    /// How long a body takes from one level to the next, ns.
    public static let transition = 2 * Nanoseconds.hour

    /// By rising instant. Before the first, the first holds.
    public let levels: [Level]
    /// By rising instant, none into another.
    public let rises: [Rise]
    /// By rising instant, none into another.
    public let nights: [Night]
    /// What the body does against lows; nil for one that does nothing.
    public var counterRegulation: CounterRegulation?
    /// nil for one that never exercises.
    public var exercise: ExerciseCourse?
    /// Where the last look found its level and rise: looks go forward, but for a step that is taken back.
    private var level = 0
    private var rise = 0
    private var night = 0

    public init(
        levels: [Level] = [], rises: [Rise] = [], nights: [Night] = [],
        counterRegulation: CounterRegulation? = nil, exercise: ExerciseCourse? = nil
    ) {
        self.levels = levels
        self.rises = rises
        self.nights = nights
        self.counterRegulation = counterRegulation
        self.exercise = exercise
    }

    /// The body's plasma glucose, mg/dL, every five minutes: what its counter-regulation goes by.
    public mutating func see(_ plasma: Double, at instant: Instant) {
        guard counterRegulation != nil else { return }
        while night + 1 < nights.count, nights[night].until <= instant { night += 1 }
        let isAsleep =
            night < nights.count && nights[night].from <= instant && instant < nights[night].until
        counterRegulation?.see(plasma, at: instant, isAsleep: isAsleep)
    }

    /// What exercise makes of it at this instant.
    public mutating func exercise(at instant: Instant) -> ExerciseEffect {
        exercise?.effect(at: instant) ?? .none
    }

    /// As `ExerciseCourse.move`.
    public mutating func moveExercise(from instant: Instant, to bout: ExerciseBout?) {
        exercise?.move(from: instant, to: bout)
    }

    /// How carbohydrate against a low is taken up now.
    public mutating func rescueUptake(at instant: Instant) -> RescueUptake {
        guard !levels.isEmpty else { return .usual }
        _ = sensitivity(at: instant)
        return levels[level].rescue
    }

    /// The factor on insulin's effects at this instant.
    public mutating func sensitivity(at instant: Instant) -> Double {
        guard !levels.isEmpty else { return 1 }
        while level + 1 < levels.count, levels[level + 1].from <= instant { level += 1 }
        while level > 0, levels[level].from > instant { level -= 1 }
        let (new, past) = (levels[level], instant.nanoseconds - levels[level].from.nanoseconds)
        guard level > 0, past < Self.transition, past >= 0 else { return new.sensitivity }
        let part = Double(past) / Double(Self.transition)
        let old = levels[level - 1].sensitivity
        return old + (new.sensitivity - old) * part * part * (3 - 2 * part)
    }

    /// What production has above the parameters at this instant, as a share of basal production.
    public mutating func productionRise(at instant: Instant) -> Double {
        while rise + 1 < rises.count, rises[rise].until <= instant { rise += 1 }
        while rise > 0, rises[rise - 1].until > instant { rise -= 1 }
        guard rise < rises.count, rises[rise].from < instant, instant < rises[rise].until else { return 0 }
        let (from, until) = (rises[rise].from.nanoseconds, rises[rise].until.nanoseconds)
        let part = Double(instant.nanoseconds - from) / Double(until - from)
        return rises[rise].height * 16 * part * part * (1 - part) * (1 - part)
    }
}

/// What a body has that the published equations lack. Off in traces, and in scenarios that don't ask for it.
public struct BodyOptions: Hashable, Sendable, BitwiseCopyable {
    /// Utilisation never turns into production: `Vm0 + Vmx·X` stays at or above 0. Half of the adults have rows in which insulin
    /// that is off for hours would make it negative.
    public var floorsUtilisation = false
    /// What the brain takes fades with glucose: `Fsnc·min(1, G/81)`, as in Hovorka 2004 (81 mg/dL is its 4.5 mmol/L).
    public var fadesUptakeAtLowGlucose = false
    /// The kidney passes what Hovorka 2004 says where that is more: `0.003·(G − 162)·Vg` above 162 mg/dL, per minute. The published term is a sixth
    /// of it, and lets people who forget their insulin pass 1000 mg/dL.
    public var excretesMore = false
    /// Sensitivity and production vary, meals differ, and rescue carbohydrate has a path of its own.
    public var varies = false

    public init() {}

    /// The equations as they are published.
    public static let published = Self()
    /// All of them: a body that has to live through real weeks.
    public static var lifelike: Self {
        var options = Self()
        options.floorsUtilisation = true
        options.fadesUptakeAtLowGlucose = true
        options.excretesMore = true
        options.varies = true
        return options
    }

    var isPublished: Bool { self == .published }
}
