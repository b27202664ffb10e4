// A zero basal where two things go wrong at once: who pays for it, and what becomes of what it withheld.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("A zero basal where two things go wrong")
struct ZeroBasalEdgeTests {
    /// Steps that ask for what the programme is.
    private func lab() throws -> Lab { try Lab.reading { _ in StepOutput(basal: InsulinAmount(units: 0.1)) } }

    /// An hour was lived, the app was dead for twenty minutes, and the pump refuses what it is asked for at the launch.
    private func refusedLaunch() throws -> (lab: Lab, before: Int) {
        let lab = try lab()
        try lab.live(untilMinute: 61)
        let before = lab.pump.requests.count
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.executor.advance(to: .minutes(81))
        lab.sensor.latestReading = reading(at: 80)
        lab.pump.requestError = .commandFailed
        lab.relaunch()
        return (lab, before)
    }

    /// What was asked for, U.
    private func asked(_ lab: Lab) -> [Double] {
        lab.pump.requests.map { ($0.amount.units * 1000).rounded() / 1000 }
    }

    /// Harm: an algorithm that is late at every second step left half of the basal out for as long as that went on.
    @Test("what it withheld from steps that failed is the next good step's", arguments: [1, 2])
    func failedSteps(failures: Int64) throws {
        let lab = try Lab.reading { input in
            guard input.algorithmTime % (failures + 1) == 0 else { throw AlgorithmFailure() }
            return StepOutput(basal: InsulinAmount(units: 0.1))
        }
        try lab.live(untilMinute: 61)
        let own = 0.1 + 0.1 * Double(failures)
        #expect(asked(lab).first == 0.1)
        #expect(asked(lab).count == 12 / Int(failures + 1) + 1)
        #expect(asked(lab).dropFirst().allSatisfy { abs($0 - own) < 1e-6 }, "\(asked(lab))")
        // The algorithm hears of it as of insulin that is given, so that it doesn't ask for it a second time.
        let good = lab.algorithm.inputs.filter { $0.algorithmTime % (failures + 1) == 0 }.dropFirst()
        #expect(good.allSatisfy { abs(($0.pumpBasal?.withheld.units ?? 0) - own + 0.1) < 1e-6 })
        #expect(lab.display.basalShare == 100)
    }

    /// Harm: the app dies again and again, and each second bolus is refused: half of the programme never came.
    @Test("what it withheld and a pump refused is asked for once more, while its half hour lasts")
    func refusedRepayment() throws {
        let (lab, before) = try refusedLaunch()
        try lab.executor.advance(to: .minutes(82))
        lab.pump.requestError = nil
        // The programme runs again from here on, and flows.
        #expect(lab.pump.temporary == nil)
        lab.pump.basalGiven = InsulinAmount(units: 0.08)
        try lab.live(untilMinute: 86)
        // Three steps under the zero were never lived; what flowed since is of the step that was refused.
        #expect(asked(lab).dropFirst(before) == [0.4])
        try lab.live(untilMinute: 91)
        #expect(asked(lab).last == 0.1)
    }

    @Test("what it withheld and a pump refuses again and again lapses with its half hour")
    func refusedForLong() throws {
        let (lab, before) = try refusedLaunch()
        // The zero would have ended at minute 90; half an hour later nobody owes anything.
        try lab.live(untilMinute: 124)
        lab.pump.requestError = nil
        try lab.live(untilMinute: 131)
        #expect(asked(lab).dropFirst(before) == [0.1])
    }

    /// Harm: the link broke in the seconds of a bolus; what the zero took until it came back was owed by nobody.
    @Test("what it withheld from a pump that was lost in mid-bolus is owed as from any other")
    func lostWhileBolusing() throws {
        let lab = try lab()
        try lab.live(untilMinute: 61)
        let before = lab.pump.requests.count
        lab.pump.condition = .bolusing
        lab.pump.isConnected = false
        try lab.live(untilMinute: 81)
        lab.pump.condition = .ready
        lab.pump.isConnected = true
        try lab.live(untilMinute: 86)
        // Four steps, and its own.
        #expect(asked(lab).dropFirst(before) == [0.5])
        #expect(lab.display.basalShare == 100)
    }

    /// Harm: after a suspension at the pump its programme and a step's basal ran side by side for up to half an hour.
    @Test("is over where the person suspends the pump: a step without a reading leaves its basal to it")
    func suspended() throws {
        let lab = try lab()
        try lab.live(untilMinute: 61)
        let before = lab.pump.requests.count
        lab.pump.condition = .suspended
        lab.pump.loseTemporaryBasal()
        lab.executor.inspect { lab.loop.pumpDidUpdate(status: lab.pump.status) }
        try lab.executor.advance(to: .minutes(63))
        lab.pump.condition = .ready
        lab.executor.inspect { lab.loop.pumpDidUpdate(status: lab.pump.status) }
        try lab.executor.advance(to: .minutes(76))
        #expect(lab.algorithm.inputs.suffix(3).allSatisfy { $0.cgm == nil })
        #expect(asked(lab).count == before)
        #expect(lab.pump.temporary == nil)
    }

