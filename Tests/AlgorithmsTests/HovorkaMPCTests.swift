// hovorka-mpc as a loop has it: what a step's input becomes, and what comes of bad input.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// Steps of five minutes on a body that isn't there: readings as a test says, a pump that does what it is told.
private struct Steps {
    var algorithm = HovorkaMPC()
    var state = HovorkaMPC.State()
    var therapy = TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 40, totalDailyInsulin: InsulinAmount(units: 45))
    var target = 110.0
    var now = Instant.start
    var running: RunningTemporaryBasal?
    private(set) var number: Int64 = 0
    private var last: Instant?

    mutating func step(
        _ glucose: Double?, meal: Double? = nil, minutes: Int64 = 5,
        _ change: (inout StepInput) -> Void = { _ in }
    ) -> StepOutput {
        var input = StepInput(
            algorithmTime: number, now: now, therapy: therapy,
            target: GlucoseConcentration(milligramsPerDecilitre: target))
        input.insulinPump = StepPumpStatus(isAvailable: true)
        input.cgm = glucose.map {
            GlucoseReading(instant: now, glucose: GlucoseConcentration(milligramsPerDecilitre: $0))
        }
        input.user.meal = meal.map {
            MealAnnouncement(carbohydrate: Carbohydrate(grams: $0), instant: now)
        }
        if let running, running.ends > now { input.temporaryBasal = running } else { running = nil }
        if let last {
            let rate = running?.rate ?? therapy.basalRate
            let hours = Double(now.nanoseconds - last.nanoseconds) / Double(Nanoseconds.hour)
            input.pumpBasal = PumpBasal(
                amount: InsulinAmount(units: rate.unitsPerHour * hours), since: last)
        }
        change(&input)
        let output = algorithm.run(input, state: &state)
        if let answer = output.temporaryBasal {
            running =
                answer.minutes > 0
                ? RunningTemporaryBasal(
                    rate: answer.rate, ends: now.adding(Int64(answer.minutes) * Nanoseconds.minute)) : nil
        }
        last = now
        now = now.adding(minutes * Nanoseconds.minute)
        number += max(1, minutes / 5)
        return output
    }

    mutating func steps(_ readings: [Double]) -> StepOutput {
        var output = StepOutput()
        for reading in readings { output = step(reading) }
        return output
    }

    var rate: Double { running?.rate.unitsPerHour ?? therapy.basalRate.unitsPerHour }
}

@Suite("hovorka-mpc")
struct HovorkaMPCTests {
    @Test("leaves a body that its therapy holds at the target with its programme")
    func steady() {
        var steps = Steps()
        for _ in 0..<60 {
            let output = steps.step(110)
            #expect(abs(steps.rate - 1) < 0.01)
            #expect(output.forecast.map { abs($0.milligramsPerDecilitre - 110) < 0.5 } == true)
            #expect(output.basal == .zero && output.correction == .zero && output.meal == .zero)
        }
    }

    @Test("raises the rate above its target and lowers it below, and says where glucose goes")
    func course() {
        var high = Steps()
        let above = high.steps([180, 184, 188, 193, 197, 202, 206])
        #expect(high.rate > 1.5)
        #expect(above.forecast.map { $0.milligramsPerDecilitre > 190 } == true)
        #expect(high.algorithm.forecastMinutes == 30)
        var low = Steps()
        let below = low.steps([110, 106, 101, 95, 90, 86, 81])
        #expect(low.rate < 0.3)
        #expect(below.forecast.map { $0.milligramsPerDecilitre < 81 } == true)
    }

    @Test("has a plan every quarter of an hour, for half an hour, and none without a reading")
    func timing() {
        var steps = Steps()
        var planned: [Int64] = []
        for step in 0..<30 as Range<Int64> {
            let output = steps.step(step == 12 || step == 13 ? nil : 150)
            if let answer = output.temporaryBasal {
                planned.append(step)
                #expect(answer.minutes == 30)
            }
        }
        // The one of step 12 waits for a reading.
        #expect(planned == [0, 3, 6, 9, 14, 17, 20, 23, 26, 29])
    }

    @Test("stops at a low reading at once, and plans again a quarter of an hour after the last one")
    func stop() {
        var steps = Steps()
        _ = steps.step(150)
        for reading in [68.0, 66, 70] {
            let output = steps.step(reading)
            #expect(output.temporaryBasal?.rate == .zero && output.temporaryBasal?.minutes == 30)
        }
        #expect(steps.step(120).temporaryBasal == nil && steps.step(160).temporaryBasal == nil)
        #expect(steps.step(200).temporaryBasal != nil)
        var never = Steps()
        never.algorithm.settings.suspendAt = 0
        _ = never.step(150)
        #expect(never.step(68).temporaryBasal == nil)
    }

