// The person's programmed basal is the floor: it runs until steps take it over, and comes back when they stop.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("The programmed basal")
struct BasalFloorTests {
    private func dose(_ units: Double) -> StepOutput { StepOutput(basal: InsulinAmount(units: units)) }

    @Test("goes on until a first step has run, however long glucose is missing or the algorithm fails")
    func untilTheFirstStep() throws {
        let noGlucose = try Lab()
        try noGlucose.executor.advance(to: .minutes(240))
        #expect(noGlucose.pump.rates.map(\.unitsPerHour) == [1.2])
        #expect(noGlucose.pump.temporaries.isEmpty)
        let failing = try Lab.reading { input in
            if input.now < .minutes(30) { throw AlgorithmFailure() }
            return self.dose(0.1)
        }
        try failing.live(untilMinute: 28)
        #expect(failing.pump.rates.map(\.unitsPerHour) == [1.2])
        try failing.live(untilMinute: 31)
        #expect(failing.pump.rates.map(\.unitsPerHour) == [1.2, 0])
        // What flowed before the first good step is the steady state, and nothing to be told of.
        #expect(failing.algorithm.inputs.last?.pumpBasal == nil)
    }

    @Test(
        "gives way to a zero of thirty minutes that every good step renews, and none that fails or can't dose"
    )
    func renewal() throws {
        let lab = try Lab.reading { input in
            if input.algorithmTime == 2 { throw AlgorithmFailure() }
            return self.dose(input.algorithmTime == 3 ? 0 : 0.1)
        }
        try lab.live(untilMinute: 18)
        // Steps 0, 1 and 3: the last one wants no insulin at all, and is good.
        #expect(lab.pump.temporaries.map(\.rate) == [.zero, .zero, .zero])
        #expect(lab.pump.temporaries.allSatisfy { $0.nanoseconds == 30 * Nanoseconds.minute })
        lab.pump.condition = .suspended
        try lab.live(untilMinute: 23)
        #expect(lab.pump.temporaries.count == 3)
        #expect(lab.pump.programmed == therapy().basalRate)
    }

    @Test("is told to the next good step that can know it, once, with the time in which it flowed")
    func told() throws {
        let lab = try Lab.reading { input in
            if input.algorithmTime == 13 { throw AlgorithmFailure() }
            return self.dose(0.1)
        }
        try lab.live(untilMinute: 6)
        lab.pump.isConnected = false
        // The last zero was set at minute 5: from 35 on the programme runs, 1.2 U/h.
        try lab.live(untilMinute: 62)
        lab.pump.loseTemporaryBasal()
        lab.pump.basalGiven = InsulinAmount(units: 0.5)
        lab.pump.isConnected = true
        lab.executor.inspect { lab.loop.pumpDidUpdate(status: lab.pump.status) }
        try lab.live(untilMinute: 76)
        let told = lab.algorithm.inputs.map(\.pumpBasal)
        #expect(told[0] == nil)
        #expect(told[1] == PumpBasal(amount: .zero, since: .start))
        // Out of reach: nobody knows.
        #expect(told[2...12].allSatisfy { $0 == nil })
        let flowed = PumpBasal(amount: InsulinAmount(units: 0.5), since: .minutes(35))
        // Step 13 failed; what it was told is told again.
        #expect(Array(told[13...15]) == [flowed, flowed, PumpBasal(amount: .zero, since: .minutes(70))])
    }

