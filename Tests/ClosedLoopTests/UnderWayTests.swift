// Requests that are under way, and what becomes of them: what a linked pump makes a loop wait for.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("Requests under way") struct UnderWayTests {
    /// A unit of basal each step, five for a meal at step 0.
    private func lab(basal: Double = 1, meal: Double = 5) throws -> Lab {
        let lab = try Lab(basalSource: .programmed) { input in
            StepOutput(
                basal: InsulinAmount(units: basal),
                meal: InsulinAmount(units: input.algorithmTime == 0 ? meal : 0))
        }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.answersLater = true
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        #expect(lab.pump.requests.map(\.amount.units) == [basal + meal])
        return lab
    }

    private func say(_ outcome: RequestOutcome, of id: Int64, in lab: Lab) {
        lab.executor.inspect {
            lab.pump.said[id] = outcome
            lab.loop.pumpDidUpdate(status: lab.pump.status)
        }
    }

    @Test func nothingElseIsSentWhileNobodyKnowsYetHoweverLongThatLasts() throws {
        let lab = try lab()
        try lab.live(untilMinute: 121)
        #expect(lab.pump.requests.count == 1)
        #expect(lab.algorithm.inputs.count > 20)
        #expect(lab.algorithm.inputs.dropFirst().allSatisfy { !$0.insulinPump.isAvailable })
        // Nobody is told that it did not come, and nobody is owed it again.
        #expect(lab.algorithm.inputs.allSatisfy { $0.shortfall == nil && $0.dropped == nil })
        lab.executor.inspect {
            let shown = lab.loop.here { $0.display() }
            #expect(shown.underWay == InsulinAmount(units: 6) && shown.owed == nil && !shown.isPumpAvailable)
        }
    }

    @Test func whatWasCarriedOutCountsOnceAndTheNextStepDoses() throws {
        let lab = try lab()
        try lab.live(untilMinute: 7)
        say(.carriedOut(InsulinAmount(units: 6)), of: 0, in: lab)
        try lab.live(untilMinute: 11)
        #expect(lab.pump.requests.map(\.id) == [0, 2])
        #expect(lab.rows[0].accepted == InsulinAmount(units: 6))
        #expect(lab.algorithm.inputs.allSatisfy { $0.shortfall == nil })
    }

    @Test func whatNeverArrivedIsSentOnceMoreUnderItsNumberWhileItsStepLasts() throws {
        let lab = try lab()
        try lab.executor.advance(to: .minutes(2))
        say(.neverArrived, of: 0, in: lab)
        try lab.executor.advance(to: .minutes(3))
        #expect(lab.pump.requests.map(\.id) == [0, 0])
        #expect(lab.pump.requests.map(\.amount.units) == [6, 6])
        say(.carriedOut(InsulinAmount(units: 6)), of: 0, in: lab)
        try lab.live(untilMinute: 6)
        #expect(lab.pump.requests.map(\.id) == [0, 0, 1])
        #expect(lab.rows[0].accepted == InsulinAmount(units: 6))
    }

    /// Harm: a dose on glucose of twenty minutes ago.
    @Test(arguments: [(-8, [0, 0]), (-13, [0])] as [(Int64, [Int64])])
    func whatNeverArrivedIsNotSentOnceMoreOnGlucoseThatIsTooOldByThen(readAt: Int64, sent: [Int64]) throws {
        let lab = try Lab(basalSource: .programmed) { _ in StepOutput(correction: InsulinAmount(units: 1)) }
        lab.sensor.latestReading = reading(at: readAt)
        lab.pump.answersLater = true
        try lab.executor.advance(to: .minutes(3))
        say(.neverArrived, of: 0, in: lab)
        try lab.executor.advance(to: .minutes(4))
        #expect(lab.pump.requests.map(\.id) == sent)
    }

    @Test func afterItsStepTheMealIsOwedAndTheRestIsTold() throws {
        let lab = try lab()
        try lab.live(untilMinute: 7)
        say(.neverArrived, of: 0, in: lab)
        try lab.live(untilMinute: 11)
        #expect(lab.pump.requests.map(\.id) == [0, 2])
        #expect(lab.pump.requests.last?.amount == InsulinAmount(units: 6))
        #expect(
            lab.algorithm.inputs.last?.shortfall
                == Shortfall(algorithmTime: 0, amount: InsulinAmount(units: 1)))
    }

    @Test func whatNobodyWillEverKnowCountsAsDeliveredAndIsNeverAskedForAgain() throws {
        let lab = try lab()
        try lab.live(untilMinute: 7)
        say(.unknowable, of: 0, in: lab)
        try lab.live(untilMinute: 31)
        // The meal's five units are not owed: only each step's own basal is asked for.
        #expect(lab.pump.requests[1].id == 2 && lab.pump.requests[1].amount == InsulinAmount(units: 1))
        #expect(lab.algorithm.inputs.allSatisfy { $0.shortfall == nil && $0.dropped == nil })
        #expect(lab.rows[0].accepted == nil && lab.rows[0].wasUncertain)
        #expect(lab.rows[0].requested == InsulinAmount(units: 6))
    }

    @Test(arguments: [0.0, 2, 6]) func aPumpThatTellsAfterAllIsHeardAndNothingIsOwedAgain(_ given: Double)
        throws
    {
        let lab = try lab()
        try lab.live(untilMinute: 7)
        lab.executor.inspect { lab.pump.condition = .noPod }
        say(.unknowable, of: 0, in: lab)
        try lab.live(untilMinute: 40)
        lab.executor.inspect {
            lab.pump.condition = .ready
            lab.pump.complete(0, delivered: InsulinAmount(units: given))
        }
        try lab.live(untilMinute: 46)
        #expect(lab.pump.requests[1].amount == InsulinAmount(units: 1))
        #expect(lab.rows[0].accepted == InsulinAmount(units: given))
        let told = lab.algorithm.inputs.map {
            ($0.shortfall?.amount.units ?? 0) + ($0.dropped?.amount.units ?? 0)
        }.reduce(0, +)
        #expect(abs(told - (6 - given)) < 1e-9)
    }

    @Test func whatIsUnderWayIsKnownAfterARelaunchAndNotSentAgain() throws {
        let lab = try lab()
        try lab.live(untilMinute: 2)
        lab.executor.inspect { lab.loop.here { $0.relaunch() } }
        try lab.live(untilMinute: 31)
        #expect(lab.pump.requests.count == 1)
    }

    /// A zero is set for insulin that is confirmed; the pump's own basal and a step's run side by side for the seconds of its way at most.
    @Test func aZeroBasalThatIsOnlyUnderWayLeavesTheStepsBasalToThePump() throws {
        let lab = try Lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        lab.sensor.latestReading = reading(at: 0)
        lab.pump.answersLater = true
        try lab.executor.advance(to: Instant(nanoseconds: 1))
        #expect(lab.pump.temporaries.isEmpty && lab.pump.requests.map(\.amount.units) == [0.1])
        say(.carriedOut(InsulinAmount(units: 0.1)), of: 0, in: lab)
        try lab.live(untilMinute: 1)
        #expect(lab.pump.temporaries.count == 1)
        // Nobody has confirmed the zero.
        try lab.live(untilMinute: 6)
        #expect(lab.pump.requests.count == 1)
        lab.executor.inspect {
            lab.pump.confirmTemporaryBasal(until: .minutes(35))
            lab.loop.pumpDidUpdate(status: lab.pump.status)
        }
        try lab.live(untilMinute: 11)
        #expect(lab.pump.requests.map(\.amount.units) == [0.1, 0.1])
        // The pump says that its programme runs again.
        say(.carriedOut(InsulinAmount(units: 0.1)), of: 2, in: lab)
        lab.executor.inspect {
            lab.pump.loseTemporaryBasal()
            lab.pump.basalReplacedUntil = .start
            lab.loop.pumpDidUpdate(status: lab.pump.status)
        }
        try lab.live(untilMinute: 16)
        #expect(lab.pump.requests.count == 2)
    }
}
