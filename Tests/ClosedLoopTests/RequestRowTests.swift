// A request's row is its own, and what the app died with is its next life's.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

private func meal(_ grams: Double, _ minute: Int64) -> MealAnnouncement {
    MealAnnouncement(carbohydrate: Carbohydrate(grams: grams), instant: .minutes(minute))
}

/// 0.1 U of basal a step, and a unit for ten grams.
private let answer: @Sendable (StepInput) -> StepOutput = { input in
    StepOutput(
        basal: InsulinAmount(units: 0.1),
        meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
}

@Suite("A saved state")
struct SavedStateTests {
    @Test("of the same algorithm is taken over")
    func same() throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 31)
        lab.relaunch()
        try lab.live(untilMinute: 41)
        #expect(lab.algorithm.states == Array(0...8) && lab.display.refusedState == nil)
    }

    @Test("names the subject and weight that the session began with")
    func subject() throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 6)
        lab.settings.subjectID = "somebody else"
        lab.settings.therapy.bodyWeightKilograms = 20
        lab.relaunch()
        try lab.live(untilMinute: 11)
        #expect(lab.algorithm.inputs.map(\.subjectID) == ["", "", ""])
        #expect(lab.algorithm.inputs.map(\.therapy.bodyWeightKilograms) == [70, 70, 70])
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 16)
        #expect(lab.algorithm.inputs.last?.subjectID == "somebody else")
        #expect(lab.algorithm.inputs.last?.therapy.bodyWeightKilograms == 20)
        // Set by the person it is kept over launches and sessions.
        lab.executor.inspect {
            lab.loop.here { $0.setSubject(LoopSubject(id: "b", bodyWeightKilograms: 31)) }
            lab.loop.here { $0.endSession() }
        }
        lab.relaunch()
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 21)
        #expect(lab.algorithm.inputs.last?.subjectID == "b")
        #expect(lab.algorithm.inputs.last?.therapy.bodyWeightKilograms == 31)
    }
}

@Suite("A request's row")
struct RequestRowTests {
    @Test("is its own, also where a request of one session is settled in the next")
    func acrossSessions() throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 6)
        try lab.executor.inspect { try lab.loop.announce(meal(50, 6)) }
        lab.pump.answersNoMore = true
        try lab.live(untilMinute: 11)
        lab.pump.answersNoMore = false
        lab.pump.isConnected = false
        lab.executor.inspect { lab.loop.here { $0.endSession() } }
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 23)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 121)
        // Steps 0 to 2 of the first session, then 0, 1, ... of the second: no row is another's.
        let rows = lab.rows
        #expect(rows.map(\.requestID) == Array(0..<Int64(rows.count)))
        #expect(rows[3].algorithmTime == 0)
        #expect(abs((rows[2].accepted?.units ?? 0) - 5.1) < 1e-9 && rows[2].wasUncertain)
        // At 20 min, on the first session's grid.
        #expect(rows[4].algorithmTime == 1 && rows[4].accepted == .zero && !rows[4].wasUncertain)
        let known = rows.reduce(0) { $0 + ($1.accepted?.units ?? -1000) }
        #expect(abs(known - lab.pump.delivered) < 1e-9)
    }

    @Test("has a number for each failed first step, and the grid's numbers begin with the first good one")
    func failedFirstSteps() throws {
        var tries = 0
        let lab = try Lab { input in
            tries += 1
            if tries <= 3 { throw AlgorithmFailure() }
            return answer(input)
        }
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.inspect {
            lab.loop.here { $0.setOpenLoop(true) }
            try lab.loop.request(manualBolus: InsulinAmount(units: 2))
        }
        try lab.live(untilMinute: 11)
        #expect(lab.algorithm.inputs.map(\.algorithmTime) == [0, 0, 0])
        #expect(lab.algorithm.inputs.map(\.firstStepTime) == [nil, nil, nil])
        #expect(lab.memory.algorithmTime == 0 && lab.memory.firstStepTime == nil)
        // Open loop delivers what the person asked for whatever the algorithm does, once.
        #expect(lab.pump.requests.map(\.amount.units) == [2])
        lab.executor.inspect { lab.loop.here { $0.setOpenLoop(false) } }
        try lab.live(untilMinute: 31)
        #expect(lab.memory.firstStepTime == .minutes(15))
        #expect(lab.algorithm.inputs.map(\.algorithmTime) == [0, 0, 0, 0, 1, 2, 3])
        #expect(lab.rows.map(\.requestID) == [0, 1, 2, 3, 4, 5, 6])
        let known = lab.rows.reduce(0) { $0 + ($1.accepted?.units ?? -1000) }
        #expect(abs(known - lab.pump.delivered) < 1e-9)
    }
}
