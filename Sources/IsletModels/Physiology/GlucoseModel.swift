// What every model of a person's glucose offers, whichever paper it comes from.
//
// Guarantees: inputs are constant between calls; a call that changes one resets the evolver, so no
// integration step crosses an edge; nothing runs until `advance(byMinutes:)`, so that a patient may integrate
// lazily; a snapshot holds everything that later values depend on.
// Does not: keep time, know meals by name, clamp anything, or decide when a subject has left the physiological
// range. Outputs are what the equations say.

public import IsletDevices
public import IsletNumerics

/// A glucose-insulin model with its state, inputs and integrator.
///
///     model.setInsulinRate(model.basalRate)
///     model.setCarbohydrateRate(milligramsPerMinute: 5_000)
///     try model.advance(byMinutes: 10)
///     model.setCarbohydrateRate(milligramsPerMinute: 0)
///
/// Instances own unmanaged memory and aren't `Sendable`: one belongs to one actor.
public protocol GlucoseModel: AnyObject {
    /// Which model this is: its catalogue entry names states, parameters and units.
    var kind: ModelKind { get }

    // MARK: Inputs

    /// Carbohydrate eaten, mg/min, at or above 0. Constant until set again.
    var carbohydrateRate: Double { get }

    /// Sets the rate of eating from now on.
    ///
    /// A meal starts when the rate leaves 0 and lasts until it is 0 again. A model whose stomach knows the
    /// size of the meal (UVA/Padova's D) counts what has been eaten up to each instant.
    func setCarbohydrateRate(milligramsPerMinute rate: Double)

    /// Sets the rate of eating for the minute that begins now, and counts the whole amount as part of the
    /// meal at once. Tables of inputs by the minute mean this (`TraceRun`); the caller advances one minute.
    func eatDuringNextMinute(_ amount: Carbohydrate)

    /// Insulin infused, constant until set again.
    var insulinRate: InsulinRate { get }

    /// Sets the rate of subcutaneous infusion from now on; at or above 0.
    func setInsulinRate(_ rate: InsulinRate)

    /// Enters a short train of pump pulses as one impulse at this instant.
    ///
    /// The state jumps to where an impulse `centredMinutesFromNow` later would have come from, to first order
    /// in that delay: `(I − A·δ)·e_depot·dose`. Mass is exact. Meant for δ ≤ 0.5 min.
    /// A negative amount takes back what a train that was entered whole had still to give.
    func injectBolus(_ amount: InsulinAmount, centredMinutesFromNow delay: Double)

    // MARK: Time

    /// Integrates over a segment of constant inputs.
    /// - Throws: `ODEError`, whose time counts in minutes from the segment's start.
    func advance(byMinutes minutes: Double) throws(ODEError)

    /// As `advance(byMinutes:)`, with a look at glucose at two moments on the way, in minutes from the segment's start; a
    /// look outside the segment, or NaN, sees nothing. Looking costs no evaluation and changes no bit of the state.
    func advance(byMinutes minutes: Double, looks: (Double, Double)) throws(ODEError)

    /// What the first (0) or second (1) look of the last such segment saw: within 0.01 mg/dL of an integration to there.
    func glucose(seen look: Int) -> (plasma: GlucoseConcentration, interstitial: GlucoseConcentration)

    /// Keeps where the model is now, in place of what was kept before. Allocates nothing.
    func keep()

    /// Goes back to where `keep` was called. No input may have changed since.
    func goBack()

    // MARK: Outputs

    var plasmaGlucose: GlucoseConcentration { get }

    /// Glucose where a sensor sits. Plasma glucose where the model has no such compartment.
    var interstitialGlucose: GlucoseConcentration { get }

    /// Insulin in all compartments, from depot to plasma, not yet eliminated.
    var insulinInBody: InsulinAmount { get }

    /// Insulin leaving the body now, U/min.
    var insulinEliminationRate: Double { get }

    /// Carbohydrate swallowed and not yet absorbed.
    var carbohydrateInGut: Carbohydrate { get }

    /// Carbohydrate leaving the gut now, mg/min, before bioavailability.
    var carbohydrateAbsorptionRate: Double { get }

    // MARK: State

    /// The rate of infusion that holds the steady state.
    var basalRate: InsulinRate { get }

    /// Goes to the steady state at the basal rate, with an empty gut.
    func settle()

    /// The states in the catalogue's order, then inputs and bookkeeping: all that later values depend on.
    var snapshot: [Double] { get }

    /// Takes back a snapshot of a model of the same kind and parameters.
    ///
    /// What follows is bit for bit what followed the snapshot.
    /// - Precondition: as many values as `snapshot` has.
    func restore(_ snapshot: [Double])

    /// Evaluations of the right-hand side so far.
    var evaluations: Int { get }
}

extension GlucoseModel {
    public func advance(byMinutes minutes: Double) throws(ODEError) {
        try advance(byMinutes: minutes, looks: (.nan, .nan))
    }

    public func eatDuringNextMinute(_ amount: Carbohydrate) {
        setCarbohydrateRate(milligramsPerMinute: amount.milligrams)
    }
}

/// How finely a model integrates.
public struct IntegrationSettings: Hashable, Sendable {
    public var stepper: ODEIntegrator.Stepper
    /// Error allowed in one step, as a fraction of each state's scale.
    public var tolerance: Double
    /// As the integrator's.
    public var reach: Double

    public init(stepper: ODEIntegrator.Stepper, tolerance: Double, reach: Double = 1) {
        self.stepper = stepper
        self.tolerance = tolerance
        self.reach = reach
    }

    /// For sessions: errors below 0.02 mg/dL over a day of meals and boluses.
    public static let session = Self(stepper: .rkck, tolerance: 1e-4, reach: 2)
    /// For traces: errors below 1e-5 mg/dL.
    public static let trace = Self(stepper: .rk8pd, tolerance: 1e-10)
    /// What the others are measured against.
    public static let reference = Self(stepper: .rk8pd, tolerance: 1e-12)
}
