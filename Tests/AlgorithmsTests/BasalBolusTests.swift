import IsletLoop
import IsletDevices
import IsletKernel
import Testing

func stepInput(
    glucose: Double? = nil, meal: Double? = nil, manual: Double? = nil, basal: Double = 1.2,
    at now: Instant = .start, isPumpAvailable: Bool = true
) -> StepInput {
    let therapy = TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: basal),
        carbohydrateRatioGramsPerUnit: 10, correctionFactorMgdlPerUnit: 40,
        totalDailyInsulin: InsulinAmount(units: 45))
    var input = StepInput(
        algorithmTime: now.nanoseconds / (5 * Nanoseconds.minute), now: now, therapy: therapy,
        target: GlucoseConcentration(milligramsPerDecilitre: 120))
    input.insulinPump = StepPumpStatus(isAvailable: isPumpAvailable)
    input.cgm = glucose.map {
        GlucoseReading(instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: $0))
    }
    input.user.meal = meal.map { MealAnnouncement(carbohydrate: Carbohydrate(grams: $0), instant: now) }
    input.user.manualBolus = manual.map { InsulinAmount(units: $0) }
    return input
}

@Suite struct BasalBolusTests {
    private func run(_ input: StepInput) -> StepOutput {
        var state = NoState()
        return BasalBolus().run(input, state: &state)
    }

    @Test func withoutAMealNothingIsAddedToTheProgrammedBasal() {
        #expect(BasalBolus().basalSource == .programmed)
        #expect(run(stepInput(glucose: 300)) == StepOutput())
    }

    @Test func aMealIsCarbohydrateOverTheRatio() {
        let output = run(stepInput(glucose: 120, meal: 45))
        #expect(output.meal.units == 4.5)
        #expect(output.correction == .zero && output.basal == .zero)
    }

    @Test func aMealAtHighGlucoseIsCorrectedTowards140() {
        #expect(run(stepInput(glucose: 200, meal: 45)).correction.units == 1.5)
        #expect(run(stepInput(glucose: 150.5, meal: 45)).correction.units == 10.5 / 40)
        #expect(run(stepInput(glucose: 150, meal: 45)).correction == .zero)
        #expect(run(stepInput(glucose: 60, meal: 45)).correction == .zero)
        #expect(run(stepInput(meal: 45)).correction == .zero)
    }

    @Test func whatThePersonAsksForIsAdded() {
        #expect(run(stepInput(glucose: 200, manual: 2)) == StepOutput(meal: InsulinAmount(units: 2)))
        #expect(run(stepInput(glucose: 120, meal: 45, manual: 2)).meal.units == 6.5)
    }
}
