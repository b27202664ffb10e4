// The disk is full, can't be read, or holds what another algorithm wrote: no insulin that nobody wrote down, none twice.

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

@Suite("A loop whose store can't write")
struct StoreTests {
    @Test("sends no bolus in three hours, leaves the programmed basal on, and goes on by itself")
    func threeHours() throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 31)
        let before = lab.pump.requests.count
        lab.store.canWrite = false
        try lab.live(untilMinute: 212)
        #expect(lab.pump.requests.count == before)
        #expect(lab.pump.rates.last == therapy().basalRate)
        // Each step failed, which is what the stepping alert hears of.
        #expect(lab.steps.succeeded == 7 && lab.steps.failed == 36)
        #expect(lab.memory.stepsFailed == 36 && lab.display.isStoreFailing)
        // Its state is that of the last step that was kept.
        #expect(lab.store.memory?.algorithmTime == 7)
        lab.store.canWrite = true
        try lab.live(untilMinute: 231)
        #expect(!lab.display.isStoreFailing)
        #expect(lab.algorithm.states.suffix(4) == [7, 8, 9, 10])
        #expect(lab.algorithm.inputs.suffix(4).map(\.algorithmTime) == [43, 44, 45, 46])
        // Each later step asks for its own, and for nothing of the three hours.
        #expect(lab.pump.requests.dropFirst(before).map(\.amount.units).allSatisfy { $0 < 0.2 })
        #expect(lab.pump.requests.count == before + 4)
        #expect(lab.store.log.suffix(4).allSatisfy { ($0.accepted ?? .zero) > .zero })
    }

    @Test("refuses what the person says, so that no meal of hours ago is dosed when it writes again")
    func refusal() throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 11)
        lab.store.canWrite = false
        #expect(throws: LoopError.notKept) {
            try lab.executor.inspect { try lab.loop.announce(meal(60, 11)) }
        }
        #expect(throws: LoopError.notKept) {
            try lab.executor.inspect { try lab.loop.request(manualBolus: InsulinAmount(units: 5)) }
        }
        #expect(throws: LoopError.notKept) {
            try lab.executor.inspect { try lab.loop.here { try $0.endSession() } }
        }
        #expect(throws: LoopError.notKept) {
            try lab.executor.inspect {
                try lab.loop.here { try $0.setTemporaryBasal(multiplier: 2, steps: 20) }
            }
        }
        #expect(lab.memory.user == UserInputs() && lab.memory.isInSession)
        lab.store.canWrite = true
        try lab.live(untilMinute: 241)
        #expect(lab.pump.requests.allSatisfy { $0.amount.units < 0.2 })
        #expect(lab.pump.rates.allSatisfy { $0.unitsPerHour <= therapy().basalRate.unitsPerHour })
    }

    @Test("lets the person take insulin away all the same, and writes it later")
    func lessInsulin() throws {
        let lab = try Lab(basalSource: .programmed, answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 6)
        try lab.executor.inspect {
            try lab.loop.here { try $0.setTemporaryBasal(multiplier: 2, steps: 20) }
        }
        #expect(lab.pump.rates.last?.unitsPerHour == 2.4)
        lab.store.canWrite = false
        try lab.executor.inspect {
            lab.loop.here { $0.cancelTemporaryBasal() }
            try lab.loop.here { try $0.setOpenLoop(true) }
        }
        #expect(lab.pump.rates.last?.unitsPerHour == 1.2 && lab.memory.isOpenLoop)
        lab.store.canWrite = true
        try lab.live(untilMinute: 11)
        #expect(lab.store.memory?.forcesOpenLoop == true && lab.store.memory?.temporaryBasalEnds == nil)
    }

    /// Whatever write fails, and for how long, what was sent was written before, once, and the log knows what became of it.
    @Test("at any of its writes, alone or with those after it: each dose is written before it is sent, once")
    func anyWrite() throws {
        var places = 0
        for length in [1, 2, 5, 17] {
            for first in 0..<60 {
                let lab = try Lab(answer: answer)
                lab.store.failing = first + 1..<first + 1 + length
                lab.sensor.latestReading = reading(at: 0)
                lab.pump.beforeRequest = { [store = lab.store] id in
                    #expect(store.memory?.request?.id == id && store.log.last?.requestID == id)
                }
                try lab.live(untilMinute: 8)
                // The person says it again until it is heard.
                while (try? lab.executor.inspect { try lab.loop.announce(meal(40, 8)) }) == nil {
                    try lab.live(untilMinute: Int64(lab.executor.now.minutes) + 1)
                }
                try lab.live(untilMinute: 240)
                let ids = lab.pump.requests.map(\.id)
                let place = "writes \(lab.store.failing)"
                #expect(Set(ids).count == ids.count, "\(place)")
                let rows = Set(lab.store.log.map(\.requestID))
                #expect(rows.count == lab.store.log.count, "\(place)")
                let known = lab.store.log.reduce(0) { $0 + ($1.accepted?.units ?? -1000) }
                #expect(abs(known - lab.pump.delivered) < 1e-9, "\(place)")
                // The meal's insulin comes once, or is dropped and told where the store failed for a quarter of an hour.
                let dropped = lab.display.dropped
                let isDropped = dropped?.amount.units == 4 || dropped?.carbohydrate.grams == 40
                #expect(
                    lab.pump.requests.count { $0.amount.units > 1 } + (isDropped ? 1 : 0) == 1, "\(place)")
                #expect(!isDropped || length >= 5, "\(place)")
                #expect(
                    !lab.memory.isInSession || lab.store.memory?.algorithmTime == lab.memory.algorithmTime)
                places += 1
            }
        }
        #expect(places == 240)
    }

    @Test("and dies then knows by asking the pump what became of what it sent")
    func crashBeforeOutcome() throws {
        for isFullForLong in [false, true] {
            let lab = try Lab(answer: answer)
            lab.sensor.latestReading = reading(at: 0)
            try lab.live(untilMinute: 6)
            try lab.executor.inspect { try lab.loop.announce(meal(50, 6)) }
            // The step's own write succeeds; its outcome's does not.
            let next = lab.store.writes + 1
            lab.store.failing = next..<next + (isFullForLong ? 40 : 1)
            try lab.live(untilMinute: 12)
            #expect(lab.pump.requests.last?.amount.units ?? 0 > 5 && lab.store.log.last?.accepted == nil)
            lab.relaunch()
            try lab.live(untilMinute: 241)
            #expect(lab.pump.requests.count { $0.amount.units > 1 } == 1)
            let bolus = lab.store.log.first { ($0.requested?.units ?? 0) > 1 }
            #expect(abs((bolus?.accepted?.units ?? 0) - 5.1) < 1e-9)
            #expect(lab.display.isStoreFailing == false)
        }
    }

    @Test("to read it starts nothing, and writes nothing over what is there")
    func unreadable() throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 21)
        let (kept, sent) = (try #require(lab.store.memory), lab.pump.requests.count)
        lab.store.canRead = false
        lab.relaunch()
        try lab.live(untilMinute: 62)
        #expect(lab.pump.requests.count == sent && lab.store.memory == kept)
        #expect(lab.display.isStoreFailing && lab.display.totals == nil)
        #expect(throws: LoopError.notKept) {
            try lab.executor.inspect { try lab.loop.announce(meal(60, 62)) }
        }
        #expect(throws: LoopError.notKept) {
            try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        }
        lab.store.canRead = true
        try lab.live(untilMinute: 71)
        // The session goes on, with numbers that the pump has not seen.
        #expect(lab.pump.requests.dropFirst(sent).map(\.id) == [12, 13, 14])
        #expect(lab.memory.stepsSkipped > 0 && lab.algorithm.states.last ?? 0 > 4)
    }
}

