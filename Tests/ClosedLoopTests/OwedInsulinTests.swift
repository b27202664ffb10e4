// What a person waits for comes within a quarter of an hour or not at all; limits hold; nonsense is refused where it enters.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("Owed insulin")
struct OwedInsulinTests {
    private func lab(_ answer: @escaping (StepInput) throws -> StepOutput = OwedInsulinTests.mealsOnly) throws
        -> Lab
    {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        return lab
    }

    private static func mealsOnly(_ input: StepInput) -> StepOutput {
        let grams = input.user.meal?.carbohydrate.grams ?? 0
        return StepOutput(meal: InsulinAmount(units: grams / 10) + (input.user.manualBolus ?? .zero))
    }

    private func eat(_ grams: Double, _ lab: Lab) throws {
        try lab.executor.inspect {
            try lab.loop.announce(
                MealAnnouncement(
                    carbohydrate: Carbohydrate(grams: grams), instant: lab.executor.now))
        }
    }

    private func bolus(_ units: Double, _ lab: Lab) throws {
        try lab.executor.inspect { try lab.loop.request(manualBolus: InsulinAmount(units: units)) }
    }

    private func display(_ lab: Lab) -> LoopDisplay {
        lab.executor.inspect { lab.loop.here { $0.display() } }
    }

    @Test(
        "is asked for again for fifteen minutes after the person said so, and not a step longer",
        arguments: [18, 23])
    func lapses(backAfter minute: Int64) throws {
        let lab = try lab()
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        // Said at minute 3: the steps of 5, 10 and 15 ask, that of 20 doesn't.
        try lab.live(untilMinute: 3)
        try eat(60, lab)
        try lab.live(untilMinute: 13)
        #expect(display(lab).owed == InsulinAmount(units: 6) && display(lab).owedUntil == .minutes(18))
        try lab.live(untilMinute: minute - 10)
        if minute == 23 { try lab.live(untilMinute: 18) }
        lab.pump.isConnected = true
        try lab.live(untilMinute: 61)
        #expect(lab.pump.requests.map(\.amount.units) == (minute == 18 ? [6] : []))
        let told = lab.algorithm.inputs.compactMap(\.dropped)
        if minute == 18 {
            #expect(told.isEmpty && display(lab).dropped == nil)
        } else {
            #expect(told == [Shortfall(algorithmTime: 1, amount: InsulinAmount(units: 6))])
            let dropped = try #require(display(lab).dropped)
            #expect(dropped.amount == InsulinAmount(units: 6) && dropped.at == .minutes(20))
            #expect(lab.rows.compactMap { $0.dropped?.cause.text } == ["pump unavailable"])
            #expect(display(lab).owed == nil && display(lab).owedUntil == nil)
            // Nine hours later, too.
            try lab.live(untilMinute: 600)
            #expect(lab.pump.requests.isEmpty)
        }
    }

    @Test("lapses one by one, each after its own fifteen minutes")
    func oneByOne() throws {
        let lab = try lab()
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try eat(40, lab)
        try lab.live(untilMinute: 12)
        try eat(20, lab)
        try lab.live(untilMinute: 18)
        // The step of 20 drops the first, and asks for the second.
        lab.pump.isConnected = true
        try lab.live(untilMinute: 31)
        #expect(lab.pump.requests.map(\.amount.units) == [2])
        #expect(lab.algorithm.inputs.compactMap(\.dropped?.amount.units) == [4])
    }

    @Test(
        "lapses whatever keeps it from coming: failed commands, silence, a dead app, a failing algorithm, no glucose"
    )
    func whatever() throws {
        // The command fails for twenty minutes.
        var lab = try lab()
        lab.pump.requestError = .commandFailed
        try eat(60, lab)
        try lab.live(untilMinute: 18)
        lab.pump.requestError = nil
        try lab.live(untilMinute: 46)
        #expect(lab.pump.requests.isEmpty && display(lab).dropped?.cause == .refused)
        // Nobody answers, and the pump is gone for an hour: it never got the request.
        lab = try self.lab()
        lab.pump.losesRequest = true
        try eat(60, lab)
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        lab.pump.isConnected = false
        try lab.live(untilMinute: 58)
        lab.pump.losesRequest = false
        lab.pump.isConnected = true
        try lab.live(untilMinute: 76)
        #expect(lab.pump.requests.isEmpty && display(lab).dropped?.cause == .neverArrived)
        // Dead for half an hour, with a pump that was away before.
        lab = try self.lab()
        lab.pump.isConnected = false
        try eat(60, lab)
        try lab.live(untilMinute: 6)
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.live(untilMinute: 33)
        lab.pump.isConnected = true
        lab.relaunch()
        try lab.live(untilMinute: 46)
        #expect(lab.pump.requests.isEmpty && display(lab).dropped?.amount.units == 6)
        // The algorithm fails for half an hour: no step has heard of the meal.
        lab = try self.lab { input in
            if input.algorithmTime < 6 { throw AlgorithmFailure() }
            return Self.mealsOnly(input)
        }
        try eat(60, lab)
        try bolus(1, lab)
        try lab.live(untilMinute: 46)
        #expect(lab.pump.requests.isEmpty)
        #expect(display(lab).dropped?.carbohydrate.grams == 60 && display(lab).dropped?.amount.units == 1)
        #expect(display(lab).dropped?.cause == .noStep)
        // No glucose for four hours.
        lab = try Lab(answer: Self.mealsOnly)
        try eat(60, lab)
        try lab.executor.advance(to: .minutes(239))
        lab.sensor.latestReading = reading(at: 240)
        try lab.live(untilMinute: 256)
        #expect(lab.algorithm.inputs.count > 2 && lab.pump.requests.isEmpty)
    }

