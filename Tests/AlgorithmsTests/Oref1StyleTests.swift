// oref1-style as a loop has it: what a step's input becomes, and what comes of bad input.

@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

private typealias Steps = AlgorithmSteps<Oref1Style>

extension AlgorithmSteps where Algorithm == Oref1Style {
    fileprivate init() { self.init(Oref1Style()) }
}

@Suite("oref1-style")
struct Oref1StyleTests {
    @Test(
        "sets a high rate and gives small boluses above its target, a zero below, and says where glucose goes"
    )
    func course() {
        var high = Steps()
        let above = high.steps([180, 184, 188, 193, 197, 202, 206])
        #expect(above.correction.units > 0 || (above.temporaryBasal?.rate.unitsPerHour ?? 0) > 1)
        #expect(above.forecast.map { $0.milligramsPerDecilitre > 206 } == true)
        #expect(high.algorithm.forecastMinutes == 30)
        var low = Steps()
        let below = low.steps([100, 95, 90, 84, 79, 74, 70])
        #expect(below.correction == .zero)
        #expect(low.running?.rate == .zero)
        #expect(below.forecast.map { $0.milligramsPerDecilitre < 70 } == true)
    }

    @Test("never gives basal or meal insulin of its own, and its small boluses are multiples of a tenth")
    func parts() {
        var steps = Steps()
        for glucose in stride(from: 110.0, through: 260, by: 6) {
            let output = steps.step(glucose)
            #expect(output.basal == .zero && output.meal == .zero)
            let tenths = output.correction.units * 10
            #expect(abs(tenths - tenths.rounded()) < 1e-9)
            // Half an hour of the basal at most.
            #expect(output.correction.units <= 0.5)
            if let rate = output.temporaryBasal?.rate { #expect(rate.unitsPerHour <= 3) }
        }
        steps.algorithm.settings.smallBoluses = 0
        #expect(steps.step(266).correction == .zero)
    }

    @Test("covers an announced meal once, counts it as on board, and lets it raise what is expected")
    func meal() {
        var steps = Steps()
        _ = steps.steps([110, 111, 109, 110, 112, 110, 111])
        let output = steps.step(112, meal: 60)
        #expect(output.meal.units == 6 && output.correction == .zero)
        #expect(steps.state.ledger.meals[0] == 6)
        let next = steps.step(114)
        #expect(next.meal == .zero)
        // With its insulin alone glucose ends far below: nothing more is given. With the carbohydrate it doesn't.
        var without = Steps()
        _ = without.steps([110, 111, 109, 110, 112, 110, 111])
        _ = without.step(112) { $0.user.manualBolus = InsulinAmount(units: 6) }
        let alone = without.step(114)
        #expect(without.running?.rate == .zero && alone.correction == .zero)
        #expect(steps.state.ledger.meals[1] == 6 && without.state.ledger.manual[1] == 6)
        #expect(next.correction > .zero)
    }

    @Test("counts a manual bolus in full, and gives none of its own beside it")
    func manual() {
        var steps = Steps()
        _ = steps.steps([180, 183, 186, 190, 193, 197])
        let output = steps.step(200) { $0.user.manualBolus = InsulinAmount(units: 2) }
        #expect(output.meal.units == 2 && output.correction == .zero)
        #expect(steps.state.ledger.manual[0] == 2)
    }

    @Test("takes a running high rate back where it has no reading, and leaves a low one")
    func noReading() {
        var steps = Steps()
        steps.algorithm.settings.smallBoluses = 0
        _ = steps.steps([180, 184, 188, 193, 197, 202, 206])
        #expect((steps.running?.rate.unitsPerHour ?? 0) > 1)
        _ = steps.step(nil)
        #expect(steps.running?.rate.unitsPerHour == 1)
        var low = Steps()
        _ = low.steps([90, 84, 78, 73, 68, 64])
        #expect(low.running?.rate == .zero)
        #expect(low.step(nil).temporaryBasal.map { $0.rate == .zero } ?? true)
        #expect(low.step(nil).correction == .zero)
    }

    @Test(
        "gives no small bolus without a pump, in open loop, and at a high target that the person set for now")
    func withheld() {
        let changes: [(inout StepInput) -> Void] = [
            { $0.insulinPump = .unavailable }, { $0.isOpenLoop = true },
            { $0.temporaryTarget = GlucoseConcentration(milligramsPerDecilitre: 140) },
        ]
        var plain = Steps()
        _ = plain.steps([180, 184, 188, 193, 197])
        #expect(plain.step(202).correction > .zero || plain.step(206).correction > .zero)
        for change in changes {
            var steps = Steps()
            for glucose in [180.0, 184, 188, 193, 197, 202, 206] {
                #expect(steps.step(glucose, change).correction == .zero)
            }
        }
    }

    @Test("goes on over steps that never ran: what the pump gave meanwhile is on board")
    func gap() {
        var steps = Steps()
        _ = steps.steps([150, 150, 151, 152, 150])
        _ = steps.step(151, minutes: 60)
        let output = steps.step(151)
        // One reading after an hour has no slope: it goes by nothing.
        #expect(output.correction == .zero && output.temporaryBasal == nil)
        #expect(abs(steps.state.ledger.sum - (85.0 / 60 + steps.state.ledger.own.sum)) < 0.5)
    }
}

/// Each row of the table in docs/algorithms/oref1-style.md: bad input, and that the answer stays within what is safe.
@Suite("oref1-style, given bad input,")
struct Oref1BadInputTests {
    private func isSafe(_ output: StepOutput, _ therapy: TherapySettings) -> Bool {
        let rate = output.temporaryBasal?.rate.unitsPerHour ?? 0
        let minutes = output.temporaryBasal?.minutes ?? 0
        return output.correction.units >= 0 && output.correction.units.isFinite && rate.isFinite
            && (0...max(1e-9, 3 * therapy.basalRate.unitsPerHour + 0.05)).contains(rate)
            && (0...120).contains(minutes)
            && output.correction.units <= therapy.basalRate.unitsPerHour / 2 + 0.05
    }

