// The body as devices and the person meet it.
//
// A simulated sensor and pump reach a virtual patient through these; real ones reach a real person, and nobody
// needs them then.

public import IsletKernel

/// Something whose interstitial glucose a sensor can sample. Called on the session's thread only.
public protocol InterstitialGlucoseSource: AnyObject, Sendable {
    /// A sensor will measure at this instant, which has not passed, and ask for it then or a little later.
    func expectSample(at instant: Instant)
    /// The interstitial glucose at the expected instant, which has come; the next one is expected at `next`, never earlier
    /// than now.
    /// - Throws: when the body's model can't be brought to this instant; the error ends the session.
    func sampledGlucose(next: Instant) throws -> GlucoseConcentration
    /// Plasma glucose at the sample that was handed over last: for a sensor that lags by a compartment of its own.
    var sampledPlasma: GlucoseConcentration { get }
}

/// Something that insulin flows into. Called on the session's thread only.
public protocol InsulinReceiver: AnyObject, Sendable {
    /// Delivers `amount` from now on, evenly over `nanoseconds`.
    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws
    /// Ends every delivery that `receive` began.
    /// - Returns: what had not yet flowed in.
    func stopReceiving() throws -> InsulinAmount
    /// The continuous rate from now on, beside what `receive` delivers.
    func setBasalRate(_ rate: InsulinRate) throws
}

/// Somebody who can eat. Called on the session's thread only.
public protocol Eater: AnyObject, Sendable {
    /// Starts to eat now, at the body's usual speed; what is still on the table from before is eaten first.
    func eat(_ amount: Carbohydrate) throws
    /// As `eat`, for a meal that is taken up in its own way. A body whose model knows no such thing eats as ever.
    func eat(_ amount: Carbohydrate, absorption: MealAbsorption) throws
    /// Swallows sugar against a low. A body whose model has no path for it eats it as a meal.
    func swallowRescue(_ amount: Carbohydrate) throws
}

extension Eater {
    public func eat(_ amount: Carbohydrate, absorption: MealAbsorption) throws { try eat(amount) }
    public func swallowRescue(_ amount: Carbohydrate) throws { try eat(amount) }
}

/// Somebody who feels a low. Called on the session's thread only.
public protocol PlasmaGlucoseSource: AnyObject, Sendable {
    /// The plasma glucose at this instant, as the body has it.
    func feltGlucose() throws -> GlucoseConcentration
}

/// How one meal is taken up, as factors on the body's own parameters.
public struct MealAbsorption: Hashable, Sendable, BitwiseCopyable {
    /// On kmax and kmin: how fast the stomach empties.
    public var emptying: Double
    /// On kabs: how fast the intestine passes glucose on.
    public var uptake: Double
    /// On f: how much of it arrives.
    public var availability: Double

    public init(emptying: Double = 1, uptake: Double = 1, availability: Double = 1) {
        self.emptying = emptying
        self.uptake = uptake
        self.availability = availability
    }

    /// As the body's parameters say.
    public static let usual = Self()
}

/// Somebody who may feel that their glucose is low. Called on the session's thread, in whatever phase the body is looked at: note it,
/// act in your own.
public protocol LowGlucoseObserver: AnyObject, Sendable {
    /// The body's plasma glucose is below the bound, at one of the instants, five minutes apart, at which the truth is kept.
    func bodyIsLow(_ plasma: GlucoseConcentration)
}

/// What a person can tell the loop. Called on the session's thread only; the next step hears of it.
public protocol LoopInputs: AnyObject, Sendable {
    /// - Throws: `LoopInputRefused` for a meal that is no number, nothing, or above `MealAnnouncement.largest`; or why the loop
    ///   could not keep it. It knows nothing of the meal then.
    func announce(_ meal: MealAnnouncement) throws
    /// - Throws: `LoopInputRefused` for what is no number, nothing, or with what is owed above the maximum bolus: it is refused
    ///   whole; or why the loop could not keep it.
    func request(manualBolus amount: InsulinAmount) throws
    /// Multiplies the programmed basal for so many steps from now on.
    /// - Throws: `LoopInputRefused` for a rate that the pump can't do, and for less than a step or more than a day.
    func request(temporaryBasal multiplier: Double, steps: Int) throws
    /// Aims at another target for so many steps from now on; nil goes back to the usual one at once. An algorithm without such a thing aims as ever.
    /// - Throws: `LoopInputRefused` for a target that nobody can live with, and for less than a step or more than a day.
    func request(temporaryTarget target: GlucoseConcentration?, steps: Int) throws
}

/// Something that a person or an interface said and that makes no sense, or is beyond a limit: nothing of it is taken.
public struct LoopInputRefused: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case meal = "meal, g"
        case manualBolus = "manual bolus, U"
        case bloodGlucose = "blood glucose, mg/dL"
        case statedInsulin = "insulin of the last eight hours, U"
        case givenInsulin = "insulin that was given, U"
        case target = "target, mg/dL"
        case basalMultiplier = "basal multiplier"
        case basalSteps = "steps of a temporary basal"
        case targetSteps = "steps of a temporary target"
        case basalRate = "basal rate, U/h"
        case customField = "custom field"
    }

    public var kind: Kind
    public var value: Double
    /// Accepted range. Zero is refused for meals and boluses.
    public var range: ClosedRange<Double>

    public init(kind: Kind, value: Double, range: ClosedRange<Double>) {
        self.kind = kind
        self.value = value
        self.range = range
    }

    public var description: String {
        "\(kind.rawValue): found \(Self.short(value)), expected \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
    }

    /// Two places after the point are more than anybody can dose or eat by.
    private static func short(_ value: Double) -> Double {
        abs(value) < 1e9 ? (value * 100).rounded(.down) / 100 : value
    }
}
