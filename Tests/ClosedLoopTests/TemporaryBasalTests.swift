// A temporary basal as an algorithm's answer: one slot at the pump, and three who may want it.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("A temporary basal that a step answers with")
struct TemporaryBasalTests {
    private static func rate(_ rate: Double, _ minutes: Double = 30) -> StepOutput {
        var output = StepOutput()
        output.temporaryBasal = TemporaryBasalAnswer(
            rate: InsulinRate(unitsPerHour: rate), minutes: minutes)
        return output
    }

    private func lab(_ answer: @escaping (StepInput) throws -> StepOutput) throws -> Lab {
        let lab = try Lab(basalSource: .temporary, answer: answer)
        lab.sensor.latestReading = ClosedLoopTests.reading(at: 0)
        return lab
    }

    @Test("is set once for its whole length; nothing renews it, and no zero stands below it")
    func once() throws {
        let lab = try lab { $0.algorithmTime == 1 ? Self.rate(2.5, 45) : StepOutput() }
        try lab.live(untilMinute: 41)
        #expect(lab.pump.temporaries.map(\.rate.unitsPerHour) == [2.5])
        #expect(lab.pump.temporaries.map(\.nanoseconds) == [45 * Nanoseconds.minute])
        #expect(lab.pump.programmed?.unitsPerHour == 1.2)
        // The next step is told of it.
        let told = lab.algorithm.inputs[2].temporaryBasal
        #expect(told?.rate.unitsPerHour == 2.5 && told?.isPersons == false)
        #expect(lab.algorithm.inputs[1].temporaryBasal == nil)
        // At its end the pump says that its programme runs.
        lab.pump.loseTemporaryBasal()
        try lab.live(untilMinute: 51)
        #expect(lab.algorithm.inputs.last?.temporaryBasal == nil)
        #expect(lab.pump.temporaries.count == 1)
    }