@Suite("A saved state")
struct SavedStateTests {
    @Test(
        "of another algorithm, version or type is cleared and told; the session goes on without it",
        arguments: [("other", 1, true), ("fake", 2, true), ("fake", 1, false)])
    func swapped(name: String, version: Int, isOfType: Bool) throws {
        let lab = try Lab(answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 31)
        // A dose that the first algorithm counts, and of which nobody knows whether it came.
        lab.pump.losesRequest = true
        lab.pump.beforeRequest = { [pump = lab.pump] _ in pump.isConnected = false }
        try lab.live(untilMinute: 36)
        let other = FakeAlgorithm(
            basalSource: .algorithm, name: name, version: version, answer: answer)
        lab.algorithm = other
        if !isOfType {
            var stored = try #require(lab.store.memory)
            stored.algorithmState = SavedState(NoState())
            lab.store.inner.save(stored)
        }
        lab.relaunch()
        try lab.live(untilMinute: 48)
        lab.pump.losesRequest = false
        lab.pump.beforeRequest = nil
        lab.pump.isConnected = true
        try lab.live(untilMinute: 241)
        // A new state, not the other's; the grid and its numbers go on.
        #expect(other.states.prefix(3) == [0, 1, 2])
        #expect(other.inputs.first?.algorithmTime == 8)
        #expect(lab.display.refusedState?.description == "fake version 1")
        // Its first step hears of what the other gave, the dose that nobody had answered included; once it is known that this
        // never came, it is told so, once.
        let history = try #require(other.inputs.first?.earlier)
        #expect(history.since == .minutes(0) && other.inputs.dropFirst().allSatisfy { $0.earlier == nil })
        let counted = history.given.reduce(0) { $0 + $1.amount.units }
        let shortfalls = other.inputs.compactMap(\.shortfall)
        #expect(shortfalls.map(\.algorithmTime) == [7])
        let given = lab.pump.requests.filter { $0.id < 7 }.reduce(0) { $0 + $1.amount.units }
        #expect(abs(counted - shortfalls.reduce(0) { $0 + $1.amount.units } - given) < 1e-9)
        #expect(lab.memory.algorithm == AlgorithmIdentity(other))
        let ids = lab.pump.requests.map(\.id)
        #expect(Set(ids).count == ids.count)
        // At the next launch it is its own.
        lab.relaunch()
        try lab.live(untilMinute: 251)
        #expect(other.states.last ?? 0 > 30)
        // A new session has nothing of it.
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        #expect(lab.display.refusedState == nil)
    }

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
        try lab.executor.inspect {
            try lab.loop.here { try $0.setSubject(LoopSubject(id: "b", bodyWeightKilograms: 31)) }
            try lab.loop.here { try $0.endSession() }
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
        try lab.executor.inspect { try lab.loop.here { try $0.endSession() } }
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 23)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 121)
        // Steps 0 to 2 of the first session, then 0, 1, ... of the second: no row is another's.
        let rows = lab.store.log
        #expect(rows.map(\.requestID) == Array(0..<Int64(rows.count)))
        #expect(rows[3].algorithmTime == 0)
        #expect(abs((rows[2].accepted?.units ?? 0) - 5.1) < 1e-9 && rows[2].wasUncertain)
        // At 20 min, on the first session's grid.
        #expect(rows[4].algorithmTime == 1 && rows[4].accepted == .zero && !rows[4].wasUncertain)
        let known = rows.reduce(0) { $0 + ($1.accepted?.units ?? -1000) }
        #expect(abs(known - lab.pump.delivered) < 1e-9)
        #expect(abs((lab.display.totals?.insulin.units ?? 0) - lab.pump.delivered) < 1e-9)
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
            try lab.loop.here { try $0.setOpenLoop(true) }
            try lab.loop.request(manualBolus: InsulinAmount(units: 2))
        }
        try lab.live(untilMinute: 11)
        #expect(lab.algorithm.inputs.map(\.algorithmTime) == [0, 0, 0])
        #expect(lab.algorithm.inputs.map(\.firstStepTime) == [nil, nil, nil])
        #expect(lab.memory.algorithmTime == 0 && lab.memory.firstStepTime == nil)
        // Open loop delivers what the person asked for whatever the algorithm does, once.
        #expect(lab.pump.requests.map(\.amount.units) == [2])
        try lab.executor.inspect { try lab.loop.here { try $0.setOpenLoop(false) } }
        try lab.live(untilMinute: 31)
        #expect(lab.memory.firstStepTime == .minutes(15))
        #expect(lab.algorithm.inputs.map(\.algorithmTime) == [0, 0, 0, 0, 1, 2, 3])
        #expect(lab.store.log.map(\.requestID) == [0, 1, 2, 3, 4, 5, 6])
        let known = lab.store.log.reduce(0) { $0 + ($1.accepted?.units ?? -1000) }
        #expect(abs(known - lab.pump.delivered) < 1e-9)
    }
}
