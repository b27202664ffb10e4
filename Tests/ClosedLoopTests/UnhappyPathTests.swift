// Failing algorithms, ended sessions and boluses cut short: no insulin comes twice, none is forgotten, none is left off.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("Off the happy path, the loop")
struct UnhappyPathTests {
    @Test("delivers a manual bolus once in open loop, however often the algorithm fails")
    func manualBolusOnce() throws {
        let lab = try Lab { input in
            if input.algorithmTime < 4 { throw AlgorithmFailure() }
            return StepOutput()
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.executor.inspect { lab.loop.here { $0.setOpenLoop(true) } }
        try lab.executor.inspect { try lab.loop.request(manualBolus: InsulinAmount(units: 2)) }
        try lab.live(untilMinute: 31)
        #expect(lab.pump.requests.map(\.amount.units) == [2])
        #expect(lab.pump.delivered == 2)
    }

    @Test("gives a second session's requests numbers of their own, so that the pump takes them for new")
    func secondSession() throws {
        let lab = try Lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 21)
        let first = lab.pump.requests.count
        #expect(first > 2)
        lab.executor.inspect { lab.loop.here { $0.endSession() } }
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 41)
        let ids = lab.pump.requests.map(\.id)
        #expect(Set(ids).count == ids.count && ids == ids.sorted())
        // Each step of the second session has its insulin.
        let steps = lab.rows.filter { $0.instant >= .minutes(21) }
        #expect(steps.count >= 3 && steps.first?.algorithmTime == 0)
        #expect(steps.allSatisfy { ($0.accepted ?? .zero) > .zero })
        #expect(lab.pump.requests.count == first + steps.count)
    }

    @Test("leaves the person's own basal in the pump when its session ends, also where the pump is away")
    func basalAfterTheEnd() throws {
        for isAway in [false, true] {
            let lab = try Lab()
            lab.sensor.latestReading = reading(at: 0)
            try lab.live(untilMinute: 6)
            #expect(lab.pump.rates.last == .zero)
            lab.pump.isConnected = !isAway
            lab.executor.inspect { lab.loop.here { $0.endSession() } }
            try lab.live(untilMinute: 8)
            lab.pump.isConnected = true
            try lab.live(untilMinute: 10)
            #expect(lab.pump.rates.last == therapy().basalRate)
        }
    }

    @Test("stays open where an algorithm that gave up control fails")
    func failureClosesNoLoop() throws {
        let lab = try Lab { input in
            if input.algorithmTime == 1 { return StepOutput(isOpenLoop: true) }
            if input.algorithmTime >= 2 { throw AlgorithmFailure() }
            return StepOutput()
        }
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 21)
        #expect(lab.algorithm.inputs.map(\.isOpenLoop) == [false, false, true, true, true])
        #expect(lab.pump.rates.last == therapy().basalRate)
    }

    @Test(
        "asks again for the person's part of a bolus that the pod cut off, not of one that the person cut, and tells the rest",
        arguments: [BolusCut.pump, .person])
    func cutShort(by whom: BolusCut) throws {
        let lab = try Lab { input in
            StepOutput(
                basal: InsulinAmount(units: 1), meal: InsulinAmount(units: input.algorithmTime == 0 ? 6 : 0))
        }
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(1))
        // 2 of 7 U came: the meal's part lacks 4, basal and correction the unit.
        lab.pump.cutCompleted(to: InsulinAmount(units: 2), by: whom)
        try lab.live(untilMinute: 11)
        let told = Shortfall(algorithmTime: 0, amount: InsulinAmount(units: 1))
        #expect(lab.algorithm.inputs.map(\.shortfall) == [nil, told, nil])
        #expect(lab.pump.requests.map(\.amount.units) == (whom == .pump ? [7, 5, 1] : [7, 1, 1]))
        #expect(lab.rows[0].accepted == InsulinAmount(units: 2))
        #expect(lab.rows[0].pumpError == "cut short")
    }
}
