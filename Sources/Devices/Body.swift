// The body as devices and the person meet it.
//
// A simulated sensor and pump reach a virtual patient through these; real ones reach a real person, and nobody
// needs them then.

public import SessionTime

/// Something whose interstitial glucose a sensor can sample. Called on the session's thread only.
public protocol InterstitialGlucoseSource: AnyObject, Sendable {
    /// A sensor will measure at this instant, which has not passed, and ask for it then or a little later.
    func expectSample(at instant: Instant)
    /// The interstitial glucose at the expected instant, which has come; the next one is expected at `next`, never earlier
    /// than now.
    /// - Throws: when the body's model can't be brought to this instant; the error ends the session.
    func sampledGlucose(next: Instant) throws -> GlucoseConcentration
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
}

/// What a person can tell the loop. Called on the session's thread only; the next step hears of it.
public protocol LoopInputs: AnyObject, Sendable {
    /// - Throws: why the loop refused; it knows nothing of the meal then.
    func announce(_ meal: MealAnnouncement) throws
    /// - Throws: why the loop refused; nothing is delivered then.
    func request(manualBolus amount: InsulinAmount) throws
}
