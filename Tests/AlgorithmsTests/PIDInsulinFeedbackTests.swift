import IsletDevices
import IsletKernel
import Testing

@testable import IsletLoop

@Suite struct PIDInsulinFeedbackTests {
    /// The controller with its state, stepped every five minutes.
    private final class Bench {
        let algorithm = PIDInsulinFeedback()
        var state = PIDInsulinFeedback.State()
        private(set) var now = Instant.start

        func step(
            _ glucose: Double?, meal: Double? = nil, manual: Double? = nil, pump: Bool = true,
            shortfall: Shortfall? = nil
        ) -> StepOutput {
            defer { now = now.adding(5 * Nanoseconds.minute) }
            var input = stepInput(
                glucose: glucose, meal: meal, manual: manual, at: now, isPumpAvailable: pump)
            input.shortfall = shortfall
            return algorithm.run(input, state: &state)
        }
    }

    /// A dose that was lost and a dose that was never asked for leave the same insulin on board.
    @Test func aDoseThatNeverCameIsTakenBackWhole() {
        let (lost, never) = (Bench(), Bench())
        for bench in [lost, never] { for _ in 0..<3 { _ = bench.step(120) } }
        let dose = lost.step(220)
        _ = never.step(220, pump: false)
        #expect(dose.total > .zero)
        // While nobody knows, nothing can be dosed.
        for _ in 0..<4 { for bench in [lost, never] { _ = bench.step(230, pump: false) } }
        let shortfall = Shortfall(algorithmTime: 3, amount: dose.basal + dose.correction)
        let first = (lost.step(210, shortfall: shortfall), never.step(210))
        #expect(abs(first.0.total.units - first.1.total.units) < 1e-12)
        let second = (lost.step(200), never.step(200))
        #expect(abs(second.0.total.units - second.1.total.units) < 1e-12)
        // Untold, the controller goes on counting it, and doses less.
        let untold = Bench()
        for _ in 0..<3 { _ = untold.step(120) }
        _ = untold.step(220)
        for _ in 0..<4 { _ = untold.step(230, pump: false) }
        #expect(untold.step(210).total < first.0.total)
    }

    /// By hand: the filter takes 0.35 of each new slope. 150, 140, 130 falls by 2 mg/dL/min: slopes -0.7 and -1.155, 45 min on.
    @Test func itForecastsByTheSlopeThatItSuspendsBy() throws {
        let bench = Bench()
        #expect(bench.algorithm.forecastMinutes == 45 && BasalBolus().forecastMinutes == nil)
        // One reading has no slope.
        #expect(bench.step(150).forecast == nil)
        let second = try #require(bench.step(140).forecast).milligramsPerDecilitre
        #expect(abs(second - (140 - 0.7 * 45)) < 1e-9)
        let output = bench.step(130)
        let third = try #require(output.forecast).milligramsPerDecilitre
        #expect(abs(third - (130 - 1.155 * 45)) < 1e-9)
        // Below 105: it suspends, and says why.
        #expect(third < 105 && output.basal == .zero && output.correction == .zero)
        // A rise is forecast too, which suspends nothing.
        let rising = Bench()
        _ = rising.step(150)
        #expect(abs(try #require(rising.step(160).forecast).milligramsPerDecilitre - (160 + 0.7 * 45)) < 1e-9)
        // Without a reading nothing is forecast, and the next one is the first again.
        #expect(bench.step(nil).forecast == nil && bench.step(60).forecast == nil)
        #expect(bench.step(59).forecast != nil)
    }

    @Test func aForecastIsNeverBelowZeroAndGoesWithItsHorizon() throws {
        let bench = Bench()
        _ = bench.step(300)
        #expect(try #require(bench.step(60).forecast) == GlucoseConcentration(milligramsPerDecilitre: 0))
        var tuned = PIDInsulinFeedback()
        tuned.tuning.predictionMinutes = 0
        #expect(tuned.forecastMinutes == nil)
        var state = PIDInsulinFeedback.State()
        _ = tuned.run(stepInput(glucose: 150), state: &state)
        #expect(tuned.run(stepInput(glucose: 140, at: .minutes(5)), state: &state).forecast == nil)
    }