    @Test("of a bolus that a pod change cut off late is not asked for again")
    func cutOffLate() throws {
        let lab = try lab()
        try eat(60, lab)
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        lab.pump.condition = .bolusing
        try lab.live(untilMinute: 18)
        lab.pump.cutCompleted(to: InsulinAmount(units: 2), by: .pump)
        lab.pump.condition = .ready
        try lab.live(untilMinute: 36)
        #expect(lab.pump.requests.map(\.amount.units) == [6])
        #expect(
            lab.algorithm.inputs.compactMap(\.dropped) == [
                Shortfall(algorithmTime: 0, amount: InsulinAmount(units: 4))
            ])
        #expect(display(lab).dropped?.cause == .cutShort)
    }

    @Test("lapses in open loop too, and is not a minute older after a relaunch")
    func openLoop() throws {
        let lab = try lab()
        lab.executor.inspect { lab.loop.here { $0.setOpenLoop(true) } }
        lab.pump.isConnected = false
        try bolus(3, lab)
        try lab.live(untilMinute: 8)
        lab.relaunch()
        try lab.live(untilMinute: 18)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 61)
        #expect(lab.pump.requests.isEmpty && display(lab).dropped?.amount.units == 3)
    }

    @Test("is called off by the person, asked for again by the person, and forgotten by nobody else")
    func cancelledAndAskedAgain() throws {
        let lab = try lab()
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try eat(60, lab)
        try lab.live(untilMinute: 7)
        lab.executor.inspect { lab.loop.here { $0.cancelOwed() } }
        #expect(display(lab).owed == nil && display(lab).dropped?.cause == .cancelled)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 12)
        #expect(lab.pump.requests.isEmpty)
        #expect(
            lab.algorithm.inputs.last?.dropped == Shortfall(algorithmTime: 1, amount: InsulinAmount(units: 6))
        )
        try lab.executor.inspect { try lab.loop.here { try $0.askAgainForDropped() } }
        #expect(display(lab).dropped == nil)
        try lab.live(untilMinute: 16)
        #expect(lab.pump.requests.map(\.amount.units) == [6])
    }

    @Test("that was called off while nobody had answered is not sent again")
    func cancelledInSilence() throws {
        let lab = try lab()
        lab.pump.losesRequest = true
        try eat(60, lab)
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        lab.executor.inspect { lab.loop.here { $0.cancelOwed() } }
        lab.pump.losesRequest = false
        try lab.live(untilMinute: 16)
        #expect(lab.pump.requests.isEmpty && display(lab).dropped?.cause == .cancelled)
    }

    // MARK: Limits and nonsense

    @Test("above the maximum is cut to it to the last bit: a pump that refuses more gives all of the maximum")
    func cutToTheLastBit() throws {
        // Parts of a pulse that are carried, and doses that binary fractions can't hold, make sums that miss the limit by a bit.
        let lab = try Lab { input in
            let grams = input.user.meal?.carbohydrate.grams ?? 0
            return StepOutput(
                basal: InsulinAmount(units: 0.0123 + 0.001 * Double(input.algorithmTime)),
                correction: InsulinAmount(units: 0.0371), meal: InsulinAmount(units: grams / 3.7))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.limit = InsulinAmount(units: 12)
        var meals = 0
        for step in 0..<120 {
            try lab.live(untilMinute: Int64(5 * step + 2))
            guard step % 2 == 1 else { continue }
            try eat(45 + 0.37 * Double(step), lab)
            meals += 1
        }
        try lab.live(untilMinute: 605)
        let large = lab.pump.requests.map(\.amount.units).filter { $0 > 6 }
        #expect(large.count == meals && large.allSatisfy { $0 <= 12 && $0 > 12 - 1e-9 })
        #expect(lab.rows.allSatisfy { $0.pumpError.isEmpty })
    }

    @Test("by hand above the maximum is refused whole, also in two halves and beside what is owed")
    func manualAboveTheMaximum() throws {
        let lab = try lab()
        func refuses(_ units: Double) -> Bool {
            do {
                try bolus(units, lab)
                return false
            } catch { return (error as? LoopInputRefused)?.kind == .manualBolus }
        }
        // 120 g at 10 g/U.
        #expect(refuses(12.05) && refuses(.nan) && refuses(.infinity) && refuses(-1) && refuses(0))
        #expect(!refuses(7) && refuses(5.05) && !refuses(5))
        lab.pump.isConnected = false
        try lab.live(untilMinute: 3)
        #expect(display(lab).owed?.units == 12 && refuses(0.05))
        lab.pump.isConnected = true
        try lab.live(untilMinute: 16)
        #expect(lab.pump.requests.map(\.amount.units) == [12])
    }

    @Test("has a limit that follows the therapy, within 2 and 30 U")
    func standardLimit() {
        func limit(_ daily: Double, _ ratio: Double) -> Double {
            TherapySettings.defaultMaximumBolus(
                totalDailyInsulin: InsulinAmount(units: daily), carbohydrateRatioGramsPerUnit: ratio
            ).units
        }
        #expect(limit(45, 10) == 12 && limit(80, 10) == 20 && limit(6, 90) == 2 && limit(300, 2) == 30)
        #expect(limit(.nan, .nan) == 2 && limit(40, 0) == 30 && limit(40, -5) == 10)
    }

    @Test(
        "knows no meal above 250 g, nor what is no number; values, targets, steps and rates have limits, too")
    func nonsense() throws {
        let lab = try lab()
        func refused(
            _ kind: LoopInputRefused.Kind,
            _ body: @escaping @Sendable (isolated LoopController) throws -> Void
        ) -> Bool {
            do {
                try lab.executor.inspect { try lab.loop.here { try body($0) } }
                return false
            } catch { return (error as? LoopInputRefused)?.kind == kind }
        }
        for grams in [250.5, 1000, 0, -20, Double.nan, .infinity] {
            #expect(throws: LoopInputRefused.self) { try eat(grams, lab) }
        }
        for mgdl in [Double.nan, -5, 0, 9, 1001, .infinity] {
            let value = GlucoseConcentration(milligramsPerDecilitre: mgdl)
            #expect(refused(.bloodGlucose) { try $0.enter(bloodGlucose: value) })
            #expect(refused(.bloodGlucose) { try $0.enter(calibration: value) })
            #expect(refused(.target) { try $0.setTarget(value) })
            #expect(refused(.target) { try $0.setTemporaryTarget(value) })
        }
        #expect(refused(.customField) { try $0.setCustomField("a", .nan) })
        for multiplier in [Double.nan, -0.1, .infinity, 10.5] {
            #expect(refused(.basalMultiplier) { try $0.setTemporaryBasal(multiplier: multiplier, steps: 3) })
        }
        for steps in [0, -1, 289, .max] {
            #expect(refused(.basalSteps) { try $0.setTemporaryBasal(multiplier: 1, steps: steps) })
        }
        try lab.live(untilMinute: 11)
        #expect(lab.algorithm.inputs.allSatisfy { $0.user == UserInputs() && $0.temporaryTarget == nil })
        #expect(lab.pump.requests.isEmpty)
    }

    @Test("beyond what the pump can ever do is given up at once; only what may pass is tried again")
    func impossible() throws {
        let lab = try lab()
        lab.pump.requestError = .outOfRange(InsulinAmount(units: 6), limit: InsulinAmount(units: 5))
        try eat(60, lab)
        try lab.live(untilMinute: 4)
        lab.pump.requestError = nil
        try lab.live(untilMinute: 16)
        #expect(lab.pump.requests.isEmpty && display(lab).dropped?.cause == .impossible)
        // A session whose basal the pump can't run doesn't start.
        lab.pump.largestBasal = InsulinRate(unitsPerHour: 1)
        #expect(throws: LoopInputRefused.self) {
            try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        }
    }

    // MARK: Late steps

    @Test(
        "comes with a step that is at most half a step late, else with the next grid point's",
        arguments: [150, 151, 290, 299])
    func lateSteps(seconds: Int64) throws {
        let lab = try lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        try lab.executor.advance(to: .minutes(121))
        lab.executor.inspect { lab.loop.here { $0.suspend() } }
        let back = Instant.minutes(125).adding(seconds * Nanoseconds.second)
        try lab.executor.advance(to: back)
        lab.executor.inspect { lab.loop.here { $0.resume() } }
        try lab.executor.advance(to: .minutes(136))
        let late = seconds <= 150
        #expect(
            Array(lab.minutes.drop { $0 <= 120 })
                == (late ? [back.minutes, 130, 135] : [130, 135]))
        #expect(Array(lab.numbers.suffix(late ? 3 : 2)) == (late ? [25, 26, 27] : [26, 27]))
        #expect(
            lab.executor.inspect { lab.loop.here { $0.currentMemory.stepsSkipped } } == (late ? 0 : 1))
    }
}
