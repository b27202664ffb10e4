// What exercise does to glucose: muscles take it by themselves, the liver gives more meanwhile, and insulin acts more for hours after.
//
// Guarantees: a pure function of the bouts and of the instant: nothing here depends on glucose, but for a bout that its person puts off because of it.
// Continuous, with straight lines of five minutes between its knots, so that no step of integration ends at it. Without a bout it is nothing, to the bit.
// A bout is computed when it begins: what is put off then costs nothing twice.
// Does not: know sprints. The model's second production law, and its exhaustion of the liver after hours, belong to counts that no bout here reaches.
//
// Source: Deichmann and Kaltenbach, PLoS Comput Biol 2023 (doi 10.1371/journal.pcbi.1010289), its moderate part with its values: Y follows the
// accelerometer, fY says whether it counts, rGU is uptake and rGP production (1/min of plasma glucose), Z what insulin does more. There Z multiplies
// insulin's effect on transport; here it multiplies insulin-dependent utilisation, the term of this body that stands for it.

public import IsletKernel

/// One time of exercise.
public struct ExerciseBout: Hashable, Sendable {
    public var from: Instant
    public var until: Instant
    /// Counts a minute of an accelerometer: 0 is rest, from about 1500 on it is exercise.
    public var counts: Double

    /// Above it other laws hold, which are not here.
    public static let largestCounts = 5000.0

    public init(from: Instant, until: Instant, counts: Double) {
        self.from = from
        self.until = until
        self.counts = min(counts, Self.largestCounts)
    }

    public var minutes: Double { Double(until.nanoseconds - from.nanoseconds) / Double(Nanoseconds.minute) }
}

/// How strongly one body answers, as factors on the published values.
public struct ExerciseAnswer: Hashable, Sendable {
    public var uptake: Double
    public var production: Double
    public var sensitivity: Double

    public init(uptake: Double = 1, production: Double = 1, sensitivity: Double = 1) {
        self.uptake = uptake
        self.production = production
        self.sensitivity = sensitivity
    }
}

/// What exercise makes of a body at one instant.
public struct ExerciseEffect: Hashable, Sendable, BitwiseCopyable {
    /// Production less uptake, 1/min of plasma glucose.
    public var exchange: Double
    /// By how much more insulin acts on utilisation: 0 is as ever.
    public var sensitivity: Double

    public static let none = Self(exchange: 0, sensitivity: 0)
}

/// The states of the published model that hang on the accelerometer alone.
struct ExerciseState {
    var Y = 0.0
    var Z = 0.0
    var rGU = 0.0
    var rGP = 0.0

    static let tauY = 5.0
    static let tauZ = 600.0
    static let b = 3e-6
    static let q1 = 1e-6
    static let q2 = 0.10
    static let q3 = 3e-7
    static let q4 = 0.06
    static let counting = 1500.0

    /// Hill's function of exponent 20.
    static func fY(_ Y: Double) -> Double {
        let part = Y / counting
        let second = part * part
        let fourth = second * second
        let eighth = fourth * fourth
        let power = eighth * eighth * fourth
        return power / (1 + power)
    }

    /// Goes on for some minutes with the same counts, in steps of an eighth: within a thousandth of what much finer ones give.
    mutating func advance(_ minutes: Double, counts: Double, _ answer: ExerciseAnswer) {
        let steps = max(1, (minutes * 8).rounded(.up))
        let h = minutes / steps
        let (y, half) = (exponential(-h / Self.tauY), exponential(-h / 2 / Self.tauY))
        let (uptake, production) = (exponential(-Self.q2 * h), exponential(-Self.q4 * h))
        for _ in 0..<Int(steps) {
            let middle = counts + (Y - counts) * half
            let counted = Self.fY(middle)
            let drive = counted * middle
            rGU = rGU * uptake + answer.uptake * Self.q1 * drive / Self.q2 * (1 - uptake)
            rGP = rGP * production + answer.production * Self.q3 * drive / Self.q4 * (1 - production)
            let rate = (1 - counted) / Self.tauZ
            Z += h * (answer.sensitivity * Self.b * drive - rate * Z) * (1 - rate * h / 2)
            Y = counts + (Y - counts) * y
        }
    }
}

/// The exercise of a whole session.
public struct ExerciseCourse: Hashable, Sendable {
    private struct Knot {
        var at: Int64
        var effect: ExerciseEffect
    }

    private let answer: ExerciseAnswer
    /// By rising instant, none into another.
    private var bouts: [ExerciseBout]
    /// By rising instant: of the first bouts, up to the one that the last look needed.
    private var knots: [Knot] = []
    /// What stood before each of these bouts.
    private var before: [(knots: Int, state: ExerciseState)] = []
    private var state = ExerciseState()
    /// Where the last look was: looks go forward, but for a step that is taken back.
    private var place = 0

