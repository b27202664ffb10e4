import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite struct LoopControllerTests {
    // MARK: Readings

    @Test func aReadingServesOneStepAndOnlyWhileItIsFresh() throws {
        let bench = Bench()
        bench.sensor.latestReading = reading(at: 0)
        try bench.run(untilMinute: 4)
        try bench.run(untilMinute: 9)  // the same reading
        bench.sensor.latestReading = reading(at: 3)  // another, 7 min old
        try bench.run(untilMinute: 14)
        bench.sensor.latestReading = reading(at: 0)  // an older one
        try bench.run(untilMinute: 19)
        bench.sensor.latestReading = reading(at: 4)  // stale at minute 20
        try bench.run(untilMinute: 24)
        bench.sensor.latestReading = reading(at: 10)  // exactly as old as it may be
        try bench.run(untilMinute: 29)
        bench.sensor.latestReading = reading(at: 30, isReliable: false)
        try bench.run(untilMinute: 34)
        let minutes = bench.algorithm.inputs.map { $0.cgm?.instant.minutes }
        #expect(minutes == [0, nil, 3, nil, nil, 10, nil])
        #expect(bench.algorithm.inputs.map { $0.lastCgmTime?.minutes } == [nil, 0, 0, 3, 3, 3, 10])
    }

    @Test func theFirstStepWaitsForGlucose() throws {
        let bench = Bench()
        try bench.announce(grams: 30)
        try bench.run(untilMinute: 14)
        #expect(bench.algorithm.inputs.isEmpty)
        bench.sensor.latestReading = reading(at: 14)
        try bench.run(untilMinute: 24)
        #expect(bench.algorithm.inputs.map(\.now) == [.minutes(15), .minutes(20)])
        #expect(bench.algorithm.inputs.map(\.algorithmTime) == [0, 1])
        #expect(bench.algorithm.inputs.map(\.firstStepTime) == [nil, .minutes(15)])
        #expect(bench.algorithm.inputs.map(\.lastWorldTime) == [nil, .minutes(15)])
        // What the person said meanwhile is not lost.
        #expect(bench.algorithm.inputs.first?.user.meal?.carbohydrate.grams == 30)
    }

    @Test func aFingerStickValueIsEnoughForTheFirstStep() throws {
        let bench = Bench()
        try bench.executor.inspect {
            try bench.loop.here {
                try $0.enter(bloodGlucose: GlucoseConcentration(milligramsPerDecilitre: 100))
            }
        }
        try bench.run(untilMinute: 4)
        #expect(bench.algorithm.inputs.map(\.user.bloodGlucose?.milligramsPerDecilitre) == [100])
    }

    // MARK: Requests

    @Test func partsOfAStepAreOneRequestUnderItsNumber() throws {
        let bench = Bench(
            reading: true,
            answer: { _ in
                StepOutput(
                    basal: InsulinAmount(units: 0.1), correction: InsulinAmount(units: 0.2),
                    meal: InsulinAmount(units: 0.3))
            })
        try bench.run(untilMinute: 12)
        #expect(bench.pump.requests.map(\.id) == [0, 1, 2])
        for request in bench.pump.requests { #expect(abs(request.amount.units - 0.6) < 1e-6) }
        #expect(bench.algorithm.inputs.map { $0.insulinPump.lastBolus?.id } == [nil, 0, 1])
    }

    @Test func partsOfAPulseAreCarriedExactly() throws {
        var random = RandomStreams(seed: 1, subject: 0).stream("carry")
        let wanted = (0..<3000).map { _ in Double.random(in: 0...0.23, using: &random) }
        let bench = Bench(
            reading: true,
            answer: { StepOutput(basal: InsulinAmount(units: wanted[Int($0.algorithmTime)])) })
        var sum = 0.0
        for step in wanted.indices {
            try bench.run(untilMinute: Int64(step) * 5)
            sum += wanted[step]
            // What is not delivered is carried: less than a pulse. 1e-6 of a pulse a step may be rounded up.
            let carried = sum - bench.pump.delivered
            #expect(carried > -1e-6 && carried < 0.05 + 1e-6, "step \(step)")
        }
        #expect(bench.pump.requests.map(\.id) == bench.pump.requests.map(\.id).sorted())
        #expect(Set(bench.pump.requests.map(\.id)).count == bench.pump.requests.count)
    }

    @Test func anUnavailablePumpGetsNoRequestAndMealInsulinIsAskedForAgain() throws {
        for makeUnavailable: (FakePump) -> Void in [
            { $0.isConnected = false }, { $0.condition = .suspended }, { $0.condition = .bolusing },
        ] {
            let bench = Bench(reading: true) { input in
                StepOutput(
                    basal: InsulinAmount(units: 1),
                    meal: InsulinAmount(units: input.algorithmTime == 1 ? 5 : 0))
            }
            try bench.run(untilMinute: 4)
            makeUnavailable(bench.pump)
            try bench.run(untilMinute: 14)
            #expect(bench.pump.requests.count == 1)
            #expect(bench.algorithm.inputs.map(\.insulinPump.isAvailable) == [true, false, false])
            bench.pump.isConnected = true
            bench.pump.condition = .ready
            try bench.run(untilMinute: 24)
            // Two steps' requests are gone, the meal is not. Out of reach the zero ran on: it is paid for, by the programme's 0.1 U a step.
            let isAway = bench.algorithm.inputs.contains { $0.pumpBasal?.withheld ?? .zero > .zero }
            let asked = bench.pump.requests.map { ($0.amount.units * 10).rounded() / 10 }
            #expect(asked == [1, isAway ? 6.2 : 6, 1])
            #expect(bench.pump.requests.map(\.id) == [0, 3, 4])
        }
    }

    @Test func aRequestThatDidntReachThePumpKeepsTheMeal() throws {
        let bench = Bench(reading: true) { input in
            StepOutput(
                basal: InsulinAmount(units: 1), meal: InsulinAmount(units: input.algorithmTime == 1 ? 5 : 0))
        }
        try bench.run(untilMinute: 4)
        bench.pump.requestError = .notConnected
        try bench.run(untilMinute: 9)
        bench.pump.requestError = nil
        try bench.run(untilMinute: 14)
        #expect(bench.pump.requests.map(\.amount.units) == [1, 6])
        #expect(bench.recorder.steps.map(\.failure.isEmpty) == [true, false, true])
    }

    @Test func aDoseBeyondTheMaximumIsCutOffAndNothingIsGivenInTurns() throws {
        for limit in [30.0, 8] {
            let bench = Bench(reading: true) { input in
                StepOutput(
                    basal: InsulinAmount(units: 1),
                    meal: InsulinAmount(units: input.algorithmTime == 0 ? 49 : 0))
            }
            bench.pump.limit = InsulinAmount(units: limit)
            try bench.run(untilMinute: 9)
            // 120 g at 10 g/U are 12 U, more than a quarter of 45 U; a pump that can do less decides. What is above never comes.
            #expect(bench.pump.requests.map(\.amount.units) == [min(12, limit), 1])
            #expect(bench.recorder.steps.allSatisfy { $0.failure.isEmpty })
            // The algorithm hears of both parts, once.
            #expect(bench.algorithm.inputs.map(\.shortfall?.amount.units) == [nil, 1])
            #expect(bench.algorithm.inputs.map(\.dropped?.amount.units) == [nil, 49 - min(12, limit)])
            let display = bench.executor.inspect { bench.loop.here { $0.display() } }
            #expect(display.cut?.amount.units == 50 - min(12, limit) && display.cut?.at == .start)
            #expect(display.owed == nil)
        }
    }

    @Test func whatBecameOfABolusIsNotReadWhileNoStepMayKnowIt() throws {
        let bench = Bench(reading: true) { _ in StepOutput(basal: InsulinAmount(units: 1)) }
        try bench.run(untilMinute: 4)
        bench.pump.condition = .suspended
        try bench.run(untilMinute: 9)
        bench.pump.condition = .ready
        try bench.run(untilMinute: 14)
        #expect(bench.algorithm.inputs.map { $0.insulinPump.lastBolus?.id } == [nil, nil, 0])
    }

    @Test func thePumpsProgrammedBasalIsSetOnceItCanBeReached() throws {
        for source in [BasalSource.programmed, .algorithm] {
            let bench = Bench(reading: true, basalSource: source)
            bench.pump.isConnected = false
            try bench.run(untilMinute: 9)
            #expect(bench.pump.rates.isEmpty)
            bench.pump.isConnected = true
            try bench.run(untilMinute: 24)
            // The programme is the person's own in either case; the algorithm's zero is a temporary one.
            #expect(bench.pump.rates.map(\.unitsPerHour) == (source == .programmed ? [1.2] : [1.2, 0]))
            #expect(bench.pump.programmed?.unitsPerHour == 1.2)
        }
    }

    // MARK: Failures

    @Test(arguments: [Double.nan, .infinity, -.infinity, -0.001])
    func nonsenseIsAFailedStepThatDeliversNothing(_ units: Double) throws {
        for part in 0..<3 {
            let bench = Bench(reading: true) { input in
                guard input.algorithmTime == 1 else {
                    return StepOutput(basal: InsulinAmount(units: 0.12))
                }
                let nonsense = InsulinAmount(units: units)
                let dose = InsulinAmount(units: 1)
                return StepOutput(
                    basal: part == 0 ? nonsense : dose, correction: part == 1 ? nonsense : dose,
                    meal: part == 2 ? nonsense : dose)
            }
            try bench.run(untilMinute: 14)
            #expect(bench.pump.requests.map(\.id) == [0, 2])
            // The next step's own, and the programme that the zero took from the failed one.
            #expect(abs(bench.pump.delivered - 0.3) < 1e-9)
            #expect(bench.recorder.steps.map(\.failure.isEmpty) == [true, false, true])
            #expect(bench.executor.inspect { bench.loop.here { $0.stepsFailed } } == 1)
        }
    }

    @Test func aFailedStepDeliversNothingEvenWhileAMealIsOwed() throws {
        let bench = Bench(reading: true) { input in
            if input.algorithmTime == 1 { throw AlgorithmFailure() }
            return StepOutput(meal: InsulinAmount(units: input.algorithmTime == 0 ? 4 : 0))
        }
        bench.pump.condition = .suspended
        try bench.run(untilMinute: 4)
        bench.pump.condition = .ready
        try bench.run(untilMinute: 9)
        #expect(bench.pump.requests.isEmpty)
        try bench.run(untilMinute: 14)
        // Beside the meal, the programme that the zero took from the failed step.
        #expect(bench.pump.requests.map(\.amount.units) == [4.1])
        #expect(bench.recorder.steps.map(\.failure) == ["", "AlgorithmFailure()", ""])
    }

    @Test func anErrorThatSaysNothingFailsItsStepAllTheSame() throws {
        struct SilentFailure: Error, CustomStringConvertible {
            let description = ""
        }
        let bench = Bench(reading: true) { input in
            if input.algorithmTime == 1 { throw SilentFailure() }
            return StepOutput(basal: InsulinAmount(units: 0.1))
        }
        try bench.run(untilMinute: 14)
        #expect(bench.recorder.steps.map(\.failure.isEmpty) == [true, false, true])
        #expect(bench.executor.inspect { bench.loop.here { $0.stepsFailed } } == 1)
    }

    // MARK: Open loop and the person

    @Test func openLoopDeliversOnlyWhatThePersonAsksForAlsoAfterThePumpWasAway() throws {
        let bench = Bench(reading: true, isOpenLoop: true) { _ in
            StepOutput(basal: InsulinAmount(units: 1), meal: InsulinAmount(units: 7))
        }
        try bench.manual(units: 2)
        try bench.run(untilMinute: 4)
        bench.pump.isConnected = false
        try bench.manual(units: 1)
        try bench.run(untilMinute: 9)
        bench.pump.isConnected = true
        try bench.run(untilMinute: 24)
        #expect(bench.pump.requests.map(\.amount.units) == [2, 1])
        #expect(bench.recorder.steps.map(\.mealUnits) == [7, 7, 7, 7, 7])
    }

    @Test func twoMealsBetweenStepsAreOneAndAreHeardOnce() throws {
        let bench = Bench(reading: true)
        try bench.run(untilMinute: 1)
        try bench.announce(grams: 20)
        try bench.announce(grams: 15)
        try bench.manual(units: 1)
        try bench.manual(units: 0.5)
        try bench.run(untilMinute: 14)
        let users = bench.algorithm.inputs.map(\.user)
        #expect(users.map { $0.meal?.carbohydrate.grams } == [nil, 35, nil])
        #expect(users.map { $0.manualBolus?.units } == [nil, 1.5, nil])
    }

    @Test func theAlgorithmsStateIsItsOwnFromStepToStep() throws {
        let bench = Bench(reading: true)
        try bench.run(untilMinute: 14)
        #expect(bench.algorithm.states == [0, 1, 2])
    }
}