    /// Harm: a zero that nobody paid for, set after the refusal that should have ended it.
    @Test(
        "that the pump didn't take is not tried again once the next step's basal is the pump's",
        arguments: [0, 0.2])
    func triedBeyondItsStep(correction: Double) throws {
        let lab = try Lab.reading { input in
            StepOutput(
                basal: InsulinAmount(units: 0.1),
                correction: InsulinAmount(units: input.algorithmTime == 0 ? 0 : correction))
        }
        lab.pump.basalError = .commandFailed
        try lab.executor.advance(to: .minutes(4))
        #expect(asked(lab) == [0.1])
        // The next step begins half a minute early, and its bolus is refused.
        lab.pump.requestError = .commandFailed
        try lab.read(at: Instant.minutes(5).adding(-26 * Nanoseconds.second))
        #expect(lab.algorithm.inputs.count == 2)
        lab.pump.basalError = nil
        try lab.executor.advance(to: .minutes(9))
        #expect(lab.pump.temporaries.isEmpty)
    }

    /// Harm: the algorithm gives up, and its last zero goes on as if it still dosed.
    @Test("is over at once where the algorithm gives up control", arguments: [0, 0.1])
    func givesUp(basal: Double) throws {
        let lab = try Lab.reading { input in
            StepOutput(
                basal: InsulinAmount(units: input.algorithmTime < 3 ? 0.1 : basal),
                isOpenLoop: input.algorithmTime >= 3)
        }
        try lab.live(untilMinute: 16)
        #expect(lab.algorithm.inputs.count == 4)
        #expect(lab.pump.temporary == nil)
        #expect(lab.pump.rates.last == therapy().basalRate)
    }

    /// Harm: more insulin for an hour of sport than the person had set.
    @Test("withheld what the person's temporary basal made of the programme, which ended meanwhile")
    func multiplied() throws {
        let lab = try lab()
        try lab.live(untilMinute: 56)
        try lab.executor.inspect {
            try lab.loop.here { try $0.setTemporaryBasal(multiplier: 0.5, steps: 3) }
        }
        try lab.live(untilMinute: 61)
        let before = lab.pump.requests.count
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.executor.advance(to: .minutes(81))
        lab.sensor.latestReading = reading(at: 80)
        lab.relaunch()
        try lab.executor.advance(to: .minutes(82))
        // Two steps of half the programme, one of all of it, and its own.
        #expect(asked(lab).dropFirst(before) == [0.3])
    }

    /// Harm: a small child's repayment, less than a pulse, was carried on, and rang as missing for two hours.
    @Test("withheld less than a pulse: it is carried on, and not missing")
    func lessThanAPulse() throws {
        let lab = try Lab.reading { _ in StepOutput(basal: InsulinAmount(units: 0.0025)) }
        try lab.live(untilMinute: 1)
        lab.settings.therapy.basalRate = InsulinRate(unitsPerHour: 0.03)
        lab.relaunch()
        try lab.live(untilMinute: 161)
        let carried = lab.memory.carried.units
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.executor.advance(to: .minutes(181))
        lab.sensor.latestReading = reading(at: 180)
        lab.relaunch()
        try lab.executor.advance(to: .minutes(182))
        // Three steps' programme and its own.
        let grown = lab.memory.carried.units - carried
        #expect(abs(grown - 0.01) < 1e-6 || abs(grown + 0.04) < 1e-6, "\(grown)")
        #expect(lab.display.basalShare == 100)
    }

    /// Harm: a person low while the pump was away is given, as soon as it is back, the basal of the minutes before.
    @Test("what it withheld before a low lapses, also where the pump was out of reach", arguments: 0..<3)
    func lowMeanwhile(kind: Int) throws {
        let lab = try Lab.reading { input in
            let mgdl = input.cgm?.glucose.milligramsPerDecilitre ?? 120
            var output = StepOutput(basal: InsulinAmount(units: mgdl < 80 ? 0 : 0.1))
            if kind == 1, input.algorithmTime == 14 {
                output = StepOutput()
                output.forecast = GlucoseConcentration(milligramsPerDecilitre: 60)
            }
            return output
        }
        try lab.live(untilMinute: 61)
        let before = lab.pump.requests.count
        lab.pump.isConnected = false
        try lab.live(untilMinute: 68)
        if kind == 2 {
            try lab.executor.inspect {
                try lab.loop.here {
                    try $0.enter(bloodGlucose: GlucoseConcentration(milligramsPerDecilitre: 50))
                }
            }
        }
        try lab.executor.advance(to: Instant.minutes(70).adding(-1))
        lab.executor.inspect {
            lab.sensor.latestReading = GlucoseReading(
                instant: .minutes(70),
                glucose: GlucoseConcentration(milligramsPerDecilitre: kind == 0 ? 60 : 120), isReliable: true)
        }
        try lab.live(untilMinute: 81)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 86)
        // What the two steps after the low asked for, where a finger-stick didn't stop them, and its own.
        #expect(asked(lab).dropFirst(before) == [kind == 2 ? 0.1 : 0.3])
    }
}
