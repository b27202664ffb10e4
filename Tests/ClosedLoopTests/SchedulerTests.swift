// When the loop works: its grid, its early window, what it does about lateness, errors and silence.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

private let seconds = Nanoseconds.second

@Suite("The scheduler")
struct SchedulerTests {
    @Test("runs steps on a grid of five minutes from the first step")
    func grid() throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(21))
        #expect(lab.minutes == [0, 5, 10, 15, 20])
        #expect(lab.numbers == [0, 1, 2, 3, 4])
    }

    @Test(
        "lets a step begin up to 27 seconds early when a reading arrives, and not earlier",
        arguments: [26, 27, 28])
    func earlyWindow(early: Int64) throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(1))
        try lab.read(at: Instant.minutes(5).adding(-early * seconds))
        let ran = lab.recorder.steps.count == 2
        #expect(ran == (early <= 27))
        try lab.executor.advance(to: .minutes(11))
        // The grid stays where it was: one step a point.
        #expect(lab.numbers == [0, 1, 2])
        #expect(lab.recorder.steps.last?.instant == .minutes(10))
    }

    @Test(
        "runs at most one step after a stretch that nobody lived through, and counts the missed ones",
        arguments: [121, 122, 123, 124])
    func leap(to minute: Int64) throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(6))
        let boluses = lab.pump.requests.count
        try lab.executor.leap(to: .minutes(minute))
        // The point of 120 is at most half a step ago, or it is left to the next.
        let isInTime = minute <= 122
        #expect(lab.minutes == (isInTime ? [0, 5, Double(minute)] : [0, 5]))
        #expect(lab.pump.requests.count - boluses <= 1)
        try lab.executor.advance(to: .minutes(131))
        #expect(lab.minutes.suffix(2) == [125, 130])
        #expect(lab.memory.stepsSkipped == (isInTime ? 22 : 23))
        #expect(Set(lab.numbers).count == lab.numbers.count)
    }

    @Test("skips the grid points that a suspended app slept through, counts them, and runs one step a point")
    func lateSteps() throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(6))
        lab.executor.inspect { lab.loop.here { $0.suspend() } }
        try lab.executor.advance(to: .minutes(22))
        lab.executor.inspect { lab.loop.here { $0.resume() } }
        try lab.executor.advance(to: .minutes(31))
        // 10 and 15 are gone; the step of 20 runs late, at 22; then the grid goes on.
        #expect(lab.minutes == [0, 5, 22, 25, 30])
        #expect(lab.numbers == [0, 1, 4, 5, 6])
        #expect(lab.executor.inspect { lab.loop.here { $0.currentMemory.stepsSkipped } } == 2)
    }

    @Test("tries a pump that failed again ten seconds later")
    func retry() throws {
        let lab = try Lab(basalSource: .programmed)
        lab.pump.isConnected = false
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: Instant(nanoseconds: 5 * seconds))
        #expect(lab.pump.rates.isEmpty)
        lab.pump.isConnected = true
        try lab.executor.advance(to: Instant(nanoseconds: 11 * seconds))
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2])
    }

    @Test("works on the pump at once when its connection comes back")
    func wake() throws {
        let lab = try Lab(basalSource: .programmed)
        lab.pump.isConnected = false
        try lab.executor.advance(to: Instant(nanoseconds: 12 * seconds))
        lab.pump.isConnected = true
        lab.executor.inspect { lab.loop.pumpDidUpdate(status: lab.pump.status) }
        try lab.executor.advance(to: Instant(nanoseconds: 12 * seconds + 1))
        #expect(lab.pump.rates.count == 1)
    }

    @Test("polls devices every 15 minutes without a session, and steps nothing")
    func idle() throws {
        let lab = try Lab(begins: false)
        try lab.executor.advance(to: .minutes(120))
        #expect(lab.recorder.steps.isEmpty)
    }

    @Test("starts afresh with a new session, and keeps the log when one ends")
    func sessions() throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(11))
        lab.executor.inspect { lab.loop.here { $0.endSession() } }
        try lab.executor.advance(to: .minutes(18))
        #expect(lab.rows.count == 3)
        #expect(lab.memory.isInSession == false)
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        lab.sensor.latestReading = reading(at: 18)
        try lab.executor.advance(to: .minutes(24))
        // The grid goes on, and the new session counts from zero.
        #expect(Array(lab.minutes.suffix(2)) == [10, 20])
        #expect(Array(lab.numbers.suffix(2)) == [2, 0])
        #expect(lab.algorithm.states.suffix(2) == [2, 0])
    }
}