    @Test("goes on as it is where the app dies, and is known to the next life")
    func death() throws {
        let lab = try lab { $0.algorithmTime == 1 ? Self.rate(2.5, 60) : StepOutput() }
        try lab.live(untilMinute: 8)
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.executor.advance(to: .minutes(28))
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5])
        lab.relaunch()
        try lab.live(untilMinute: 36)
        #expect(lab.algorithm.inputs.last?.temporaryBasal?.rate.unitsPerHour == 2.5)
        #expect(lab.algorithm.inputs.last?.temporaryBasal?.ends == .minutes(65))
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5])
    }

    @Test("is held to the therapy's maximum, to the pump's shortest time and to two hours")
    func limits() throws {
        let wanted = [(20.0, 5.0), (0.5, 30.0), (1.0, 600.0)]
        let lab = try lab { input in
            let (rate, minutes) = wanted[min(2, Int(input.algorithmTime))]
            return Self.rate(rate, minutes)
        }
        try lab.live(untilMinute: 12)
        #expect(therapy().maximumBasal.unitsPerHour == 4.8)
        #expect(lab.pump.temporaries.map(\.rate.unitsPerHour) == [4.8, 0.5, 1])
        #expect(lab.pump.temporaries.map { $0.nanoseconds / Nanoseconds.minute } == [30, 30, 120])
    }

    @Test("of no minutes cancels what runs")
    func cancelled() throws {
        let lab = try lab { $0.algorithmTime == 0 ? Self.rate(2.5) : Self.rate(0, 0) }
        try lab.live(untilMinute: 7)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 1.2])
    }

    @Test("gives way to the person's, which the algorithm is told of, and comes again after it")
    func persons() throws {
        let lab = try lab { _ in Self.rate(2.5) }
        try lab.live(untilMinute: 7)
        lab.executor.inspect { lab.loop.here { try? $0.setTemporaryBasal(multiplier: 0.5, steps: 4) } }
        try lab.live(untilMinute: 28)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 0.6])
        let told = lab.algorithm.inputs.last
        #expect(told?.basalMultiplier == 0.5 && told?.temporaryBasal?.isPersons == true)
        try lab.live(untilMinute: 36)
        // Its owner's end cancels it, and the next step sets its own again.
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 0.6, 1.2, 2.5])
        #expect(lab.algorithm.inputs.last?.temporaryBasal?.isPersons == false)
    }

    @Test("is cancelled where the loop opens, and where the session ends")
    func opened() throws {
        for ends in [false, true] {
            let lab = try lab { _ in Self.rate(2.5) }
            try lab.live(untilMinute: 7)
            lab.executor.inspect {
                lab.loop.here { if ends { $0.endSession() } else { $0.setOpenLoop(true) } }
            }
            #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 1.2])
            try lab.live(untilMinute: 17)
            #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 1.2])
        }
    }

    @Test("is cancelled where the algorithm gives up control, and ignored where the basal is not the pump's")
    func givenUp() throws {
        let lab = try lab { input in
            var output = Self.rate(2.5)
            output.isOpenLoop = input.algorithmTime > 0
            return output
        }
        try lab.live(untilMinute: 12)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 1.2])
        let programmed = try Lab(basalSource: .programmed) { _ in Self.rate(2.5) }
        programmed.sensor.latestReading = ClosedLoopTests.reading(at: 0)
        try programmed.live(untilMinute: 7)
        #expect(programmed.pump.temporaries.isEmpty)
    }

    @Test("that the pump doesn't take is tried again while its step lasts; the one before runs on")
    func triedAgain() throws {
        let lab = try lab { Self.rate($0.algorithmTime == 0 ? 0.5 : 2.5) }
        try lab.live(untilMinute: 3)
        lab.pump.basalError = .commandFailed
        try lab.live(untilMinute: 6)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 0.5])
        lab.pump.basalError = nil
        try lab.executor.advance(to: Instant.minutes(6).adding(20 * Nanoseconds.second))
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 0.5, 2.5])
        #expect(lab.memory.wantedBasal == nil)
    }

    @Test("that the pump never takes is missing, as far as it was above what flowed, and is not set later")
    func refused() throws {
        let lab = try lab { $0.algorithmTime == 2 ? Self.rate(3.6) : StepOutput() }
        try lab.live(untilMinute: 8)
        lab.pump.basalError = .commandFailed
        try lab.live(untilMinute: 16)
        lab.pump.basalError = nil
        try lab.live(untilMinute: 26)
        #expect(lab.pump.temporaries.isEmpty)
        // 2.4 U/h above the programme for five minutes.
        #expect(abs(lab.memory.missing.missing(at: 5) - 0.2) < 1e-9)
        // What was below it is not: nobody lacks what was to be withheld.
        let low = try self.lab { $0.algorithmTime == 2 ? Self.rate(0) : StepOutput() }
        try low.live(untilMinute: 8)
        low.pump.basalError = .commandFailed
        try low.live(untilMinute: 26)
        #expect(low.memory.missing.isEmpty)
    }

    @Test(
        "that a linked pump has not confirmed is asked for while its step lasts, and is missing if it never runs"
    )
    func neverConfirmed() throws {
        let lab = try lab { $0.algorithmTime == 2 ? Self.rate(3.6) : StepOutput() }
        lab.pump.answersLater = true
        try lab.live(untilMinute: 12)
        #expect(lab.pump.temporaries.count > 5 && lab.memory.wantedBasal != nil)
        try lab.live(untilMinute: 26)
        #expect(lab.memory.wantedBasal == nil)
        #expect(abs(lab.memory.missing.missing(at: 5) - 0.2) < 1e-9)
        // One that is confirmed seconds later is no more asked for, and lacks nothing.
        let other = try self.lab { $0.algorithmTime == 2 ? Self.rate(3.6) : StepOutput() }
        other.pump.answersLater = true
        try other.live(untilMinute: 10)
        try other.executor.advance(to: Instant.minutes(10).adding(2 * Nanoseconds.second))
        other.executor.inspect { other.pump.confirmTemporaryBasal(until: .minutes(40)) }
        other.pump.answersLater = false
        try other.live(untilMinute: 26)
        #expect(other.memory.wantedBasal == nil && other.memory.missing.isEmpty)
        #expect(other.pump.temporaries.count <= 2)
    }

    @Test("whose cancellation a linked pump has not confirmed is cancelled where the loop opens")
    func cancellationIsLost() throws {
        let lab = try lab { Self.rate($0.algorithmTime == 0 ? 2.5 : 0, $0.algorithmTime == 0 ? 30 : 0) }
        try lab.live(untilMinute: 3)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5])
        lab.pump.answersLater = true
        try lab.live(untilMinute: 7)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5])
        lab.executor.inspect { lab.loop.here { $0.setOpenLoop(true) } }
        lab.pump.answersLater = false
        try lab.live(untilMinute: 9)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 1.2])
        #expect(lab.memory.temporaryBasal == nil)
    }

    @Test("that never flowed lacks what did not flow over its wait: the one before counts to its own end")
    func endedMeanwhile() throws {
        let lab = try lab {
            switch $0.algorithmTime {
            case 0: Self.rate(0)
            case 5: Self.rate(3.6)
            default: StepOutput()
            }
        }
        try lab.live(untilMinute: 23)
        lab.pump.isConnected = false
        try lab.live(untilMinute: 36)
        // The zero ran up to the wait's last moment: all of the rate is missing, and not what is above the programme.
        #expect(abs(lab.memory.missing.missing(at: 7) - 0.3) < 1e-9)
    }

    @Test("is missing at a pump out of reach, whatever its pod was last; not at one that was suspended")
    func outOfReach() throws {
        for (condition, missing) in [(PumpStatus.Condition.noPod, 0.2), (.fault, 0.2), (.suspended, 0)] {
            let lab = try lab { $0.algorithmTime == 2 ? Self.rate(3.6) : StepOutput() }
            try lab.live(untilMinute: 8)
            (lab.pump.condition, lab.pump.isConnected) = (condition, false)
            try lab.live(untilMinute: 26)
            #expect(abs(lab.memory.missing.missing(at: 5) - missing) < 1e-9, "\(condition)")
        }
    }

    @Test("is zero while a low that was typed in stops insulin")
    func typedLow() throws {
        let lab = try lab { _ in Self.rate(2.5) }
        try lab.live(untilMinute: 7)
        lab.executor.inspect {
            lab.loop.here { try? $0.enter(bloodGlucose: GlucoseConcentration(milligramsPerDecilitre: 50)) }
        }
        try lab.live(untilMinute: 12)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.5, 0])
    }

    @Test("that is no rate fails its step, and leaves the pump as it was")
    func nonsense() throws {
        for (rate, minutes) in [(Double.nan, 30.0), (-1, 30), (1, -5), (.infinity, 30), (1, .nan)] {
            let lab = try lab { _ in Self.rate(rate, minutes) }
            try lab.live(untilMinute: 7)
            #expect(lab.steps.failed > 0 && lab.steps.succeeded == 0)
            #expect(lab.pump.temporaries.isEmpty)
        }
    }

    @Test("may be the programme at least: a maximum below it is refused before anything runs")
    func maximum() throws {
        let lab = try Lab(basalSource: .temporary, begins: false)
        var settings = lab.settings
        settings.therapy.maximumBasal = InsulinRate(unitsPerHour: 1.1)
        let refusal = lab.executor.inspect {
            lab.loop.here(settings) { (loop, settings) -> LoopInputRefused? in
                loop.settings = settings
                do { try loop.startSession() } catch { return error as? LoopInputRefused }
                return nil
            }
        }
        #expect(refusal == LoopInputRefused(kind: .basalRate, value: 1.2, range: 0...1.1))
        #expect(lab.pump.rates.isEmpty)
    }

    @Test("is no step's in what an older engine wrote, and its therapy has the default maximum")
    func older() throws {
        let rate = "{\"unitsPerHour\":0}"
        let text = "{\"rate\":\(rate),\"ends\":{\"nanoseconds\":5}}"
        let basal = try JSONDecoder().decode(LoopMemory.TemporaryBasal.self, from: Data(text.utf8))
        #expect(!basal.isAlgorithms)
        var encoded = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(therapy())) as? [String: Any])
        encoded["maximumBasal"] = nil
        let data = try JSONSerialization.data(withJSONObject: encoded)
        #expect(try JSONDecoder().decode(TherapySettings.self, from: data) == therapy())
    }
}
