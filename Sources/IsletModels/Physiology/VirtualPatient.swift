// A person's body on the session's clock.
//
// Guarantees: the body is integrated only when somebody reads it or changes an input, and then up to that instant;
// no integration step crosses a meal, bolus or rate edge; the true plasma glucose is kept every five minutes, from
// the session's start; a body that leaves the physiological range says so and goes no further.
// Does not: wake by itself, decide to eat, or clamp anything.
//
// A sensor measures between those instants. To stop there would double the integration steps of a day, so the body goes
// on to the segment's end, ahead of time, and looks at the moment on the way (`ODEIntegrator.seen`). If an input changes
// before that end, it goes back to where it was: nothing of the time ahead is kept.

public import IsletDevices
public import IsletKernel

/// The plasma glucose left the range in which the model means something: the session ends here.
public struct LeftPhysiologicalRange: Error, Hashable, Sendable, CustomStringConvertible {
    public var instant: Instant
    public var plasmaGlucose: GlucoseConcentration

    public var description: String {
        let glucose = (plasmaGlucose.milligramsPerDecilitre * 10).rounded() / 10
        let range = VirtualPatient.physiologicalRange
        return "plasma glucose \(glucose) mg/dL at minute \(Int64(instant.minutes)): outside "
            + "\(Int(range.lowerBound)) to \(Int(range.upperBound)) mg/dL"
    }
}