    /// Harm: of a bolus by hand a quarter counts, and the loop corrects what has been corrected.
    @Test func `a manual bolus is on board in full, asked for, dropped and told`() {
        let (byHand, never) = (Bench(), Bench())
        _ = byHand.step(120, manual: 2)
        _ = never.step(120)
        let first = byHand.state.onBoard.subcutaneous - never.state.onBoard.subcutaneous
        #expect(abs(first - 0.09516258 * 24) < 1e-6)
        // What of it never comes is off again, to the last bit that counts.
        let algorithm = PIDInsulinFeedback()
        var input = stepInput(glucose: 120, at: .minutes(5))
        _ = algorithm.run(input, state: &never.state)
        input.dropped = Shortfall(
            algorithmTime: 0, amount: InsulinAmount(units: 2), manual: InsulinAmount(units: 2))
        _ = algorithm.run(input, state: &byHand.state)
        #expect(abs(byHand.state.onBoard.subcutaneous - never.state.onBoard.subcutaneous) < 1e-9)
        // A state that begins anew hears of it as the one that asked did.
        var anew = PIDInsulinFeedback.State()
        var told = stepInput(glucose: 120, at: .minutes(5))
        let given = GivenInsulin(
            amount: InsulinAmount(units: 2), userRequested: InsulinAmount(units: 2),
            manual: InsulinAmount(units: 2), since: .start, until: .minutes(5))
        told.earlier = InsulinHistory(since: .start, given: [given])
        let before = anew.onBoard
        _ = algorithm.run(told, state: &anew)
        #expect(anew.onBoard.subcutaneous - before.subcutaneous > 1.8)
    }

    /// models.md 7.2: exact zero-order hold of the chain 50, 70, 55 min.
    @Test func theInsulinChainHasTheExactCoefficients() {
        let table: [(step: Double, values: [Double])] = [
            (
                1,
                [
                    0.98019867, 0.01404292, 0.98581584, 1.2761865e-4, 0.01788905, 0.98198247, 0.01980133,
                    1.41235e-4, 8.54524e-7,
                ]
            ),
            (
                5,
                [
                    0.90483742, 0.0655634, 0.93106278, 0.00297495, 0.08382296, 0.91310072, 0.09516258,
                    0.00337382, 1.01370e-4,
                ]
            ),
        ]
        for (step, values) in table {
            let chain = InsulinChain(timeConstants: (50, 70, 55), step: step)
            for (coefficient, value) in zip(chain.coefficients, values) {
                #expect(abs(coefficient - value) < 1e-8, "step \(step), \(value)")
            }
        }
    }

    private func content(_ first: Double, _ second: Double, _ third: Double) -> InsulinChain.Content {
        InsulinChain.Content(subcutaneous: first, plasma: second, effective: third)
    }

    private func values(_ x: InsulinChain.Content) -> [Double] { [x.subcutaneous, x.plasma, x.effective] }