    @Test("is told where it began before the zero ended: a pod change took the zero along")
    func lostZero() throws {
        let lab = try Lab.reading { _ in self.dose(0.1) }
        try lab.live(untilMinute: 6)
        lab.pump.isConnected = false
        try lab.live(untilMinute: 42)
        lab.pump.basalGiven = InsulinAmount(units: 0.6)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 46)
        // What flowed, and beside it the ten minutes that the zero took before it was lost, up to a pulse.
        let told = try #require(lab.algorithm.inputs.last?.pumpBasal)
        #expect(abs((told.amount - told.withheld).units - 0.6) < 1e-9 && told.since == .minutes(5))
        #expect(abs(told.withheld.units - 0.25) < 1e-9)
    }

    @Test("counts as given where the pump was out of reach from the first step on")
    func neverKnown() throws {
        let lab = try Lab.reading { _ in self.dose(0.1) }
        lab.pump.isConnected = false
        try lab.live(untilMinute: 28)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 31)
        let told = try #require(lab.algorithm.inputs.last?.pumpBasal)
        #expect(abs(told.amount.units - 0.6) < 1e-12 && told.since == .start)
    }

    @Test("is not doubled by a step whose zero the pump didn't take: the step asks for what is beyond it")
    func unconfirmedZero() throws {
        let lab = try Lab.reading { _ in
            StepOutput(basal: InsulinAmount(units: 0.1), correction: InsulinAmount(units: 0.2))
        }
        func asked() -> [Double] { lab.pump.requests.map { ($0.amount.units * 100).rounded() } }
        // The first zero follows its bolus, and is tried again for as long as that pays for it.
        lab.pump.basalError = .commandFailed
        try lab.live(untilMinute: 2)
        lab.pump.basalError = nil
        try lab.live(untilMinute: 3)
        #expect(asked() == [30] && lab.pump.temporaries.count == 1)
        // Later a zero that can't be renewed still covers the step.
        lab.pump.basalError = .commandFailed
        try lab.live(untilMinute: 28)
        #expect(asked() == [30, 30, 30, 30, 30, 30])
        // From then on it doesn't.
        try lab.live(untilMinute: 31)
        #expect(asked().last == 20)
        lab.pump.basalError = nil
        try lab.live(untilMinute: 36)
        #expect(asked().last == 30)
        let told = Shortfall(algorithmTime: 6, amount: InsulinAmount(units: 0.1))
        #expect(lab.algorithm.inputs.map(\.shortfall) == [nil, nil, nil, nil, nil, nil, nil, told])
    }

    @Test("is not doubled by the first step after a relaunch either, and stays when the app never comes back")
    func relaunch() throws {
        let lab = try Lab.reading { _ in self.dose(0.15) }
        try lab.live(untilMinute: 11)
        lab.pump.basalError = .commandFailed
        lab.relaunch()
        try lab.live(untilMinute: 16)
        // Nobody confirmed the zero in this life of the app.
        #expect(lab.pump.requests.map { ($0.amount.units * 100).rounded() } == [15, 15, 15, 5])
        #expect(lab.pump.programmed == therapy().basalRate)
    }

    @Test("comes back at once when the loop opens or its session ends")
    func opening() throws {
        for ends in [false, true] {
            let lab = try Lab.reading { _ in self.dose(0.1) }
            try lab.live(untilMinute: 6)
            #expect(lab.pump.rates.last == .zero)
            lab.executor.inspect {
                lab.loop.here { if ends { $0.endSession() } else { $0.setOpenLoop(true) } }
            }
            #expect(lab.pump.rates.last == therapy().basalRate)
        }
    }

    @Test(
        "of a person who scaled it for a while is a temporary one for just that while, whatever becomes of the app"
    )
    func scaled() throws {
        let lab = try Lab(basalSource: .programmed) { _ in StepOutput() }
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 1)
        try lab.executor.inspect {
            try lab.loop.here { try $0.setTemporaryBasal(multiplier: 0.5, steps: 24) }
        }
        #expect(lab.pump.temporaries.map(\.rate.unitsPerHour) == [0.6])
        #expect(lab.pump.temporaries.map { $0.nanoseconds / Nanoseconds.minute } == [124])
        try lab.live(untilMinute: 21)
        #expect(lab.pump.temporaries.count == 1)
        // A new pod has lost it.
        lab.pump.loseTemporaryBasal()
        try lab.live(untilMinute: 26)
        #expect(lab.pump.temporaries.map { $0.nanoseconds / Nanoseconds.minute } == [124, 100])
        #expect(lab.pump.programmed == therapy().basalRate)
    }

    /// Harm: half of the basal for as long as the app lived, as nobody ended what was asked for an hour.
    @Test("of a person who scaled it is whole again where the app slept over the end")
    func scaledOverASleep() throws {
        let lab = try Lab(basalSource: .programmed) { _ in StepOutput() }
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 1)
        try lab.executor.inspect {
            try lab.loop.here { try $0.setTemporaryBasal(multiplier: 0.5, steps: 6) }
        }
        try lab.live(untilMinute: 6)
        lab.executor.inspect { lab.loop.here { $0.suspend() } }
        try lab.live(untilMinute: 61)
        lab.pump.loseTemporaryBasal()
        lab.executor.inspect { lab.loop.here { $0.resume() } }
        try lab.live(untilMinute: 76)
        #expect(lab.memory.basalMultiplier == 1)
        #expect(lab.pump.temporaries.count == 1 && lab.pump.temporary == nil)
    }
}
