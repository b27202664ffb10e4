// loop-style as a loop has it: what a step's input becomes, and what comes of bad input.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

private typealias Steps = AlgorithmSteps<LoopStyle>

extension AlgorithmSteps where Algorithm == LoopStyle {
    fileprivate init(_ change: (inout LoopStyle.Settings) -> Void = { _ in }) {
        self.init(LoopStyle())
        change(&algorithm.settings)
    }

    /// What a step with this reading would go by, when only the programme flowed since the last.
    fileprivate func foreseen(_ glucose: Double) -> LoopStyleForecast? {
        var copy = self
        var output = StepOutput()
        var input = copy.input(glucose)
        programme(&input)
        var forecast = LoopStyleForecast()
        return algorithm.understand(input, &output, &copy.state, into: &forecast) ? forecast : nil
    }
}

/// The programme and nothing else flowed, whatever was answered.
private func programme(_ input: inout StepInput) {
    input.pumpBasal = input.pumpBasal.map {
        PumpBasal(amount: InsulinAmount(units: 1.0 / 12), since: $0.since)
    }
}

private let level: [Double] = [110, 111, 109, 110, 111, 110, 110]
private let rising: [Double] = [180, 184, 188, 193, 197, 202, 206]
private let falling: [Double] = [110, 104, 98, 92, 86, 80, 75]