    @Test func fiveStepsOfAMinuteAreOneOfFive() {
        let minute = InsulinChain(timeConstants: (50, 70, 55), step: 1)
        let five = InsulinChain(timeConstants: (50, 70, 55), step: 5)
        var (x, y) = (content(0.3, -0.2, 1.1), content(0.3, -0.2, 1.1))
        for input in [1.0, -2, 0.5, 0] {
            for _ in 0..<5 { minute.advance(&x, input: input) }
            five.advance(&y, input: input)
        }
        for (a, b) in zip(values(x), values(y)) { #expect(abs(a - b) < 1e-12) }
    }

    @Test func theChainRestsAtItsInput() {
        let chain = InsulinChain(timeConstants: (50, 70, 55), step: 5)
        var x = content(2.5, 2.5, 2.5)
        for _ in 0..<100 { chain.advance(&x, input: 2.5) }
        for value in values(x) { #expect(abs(value - 2.5) < 1e-12) }
        for _ in 0..<1000 { chain.advance(&x, input: 0) }
        for value in values(x) { #expect(abs(value) < 1e-12) }
    }

    @Test func atTargetTheBasalRunsForEver() {
        let bench = Bench()
        for _ in 0..<500 {
            let output = bench.step(120)
            #expect(abs(output.basal.units - 0.1) < 1e-12)
            #expect(abs(output.correction.units) < 1e-12)
        }
    }

    @Test func feedbackLeavesTheSteadyStateAlone() {
        // (1 + Σγ)·u − Σγ·u = u: at a constant error with a full integral, the rate is basal + PID.
        let tuning = PIDInsulinFeedback.Tuning()
        let sum = tuning.gamma.subcutaneous + tuning.gamma.plasma + tuning.gamma.effective
        #expect(abs(sum - 1) < 1e-5)
        let bench = Bench()
        var rate = 0.0
        for _ in 0..<3000 { rate = bench.step(140).total.units * 12 }
        let pid = tuning.proportional / 40 * 20 + tuning.integralMax * 1.2
        let expected = min(1.2 + pid, tuning.largestBasalMultiple * 1.2)
        #expect(abs(rate - expected) < 1e-4)
    }

    @Test func withoutAReadingTheBasalRuns() {
        let bench = Bench()
        for _ in 0..<5 { _ = bench.step(250) }
        let output = bench.step(nil)
        #expect(abs(output.basal.units - 0.1) < 1e-12)
        #expect(output.correction == .zero)
    }

    @Test func belowTheThresholdNothingIsDelivered() {
        let bench = Bench()
        _ = bench.step(120)
        for glucose in [PIDInsulinFeedback.Tuning().suspendBelow - 1, 60, 40] {
            #expect(bench.step(glucose).total == .zero)
        }
    }

    @Test func aFallTowardsTheThresholdSuspendsBeforeItIsReached() {
        let bench = Bench()
        for glucose in stride(from: 220.0, through: 130, by: -15) { _ = bench.step(glucose) }
        #expect(bench.step(100).total == .zero)
    }

    @Test func aMealAndABolusByHandAreDeliveredAlsoWhenLow() {
        let bench = Bench()
        let output = bench.step(70, meal: 30, manual: 0.5)
        #expect(output.meal.units == 3.5)
        #expect(output.basal == .zero && output.correction == .zero)
    }

    @Test func whateverIsReadNoDoseIsNegativeOrBeyondItsBounds() {
        var seed: UInt64 = 42
        func random() -> Double {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(seed >> 11) * 0x1p-53
        }
        for _ in 0..<20 {
            let bench = Bench()
            var glucose = 150.0
            for _ in 0..<500 {
                glucose = min(max(glucose + (random() - 0.5) * 120, 40), 400)
                let output = bench.step(random() < 0.1 ? nil : glucose, pump: random() < 0.9)
                #expect(output.basal.units >= 0 && output.correction.units >= 0 && output.meal == .zero)
                #expect(output.basal.units <= 0.1 + 1e-12)
                #expect(output.total.units <= PIDInsulinFeedback.Tuning().largestBasalMultiple * 0.1 + 1e-12)
            }
        }
    }

    @Test func theSameInputAndStateGiveTheSameAnswer() {
        let (a, b) = (Bench(), Bench())
        for step in 0..<200 {
            let glucose = 100 + Double(step * 37 % 150)
            #expect(a.step(glucose) == b.step(glucose))
        }
        #expect(a.state == b.state)
    }

    @Test func aTemporaryBasalScalesTheBasal() {
        let bench = Bench()
        var input = stepInput(glucose: nil)
        input.basalMultiplier = 0.5
        #expect(abs(bench.algorithm.run(input, state: &bench.state).basal.units - 0.05) < 1e-12)
    }
}
