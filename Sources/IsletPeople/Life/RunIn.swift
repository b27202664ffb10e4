// The weeks before a trial in which a clinic finds a person's settings.
//
// Guarantees: a pure function of the person, the settings and the streams; the run-in lives the days before the session's first (-1, -2, ...), so that
// no day of the session is lived twice; what it leaves lies within clinical limits.
// Does not: find the best therapy. A clinic looks at a few days, changes what is clearly wrong by a tenth, and leaves the rest, errors included.
//
// The rules are ours. Their thresholds are the consensus targets of time below 70 and 54 (4 and 1 %); highs are acted on only where they are gross.

public import IsletDevices
public import IsletModels
import IsletKernel

/// What a clinic writes down.
public struct WrittenTherapy: Hashable, Sendable {
    public var basalRate: InsulinRate
    /// g/U.
    public var ratio: Double
    /// mg/dL a unit.
    public var correctionFactor: Double

    public init(basalRate: InsulinRate, ratio: Double, correctionFactor: Double) {
        self.basalRate = basalRate
        self.ratio = ratio
        self.correctionFactor = correctionFactor
    }

    /// Moved as little as it takes into the limits: ratio first, then basal.
    func within(_ limits: ClinicalLimits, bodyWeight: Double) -> Self {
        var moved = self
        let shares = limits.basalShare
        let daily = limits.dailyUnitsPerKilogram
        // Ratios with which some basal rate is within the other two limits.
        let smallest = TherapyFacts.dailyGrams / (daily.upperBound * (1 - shares.lowerBound) * bodyWeight)
        let largest = TherapyFacts.dailyGrams / (daily.lowerBound * (1 - shares.upperBound) * bodyWeight)
        moved.ratio = min(max(ratio, limits.ratio.lowerBound, smallest), limits.ratio.upperBound, largest)
        let boluses = TherapyFacts.dailyGrams / moved.ratio
        let low = max(
            boluses * shares.lowerBound / (1 - shares.lowerBound), daily.lowerBound * bodyWeight - boluses)
        let high = min(
            boluses * shares.upperBound / (1 - shares.upperBound), daily.upperBound * bodyWeight - boluses)
        let basal = 24 * basalRate.unitsPerHour
        moved.basalRate = InsulinRate(unitsPerHour: max(min(basal, high), low) / 24)
        return moved
    }
}

/// What therapy arithmetic takes for granted.
public enum TherapyFacts {
    /// Carbohydrate of a day, g: total daily insulin is 24 h of basal and this much at the ratio (the field's table).
    public static let dailyGrams = 200.0
}

/// One meal of the run-in.
public struct RunInMeal: Hashable, Sendable {
    /// Minutes since the run-in's first midnight.
    public var minute: Int
    public var grams: Double
    public var occasion: MealOccasion
    public var place: UInt64

    public init(minute: Int, grams: Double, occasion: MealOccasion, place: UInt64) {
        self.minute = minute
        self.grams = grams
        self.occasion = occasion
        self.place = place
    }
}

/// A clinic's titration of one person.
public struct RunIn {
    /// Days between two looks of the clinic.
    public static let daysBetweenVisits = 5
    public static let visits = 3
    /// The days that a run-in may live, before day 0.
    public static let days = daysBetweenVisits * visits

    private let subject: VirtualSubject
    private let life: LifePlan
    private let habits: Habits
    private let meals: [RunInMeal]

    /// - Parameter meals: of the run-in's days, in order, as planned.
    public init(subject: VirtualSubject, life: LifePlan, habits: Habits, meals: [RunInMeal]) {
        self.subject = subject
        self.life = life
        self.habits = habits
        self.meals = meals
    }

    /// What the clinic leaves, from a first prescription that missed by this person's errors.
    /// - Throws: `ModelRunError`.
    public func titrated() throws -> WrittenTherapy {
        let errors = life.therapyErrors()
        let limits = ClinicalLimits.usual
        var therapy = WrittenTherapy(
            basalRate: InsulinRate(unitsPerHour: subject.basalRate.unitsPerHour * errors.basal),
            ratio: subject.carbohydrateRatio * errors.ratio,
            correctionFactor: subject.correctionFactor * errors.correction
        ).within(limits, bodyWeight: subject.bodyWeight)
        var weeks = RunInDays(
            subject: subject, life: life, habits: habits, meals: meals, days: Self.days)
        for _ in 0..<Self.visits {
            let course = try weeks.live(days: Self.daysBetweenVisits, on: therapy)
            let next = course.adjusted(therapy, life.settings).within(limits, bodyWeight: subject.bodyWeight)
            if next == therapy { break }
            therapy = next
        }
        return therapy
    }
}

/// What a clinic sees of some days.
struct RunInCourse {
    /// Readings every 5 min, nights and days apart.
    var night = Share()
    var day = Share()

    struct Share {
        var count = 0.0
        var sum = 0.0
        var below70 = 0.0
        var below54 = 0.0

        mutating func add(_ glucose: Double) {
            count += 1
            sum += glucose
            if glucose < 70 { below70 += 1 }
            if glucose < 54 { below54 += 1 }
        }

        func isLow(_ settings: LifeSettings) -> Bool {
            below70 > settings.clinicBelow70 * count || below54 > settings.clinicBelow54 * count
        }
        func isHigh(_ bound: Double) -> Bool { sum > bound * count }
    }

    /// A clinic's step.
    static let step = 1.1
    /// Means above which a clinic gives more, mg/dL.
    static let highNight = 180.0
    static let highDay = 195.0

    func adjusted(_ therapy: WrittenTherapy, _ settings: LifeSettings) -> WrittenTherapy {
        var next = therapy
        let (nightIsLow, dayIsLow) = (night.isLow(settings), day.isLow(settings))
        if nightIsLow {
            next.basalRate.unitsPerHour /= Self.step
        } else if night.isHigh(Self.highNight), !dayIsLow {
            next.basalRate.unitsPerHour *= Self.step
        }
        if dayIsLow {
            next.ratio *= Self.step
            next.correctionFactor *= Self.step
        } else if day.isHigh(Self.highDay), !nightIsLow {
            next.ratio /= Self.step
            next.correctionFactor /= Self.step
        }
        return next
    }
}