@Suite("loop-style")
struct LoopStyleTests {
    @Test("sets a high rate above its target and a zero rate before a low, and says where glucose goes")
    func course() {
        var high = Steps()
        let above = high.steps(rising)
        #expect(high.running.map { $0.rate.unitsPerHour > 1 } == true && above.correction == .zero)
        #expect(above.forecast.map { $0.milligramsPerDecilitre > 206 } == true)
        #expect(high.algorithm.forecastMinutes == 30)
        var low = Steps()
        let below = low.steps(falling)
        #expect(low.running?.rate == .zero)
        #expect(below.forecast.map { $0.milligramsPerDecilitre < 75 } == true)
        var neutral = Steps { $0.rangeWidth = 30 }
        neutral.target = 110
        for glucose in level { #expect(neutral.step(glucose).temporaryBasal == nil) }
    }

    @Test("gives a share of what is needed as automatic boluses, with no high rate beside them")
    func boluses() {
        var steps = Steps { $0.automaticBolus = 1 }
        var given = 0.0
        for glucose in rising {
            let output = steps.step(glucose)
            given += output.correction.units
            let increments = output.correction.units / 0.05
            #expect(abs(increments - increments.rounded()) < 1e-9)
            #expect((steps.running?.rate.unitsPerHour ?? 1) <= 1)
        }
        #expect(given > 0.5)
        #expect(abs(steps.state.ledger.own.sum - given) < 1e-9)
        // What is on board already is not given again: less each time.
        let (first, second) = (steps.step(206).correction.units, steps.step(206).correction.units)
        #expect(second <= first)
        // The share that one step may give is the most that one bolus may be, by it.
        var most = Steps { $0.automaticBolus = 1 }
        most.therapy.maximumBolus = InsulinAmount(units: 0.5)
        _ = most.steps([340, 341, 342])
        #expect(most.step(343).correction.units <= 0.2 + 1e-9)
    }

    @Test("adds nothing beyond the most insulin on board, and gives no more than therapy's most")
    func limits() {
        var steps = Steps { $0.maximumIOB = 0.5 }
        for glucose in stride(from: 200.0, through: 400, by: 8) { _ = steps.step(glucose) }
        for _ in 0..<12 { _ = steps.step(400) }
        var net = LoopStyleInsulin.Net(repeating: 0)
        let onBoard = steps.algorithm.insulin.net(&steps.state.ledger, programme: 1, into: &net)
        // Half an hour of the rate that was left is on its way.
        #expect(onBoard > 0.3 && onBoard < 1.1)
        var rate = Steps()
        rate.therapy.maximumBasal = InsulinRate(unitsPerHour: 2)
        _ = rate.steps([300, 310, 320, 330])
        #expect(rate.running?.rate.unitsPerHour == 2)
    }

    @Test("covers a meal with what the forecast asks for, once, and counts both as there at once")
    func meal() {
        var steps = Steps()
        _ = steps.steps(level)
        let output = steps.step(110, meal: 60)
        // The ratio alone would be 6 U; what the range leaves uncorrected is not given.
        #expect(output.meal.units > 4.5 && output.meal.units < 7)
        #expect(steps.state.ledger.meals[0] == output.meal.units)
        #expect(steps.step(110).meal == .zero)
        // The same bolus without the meal would end far below.
        var without = Steps()
        _ = without.steps(level)
        let alone = without.step(110) { $0.user.manualBolus = output.meal }
        #expect(without.state.ledger.manual[0] == output.meal.units && without.running?.rate == .zero)
        #expect(alone.forecast.map { $0.milligramsPerDecilitre < 110 } == true)
        // A high is corrected with it, a falling one gets less.
        var high = Steps()
        for _ in 0..<6 { _ = high.step(200, programme) }
        #expect(high.step(200, meal: 60).meal.units > output.meal.units + 1)
        var low = Steps()
        _ = low.steps(falling)
        #expect(low.step(70, meal: 60).meal == .zero)
        var share = Steps { ($0.mealShare, $0.mealByRatio) = (0.5, 1) }
        _ = share.steps(level)
        #expect(share.step(110, meal: 60).meal.units == 3)
    }

    @Test("covers a meal by the ratio where it has no reading")
    func blindMeal() {
        var steps = Steps()
        #expect(steps.step(nil, meal: 60).meal.units == 6)
        _ = steps.steps(level)
        #expect(steps.step(nil, minutes: 20).temporaryBasal == nil)
        #expect(steps.step(nil, meal: 40).meal.units == 4)
    }

    @Test("counts a manual bolus in full")
    func manual() {
        var steps = Steps { $0.automaticBolus = 1 }
        _ = steps.steps([180, 183, 186, 190, 193, 197])
        var same = steps
        let output = steps.step(200) { $0.user.manualBolus = InsulinAmount(units: 4) }
        #expect(output.meal.units == 4 && output.correction == .zero && steps.running?.rate == .zero)
        #expect(same.step(200).correction > .zero)
    }

    @Test("goes by a reading for a quarter of an hour, then answers nothing, and what runs goes on")
    func noReading() {
        var steps = Steps()
        _ = steps.steps(rising)
        let ends = steps.running?.ends
        #expect(steps.step(nil).forecast != nil && steps.step(nil).forecast != nil)
        let third = steps.step(nil)
        #expect(third.forecast == nil && third.temporaryBasal == nil && third.correction == .zero)
        #expect(steps.running.map { $0.ends.minutes >= (ends?.minutes ?? 0) } == true)
        // One more than a quarter of an hour old, with the step.
        var old = Steps()
        _ = old.steps(rising)
        #expect(old.step(240, minutes: 5, age: 3).forecast != nil)
        #expect(old.step(nil, minutes: 10).forecast != nil)
        #expect(old.step(240, age: 16).forecast == nil)
    }

    @Test("gives no automatic bolus without a pump, or in open loop")
    func withheld() {
        let changes: [(inout StepInput) -> Void] = [
            { $0.insulinPump = .unavailable }, { $0.isOpenLoop = true },
        ]
        for change in changes {
            var steps = Steps { $0.automaticBolus = 1 }
            for glucose in rising { #expect(steps.step(glucose, change).correction == .zero) }
            #expect(steps.state.ledger.own.sum == 0)
        }
    }

    @Test("sets a rate again when eleven minutes of it are left, and cancels it for the programme")
    func continuing() {
        var steps = Steps { $0.suspendBelow = 75 }
        // Below the threshold: a zero rate, the same at each step.
        var answers: [Double?] = []
        for _ in 0..<9 { answers.append(steps.step(60).temporaryBasal?.minutes) }
        #expect(answers == [30, nil, nil, nil, 30, nil, nil, nil, 30])
        var back = Steps { $0.rangeWidth = 60 }
        back.target = 110
        _ = back.step(60)
        #expect(back.running?.rate == .zero)
        let end = back.step(110, minutes: 5) { $0.temporaryTarget = nil }
        // One reading that jumped: no trend, nothing retrospective; the programme, at once.
        #expect(end.temporaryBasal?.minutes == 0 && back.running == nil)
    }

    @Test("a temporary target takes the place of the target")
    func temporaryTarget() {
        var (low, high) = (Steps(), Steps())
        for glucose in [150.0, 150, 151, 150, 150] {
            _ = low.step(glucose)
            _ = high.step(glucose) {
                $0.temporaryTarget = GlucoseConcentration(milligramsPerDecilitre: 150)
            }
        }
        #expect((low.running?.rate.unitsPerHour ?? 1) > 1 && (high.running?.rate.unitsPerHour ?? 1) <= 1)
    }

    @Test("a meal that glucose shows is taken for absorbed, one that it doesn't show goes by its plan")
    func absorption() {
        /// What glucose rises by after an hour and five minutes, when only carbohydrate and insulin count.
        func later(_ rise: Double) -> Double {
            var steps = Steps { $0.mealShare = 0 }
            for glucose in level { _ = steps.step(glucose, programme) }
            _ = steps.step(110, meal: 30, programme)
            var glucose = 110.0
            // 30 g raise glucose by 150 mg/dL.
            for _ in 0..<18 {
                glucose += rise
                _ = steps.step(glucose, programme)
            }
            let course = steps.foreseen(glucose)
            return course.map { $0.glucose[60] - $0.glucose[13] } ?? .nan
        }
        // All of it was seen: nothing is to come. Half of it was; next to nothing was, so that what is left of its plan is to come.
        #expect(abs(later(9)) < 1e-9)
        #expect(later(4.5) > 10 && later(4.5) < 60)
        #expect(later(0.2) > 10 && later(0.2) < 60)
    }

    @Test(
        "what was not explained goes on for an hour; by the integral variant it weighs more the longer it lasts"
    )
    func retrospection() {
        var (standard, integral) = (Steps(), Steps { $0.integralRetrospection = 1 })
        for glucose in stride(from: 120.0, through: 190, by: 2) {
            _ = standard.step(glucose, programme)
            _ = integral.step(glucose, programme)
        }
        // Seven changes end within half an hour of each other: 14 mg/dL.
        #expect(standard.foreseen(192)?.unexplained.map { abs($0 - 14) < 1e-9 } == true)
        #expect(integral.foreseen(192)?.unexplained.map { $0 > 20 && $0 < 28 } == true)
        // At the same rate, falling to nothing: half of an hour's.
        #expect(standard.foreseen(192).map { abs($0.glucose[74] - 192 - 14) < 1.5 } == true)
        #expect(integral.foreseen(192).map { $0.glucose[74] - 192 > 16 } == true)
    }

    @Test("goes on from what was written of its state as if it had never stopped")
    func state() throws {
        var steps = Steps()
        let empty = try JSONDecoder().decode(LoopStyle.State.self, from: JSONEncoder().encode(steps.state))
        #expect(empty == steps.state)
        _ = steps.steps(level)
        _ = steps.step(112, meal: 40)
        _ = steps.steps([115, 121, 128])
        var read = steps
        read.state = try JSONDecoder().decode(LoopStyle.State.self, from: JSONEncoder().encode(steps.state))
        #expect(read.state == steps.state && read.step(134) == steps.step(134))
    }

    @Test("twelve meals are told apart; older ones become one with the oldest that is left, none is lost")
    func manyMeals() {
        var carbs = LoopStyleCarbs()
        for meal in 0..<20 { carbs.add(10, at: Double(meal)) }
        var sum = 0.0
        for place in carbs.first(now: 30)..<carbs.count { sum += carbs.entry(place).grams }
        #expect(carbs.count == 12 && sum == 200 && carbs.entry(11).minute == 19)
        carbs.add(5, at: 700)
        #expect(carbs.count == 1 && carbs.first(now: 1400) == 1)
        // In the order of their times, whatever was told first.
        carbs.add(7, at: 650)
        #expect(carbs.entry(0).grams == 7 && carbs.entry(1).grams == 5)
    }
}

@Suite("The insulin of loop-style")
struct LoopStyleInsulinTests {
    private static func net(_ seed: inout UInt64) -> LoopStyleInsulin.Net {
        var net = LoopStyleInsulin.Net(repeating: 0)
        for cell in 0..<96 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            if seed >> 61 > 2 { net[cell] = Double(seed >> 33) / 4e9 - 0.7 }
        }
        return net
    }

    @Test("acts as the sum of the closed form over all doses, from any tick on", arguments: [-2, -1, 0, 1])
    func sums(first: Int) {
        var seed: UInt64 = 7
        for (duration, peak) in [(360.0, 75.0), (360, 55), (300, 29), (307, 75)] {
            let curve = ExponentialCurve(duration: duration, peak: peak)
            let insulin = LoopStyleInsulin(curve)
            var net = Self.net(&seed)
            var changes = LoopStyleInsulin.Changes(repeating: 0)
            insulin.act(&net, from: first, factor: 1, into: &changes)
            func acted(_ tick: Int) -> Double {
                var sum = 0.0
                for cell in 0..<96 { sum += net[cell] * (1 - curve.remaining(Double(cell + tick) * 5 - 10)) }
                return sum
            }
            for tick in first..<LoopStyleInsulin.ticks {
                let expected = acted(tick) - acted(tick - 1)
                #expect(abs(changes[tick + LoopStyleInsulin.before] - expected) < 1e-9, "\(duration) \(tick)")
            }
            for (from, to) in [(-1, 0), (-7, -3), (-90, 0), (-120, -2), (0, 1)] {
                #expect(abs(insulin.acts(&net, from: from, to: to) - (acted(to) - acted(from))) < 1e-9)
            }
        }
    }

    @Test("is on board beyond the programme, what flowed from the middle of its five minutes")
    func onBoard() {
        let insulin = LoopStyleInsulin(ExponentialCurve(duration: 360, peak: 75))
        var ledger = InsulinLedger()
        var net = LoopStyleInsulin.Net(repeating: 0)
        for step in 0..<20 as Range<Int64> {
            var input = stepInput(basal: 1, at: .minutes(5 * step))
            if step > 0 {
                input.pumpBasal = PumpBasal(
                    amount: InsulinAmount(units: step > 10 ? 0.25 : 1.0 / 12), since: .minutes(5 * (step - 1))
                )
            }
            ledger.take(input)
            if step == 5 { ledger.note(own: InsulinAmount(units: 2), of: input) }
        }
        let onBoard = insulin.net(&ledger, programme: 1, into: &net)
        var expected = 2 * insulin.curve.remaining(5 * 14 - 10)
        for cell in 1...9 { expected += (0.25 - 1.0 / 12) * insulin.curve.remaining(5 * Double(cell) - 12.5) }
        #expect(abs(onBoard - expected) < 1e-9)
        #expect(abs(net[14] - 2) < 1e-12 && abs(net[5] - (0.25 - 1.0 / 12)) < 1e-12 && abs(net[12]) < 1e-12)
    }
}

/// Each row of the table in docs/algorithms/loop-style.md: bad input, and that the answer stays within what is safe.
@Suite("loop-style, given bad input,")
struct LoopStyleBadInputTests {
    private func isSafe(_ output: StepOutput, _ therapy: TherapySettings, mostMeal: Double? = nil) -> Bool {
        let rate = output.temporaryBasal?.rate.unitsPerHour ?? 0
        let minutes = output.temporaryBasal?.minutes ?? 0
        let forecast = output.forecast?.milligramsPerDecilitre ?? 0
        return output.correction.units >= 0 && output.correction.units.isFinite && rate.isFinite
            && (0...max(1e-9, therapy.maximumBasal.unitsPerHour)).contains(rate) && (0...30).contains(minutes)
            && output.correction.units <= therapy.maximumBolus.units * 0.4 + 1e-9
            && output.meal.units <= (mostMeal ?? therapy.maximumBolus.units) && forecast.isFinite
            && forecast >= 0
    }