@Suite("Delivery")
struct DeliveryTests {
    @Test("counts an unanswered request as delivered and sends nothing until the pump says what became of it")
    func uncertainDelivered() throws {
        let lab = try Lab { _ in StepOutput(basal: InsulinAmount(units: 1)) }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.answersNoMore = true
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        #expect(lab.pump.delivered == 1)
        // Gone right after: it can't be asked.
        lab.pump.isConnected = false
        try lab.live(untilMinute: 12)
        #expect(lab.pump.requests.count == 1)
        #expect(lab.algorithm.inputs.dropFirst().allSatisfy { !$0.insulinPump.isAvailable })
        lab.pump.isConnected = true
        lab.pump.answersNoMore = false
        try lab.live(untilMinute: 16)
        // Known to be delivered: not asked for again; the next step doses as usual.
        #expect(lab.pump.requests.map(\.id) == [0, 3])
        #expect(lab.pump.delivered == 2)
        #expect(lab.rows[0].accepted == InsulinAmount(units: 1))
        #expect(lab.rows[0].requested == InsulinAmount(units: 1))
        #expect(lab.rows.map(\.wasUncertain) == [true, false, false, false])
        #expect(lab.rows[1].requested == nil && !lab.rows[1].pumpStatus.isConnected)
    }

    @Test("is logged with what the pump was asked for and why it took nothing")
    func refusedInTheLog() throws {
        let lab = try Lab { _ in StepOutput(basal: InsulinAmount(units: 1)) }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.requestError = .commandFailed
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        #expect(lab.rows[0].requested == InsulinAmount(units: 1))
        #expect(lab.rows[0].accepted == .zero)
        #expect(lab.rows[0].pumpError == "commandFailed" && !lab.rows[0].wasUncertain)
    }