    static let step = 5 * Nanoseconds.minute
    /// After a bout uptake and production are gone: seven of the slower one's time constants.
    static let tail = 24

    /// - Parameter bouts: by rising instant, none into another.
    public init(_ bouts: [ExerciseBout], _ answer: ExerciseAnswer) {
        self.bouts = bouts.filter { $0.until > $0.from }
        self.answer = answer
    }

    /// What a body is made with, and what was put off since.
    public static func == (a: Self, b: Self) -> Bool { a.bouts == b.bouts && a.answer == b.answer }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bouts)
        hasher.combine(answer)
    }

    /// Puts the bout that was to begin at an instant in another's place, or calls it off. What lies before that instant stays, to the bit.
    /// - Parameter bout: no earlier, and over before the one after begins; nil for none.
    public mutating func move(from instant: Instant, to bout: ExerciseBout?) {
        guard let index = bouts.firstIndex(where: { $0.from == instant }) else { return }
        // What the one before leaves behind may have ended where this one began.
        let reach = Int64(Self.tail) * Self.step
        let first =
            index > 0 && bouts[index - 1].until.adding(reach) > instant ? index - 1 : index
        if let bout { bouts[index] = bout } else { bouts.remove(at: index) }
        guard first < before.count else { return }
        (state, place) = (before[first].state, 0)
        knots.removeLast(knots.count - before[first].knots)
        before.removeLast(before.count - first)
    }

    /// The knots of the next bout, and of what it leaves behind up to the one after.
    private mutating func live() {
        let bout = bouts[before.count]
        before.append((knots.count, state))
        let next = before.count < bouts.count ? bouts[before.count].from.nanoseconds : Int64.max / 2
        var at = bout.from.nanoseconds
        if let last = knots.last {
            state.Z = Self.faded(last.effect.sensitivity, by: at - last.at)
            if last.effect.exchange == 0 { (state.Y, state.rGU, state.rGP) = (0, 0, 0) }
        }
        if knots.last?.at != at { note(at) }
        while at < bout.until.nanoseconds {
            at = go(from: at, to: bout.until.nanoseconds, counts: bout.counts)
            note(at)
        }
        for rest in 1...Self.tail where at < next {
            at = go(from: at, to: next, counts: 0)
            note(at, isOver: rest == Self.tail)
        }
    }

    /// A step, or what is left of it.
    private mutating func go(from at: Int64, to end: Int64, counts: Double) -> Int64 {
        let nanoseconds = min(Self.step, end - at)
        state.advance(Double(nanoseconds) / Double(Nanoseconds.minute), counts: counts, answer)
        return at + nanoseconds
    }

    private mutating func note(_ at: Int64, isOver: Bool = false) {
        let exchange = isOver ? 0 : state.rGP - state.rGU
        knots.append(Knot(at: at, effect: ExerciseEffect(exchange: exchange, sensitivity: state.Z)))
    }

    private static func faded(_ sensitivity: Double, by nanoseconds: Int64) -> Double {
        sensitivity
            * exponential(-Double(nanoseconds) / Double(Nanoseconds.minute) / ExerciseState.tauZ)
    }

    /// What it makes of the body now.
    public mutating func effect(at instant: Instant) -> ExerciseEffect {
        let now = instant.nanoseconds
        while before.count < bouts.count, bouts[before.count].from <= instant { live() }
        guard let first = knots.first, first.at <= now else { return .none }
        while place + 1 < knots.count, knots[place + 1].at <= now { place += 1 }
        while place > 0, knots[place].at > now { place -= 1 }
        let here = knots[place]
        guard place + 1 < knots.count, here.effect.exchange != 0 || knots[place + 1].effect.exchange != 0
        else {
            return ExerciseEffect(
                exchange: 0, sensitivity: Self.faded(here.effect.sensitivity, by: now - here.at))
        }
        let then = knots[place + 1]
        let part = Double(now - here.at) / Double(then.at - here.at)
        return ExerciseEffect(
            exchange: here.effect.exchange + (then.effect.exchange - here.effect.exchange) * part,
            sensitivity: here.effect.sensitivity
                + (then.effect.sensitivity - here.effect.sensitivity) * part)
    }
}

/// Somebody whose exercise can be put off. Called on the session's thread only.
public protocol Exerciser: AnyObject, Sendable {
    /// As `ExerciseCourse.move`, at the latest at the instant at which it was to begin.
    func moveExercise(from instant: Instant, to bout: ExerciseBout?) throws
}