    @Test("covers an announced meal once, counts it as on board, and lets it raise what is expected")
    func meal() {
        var steps = Steps()
        _ = steps.steps([110, 110, 110])
        let output = steps.step(110, meal: 60)
        #expect(output.meal.units == 6)
        #expect(steps.state.ledger.meals[0] == 6 && steps.state.gut.D1 == 60)
        #expect(output.forecast.map { $0.milligramsPerDecilitre > 112 } == true)
        let next = steps.step(112)
        #expect(next.meal == .zero && steps.state.ledger.meals[1] == 6)
        // Its insulin alone leads far below: nothing is given.
        var alone = Steps()
        _ = alone.steps([110, 110, 110])
        let bolus = alone.step(110) { $0.user.manualBolus = InsulinAmount(units: 6) }
        #expect(bolus.meal.units == 6 && alone.state.ledger.manual[0] == 6)
        #expect(alone.rate == 0)
        #expect(steps.rate > alone.rate)
    }

    @Test("reckons with what the pump gave: insulin that never came is taken back, hours later too")
    func takenBack() {
        var told = Steps()
        var never = Steps()
        for step in 0..<40 as Range<Int64> {
            let reading = 120 + Double(step % 7)
            _ = told.step(reading) {
                if step == 4 { $0.user.manualBolus = InsulinAmount(units: 3) }
                if step == 30 {
                    $0.dropped = Shortfall(
                        algorithmTime: 4, amount: InsulinAmount(units: 3), manual: InsulinAmount(units: 3))
                }
                $0.pumpBasal = nil
            }
            _ = never.step(reading) { $0.pumpBasal = nil }
            let (a, b) = (told.insulin, never.insulin)
            if step == 20 { #expect(a.w1 > 1.2 * b.w1) }
            if step >= 30 {
                #expect(abs(a.S2 - b.S2) < 1e-9 && abs(a.w1 - b.w1) < 1e-9 && abs(a.w3 - b.w3) < 1e-9)
            }
        }
    }

    @Test("counts what is older than its ledger, too: insulin goes on as if all of it were remembered")
    func old() {
        var steps = Steps()
        var all = HovorkaInsulin.steady(1000 / 60)
        for step in 0..<300 as Range<Int64> {
            let bolus = step % 40 == 3 ? 2.0 : 0
            _ = steps.step(120) {
                if bolus > 0 { $0.user.manualBolus = InsulinAmount(units: bolus) }
            }
            let now = steps.insulin
            all.S1 += 1000 * bolus
            #expect(abs(now.S1 - all.S1) < 1e-6 && abs(now.w1 - all.w1) < 1e-6, "\(step)")
            HovorkaTransition.whole.apply(&all, rate: steps.rate * 1000 / 60)
        }
    }

    @Test("goes on over steps that never ran, as over steps without a reading")
    func gap() {
        var dark = Steps()
        var gone = Steps()
        // Nobody says what the pump gave: the same to both.
        let silent: (inout StepInput) -> Void = { $0.pumpBasal = nil }
        for reading in [150.0, 150, 151, 152] {
            _ = dark.step(reading, silent)
            _ = gone.step(reading, silent)
        }
        _ = dark.step(150, silent)
        _ = gone.step(150, minutes: 60, silent)
        for _ in 0..<11 { _ = dark.step(nil, silent) }
        #expect(dark.now == gone.now && dark.number == gone.number)
        let (a, b) = (dark.step(170, silent), gone.step(170, silent))
        for part in 0..<HovorkaBelief.parts {
            #expect(abs(dark.state.belief.mean[part] - gone.state.belief.mean[part]) < 1e-6)
        }
        #expect(a.temporaryBasal != nil && b.temporaryBasal != nil)
    }

    @Test("forgets what it believed of glucose after eight hours without a step")
    func long() {
        var steps = Steps()
        _ = steps.steps([150, 150, 151, 152, 150])
        _ = steps.step(150, minutes: 14 * 60)
        let output = steps.step(260)
        #expect(abs(steps.state.belief.mean[0] * HovorkaMeans.milligrams - 260) < 1e-9)
        #expect(output.forecast.map { $0.milligramsPerDecilitre > 200 } == true)
    }

    @Test("learns that a body needs more than its therapy says, and forgets it again")
    func learns() {
        var steps = Steps()
        // It stays high whatever is given.
        for _ in 0..<72 { _ = steps.step(200) }
        let sensitivity = steps.state.belief.mean[2]
        #expect(sensitivity < -0.05 || steps.state.belief.mean[5] > 0.05)
        let sum = (2..<7).reduce(0) { $0 + abs(steps.state.belief.mean[$1]) }
        for _ in 0..<288 { _ = steps.step(nil) }
        let later = (2..<7).reduce(0) { $0 + abs(steps.state.belief.mean[$1]) }
        #expect(later < 0.05 * sum)
    }

    @Test("keeps its covariance one: symmetric, and no variance below nothing")
    func covariance() {
        var steps = Steps()
        for step in 0..<400 {
            _ = steps.step(step % 50 > 40 ? nil : 150 + 90 * Double((step * 37) % 11) / 11)
            let belief = steps.state.belief
            for i in 0..<7 {
                #expect(belief.covariance[i * 8] > 0)
                for j in 0..<7 {
                    #expect(belief.covariance[i * 7 + j] == belief.covariance[j * 7 + i])
                    let bound = belief.covariance[i * 8] * belief.covariance[j * 8]
                    #expect(belief.covariance[i * 7 + j] * belief.covariance[i * 7 + j] <= bound * 1.000001)
                }
            }
        }
    }

    @Test(
        "is a plain value: written down and read it answers the same, and a step that is taken back leaves nothing"
    )
    func value() throws {
        var steps = Steps()
        _ = steps.steps([150, 160, 170, 180])
        _ = steps.step(190, meal: 40)
        let data = try JSONEncoder().encode(steps.state)
        let read = try JSONDecoder().decode(HovorkaMPC.State.self, from: data)
        #expect(read == steps.state)
        var again = steps
        again.state = read
        #expect(again.step(200) == steps.step(200))
        #expect(again.state == steps.state)
    }

    @Test("holds the person's rate to be what runs")
    func persons() {
        var steps = Steps()
        _ = steps.steps([110, 110])
        var rates: [Double] = []
        for rate in [0.0, 4] {
            var with = steps
            _ = with.step(110)
            let own = RunningTemporaryBasal(
                rate: InsulinRate(unitsPerHour: rate), ends: with.now.adding(2 * Nanoseconds.hour),
                isPersons: true)
            let output = with.step(110) { $0.temporaryBasal = own }
            rates.append(output.forecast?.milligramsPerDecilitre ?? 0)
        }
        #expect(rates[0] > rates[1] + 0.2)
    }
}

extension Steps {
    /// Under way now, as the algorithm reckons: its state and ledger alone.
    fileprivate var insulin: HovorkaInsulin {
        var probe = state
        var input = StepInput(
            algorithmTime: number - 1, now: now.adding(-5 * Nanoseconds.minute), therapy: therapy,
            target: GlucoseConcentration(milligramsPerDecilitre: target))
        input.insulinPump = StepPumpStatus(isAvailable: true)
        var output = StepOutput()
        return algorithm.understand(input, &output, &probe).insulin
    }
}

/// Each row of the table in docs/algorithms/hovorka-mpc.md: bad input, and that the answer stays within what is safe.
@Suite("hovorka-mpc, given bad input,")
struct HovorkaBadInputTests {
    private func isSafe(_ output: StepOutput, _ therapy: TherapySettings) -> Bool {
        let rate = output.temporaryBasal?.rate.unitsPerHour ?? 0
        let forecast = output.forecast?.milligramsPerDecilitre ?? 100
        return output.correction == .zero && output.basal == .zero && rate.isFinite && forecast.isFinite
            && (0...therapy.maximumBasal.unitsPerHour).contains(rate)
            && (output.temporaryBasal?.minutes ?? 30) == 30 && (0...5000).contains(forecast)
    }

