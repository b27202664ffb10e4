// What every glucose model must do, whichever it is.

import IsletDevices
import IsletNumerics
import Testing

@testable import IsletModels

@Suite struct ModelConformanceTests {
    @Test func basalInfusionHoldsTheSteadyStateForADay() throws {
        for subject in try subjectsOfEveryModel() {
            let model = subject.makeModel()
            let before = model.stateValues
            let glucose = model.plasma
            #expect(model.insulinRate == model.basalRate)
            for _ in 0..<288 { try model.advance(byMinutes: 5) }
            #expect(abs(model.plasma - glucose) < 1e-6)
            for (a, b) in zip(before, model.stateValues) { #expect(abs(a - b) <= 1e-6 * max(1, abs(a))) }
            #expect(abs(model.interstitialGlucose.milligramsPerDecilitre - glucose) < 1e-6)
        }
    }

    /// The bug this guards against: grams added to milligrams. In the gut + absorbed = eaten, always.
    @Test func carbohydrateIsConserved() throws {
        for subject in try subjectsOfEveryModel() {
            let model = subject.makeModel(settings: .trace)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            var absorbed = 0.0
            let step = 0.25
            for i in 0..<(4 * 600) {
                let minute = Double(i) * step
                if minute == 9 { model.setCarbohydrateRate(milligramsPerMinute: 0) }
                // Simpson's rule over each step.
                let a = model.carbohydrateAbsorptionRate
                try model.advance(byMinutes: step / 2)
                let b = model.carbohydrateAbsorptionRate
                try model.advance(byMinutes: step / 2)
                let c = model.carbohydrateAbsorptionRate
                absorbed += step / 6 * (a + 4 * b + c)
                let eaten = 5000 * min(minute + step, 9)
                #expect(abs(model.carbohydrateInGut.milligrams + absorbed - eaten) < 0.1)
            }
            #expect(absorbed > 20_000)
            #expect(model.carbohydrateInGut.grams < 25)
        }
    }

    @Test func insulinIsConserved() throws {
        for subject in try subjectsOfEveryModel() {
            let model = subject.makeModel(settings: .trace)
            let start = model.insulinInBody.units
            let rate = model.basalRate.unitsPerMinute * 2
            model.setInsulinRate(InsulinRate(unitsPerMinute: rate))
            model.injectBolus(InsulinAmount(units: 3), centredMinutesFromNow: 0.08)
            #expect(abs(model.insulinInBody.units - start - 3) < 1e-9)
            var eliminated = 0.0
            for _ in 0..<600 {
                let a = model.insulinEliminationRate
                try model.advance(byMinutes: 0.25)
                let b = model.insulinEliminationRate
                try model.advance(byMinutes: 0.25)
                eliminated += 0.5 / 6 * (a + 4 * b + model.insulinEliminationRate)
            }
            let entered = 3 + rate * 300
            #expect(abs(model.insulinInBody.units - start - entered + eliminated) < 1e-5)
        }
    }

    @Test func stepsOfInsulinAreUnitsAnHourAndMealsAreMilligrams() throws {
        for subject in try subjectsOfEveryModel() {
            // One hour at 6 U/h is 6 U; one minute at 1000 mg/min is 1 g.
            let model = subject.makeModel(settings: .trace)
            model.setInsulinRate(InsulinRate(unitsPerHour: 6))
            let before = model.insulinInBody.units - model.insulinEliminationRate * 0.01
            try model.advance(byMinutes: 0.01)
            #expect(abs(model.insulinInBody.units - before - 0.001) < 1e-7)
            model.setCarbohydrateRate(milligramsPerMinute: 1000)
            try model.advance(byMinutes: 0.01)
            #expect(abs(model.carbohydrateInGut.milligrams - 10) < 0.05)
        }
    }

    @Test func aMealRaisesAndInsulinLowersGlucose() throws {
        for subject in try subjectsOfEveryModel() {
            let model = subject.makeModel()
            let start = model.snapshot
            let glucose = model.plasma
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            try model.advance(byMinutes: 10)
            model.setCarbohydrateRate(milligramsPerMinute: 0)
            try model.advance(byMinutes: 60)
            #expect(model.plasma > glucose + 5)
            model.restore(start)
            model.injectBolus(InsulinAmount(units: 1), centredMinutesFromNow: 0.05)
            try model.advance(byMinutes: 150)
            #expect(model.plasma < glucose - 1)
            model.restore(start)
            model.setInsulinRate(.zero)
            try model.advance(byMinutes: 240)
            #expect(model.plasma > glucose + 5)
        }
    }

    @Test func aSplitSegmentGivesTheSameAnswer() throws {
        for subject in try subjectsOfEveryModel() {
            func run(_ pieces: [Double]) throws -> [Double] {
                let model = subject.makeModel(settings: .reference)
                for meal in [7000.0, 0] {
                    model.setCarbohydrateRate(milligramsPerMinute: meal)
                    model.injectBolus(InsulinAmount(units: 2), centredMinutesFromNow: 0.05)
                    for piece in pieces { try model.advance(byMinutes: piece) }
                }
                return model.stateValues
            }
            let whole = try run([20])
            for other in [try run([0.1, 3, 16.9]), try run([10, 0, 10])] {
                for (a, b) in zip(whole, other) { #expect(abs(a - b) <= 1e-7 * max(1, abs(a))) }
            }
        }
    }

    @Test func aRestoredRunRepeatsBitForBit() throws {
        for subject in try subjectsOfEveryModel() {
            let model = subject.makeModel()
            func rest(_ model: any GlucoseModel) throws -> [UInt64] {
                try model.advance(byMinutes: 3.5)
                model.setCarbohydrateRate(milligramsPerMinute: 0)
                model.injectBolus(InsulinAmount(units: 1), centredMinutesFromNow: 0.05)
                try model.advance(byMinutes: 47)
                return model.snapshot.map(\.bitPattern)
            }
            model.setCarbohydrateRate(milligramsPerMinute: 4321)
            model.setInsulinRate(InsulinRate(unitsPerHour: 1.7))
            try model.advance(byMinutes: 6.1)
            let snapshot = model.snapshot
            let first = try rest(model)
            model.restore(snapshot)
            #expect(try rest(model) == first)
            let other = subject.makeModel()
            other.restore(snapshot)
            #expect(try rest(other) == first)
        }
    }

    /// At 7:00, 12:00 and 18:00 with 2 U: 50, 75 and 75 g.
    private func serveThreeMeals(at minute: Int, to model: any GlucoseModel) {
        if [420, 720, 1080].contains(minute) {
            model.injectBolus(InsulinAmount(units: 2), centredMinutesFromNow: 0.05)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
        }
        if [430, 735, 1095].contains(minute) {
            model.setCarbohydrateRate(milligramsPerMinute: 0)
        }
    }

    /// Without the reset at edges the same tolerance is wrong by tenths of a mg/dL.
    @Test func sessionToleranceIsCloseToTheReferenceOverADayOfMeals() throws {
        for subject in try subjectsOfEveryModel() {
            func day(_ settings: IntegrationSettings) throws -> [Double] {
                let model = subject.makeModel(settings: settings)
                var glucose: [Double] = []
                for i in 0..<288 {
                    let minute = i * 5
                    let factor = 0.5 + Double(i * 7 % 11) / 10
                    model.setInsulinRate(.init(unitsPerHour: model.basalRate.unitsPerHour * factor))
                    serveThreeMeals(at: minute, to: model)
                    try model.advance(byMinutes: 5)
                    glucose.append(model.plasma)
                }
                return glucose
            }
            let worst = zip(try day(.session), try day(.reference)).map { abs($0 - $1) }.max() ?? 1
            #expect(worst <= 0.01)
        }
    }

    /// As a pump's pulses leave it: two segments of five begin without a jump, and are tried as one step.
    @Test func sessionToleranceHoldsWhereASegmentBeginsWithoutAJump() throws {
        for subject in try subjectsOfEveryModel() {
            var evaluations: [Int] = []
            func days(_ settings: IntegrationSettings) throws -> [Double] {
                let model = subject.makeModel(settings: settings)
                model.setInsulinRate(.zero)
                var glucose: [Double] = []
                for i in 0..<3 * 288 {
                    let minute = i * 5 % 1440
                    if ![1, 3].contains(i % 5) {
                        let units =
                            model.basalRate.unitsPerHour / 12 * 5 / 3 * (0.5 + Double(i * 7 % 11) / 10)
                        model.injectBolus(InsulinAmount(units: units), centredMinutesFromNow: 0.05)
                    }
                    serveThreeMeals(at: minute, to: model)
                    try model.advance(byMinutes: 5)
                    glucose.append(model.plasma)
                }
                evaluations.append(model.evaluations)
                return glucose
            }
            var without = IntegrationSettings.session
            without.reach = 1
            let exact = try days(.reference)
            func worst(_ settings: IntegrationSettings) throws -> Double {
                zip(try days(settings), exact).map { abs($0 - $1) }.max() ?? 1
            }
            let (off, offWithout) = (try worst(.session), try worst(without))
            #expect(off <= 0.02, "\(subject.kind): \(off), without reach \(offWithout)")
            #expect(evaluations[1] <= evaluations[2], "\(subject.kind): \(evaluations)")
        }
    }

    @Test func nothingFallsBelowZeroThroughADayWithoutInsulinAndAnOverdose() throws {
        for subject in try subjectsOfEveryModel() {
            let model = subject.makeModel()
            model.setInsulinRate(.zero)
            for _ in 0..<576 { try model.advance(byMinutes: 5) }
            #expect(model.insulinInBody.units >= -1e-9)
            // Insulin that arrives in an empty depot must act.
            model.injectBolus(InsulinAmount(units: 1), centredMinutesFromNow: 0.1)
            let high = model.plasma
            #expect(model.stateValues.allSatisfy { $0 > -1e3 })
            try model.advance(byMinutes: 120)
            #expect(model.plasma < high)
            for _ in 0..<10 { model.injectBolus(InsulinAmount(units: 10), centredMinutesFromNow: 0.1) }
            for _ in 0..<288 { try model.advance(byMinutes: 5) }
            #expect(model.plasma > -2)
            #expect(model.stateValues.allSatisfy { $0.isFinite })
        }
    }

    @Test func aBolusEnteredEarlyActsAsIfGivenAtItsCentre() throws {
        for subject in try subjectsOfEveryModel() {
            let early = subject.makeModel(settings: .reference)
            early.injectBolus(InsulinAmount(units: 5), centredMinutesFromNow: 0.1)
            try early.advance(byMinutes: 30)
            let exact = subject.makeModel(settings: .reference)
            try exact.advance(byMinutes: 0.1)
            exact.injectBolus(InsulinAmount(units: 5), centredMinutesFromNow: 0)
            try exact.advance(byMinutes: 29.9)
            #expect(abs(early.plasma - exact.plasma) < 1e-3)
        }
    }

    /// A minute of pulses as one impulse, against the same insulin as a rate; and again with the train cut short.
    @Test(arguments: [60.0, 22.0])
    func aTrainOfAMinuteEnteredWholeActsAsTheRateItIs(cutAfterSeconds seconds: Double) throws {
        for subject in try subjectsOfEveryModel() {
            let units = 1.5
            let given = seconds / 60
            let whole = subject.makeModel(settings: .reference)
            whole.injectBolus(InsulinAmount(units: units), centredMinutesFromNow: 0.5)
            try whole.advance(byMinutes: given)
            let toCome = 1 - given
            whole.injectBolus(InsulinAmount(units: -units * toCome), centredMinutesFromNow: toCome / 2)
            let rate = subject.makeModel(settings: .reference)
            let basal = rate.insulinRate.unitsPerMinute
            rate.setInsulinRate(InsulinRate(unitsPerMinute: basal + units))
            try rate.advance(byMinutes: given)
            rate.setInsulinRate(InsulinRate(unitsPerMinute: basal))
            var worst = 0.0
            for segment in 0..<72 {
                let minutes = segment == 0 ? 5 - given : 5
                try whole.advance(byMinutes: minutes)
                try rate.advance(byMinutes: minutes)
                worst = max(worst, abs(whole.plasma - rate.plasma))
            }
            #expect(abs(whole.insulinInBody.units - rate.insulinInBody.units) < 1e-4)
            // As far as a session's tolerance goes.
            #expect(worst < 0.01, "\(subject.kind)")
        }
    }

    @Test func theCatalogueDescribesEveryModel() throws {
        for subject in try subjectsOfEveryModel() {
            let description = subject.kind
            // The example is no model of Islet.
            #expect(ModelKind.named(subject.kind.id) == (description == .oneDepot ? nil : description))
            #expect(subject.values.count == description.columns.count)
            #expect(Set(description.columns.map(\.name)).count == description.columns.count)
            for (column, value) in zip(description.columns, subject.values) {
                #expect(column.range.contains(value))
                #expect(!column.unit.isEmpty && !column.meaning.isEmpty)
            }
        }
        #expect(ModelKind.named("crystal-ball") == nil)
    }
}