    private static let ramp = stride(from: 120.0, through: 240, by: 8)

    @Test("stays within bounds where therapy contradicts itself")
    func therapy() {
        let rows: [(basal: Double, ratio: Double, factor: Double, daily: Double)] = [
            (1, 3, 200, 45), (0, 10, 50, 45), (1, 10, 50, 0), (0.01, 10, 50, 45), (30, 1, 5, 200),
        ]
        for row in rows {
            var steps = Steps()
            steps.therapy = TherapySettings(
                bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: row.basal),
                carbohydrateRatioGramsPerUnit: row.ratio, correctionFactorMgdlPerUnit: row.factor,
                totalDailyInsulin: InsulinAmount(units: row.daily))
            for glucose in Self.ramp { #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)") }
            for glucose in Self.ramp.reversed() {
                #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)")
            }
            for glucose in [100.0, 85, 70, 60, 50] {
                #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)")
            }
        }
    }

    @Test(
        "gives nothing on readings that are all 39, all 401, or unchanged; and nothing on a jump at a change of sensor"
    )
    func readings() {
        for stuck in [39.0, 401, 150] {
            var steps = Steps()
            for _ in 0..<30 {
                let output = steps.step(stuck)
                #expect(output.correction == .zero && isSafe(output, steps.therapy))
                #expect((output.temporaryBasal?.rate.unitsPerHour ?? 0) <= 1)
            }
        }
        var jump = Steps()
        _ = jump.steps([110, 111, 110, 112, 111, 110, 111])
        let output = jump.step(261)
        // More than a fifth between two readings: no small bolus.
        #expect(output.correction == .zero && isSafe(output, jump.therapy))
    }

    @Test("goes by what the therapy's threshold says, where the target is below it")
    func target() {
        var steps = Steps()
        steps.target = 70
        for glucose in [100.0, 95, 90, 85, 80, 76, 72, 68, 64, 60, 56, 52] {
            #expect(isSafe(steps.step(glucose), steps.therapy))
        }
        // Half way between 40 and the target: 55.
        #expect(steps.running?.rate == .zero)
    }

    @Test("counts no more than 120 g of a meal of 250, and caps what is expected of it")
    func meal() {
        var steps = Steps()
        _ = steps.steps([110, 111, 109, 110, 112, 110, 111])
        let output = steps.step(112, meal: 250)
        #expect(output.meal.units == 25 && isSafe(output, steps.therapy))
        for glucose in [115.0, 125, 140, 160, 180, 200] {
            #expect(isSafe(steps.step(glucose), steps.therapy))
        }
        for _ in 0..<20 { _ = steps.step(120, meal: 30) }
        #expect(isSafe(steps.step(121), steps.therapy))
    }

    @Test(
        "begins anew after a gap of 14 h, with what the pump gave, and after a clock that was set by an hour")
    func gaps() {
        for minutes in [14 * 60, 60] as [Int64] {
            var steps = Steps()
            _ = steps.steps([150, 155, 160, 165, 170])
            _ = steps.step(175, minutes: minutes)
            let output = steps.step(260)
            #expect(output.correction == .zero && isSafe(output, steps.therapy))
            let known = steps.state.ledger.sum - steps.state.ledger.own.sum
            #expect(known <= 8.01 && known >= min(7.8, Double(minutes) / 60))
        }
    }

    @Test(
        "gives one answer to three readings a minute apart: each is a step's own, and none adds a bolus to the last"
    )
    func minutes() {
        var steps = Steps()
        _ = steps.steps([180, 184, 188, 193, 197, 202])
        var given = 0.0
        for glucose in [205.0, 206, 207] { given += steps.step(glucose, minutes: 1).correction.units }
        #expect(given <= 0.5)
    }

    @Test("refuses a reading that is older than twelve minutes, or none")
    func old() {
        var steps = Steps()
        _ = steps.steps([180, 184, 188, 193, 197, 202])
        #expect(steps.step(240, age: 13).correction == .zero)
        #expect((steps.running?.rate.unitsPerHour ?? 1) <= 1)
    }

    @Test("keeps its parameters within their ranges")
    func parameters() {
        var tuned = TunedAlgorithm(.oref1Style)
        #expect(
            !tuned.set("peak", to: 20) && !tuned.set("duration", to: 4) && !tuned.set("bolusIncrement", to: 0)
        )
        #expect(tuned.set("peak", to: 55) && tuned.set("duration", to: 5))
        #expect(tuned.algorithm.name == "oref1-style" && tuned.algorithm.basalSource == .temporary)
    }
}