public actor VirtualPatient: SessionActor, InterstitialGlucoseSource, InsulinReceiver, Eater,
    PlasmaGlucoseSource, Exerciser
{
    /// mg/dL of plasma glucose.
    public static let physiologicalRange = 10.0...1000.0
    /// How often the truth is kept.
    public static let truthInterval = 5 * Nanoseconds.minute
    /// A pulse train up to this long enters as one impulse at its start, moved to its middle to first order; the
    /// error is second order in its length, a few 1e-5 of the dose at most. A longer one is a rate with two edges.
    public static let longestImpulse = 60 * Nanoseconds.second
    /// mg/min: the speed of eating at which the field's reference simulator serves its meals.
    public static let eatingSpeed = 5000.0

    public nonisolated let executor: SessionExecutor

    private let model: any GlucoseModel
    /// The model where it varies; nil where it is the published one.
    private let varying: UVAPadova2008?
    private var variation: BodyVariation
    /// What it says of the end of the segment that was run last, where the next one begins as a rule.
    private var factors: Factors?
    private struct Factors {
        var at: Instant
        var sensitivity: Double
        var productionRise: Double
        var exercise: ExerciseEffect
    }
    private var position = Instant.start
    private var nextTruth = Instant.start
    private var truth: [Float] = []
    private var basalRate = InsulinRate.zero
    /// Boluses under way: units a minute, and when each ends.
    private var infusions: [(unitsPerMinute: Double, end: Instant)] = []
    /// Trains that entered whole and may still be under way.
    private var impulses: [(unitsPerMinute: Double, end: Instant)] = []
    private var stopsEatingAt: Instant?
    /// mg/dL: below this somebody may feel it.
    private var feltBelow = -Double.infinity
    private weak var lowObserver: (any LowGlucoseObserver)?
    /// When a sensor measures next, and what it will find, once the body has been there.
    private var sampleAt = Instant.distantFuture
    private var sampled = (
        plasma: GlucoseConcentration(milligramsPerDecilitre: .nan),
        interstitial: GlucoseConcentration(milligramsPerDecilitre: .nan)
    )
    /// Plasma glucose of the sample that was handed over last.
    private var handedPlasma = GlucoseConcentration(milligramsPerDecilitre: .nan)
    /// Where the model really stands while it is ahead of `position`, its time.
    private var aheadTo: Instant?
    /// A segment that would end this soon is not worth a step of its own.
    private static let shortest = 30 * Nanoseconds.second

    /// A body in its model's steady state.
    /// - Parameters:
    ///   - model: a model that nobody else holds.
    ///   - variation: how it differs from hour to hour, for a model whose options say that it does.
    public init(
        executor: SessionExecutor, model: sending any GlucoseModel, variation: BodyVariation = BodyVariation()
    ) {
        self.executor = executor
        self.model = model
        self.variation = variation
        let varying = model as? UVAPadova2008
        self.varying = varying?.options.varies == true ? varying : nil
        basalRate = model.basalRate
        model.setInsulinRate(basalRate)
    }

    /// Stands in its steady state up to this instant, and lives from there. To be called before anything reads it or changes an input.
    package func begin(at instant: Instant) {
        guard position == .start, truth.isEmpty, instant > .start else { return }
        let kept = (instant.nanoseconds + Self.truthInterval - 1) / Self.truthInterval
        truth = Array(repeating: Float(model.plasmaGlucose.milligramsPerDecilitre), count: Int(kept))
        nextTruth = Instant(nanoseconds: kept * Self.truthInterval)
        position = instant
    }

    /// Reserves room for the truth of a session this long.
    public func expect(_ duration: Instant) {
        truth.reserveCapacity(Int(duration.nanoseconds / Self.truthInterval) + 1)
    }

    /// Has `lowObserver` told of lows. No integration: the body is looked at where its truth is kept anyway.
    public func tellLows(below bound: GlucoseConcentration, to lowObserver: any LowGlucoseObserver) {
        feltBelow = bound.milligramsPerDecilitre
        self.lowObserver = lowObserver
    }

    /// The true plasma glucose, mg/dL, every five minutes from the session's start up to this instant.
    public func plasmaTruth() throws -> [Float] {
        try advance(to: executor.now)
        return truth
    }

    /// What was kept before the body left its range: no integration.
    public func plasmaTruthSoFar() -> [Float] { truth }

    /// The truth from a place on: what has become known since somebody looked last.
    package func plasmaTruthSoFar(from place: Int) -> [Float] { Array(truth.dropFirst(place)) }

    /// The true plasma glucose at this instant.
    public func plasmaGlucose() throws -> GlucoseConcentration {
        try advance(to: executor.now)
        return model.plasmaGlucose
    }

    /// The same for who looks every five minutes. A moment of the truth is looked at on the way to where the next dose is likely, so that
    /// a look costs no segment: within 0.01 mg/dL of `plasmaGlucose`.
    private func glanceAtPlasma() throws -> GlucoseConcentration {
        let now = executor.now
        guard now == nextTruth, position < now else { return try plasmaGlucose() }
        if aheadTo == nil, let end = likelyEdge(after: now) { try goAhead(to: end) }
        guard let aheadTo, aheadTo > now else { return try plasmaGlucose() }
        let seen = model.glucose(seen: 0).plasma
        // One that says that the body has left its range is said by a body that stops there.
        return Self.physiologicalRange.contains(seen.milligramsPerDecilitre) ? seen : try plasmaGlucose()
    }

    /// Where a segment that goes through `instant` is likely to end: doses come five minutes apart. Nil where an edge of an input comes before.
    private func likelyEdge(after instant: Instant) -> Instant? {
        let end = position.adding(Self.truthInterval)
        guard end > instant, stopsEatingAt ?? .distantFuture >= end,
            infusions.allSatisfy({ $0.end >= end })
        else { return nil }
        return end
    }

    /// Evaluations of the model's right-hand side so far.
    public func evaluations() -> Int { model.evaluations }

    private func expect(sampleAt instant: Instant) {
        if let aheadTo, instant <= aheadTo { goBack() }
        sampleAt = instant
        if sampleAt == position, aheadTo == nil { sampled = (model.plasmaGlucose, model.interstitialGlucose) }
    }

    /// Brings the body to the expected sample, and says what it found there.
    private func takeSample(next: Instant) throws -> GlucoseConcentration {
        let now = executor.now
        while position < sampleAt, aheadTo ?? .start < sampleAt {
            if aheadTo == nil, position == nextTruth { try keepTruth() }
            let end = aheadTo ?? segmentEnd
            let left = end.nanoseconds - now.nanoseconds
            // A whole segment lies behind, or what is left of this one is too short to go ahead. One that ended just now may
            // as well go on to the present.
            if left < Self.shortest {
                try advance(to: left > -Self.shortest ? now : end)
            } else {
                try goAhead(to: end)
            }
        }
        let glucose = sampled.interstitial
        handedPlasma = sampled.plasma
        expect(sampleAt: next)
        return glucose
    }

    /// Integrates a segment that ends in the future.
    private func goAhead(to end: Instant) throws {
        model.keep()
        try run(to: end)
        aheadTo = end
    }

    private func goBack() {
        aheadTo = nil
        model.goBack()
    }

    private func infuse(_ amount: InsulinAmount, over nanoseconds: Int64) throws {
        try advance(to: executor.now)
        guard amount > .zero else { return }
        let minutes = Double(nanoseconds) / Double(Nanoseconds.minute)
        let infusion = (unitsPerMinute: amount.units / minutes, end: executor.now.adding(nanoseconds))
        if nanoseconds <= Self.longestImpulse {
            model.injectBolus(amount, centredMinutesFromNow: minutes / 2)
            // The one before has ended, as a rule. Those that ended before one that goes on stay: they count for nothing.
            let now = executor.now
            while let last = impulses.last, last.end <= now { impulses.removeLast() }
            if nanoseconds > 0 { impulses.append(infusion) }
        } else {
            infusions.append(infusion)
            applyInsulinRate()
        }
    }

    private func stopInfusions() throws -> InsulinAmount {
        try advance(to: executor.now)
        var left = 0.0
        for infusion in infusions {
            let minutes =
                Double(infusion.end.nanoseconds - executor.now.nanoseconds) / Double(Nanoseconds.minute)
            left += infusion.unitsPerMinute * minutes
        }
        infusions.removeAll()
        applyInsulinRate()
        for impulse in impulses where impulse.end > executor.now {
            let minutes =
                Double(impulse.end.nanoseconds - executor.now.nanoseconds) / Double(Nanoseconds.minute)
            let toCome = impulse.unitsPerMinute * minutes
            model.injectBolus(InsulinAmount(units: -toCome), centredMinutesFromNow: minutes / 2)
            left += toCome
        }
        impulses.removeAll()
        return InsulinAmount(units: left)
    }

    private func changeBasal(to rate: InsulinRate) throws {
        try advance(to: executor.now)
        basalRate = rate
        applyInsulinRate()
    }

    private func startEating(_ amount: Carbohydrate, absorption: MealAbsorption = .usual) throws {
        try advance(to: executor.now)
        guard amount > .zero else { return }
        varying?.absorb(absorption)
        let length = Int64(amount.milligrams / Self.eatingSpeed * Double(Nanoseconds.minute))
        stopsEatingAt = (stopsEatingAt ?? executor.now).adding(length)
        model.setCarbohydrateRate(milligramsPerMinute: Self.eatingSpeed)
    }

    private func swallow(_ amount: Carbohydrate) throws {
        guard let varying else { return try startEating(amount) }
        try advance(to: executor.now)
        varying.swallowRescue(amount, variation.rescueUptake(at: position))
    }

    private func changeExercise(from instant: Instant, to bout: ExerciseBout?) throws {
        try advance(to: executor.now)
        variation.moveExercise(from: instant, to: bout)
        factors = nil
    }

    private func applyInsulinRate() {
        var unitsPerMinute = basalRate.unitsPerMinute
        for infusion in infusions { unitsPerMinute += infusion.unitsPerMinute }
        model.setInsulinRate(InsulinRate(unitsPerMinute: unitsPerMinute))
    }

    /// Where a segment from here must end at the latest. A truth that comes right after its start is looked at on the way.
    private var segmentEnd: Instant {
        let isNear = nextTruth.nanoseconds - position.nanoseconds < Self.shortest
        var end = isNear ? nextTruth.adding(Self.truthInterval) : nextTruth
        if let edge = stopsEatingAt, edge < end { end = edge }
        for infusion in infusions where infusion.end < end { end = infusion.end }
        return end
    }

    /// A truth that comes right before `instant`, with no edge of an input in between, is looked at on the way.
    private func isLastEdge(_ truth: Instant, before instant: Instant) -> Bool {
        instant.nanoseconds - truth.nanoseconds < Self.shortest
            && stopsEatingAt ?? .distantFuture > instant
            && (infusions.isEmpty || infusions.allSatisfy { $0.end > instant })
    }

    /// Integrates segment by segment: each ends at the next edge, at the next instant of the truth, or at `instant`.
    private func advance(to instant: Instant) throws {
        while true {
            if let end = aheadTo {
                if end <= instant {
                    // No input has changed up to where the model stands: the body is there now.
                    aheadTo = nil
                    try reach(end)
                } else {
                    goBack()
                }
            }
            if position == nextTruth { try keepTruth() }
            guard position < instant else { return }
            var end = min(instant, segmentEnd)
            if end == nextTruth, isLastEdge(end, before: instant) { end = instant }
            try run(to: end)
            try reach(end)
        }
    }

    /// Integrates one segment. Time stays.
    private func run(to end: Instant) throws {
        var looks = (Double.nan, Double.nan)
        if nextTruth < end { looks.0 = minutes(until: nextTruth) }
        if sampleAt < end, sampleAt > position { looks.1 = minutes(until: sampleAt) }
        if let varying { vary(varying, until: end) }
        try model.advance(byMinutes: minutes(until: end), looks: looks)
        if sampleAt == end {
            sampled = (model.plasmaGlucose, model.interstitialGlucose)
        } else if sampleAt < end, sampleAt > position {
            sampled = model.glucose(seen: 1)
        }
    }

    /// Within a segment, factors go straight from one end to the other.
    private func vary(_ body: UVAPadova2008, until end: Instant) {
        let now = factors(at: position)
        let then = factors(at: end)
        factors = then
        let (counter, later) = (
            variation.counterRegulation?.level(at: position) ?? 0,
            variation.counterRegulation?.level(at: end) ?? 0
        )
        body.vary(
            sensitivity: (now.sensitivity, then.sensitivity),
            productionRise: (now.productionRise + counter, then.productionRise + later),
            exercise: (now.exercise, then.exercise), overMinutes: minutes(until: end))
    }

    private func factors(at instant: Instant) -> Factors {
        if let factors, factors.at == instant { return factors }
        return Factors(
            at: instant, sensitivity: variation.sensitivity(at: instant),
            productionRise: variation.productionRise(at: instant),
            exercise: variation.exercise(at: instant))
    }

    private func minutes(until instant: Instant) -> Double {
        Double(instant.nanoseconds - position.nanoseconds) / Double(Nanoseconds.minute)
    }

    /// The model stands at the end of the segment that was run last: so does time.
    private func reach(_ end: Instant) throws {
        if nextTruth < end { try keepTruth(model.glucose(seen: 0).plasma, at: nextTruth) }
        position = end
        if stopsEatingAt == end {
            stopsEatingAt = nil
            model.setCarbohydrateRate(milligramsPerMinute: 0)
        }
        if !infusions.isEmpty {
            infusions.removeAll { $0.end == end }
            applyInsulinRate()
        }
    }

    private func keepTruth() throws { try keepTruth(model.plasmaGlucose, at: position) }

    private func keepTruth(_ plasma: GlucoseConcentration, at instant: Instant) throws {
        guard Self.physiologicalRange.contains(plasma.milligramsPerDecilitre) else {
            throw LeftPhysiologicalRange(instant: instant, plasmaGlucose: plasma)
        }
        truth.append(Float(plasma.milligramsPerDecilitre))
        nextTruth = nextTruth.adding(Self.truthInterval)
        variation.see(plasma.milligramsPerDecilitre, at: instant)
        if plasma.milligramsPerDecilitre < feltBelow { lowObserver?.bodyIsLow(plasma) }
    }

    // MARK: Ports

    public nonisolated func expectSample(at instant: Instant) { here(instant) { $0.expect(sampleAt: $1) } }

    public nonisolated func sampledGlucose(next: Instant) throws -> GlucoseConcentration {
        try here(next) { try $0.takeSample(next: $1) }
    }

    public nonisolated var sampledPlasma: GlucoseConcentration { here { $0.handedPlasma } }

    public nonisolated func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws {
        try here((amount, nanoseconds)) { try $0.infuse($1.0, over: $1.1) }
    }

    public nonisolated func stopReceiving() throws -> InsulinAmount { try here { try $0.stopInfusions() } }

    public nonisolated func setBasalRate(_ rate: InsulinRate) throws {
        try here(rate) { try $0.changeBasal(to: $1) }
    }

    public nonisolated func eat(_ amount: Carbohydrate) throws {
        try here(amount) { try $0.startEating($1) }
    }

    public nonisolated func eat(_ amount: Carbohydrate, absorption: MealAbsorption) throws {
        try here((amount, absorption)) { try $0.startEating($1.0, absorption: $1.1) }
    }

    public nonisolated func swallowRescue(_ amount: Carbohydrate) throws {
        try here(amount) { try $0.swallow($1) }
    }

    public nonisolated func moveExercise(from instant: Instant, to bout: ExerciseBout?) throws {
        try here((instant, bout)) { try $0.changeExercise(from: $1.0, to: $1.1) }
    }

    public nonisolated func feltGlucose() throws -> GlucoseConcentration {
        try here { try $0.glanceAtPlasma() }
    }
}
