// What a loop must not forget: insulin of the session before, a meal of before the sleep, how often it has sent a bolus.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("What outlives a session and a sleep", .timeLimit(.minutes(15))) struct NoAmnestyTests {
    /// What each step was told of the hours before, by its instant.
    private final class Heard: @unchecked Sendable {
        var earlier: [(at: Instant, history: InsulinHistory)] = []
    }

    private func restarted(_ prepare: (Lab) -> Void) throws -> (lab: Lab, heard: Heard) {
        let heard = Heard()
        let lab = try Lab { input in
            if let earlier = input.earlier { heard.earlier.append((input.now, earlier)) }
            return StepOutput(
                basal: InsulinAmount(units: 0.1), meal: input.user.manualBolus ?? .zero)
        }
        try lab.live(untilMinute: 61)
        prepare(lab)
        try lab.live(untilMinute: 67)
        lab.executor.inspect { lab.loop.here { $0.endSession() } }
        try lab.live(untilMinute: 68)
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 90)
        return (lab, heard)
    }

    /// Harm: a session that starts anew knows nothing of the insulin of the one before.
    @Test func `a start hears of the insulin before it, by hand in full`() throws {
        let (lab, heard) = try restarted { lab in
            lab.executor.inspect { try? lab.loop.request(manualBolus: InsulinAmount(units: 3)) }
        }
        let history = try #require(heard.earlier.first?.history)
        #expect(heard.earlier.count == 1)
        #expect(abs(history.given.reduce(0) { $0 + $1.manual.units } - 3) < 1e-9)
        #expect(history.given.reduce(0) { $0 + $1.amount.units } > 4)
        // On the old grid.
        #expect(heard.earlier.first?.at == .minutes(70))
        #expect(lab.minutes.allSatisfy { $0.truncatingRemainder(dividingBy: 5) == 0 })
    }

    /// Harm: what was sent and never answered is forgotten with the session.
    @Test func `a start hears of insulin of unknown fate`() throws {
        let (_, heard) = try restarted { lab in
            lab.pump.losesRequest = true
            lab.pump.beforeRequest = { [pump = lab.pump] _ in pump.isConnected = false }
            lab.executor.inspect { try? lab.loop.request(manualBolus: InsulinAmount(units: 3)) }
        }
        let history = try #require(heard.earlier.first?.history)
        #expect(history.given.reduce(0) { $0 + $1.manual.units } > 2.9)
    }

    /// Harm: a correction on top of six units by a pen, which the session before had been told of.
    @Test func `a start hears of insulin by a pen`() throws {
        let (_, heard) = try restarted { lab in
            lab.executor.inspect { try? lab.loop.here { try $0.hear(givenByHand: InsulinAmount(units: 6)) } }
        }
        // The session that was told, and the next one.
        #expect(heard.earlier.map { ($0.at.minutes) } == [65, 70])
        for told in heard.earlier {
            #expect(abs(told.history.given.reduce(0) { $0 + $1.manual.units } - 6) < 1e-9)
        }
    }

    /// Harm: corrections on top of hours of basal that did flow, as no step of this session saw it.
    @Test func `a start after a night hears of the programme that flowed`() throws {
        let heard = Heard()
        let lab = try Lab { input in
            if let earlier = input.earlier { heard.earlier.append((input.now, earlier)) }
            return StepOutput(basal: InsulinAmount(units: 0.1))
        }
        try lab.live(untilMinute: 61)
        lab.executor.inspect { lab.loop.here { $0.endSession() } }
        try lab.executor.advance(to: .minutes(401))
        lab.executor.inspect { try? lab.loop.here { try $0.hear(givenByHand: InsulinAmount(units: 2)) } }
        try lab.executor.advance(to: .minutes(641))
        try lab.executor.inspect { try lab.loop.here { try $0.startSession() } }
        try lab.live(untilMinute: 661)
        let told = try #require(heard.earlier.first)
        let basal = told.history.given.filter { $0.manual == .zero }
        let hours = (told.at.minutes - 401) / 60
        #expect(abs(basal.reduce(0) { $0 + $1.amount.units } - 1.2 * hours) < 1e-6, "\(basal)")
        #expect(told.history.given.reduce(0) { $0 + $1.manual.units } == 2)
    }

    /// Harm: an hour at twice the basal is off the books, as the pump could not be asked.
    @Test func `a person's temporary basal counts while the pump can't be reached`() throws {
        let heard = Heard()
        let lab = try Lab(basalSource: .programmed) { input in
            if let earlier = input.earlier { heard.earlier.append((input.now, earlier)) }
            return StepOutput()
        }
        try lab.live(untilMinute: 61)
        try lab.executor.inspect {
            try lab.loop.here { try $0.setTemporaryBasal(multiplier: 2, steps: 24) }
        }
        try lab.live(untilMinute: 67)
        lab.pump.isConnected = false
        try lab.live(untilMinute: 127)
        lab.executor.inspect { try? lab.loop.here { try $0.hear(givenByHand: InsulinAmount(units: 2)) } }
        try lab.live(untilMinute: 132)
        let told = try #require(heard.earlier.last)
        let basal = told.history.given.filter { $0.manual == .zero && $0.until > .minutes(100) }
        // An hour and more of 2.4 U/h.
        #expect(basal.reduce(0) { $0 + $1.amount.units } > 2.3, "\(told.history.given)")
    }

    /// Harm: a meal's insulin was under way when the session ended; it never came, and nobody said so.
    @Test(arguments: [true, false])
    func `what was under way at a session's end is told once it is known not to have come`(
        _ came: Bool
    ) throws {
        let lab = try Lab(basalSource: .programmed) { input in
            StepOutput(meal: InsulinAmount(units: input.algorithmTime == 0 ? 5 : 0))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.answersLater = true
        try lab.executor.advance(to: .minutes(1))
        #expect(lab.pump.requests.map(\.amount.units) == [5])
        lab.executor.inspect { lab.loop.here { $0.endSession() } }
        // It may be on its way.
        #expect(lab.display.dropped == nil)
        lab.executor.inspect {
            lab.pump.said[0] = came ? .carriedOut(InsulinAmount(units: 5)) : .neverArrived
            lab.loop.pumpDidUpdate(status: lab.pump.status)
        }
        try lab.executor.advance(to: .minutes(3))
        #expect(lab.display.dropped?.amount.units == (came ? nil : 5))
        #expect(lab.display.dropped?.cause == (came ? nil : .sessionEnded))
    }

    /// Harm: who asks again for a snack's insulin has lost the lunch's, which lapsed five minutes before.
    @Test func `what lapsed in one half hour is asked for again together`() throws {
        let lab = try Lab { input in StepOutput(meal: input.user.manualBolus ?? .zero) }
        try lab.live(untilMinute: 61)
        lab.pump.isConnected = false
        for (minute, units) in [(Int64(61), 6.0), (66, 2)] {
            try lab.live(untilMinute: minute)
            lab.executor.inspect {
                try? lab.loop.request(manualBolus: InsulinAmount(units: units))
            }
        }
        try lab.live(untilMinute: 96)
        #expect(Set(lab.memory.dropped.map(\.at)).count == 2)
        #expect(lab.display.dropped?.amount.units == 8)
        try lab.executor.inspect { try lab.loop.here { try $0.askAgainForDropped() } }
        #expect(lab.memory.user.manualBolus?.units == 8 && lab.display.dropped == nil)
    }

    /// Harm: an app that slept knows that the meal has lapsed, and says nothing until a step runs, if one does.
    @Test(arguments: [true, false]) func `a meal that lapsed over a stop is told when the app wakes`(
        _ dies: Bool
    ) throws {
        let lab = try Lab()
        try lab.live(untilMinute: 61)
        try lab.executor.inspect {
            try lab.loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: 60), instant: lab.executor.now))
        }
        lab.executor.inspect { lab.loop.here { if dies { $0.kill() } else { $0.suspend() } } }
        try lab.executor.advance(to: .minutes(121).adding(10 * Nanoseconds.second))
        if dies { lab.relaunch() } else { lab.executor.inspect { lab.loop.here { $0.resume() } } }
        let dropped = try #require(lab.display.dropped)
        #expect(dropped.carbohydrate.grams == 60 && dropped.cause == .noStep)
        #expect(dropped.at == lab.executor.now)
    }
}
