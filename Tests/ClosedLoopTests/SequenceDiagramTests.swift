// The legacy controller's sequence diagrams, one test each, under their names.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("Sequence diagrams of the legacy controller")
struct SequenceDiagramTests {
    @Test("Standard Step")
    func standardStep() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        scene.diary.lines = []
        scene.sensor.latestReading = reading(at: 5)
        try scene.run(untilMinute: 5)
        // Devices are read, the algorithm runs, the step is kept before anything is sent, and then it is published.
        #expect(
            scene.diary.lines == [
                "pump: read completed bolus", "algorithm: step 1", "pump: request 1", "step event: true",
            ])
        let input = try #require(scene.algorithm.inputs.last)
        #expect(input.algorithmTime == 1 && input.firstStepTime == .start && input.lastWorldTime == .start)
        #expect(input.lastCgmTime == .start && input.cgm?.instant == .minutes(5))
        #expect(input.subjectID == "subject-7" && input.therapy.bodyWeightKilograms == 70)
        #expect(input.insulinPump.lastBolus?.id == 0)
        // There is no glucagon pump, at any step.
        #expect(scene.algorithm.inputs.allSatisfy { $0.glucagonPump == .unavailable })
        // The record holds the step in full.
        let record = try #require(scene.rows.last)
        #expect(record.input == input && record.output.total.units == 0.1 + 0.2 + 0.3)
        #expect(record.instant == .minutes(5) && record.algorithmTime == 1 && record.failure.isEmpty)
        #expect(record.accepted.map { abs($0.units - 0.6) < 1e-9 } == true)
    }

    @Test("Alternate Paths: the first step without glucose is no step, and says nothing")
    func firstStep() throws {
        let scene = Scene()
        try scene.run(untilMinute: 11)
        #expect(scene.diary.lines.allSatisfy { !$0.hasPrefix("step event") && !$0.hasPrefix("algorithm") })
        #expect(scene.rows.isEmpty)
        try scene.inLoop { try $0.enter(bloodGlucose: GlucoseConcentration(milligramsPerDecilitre: 100)) }
        try scene.run(untilMinute: 15)
        #expect(scene.algorithm.inputs.map(\.algorithmTime) == [0])
    }

    @Test("Alternate Paths: a reading that was used or is older than 15 minutes is none")
    func staleReading() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 6)
        scene.sensor.latestReading = reading(at: 2)
        try scene.run(untilMinute: 21)
        #expect(scene.algorithm.inputs.map { $0.cgm?.instant.minutes } == [0, nil, 2, nil, nil])
        #expect(scene.diary.lines.count { $0 == "step event: true" } == 5)
    }

    @Test("Alternate Paths: forced open loop reaches the algorithm, and a temporary basal goes on")
    func forcedOpenLoop() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        try scene.inLoop { try $0.setTemporaryBasal(multiplier: 0.5, steps: 10) }
        scene.inLoop { $0.setOpenLoop(true) }
        #expect(scene.inLoop { $0.display().status } == .openLoop)
        try scene.run(untilMinute: 6)
        #expect(scene.algorithm.inputs.last?.isOpenLoop == true)
        #expect(scene.algorithm.inputs.last?.basalMultiplier == 0.5)
        #expect(scene.memory.basalMultiplierStepsLeft == 9)
        // Suggested and recorded, not delivered.
        #expect(scene.rows.last?.output.total.units ?? 0 > 0)
        #expect(!scene.diary.lines.contains("pump: request 1"))
        scene.inLoop { $0.setOpenLoop(false) }
        #expect(scene.inLoop { $0.display().status } == .closedLoop)
        #expect(scene.memory.basalMultiplierStepsLeft == 0)
    }

    @Test("open loop is what the person forces, or what the last output said")
    func openLoopByOutput() throws {
        let scene = Scene { input in
            StepOutput(basal: InsulinAmount(units: 0.1), isOpenLoop: input.algorithmTime == 1)
        }
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        #expect(scene.inLoop { $0.display().status } == .closedLoop)
        try scene.run(untilMinute: 6)
        #expect(scene.inLoop { $0.display().status } == .openLoop)
        try scene.run(untilMinute: 11)
        #expect(scene.algorithm.inputs.map(\.isOpenLoop) == [false, false, true])
        // It takes control back by saying so.
        #expect(scene.inLoop { $0.display().status } == .closedLoop)
    }

    @Test("Offline Temp Basal")
    func offlineTemporaryBasal() throws {
        let scene = Scene(basalSource: .programmed) { _ in StepOutput() }
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        try scene.inLoop { try $0.setTemporaryBasal(multiplier: 2, steps: 3) }
        // The countdown: steps left and the end, kept over a relaunch.
        #expect(scene.inLoop { $0.display().temporaryBasalEnds } == .minutes(20))
        try scene.run(untilMinute: 6)
        #expect(scene.inLoop { $0.display().basalMultiplierStepsLeft } == 2)
        scene.relaunch()
        #expect(scene.inLoop { $0.display().temporaryBasalEnds } == .minutes(20))
        try scene.run(untilMinute: 21)
        #expect(scene.inLoop { $0.display().temporaryBasalEnds } == nil)
        #expect(scene.algorithm.inputs.map(\.basalMultiplier) == [1, 2, 2, 2, 1])
        #expect(scene.pump.inner.rates.last == InsulinRate(unitsPerHour: 1.2))
        // Ended by hand.
        try scene.inLoop { try $0.setTemporaryBasal(multiplier: 0, steps: 5) }
        #expect(scene.pump.inner.rates.last == .zero)
        scene.inLoop { $0.cancelTemporaryBasal() }
        #expect(scene.pump.inner.rates.last == InsulinRate(unitsPerHour: 1.2))
        #expect(scene.inLoop { $0.display().temporaryBasalEnds } == nil)
    }

    @Test("Session Start/Stop")
    func sessionStartStop() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 11)
        #expect(scene.inLoop { $0.display().status } == .closedLoop)
        try scene.inLoop { try $0.setTarget(GlucoseConcentration(milligramsPerDecilitre: 110)) }
        try scene.inLoop { try $0.setCustomField("exercise", 0.5) }
        scene.inLoop { $0.endSession() }
        let ended = scene.memory
        #expect(!ended.isInSession && ended.algorithmTime == 0 && ended.firstStepTime == nil)
        // A reading serves one step, whoever's session it is.
        #expect(ended.lastCgmTime != nil && ended.algorithmState == nil)
        // The log stays, and so does what the person configured.
        #expect(scene.rows.count == 3)
        #expect(scene.inLoop { $0.display().status } == .noSession)
        scene.relaunch()
        try scene.run(untilMinute: 17)
        #expect(scene.rows.count == 3)
        try scene.inLoop { try $0.startSession() }
        scene.sensor.latestReading = reading(at: 17)
        try scene.run(untilMinute: 18)
        let first = try #require(scene.algorithm.inputs.last)
        #expect(
            first.algorithmTime == 0 && first.firstStepTime == nil && first.lastCgmTime == ended.lastCgmTime)
        #expect(first.target.milligramsPerDecilitre == 110 && first.customFields == ["exercise": 0.5])
        #expect(scene.algorithm.states.last == 0)
    }

    @Test("Pump Disconnect: the step runs, knows that the pump is away, delivers nothing, and counts")
    func pumpDisconnect() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        scene.pump.inner.isConnected = false
        try scene.run(untilMinute: 11)
        let inputs = scene.algorithm.inputs
        #expect(inputs.map(\.algorithmTime) == [0, 1, 2])
        // Not available, and nothing about any request: absent, no magic number.
        #expect(inputs.map(\.insulinPump.isAvailable) == [true, false, false])
        #expect(inputs.dropFirst().allSatisfy { $0.insulinPump.lastBolus == nil })
        #expect(scene.pump.inner.requests.map(\.id) == [0])
        #expect(scene.rows.map(\.algorithmTime) == [0, 1, 2])
        #expect(
            scene.memory.algorithmTime == 3 && scene.memory.firstStepTime == .start)
        #expect(scene.diary.lines.count { $0 == "step event: true" } == 3)
        // Reconnected: what became of the last bolus is heard at the next step.
        scene.pump.inner.isConnected = true
        try scene.run(untilMinute: 16)
        #expect(scene.algorithm.inputs.last?.insulinPump.lastBolus?.id == 0)
        #expect(scene.pump.inner.requests.map(\.id) == [0, 3])
    }

    @Test("Pump Disconnect: from step 1 on, a bolus status that can't be read makes the pump unavailable")
    func failedRead() throws {
        let scene = Scene()
        scene.pump.failsToRead = true
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 6)
        #expect(scene.algorithm.inputs.map(\.insulinPump.isAvailable) == [true, false])
        #expect(scene.pump.inner.requests.map(\.id) == [0])
    }

    @Test(
        "Pump Disconnect: a pump that isn't ready is unavailable",
        arguments: [
            PumpStatus.Condition.bolusing, .suspended, .noPod, .fault,
        ])
    func notReady(condition: PumpStatus.Condition) throws {
        let scene = Scene()
        scene.pump.inner.condition = condition
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 6)
        #expect(scene.algorithm.inputs.map(\.insulinPump.isAvailable) == [false, false])
        #expect(scene.pump.inner.requests.isEmpty && scene.rows.count == 2)
    }

    @Test("glucagon is recorded and never delivered")
    func glucagon() throws {
        let scene = Scene { _ in
            var output = StepOutput()
            output.glucagon = InsulinAmount(units: 3)
            return output
        }
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 11)
        #expect(scene.rows.map(\.output.glucagon.units) == [3, 3, 3])
        #expect(scene.pump.inner.requests.isEmpty && scene.pump.inner.delivered == 0)
    }

    @Test("settings and what the person said survive a relaunch")
    func settingsSurvive() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        try scene.inLoop {
            try $0.setTarget(GlucoseConcentration(milligramsPerDecilitre: 105))
            try $0.setTemporaryTarget(GlucoseConcentration(milligramsPerDecilitre: 150))
            try $0.setTemporaryBasal(multiplier: 1.5, steps: 4)
            try $0.setCustomField("a", 1)
            try $0.enter(calibration: GlucoseConcentration(milligramsPerDecilitre: 99))
            try $0.enter(bloodGlucose: GlucoseConcentration(milligramsPerDecilitre: 98))
            $0.setOpenLoop(true)
        }
        try scene.executor.inspect {
            try scene.loop.request(manualBolus: InsulinAmount(units: 1))
            try scene.loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: 33), instant: .minutes(1)))
        }
        scene.relaunch()
        try scene.run(untilMinute: 6)
        let input = try #require(scene.algorithm.inputs.last)
        #expect(input.algorithmTime == 1 && input.isOpenLoop)
        #expect(input.target.milligramsPerDecilitre == 105)
        #expect(input.temporaryTarget?.milligramsPerDecilitre == 150)
        #expect(input.basalMultiplier == 1.5 && input.basalMultiplierStepsLeft == 4)
        #expect(input.customFields == ["a": 1])
        #expect(input.user.calibration?.milligramsPerDecilitre == 99)
        #expect(input.user.bloodGlucose?.milligramsPerDecilitre == 98)
        #expect(input.user.manualBolus?.units == 1)
        #expect(
            input.user.meal == MealAnnouncement(carbohydrate: Carbohydrate(grams: 33), instant: .minutes(1)))
        // And all of it is for one step only.
        try scene.run(untilMinute: 11)
        #expect(scene.algorithm.inputs.last?.user == UserInputs())
    }

    @Test("without a session devices are read every 15 minutes")
    func idlePolling() throws {
        let scene = Scene()
        scene.sensor.latestReading = reading(at: 0)
        try scene.run(untilMinute: 1)
        scene.inLoop { $0.endSession() }
        scene.diary.lines = []
        try scene.run(untilMinute: 1 + 120)
        #expect(scene.diary.lines.count == 9 || scene.diary.lines.count == 8)
        #expect(Set(scene.diary.lines) == ["pump: read completed bolus"])
    }
}