    private static let ramp = stride(from: 120.0, through: 240, by: 8)

    @Test("stays within bounds where therapy contradicts itself")
    func therapy() {
        let rows: [(basal: Double, ratio: Double, factor: Double, daily: Double, weight: Double)] = [
            (1, 3, 200, 45, 70), (0, 10, 50, 45, 70), (1, 10, 50, 0, 70), (0.01, 10, 50, 45, 70),
            (30, 1, 5, 200, 70), (1, 10, 50, 45, 3), (1, 10, 50, 45, 300), (0.05, 150, 1000, 4, 8),
        ]
        for row in rows {
            var steps = Steps()
            steps.therapy = TherapySettings(
                bodyWeightKilograms: row.weight, basalRate: InsulinRate(unitsPerHour: row.basal),
                carbohydrateRatioGramsPerUnit: row.ratio, correctionFactorMgdlPerUnit: row.factor,
                totalDailyInsulin: InsulinAmount(units: row.daily))
            for glucose in Self.ramp { #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)") }
            for glucose in Self.ramp.reversed() {
                #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)")
            }
            for glucose in [100.0, 85, 70, 60, 50] {
                #expect(isSafe(steps.step(glucose), steps.therapy), "\(row)")
            }
            #expect(steps.running?.rate == .zero)
        }
    }

    @Test("gives nothing on readings that are all 39, and no more than the maximum on 401 that stay so")
    func readings() {
        var low = Steps()
        for _ in 0..<30 {
            #expect(isSafe(low.step(39), low.therapy))
            #expect(low.running?.rate == .zero)
        }
        var high = Steps()
        var rates = (least: 9.0, most: 0.0)
        for _ in 0..<288 {
            #expect(isSafe(high.step(401), high.therapy))
            if high.number > 6 { rates = (min(rates.least, high.rate), max(rates.most, high.rate)) }
        }
        // It asks for no more than a fall by 2 mmol/L an hour, most of which is lost in urine there.
        #expect(rates.least > 1 && rates.most < 2, "\(rates)")
        // What the day put on board is there once readings come down.
        _ = high.steps([250, 200, 150])
        #expect(high.rate == 0)
    }

    @Test("takes a jump by 150 for a part of one, and a stop at its first low reading")
    func jump() {
        var steps = Steps()
        _ = steps.steps([110, 111, 110, 112, 111, 110, 111])
        #expect(isSafe(steps.step(261), steps.therapy))
        #expect(steps.state.belief.mean[0] * HovorkaMeans.milligrams < 230)
        for _ in 0..<3 { #expect(isSafe(steps.step(111), steps.therapy)) }
        #expect(steps.rate < 1)
        #expect(steps.step(60).temporaryBasal?.rate == .zero)
    }

    @Test("aims at a target of 70, and stops at 70 all the same")
    func target() {
        var steps = Steps()
        steps.target = 70
        for glucose in [100.0, 95, 90, 85, 80, 76, 72, 68, 64, 60, 56, 52] {
            #expect(isSafe(steps.step(glucose), steps.therapy))
        }
        #expect(steps.running?.rate == .zero)
    }

    @Test("counts a meal of 250 g as announced, and caps nothing but the rate")
    func meal() {
        var steps = Steps()
        _ = steps.steps([110, 111, 109])
        let output = steps.step(112, meal: 250)
        #expect(output.meal.units == 25 && isSafe(output, steps.therapy))
        for glucose in [115.0, 125, 140, 160, 180, 200] {
            #expect(isSafe(steps.step(glucose), steps.therapy))
        }
        for _ in 0..<20 { #expect(isSafe(steps.step(120, meal: 30), steps.therapy)) }
    }

    @Test("begins anew after 14 h without a step, and goes on over an hour that a clock was set by")
    func gaps() {
        for minutes in [14 * 60, 60] as [Int64] {
            var steps = Steps()
            _ = steps.steps([150, 155, 160, 165, 170])
            _ = steps.step(175, minutes: minutes)
            let output = steps.step(260)
            #expect(isSafe(output, steps.therapy) && output.temporaryBasal != nil)
            #expect(steps.state.ledger.sum <= 8 * 4.01)
        }
    }

    @Test("hears three readings a minute apart as three steps, with one plan")
    func minutes() {
        var steps = Steps()
        _ = steps.steps([180, 184, 188, 193])
        var plans = 0
        for glucose in [195.0, 196, 197] {
            let output = steps.step(glucose, minutes: 1)
            #expect(isSafe(output, steps.therapy))
            plans += output.temporaryBasal == nil ? 0 : 1
        }
        #expect(plans <= 1)
    }

    @Test("keeps its parameters within their ranges")
    func parameters() {
        var tuned = TunedAlgorithm(.hovorkaMPC)
        #expect(!tuned.set("aggressiveness", to: 0) && !tuned.set("interval", to: 4))
        #expect(!tuned.set("spread", to: 3) && !tuned.set("window", to: 10))
        #expect(tuned.set("aggressiveness", to: 3) && tuned.set("suspendAt", to: 80))
        #expect(tuned.algorithm.name == "hovorka-mpc" && tuned.algorithm.basalSource == .temporary)
    }
}