    @Test("sends a request that never arrived once more under its number while its step lasts")
    func uncertainLost() throws {
        let lab = try Lab { input in
            StepOutput(
                basal: InsulinAmount(units: 1), meal: InsulinAmount(units: input.algorithmTime == 0 ? 5 : 0))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.losesRequest = true
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        lab.pump.losesRequest = false
        try lab.live(untilMinute: 6)
        // Ten seconds later the pump says that it never got it.
        #expect(lab.pump.requests.map(\.id) == [0, 1])
        #expect(lab.pump.requests.map(\.amount.units) == [6, 1])
        #expect(lab.rows[0].accepted == InsulinAmount(units: 6))
    }

    @Test(
        "asks again for the person's insulin, and only for that, once the step of a lost request has passed")
    func uncertainLostForLong() throws {
        let lab = try Lab { input in
            StepOutput(
                basal: InsulinAmount(units: 1), meal: InsulinAmount(units: input.algorithmTime == 0 ? 5 : 0))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.losesRequest = true
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        lab.pump.isConnected = false
        try lab.live(untilMinute: 7)
        lab.pump.losesRequest = false
        lab.pump.isConnected = true
        try lab.live(untilMinute: 11)
        #expect(lab.pump.requests.map(\.id) == [2])
        // What was wanted for step 0 alone is gone; the meal is not.
        #expect(lab.pump.requests[0].amount == InsulinAmount(units: 6))
        #expect(lab.rows[0].accepted == .zero)
        #expect(lab.rows[0].wasUncertain && lab.rows[0].pumpError == "never arrived")
        // The algorithm counted the rest: it is told once that it never came, with the step that asked.
        #expect(
            lab.algorithm.inputs.map(\.shortfall) == [
                nil, nil, Shortfall(algorithmTime: 0, amount: InsulinAmount(units: 1)),
            ])
    }

    @Test("tells the algorithm of a refused dose at the next good step, and of none that came")
    func shortfallOfARefusal() throws {
        let lab = try Lab { input in
            if input.algorithmTime == 1 { throw AlgorithmFailure() }
            return StepOutput(basal: InsulinAmount(units: 1), meal: InsulinAmount(units: 2))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.requestError = .commandFailed
        try lab.live(untilMinute: 4)
        lab.pump.requestError = nil
        try lab.live(untilMinute: 16)
        let told = Shortfall(algorithmTime: 0, amount: InsulinAmount(units: 1))
        // The failed step was told too, and its state went back with it.
        #expect(lab.algorithm.inputs.map(\.shortfall) == [nil, told, told, nil])
        #expect(lab.pump.requests.map(\.amount.units) == [5, 3])
    }

    @Test(
        "gives nothing above the maximum bolus, also where the request fails first: what is cut off is never owed"
    )
    func beyondTheLimit() throws {
        let lab = try Lab { input in
            StepOutput(
                basal: InsulinAmount(units: 1), meal: InsulinAmount(units: input.algorithmTime == 0 ? 6 : 0))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.limit = InsulinAmount(units: 4)
        lab.pump.requestError = .commandFailed
        try lab.live(untilMinute: 3)
        lab.pump.requestError = nil
        try lab.live(untilMinute: 11)
        // 7 U were wanted, 3 cut off; 4 of the meal are owed, and come with the next step, whose own unit has no room.
        #expect(lab.pump.requests.map(\.amount.units) == [4, 1])
        #expect(lab.rows.map { $0.requested?.units } == [4, 4, 1])
        #expect(lab.rows.map(\.cut.units) == [3, 1, 0])
        #expect(lab.rows[0].pumpError == "\(PumpError.commandFailed)")
        #expect(lab.algorithm.inputs.map(\.shortfall?.amount.units) == [nil, 1, 1])
        #expect(lab.algorithm.inputs.map(\.dropped?.amount.units) == [nil, 2, nil])
    }

    @Test(
        "gives the pump its programmed basal in open loop, and takes it back with the temporary one in closed loop"
    )
    func openLoop() throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(1))
        try lab.executor.inspect {
            lab.loop.here { $0.setOpenLoop(true) }
            try lab.loop.here { try $0.setTemporaryBasal(multiplier: 0.5, steps: 20) }
        }
        let delivered = lab.pump.delivered
        try lab.live(untilMinute: 11)
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 0, 1.2, 0.6])
        #expect(lab.pump.delivered == delivered)
        lab.executor.inspect { lab.loop.here { $0.setOpenLoop(false) } }
        #expect(lab.pump.rates.last?.unitsPerHour == 1.2)
        // The next step takes the basal over.
        try lab.live(untilMinute: 16)
        #expect(lab.pump.rates.last == .zero)
        #expect(lab.executor.inspect { lab.loop.here { $0.currentMemory.basalMultiplierStepsLeft } } == 0)
    }

    @Test("counts a temporary basal down step by step and ends it")
    func temporaryBasal() throws {
        let lab = try Lab(basalSource: .programmed) { _ in StepOutput() }
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(1))
        try lab.executor.inspect { try lab.loop.here { try $0.setTemporaryBasal(multiplier: 2, steps: 3) } }
        try lab.live(untilMinute: 26)
        #expect(lab.algorithm.inputs.map(\.basalMultiplierStepsLeft) == [0, 3, 2, 1, 0, 0])
        #expect(lab.algorithm.inputs.map(\.basalMultiplier) == [1, 2, 2, 2, 1, 1])
        #expect(lab.pump.rates.map(\.unitsPerHour) == [1.2, 2.4, 1.2])
    }

    @Test("keeps a failed step's inputs and state for the next one")
    func failedStep() throws {
        let lab = try Lab { input in
            if input.algorithmTime == 1 { throw AlgorithmFailure() }
            return StepOutput(meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
        }
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: .minutes(1))
        try lab.executor.inspect {
            try lab.loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: 40), instant: .minutes(1)))
        }
        try lab.live(untilMinute: 11)
        #expect(lab.recorder.steps[1].failure.isEmpty == false)
        // Beside the meal, the programme that the zero took from the failed step.
        #expect(lab.pump.requests.map(\.amount.units) == [4.1])
        #expect(lab.algorithm.states == [0, 1, 1])
    }

    @Test("shows what an interface needs")
    func display() throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.executor.advance(to: Instant(nanoseconds: 310 * seconds))
        var display = lab.executor.inspect { lab.loop.here { $0.display() } }
        #expect(display.status == .closedLoop)
        #expect(!display.isGlucoseStale)
        #expect(display.isPumpAvailable)
        try lab.executor.advance(to: Instant(nanoseconds: 310 * seconds + 1))
        display = lab.executor.inspect { lab.loop.here { $0.display() } }
        #expect(display.isGlucoseStale)
    }
}