    private static let ramp = stride(from: 120.0, through: 240, by: 8)

    @Test("stays within bounds where therapy contradicts itself", arguments: [0.0, 1])
    func therapy(automaticBolus: Double) {
        let rows: [(basal: Double, ratio: Double, factor: Double, daily: Double)] = [
            (1, 3, 200, 45), (0, 10, 50, 45), (1, 10, 50, 0), (0.01, 10, 50, 45), (30, 1, 5, 200),
        ]
        for row in rows {
            var steps = Steps { $0.automaticBolus = automaticBolus }
            steps.therapy = TherapySettings(
                bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: row.basal),
                carbohydrateRatioGramsPerUnit: row.ratio, correctionFactorMgdlPerUnit: row.factor,
                totalDailyInsulin: InsulinAmount(units: row.daily))
            for glucose in Self.ramp { #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)") }
            #expect(isSafe(steps.step(240, meal: 50), steps.therapy), "\(row)")
            for glucose in Self.ramp.reversed() {
                #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)")
            }
            for glucose in [100.0, 85, 70, 60, 50] {
                #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)")
            }
        }
    }

    @Test("stops at readings that are all 39; takes readings that are all 401 for what they say")
    func stuck() {
        var low = Steps { $0.automaticBolus = 1 }
        for _ in 0..<30 { #expect(low.step(39).correction == .zero) }
        #expect(low.running?.rate == .zero)
        var high = Steps()
        for _ in 0..<30 { #expect(isSafe(high.step(401), high.therapy)) }
        #expect(high.running.map { $0.rate.unitsPerHour > 1 } == true)
    }

    @Test("a jump by 150 at a change of sensor is no trend, and nothing that was not explained")
    func jump() {
        var steps = Steps()
        _ = steps.steps(level)
        let output = steps.step(261)
        #expect(isSafe(output, steps.therapy))
        // It goes by insulin alone, and that is the programme.
        #expect(output.forecast.map { abs($0.milligramsPerDecilitre - 261) < 5 } == true)
    }

    @Test("a target below the suspend threshold leaves the threshold as it is")
    func target() {
        var steps = Steps { $0.suspendBelow = 75 }
        steps.target = 70
        for glucose in stride(from: 100.0, through: 52, by: -4) {
            #expect(isSafe(steps.step(glucose), steps.therapy))
        }
        #expect(steps.running?.rate == .zero)
        var above = Steps { $0.suspendBelow = 75 }
        above.target = 70
        for _ in 0..<8 { #expect(isSafe(above.step(78), above.therapy)) }
    }

    @Test("counts all of a meal of 250 g, and asks for no more than the most that one bolus may be")
    func meal() {
        var steps = Steps()
        _ = steps.steps(level)
        let output = steps.step(112, meal: 250)
        #expect(output.meal == steps.therapy.maximumBolus && isSafe(output, steps.therapy))
        for _ in 0..<20 { #expect(isSafe(steps.step(120, meal: 30), steps.therapy)) }
    }

    @Test("begins anew after a gap of 14 h, and goes on after one of an hour, with what the pump gave")
    func gaps() {
        for minutes in [14 * 60, 60] as [Int64] {
            var steps = Steps { $0.automaticBolus = 1 }
            _ = steps.steps([150, 155, 160, 165, 170])
            _ = steps.step(175, minutes: minutes)
            let output = steps.step(190)
            #expect(isSafe(output, steps.therapy))
            // One reading has no trend.
            #expect(output.forecast.map { $0.milligramsPerDecilitre < 215 } == true)
            let known = steps.state.ledger.sum - steps.state.ledger.own.sum
            #expect(known <= 8.01 && known >= min(7.8, Double(minutes) / 60))
            let changes = steps.state.glucose.changes(now: steps.now.minutes - 5)
            #expect(minutes == 60 ? changes == 6 : changes == 0)
        }
    }

    @Test("takes three readings a minute apart for a trend, and for no change that insulin must explain")
    func minutes() {
        var steps = Steps()
        _ = steps.steps([180, 184, 188])
        for glucose in [189.0, 190, 191] { #expect(isSafe(steps.step(glucose, minutes: 1), steps.therapy)) }
        let changes = steps.state.glucose.changes(now: steps.now.minutes)
        #expect(changes <= 4)
        #expect(isSafe(steps.step(192), steps.therapy))
    }

    @Test("stays within bounds whatever comes, and whenever", arguments: 1...12 as ClosedRange<UInt64>)
    func anything(seed: UInt64) {
        var state = seed
        func uniform() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) / 9_007_199_254_740_992
        }
        var steps = Steps {
            $0.automaticBolus = uniform().rounded()
            $0.integralRetrospection = uniform().rounded()
            ($0.peak, $0.hours, $0.absorption) = (29 + 71 * uniform(), 4 + 2 * uniform(), 1 + 5 * uniform())
        }
        for _ in 0..<2000 {
            let gap = uniform()
            let minutes = gap < 0.8 ? 5 : gap < 0.9 ? Int64(8 * uniform()) : Int64(900 * uniform())
            let output = steps.step(
                uniform() < 0.9 ? 40 + 360 * uniform() : nil, meal: uniform() < 0.2 ? 250 * uniform() : nil,
                minutes: minutes, age: Int64(uniform() * uniform() * 20)
            ) { if uniform() < 0.1 { $0.user.manualBolus = InsulinAmount(units: 5 * uniform()) } }
            // By the ratio where it is blind: the loop cuts that at the therapy's maximum.
            #expect(isSafe(output, steps.therapy, mostMeal: 25 + 5))
        }
    }

    @Test("keeps its parameters within their ranges")
    func parameters() {
        var tuned = TunedAlgorithm(.loopStyle)
        #expect(
            !tuned.set("peak", to: 20) && !tuned.set("duration", to: 7) && !tuned.set("suspendBelow", to: 40))
        #expect(tuned.set("peak", to: 55) && tuned.set("automaticBolus", to: 1))
        #expect(tuned.algorithm.name == "loop-style" && tuned.algorithm.basalSource == .temporary)
    }
}
