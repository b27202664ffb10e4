// Insulin that should have come and has not is counted, whatever kept it away, and nothing else is.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// What a loop tells of its insulin.
final class InsulinListener: LoopObserver, @unchecked Sendable {
    var shares: [Double] = []
    var news = 0
    var missingAfter: Int64?
    var lapsed: [LoopLapsed] = []
    func loopDidStep(succeeded: Bool, forecast: LoopForecast?) {}
    func loopDidAccount(_ insulin: LoopInsulin) {
        news += 1
        if let share = insulin.basalShare { shares.append(share) }
        missingAfter = insulin.missingAfter
    }
    func loopDidDrop(_ lapsed: LoopLapsed) { self.lapsed.append(lapsed) }
}

@Suite("Account of missing insulin")
struct BasalAccountTests {
    /// The programme of a step is 0.1 U.
    private func lab(_ answer: @escaping (StepInput) throws -> StepOutput) throws -> (Lab, InsulinListener) {
        let lab = try Lab(begins: false, answer: answer)
        lab.sensor.latestReading = reading(at: 0)
        let listener = InsulinListener()
        // The lab has launched its loop by then, with nobody who listens.
        try lab.executor.advance(to: .start)
        try lab.executor.inspect { try lab.loop.here { try $0.begin(observers: [listener]) } }
        return (lab, listener)
    }

    /// After three hours the app is dead for 25 minutes, under a zero of 30; then there is a fresh reading.
    private func dieUnderAZero(_ lab: Lab, thenReads mgdl: Double = 120) throws {
        try lab.live(untilMinute: 180)
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.executor.advance(to: .minutes(206))
        lab.sensor.latestReading = GlucoseReading(
            instant: .minutes(205), glucose: GlucoseConcentration(milligramsPerDecilitre: mgdl))
    }

    @Test("where all comes the share is whole, and nobody is called after the first two hours")
    func steady() throws {
        let (lab, heard) = try lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        try lab.live(untilMinute: 125)
        let news = heard.news
        try lab.live(untilMinute: 600)
        #expect(heard.news == news && Set(heard.shares) == [100])
        #expect(lab.memory.missing.isEmpty)
        // Five steps' programme of 24 are more than a fifth: a zero that nobody renews rings then, once the fifth waits for no reading any more.
        #expect(heard.missingAfter == 25 * Nanoseconds.minute + LoopTiming.earlyWindow)
    }

    @Test("what the algorithm withholds is not missing")
    func withheld() throws {
        let (lab, heard) = try lab { _ in StepOutput() }
        try lab.live(untilMinute: 300)
        #expect(Set(heard.shares) == [100])
    }

    @Test("a pump out of reach, asked for more than its programme gives: told within five minutes of 80 %")
    func outOfReach() throws {
        let (lab, heard) = try lab { _ in
            StepOutput(basal: InsulinAmount(units: 0.1), correction: InsulinAmount(units: 0.1))
        }
        try lab.live(untilMinute: 180)
        lab.pump.isConnected = false
        var below: Double?
        while lab.executor.now < .minutes(240), below == nil {
            try lab.live(untilMinute: Int64(lab.executor.now.minutes) + 5)
            if let share = heard.shares.last, share < 80 { below = lab.executor.now.minutes }
        }
        // 0.2 U a step of 2.4 U in two hours: a fifth is gone with the third step without an answer.
        #expect(try #require(below) <= 200)
        lab.pump.isConnected = true
        try lab.live(untilMinute: 420)
        #expect(heard.shares.last == 100 && lab.memory.missing.isEmpty)
    }

    /// Harm: twenty safety-critical rings in a fortnight for single commands that the radio lost, and that the next step made good.
    @Test(
        "a bolus that is lost alone rings nothing where the next step makes it good, or wants nothing any more",
        arguments: [([0.9, 0.9], 95.83), ([0.9, 0], 100), ([0.9, 0.3, 0.3, 0.3], 87.5)]
            as [([Double], Double)])
    func lostAlone(wanted: [Double], share: Double) throws {
        var left: [Double] = []
        let (lab, heard) = try lab { _ in
            StepOutput(correction: InsulinAmount(units: left.isEmpty ? 0.1 : left.removeFirst()))
        }
        try lab.live(untilMinute: 178)
        left = wanted
        lab.pump.requestError = .commandFailed
        try lab.live(untilMinute: 181)
        #expect(left.count == wanted.count - 1 && heard.shares.last == 100)
        lab.pump.requestError = nil
        let before = heard.shares.count
        try lab.live(untilMinute: 200)
        // Of 2.4 U; the lost step's programme, too, is not made good by what doesn't exceed the next one's.
        #expect(heard.shares.last == share && (heard.shares.dropFirst(before).min() ?? 100) >= 70)
        try lab.live(untilMinute: 310)
        #expect(heard.shares.last == 100)
    }

    @Test(
        "of what was lost alone an algorithm that wants nothing says that it is no loss; the second time both are"
    )
    func lostAgain() throws {
        var wants = false
        let (lab, heard) = try lab { _ in StepOutput(correction: InsulinAmount(units: wants ? 0.6 : 0)) }
        try lab.live(untilMinute: 178)
        func lose() throws {
            wants = true
            lab.pump.requestError = .commandFailed
            let minute = Int64(lab.executor.now.minutes)
            try lab.live(untilMinute: minute + 2)
            wants = false
            lab.pump.requestError = nil
            try lab.live(untilMinute: minute + 10)
        }
        try lose()
        #expect(heard.shares.min() == 100)
        try lose()
        // Two of 0.6 U, of 2.4 U that two hours' programme has.
        #expect(heard.shares.last == 50)
        // The first is two hours old, then.
        try lab.live(untilMinute: 310)
        #expect(heard.shares.last == 100)
    }

    /// Harm: half of two hours' insulin lost, and told of a quarter.
    @Test("what was asked for counts for two whole hours from the step on that could have given it")
    func lostTwoHoursApart() throws {
        var wants = 0.0
        let (lab, heard) = try lab { _ in StepOutput(correction: InsulinAmount(units: wants)) }
        for minute in [180, 295] as [Int64] {
            try lab.live(untilMinute: minute - 2)
            wants = 0.6
            lab.pump.requestError = .commandFailed
            try lab.live(untilMinute: minute + 1)
            wants = 0
            lab.pump.requestError = nil
        }
        try lab.live(untilMinute: 301)
        // Between minutes 180 and 300 two of 0.6 U were asked for, and 2.4 U are two hours' programme.
        #expect(heard.shares.last == 50, "\(heard.shares)")
        try lab.live(untilMinute: 306)
        #expect(heard.shares.last == 100)
    }

    /// Harm: twenty minutes without insulin, uncounted, because a meal that never came either would have taken the whole maximum bolus.
    @Test("a meal that waits takes no room of later steps that can't dose")
    func besideAMealThatWaits() throws {
        let (lab, heard) = try lab { input in
            StepOutput(
                basal: InsulinAmount(units: 0.1),
                meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
        }
        try lab.live(untilMinute: 182)
        lab.pump.isConnected = false
        let most = therapy().maximumBolus.units
        try lab.executor.inspect {
            try lab.loop.announce(
                MealAnnouncement(carbohydrate: Carbohydrate(grams: 10 * most), instant: lab.executor.now))
        }
        try lab.live(untilMinute: 196)
        // Steps at 185, 190 and 195: the first one's own part is the limit's, those of the next two are missing.
        #expect(lab.memory.missing.missing(at: 40) > 0.19, "\(heard.shares)")
    }

    /// Harm: six hours' programme gone, and told of none of it: the pod died last, and had stood under a zero before.
    @Test("what a zero took while the app was dead is missing, also where the pod has died since")
    func deadPodAfterAZero() throws {
        let (lab, heard) = try lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        try dieUnderAZero(lab)
        lab.pump.condition = .fault
        let before = heard.shares.count
        lab.relaunch()
        let share = try #require(heard.shares.dropFirst(before).first)
        #expect(share < 80 && share > 70)
    }

    /// Harm: a low, woken by "check pump and site", for basal that nobody would give.
    @Test("what a zero withheld is not missing any more once a low forbids it")
    func withheldBeforeALow() throws {
        let (lab, heard) = try lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        try dieUnderAZero(lab, thenReads: 66)
        lab.relaunch()
        #expect((heard.shares.last ?? 100) < 80)
        try lab.live(untilMinute: 207)
        #expect(heard.shares.last == 100)
    }

    /// Harm: falling towards a low, and told every half hour to check the pump.
    @Test("what a zero withheld is not missing any more where the step that could give it foresees a low")
    func withheldBeforeAForeseenLow() throws {
        let (lab, heard) = try lab { input in
            var output = StepOutput(basal: InsulinAmount(units: 0.1))
            if input.algorithmTime > 36 {
                output.forecast = GlucoseConcentration(milligramsPerDecilitre: 60)
            }
            return output
        }
        try dieUnderAZero(lab)
        lab.relaunch()
        #expect((heard.shares.last ?? 100) < 80)
        try lab.live(untilMinute: 207)
        #expect(heard.shares.last == 100)
    }

    /// A pump's answer that is awaited is no second loss.
    @Test("a request under way does not bring back one that was lost alone")
    func underWayBesideALoss() throws {
        var wants = 0.6
        let (lab, heard) = try lab { _ in StepOutput(correction: InsulinAmount(units: wants)) }
        try lab.live(untilMinute: 178)
        lab.pump.requestError = .commandFailed
        try lab.live(untilMinute: 181)
        lab.pump.requestError = nil
        wants = 0
        try lab.live(untilMinute: 188)
        let before = heard.shares.count
        lab.pump.losesRequest = true
        wants = 0.3
        try lab.live(untilMinute: 193)
        #expect(heard.shares.dropFirst(before).allSatisfy { $0 == 100 })
    }

    private func leavingBasal(
        _ source: BasalSource, rate: Double = 2.4, answers: @escaping () throws -> Void = {}
    ) throws -> (Lab, InsulinListener) {
        let lab = try Lab(basalSource: source, begins: false) { _ in
            try answers()
            var output = StepOutput()
            if source == .temporary {
                output.temporaryBasal = TemporaryBasalAnswer(
                    rate: InsulinRate(unitsPerHour: rate), minutes: 30)
            }
            return output
        }
        lab.sensor.latestReading = reading(at: 0)
        let heard = InsulinListener()
        try lab.executor.advance(to: .start)
        try lab.executor.inspect { try lab.loop.here { try $0.begin(observers: [heard]) } }
        try lab.live(untilMinute: 181)
        #expect(heard.shares.last == 100)
        return (lab, heard)
    }

    /// The pump says so itself.
    private func turn(_ lab: Lab, _ condition: PumpStatus.Condition) throws {
        lab.pump.condition = condition
        lab.pump.basalError = condition == .ready ? nil : .notReady(condition)
        lab.executor.inspect { lab.loop.pumpDidUpdate(status: lab.pump.status) }
        try lab.executor.advance(to: lab.executor.now)
    }

    /// Harm: "check pump and site" at the very moment when a pod has been changed and works.
    @Test(
        "a pod that is changed within a step lacks what did not flow, once",
        arguments: [BasalSource.temporary, .programmed])
    func podChange(source: BasalSource) throws {
        let (lab, heard) = try leavingBasal(source, rate: 3.6)
        try lab.live(untilMinute: 183)
        try turn(lab, .noPod)
        try lab.live(untilMinute: 186)
        try turn(lab, .ready)
        try lab.live(untilMinute: 200)
        // The step's 0.3 U of 2.4, of which all but a minute's came; of the programme a step counts whole.
        #expect(heard.shares.allSatisfy { $0 > 80 }, "\(heard.shares)")
        #expect(heard.shares.last == (source == .temporary ? 97.5 : 95.83))
        try lab.live(untilMinute: 320)
        #expect(heard.shares.last == 100)
    }

    /// Harm: hours without insulin, because the app died just after the pod.
    @Test(
        "a dead pod is foretold for an app that dies, and missing at its launch",
        arguments: [BasalSource.algorithm, .temporary, .programmed])
    func deadPodAndApp(source: BasalSource) throws {
        let (lab, heard) = try leavingBasal(source)
        try lab.live(untilMinute: 183)
        try turn(lab, .fault)
        let after = try #require(heard.missingAfter)
        // Five steps' programme, from the next one on.
        #expect((20...28).contains(Double(after) / Double(Nanoseconds.minute)), "\(after)")
        lab.executor.inspect { lab.loop.here { $0.kill() } }
        try lab.executor.advance(to: .minutes(301))
        lab.sensor.latestReading = reading(at: 300)
        let before = heard.shares.count
        lab.relaunch()
        try lab.live(untilMinute: 311)
        #expect(heard.shares.dropFirst(before).allSatisfy { $0 < 80 } && heard.shares.count > before)
        // One that is well again foretells nothing of it.
        try turn(lab, .ready)
        try lab.live(untilMinute: 460)
        #expect(heard.shares.last == 100)
        #expect(
            heard.missingAfter
                == (source == .algorithm ? 25 * Nanoseconds.minute + LoopTiming.earlyWindow : nil))
    }

    /// Harm: the same where nobody answers for the dose.
    @Test(
        "a dead pod is missing without a reading, and where the algorithm fails",
        arguments: [BasalSource.algorithm, .temporary, .programmed], [true, false])
    func deadPodWithoutAnswer(source: BasalSource, fails: Bool) throws {
        struct Broken: Error {}
        var isBroken = false
        let (lab, heard) = try leavingBasal(source) { if isBroken { throw Broken() } }
        isBroken = fails
        try turn(lab, .fault)
        if fails { try lab.live(untilMinute: 206) } else { try lab.executor.advance(to: .minutes(206)) }
        #expect((heard.shares.last ?? 100) < 80, "\(heard.shares)")
    }

    /// Harm: a dead pod for hours, which algorithms that set the pump's rate never spoke of again.
    @Test(
        "without a pod what is left to its basal is missing: the rate that a step wants, or the programme",
        arguments: [BasalSource.temporary, .programmed], [PumpStatus.Condition.fault, .noPod])
    func deadPod(source: BasalSource, condition: PumpStatus.Condition) throws {
        let (lab, heard) = try leavingBasal(source)
        try turn(lab, condition)
        // Twice the programme for three steps, or the programme for five.
        try lab.live(untilMinute: source == .temporary ? 196 : 206)
        #expect((heard.shares.last ?? 100) < 80, "\(heard.shares)")
        try turn(lab, .suspended)
        let news = heard.shares.count
        try lab.live(untilMinute: 211)
        #expect((heard.shares.dropFirst(news).min() ?? 100) >= (heard.shares.prefix(news).last ?? 0))
    }

    @Test("a death keeps the account, and the next life tells it at its launch")
    func outlivesTheApp() throws {
        let (lab, heard) = try lab { _ in StepOutput(basal: InsulinAmount(units: 0.1)) }
        try dieUnderAZero(lab)
        let before = heard.shares.count
        lab.relaunch()
        // Dead for 25 min under a zero of 30.
        let share = try #require(heard.shares.dropFirst(before).first)
        #expect(share < 80 && share > 70)
        // The first step gives what was withheld.
        try lab.live(untilMinute: 211)
        #expect(lab.display.basalShare == 100)
    }

    /// Harm: what makes up for lost insulin lowers somebody who is low already, or about to be.
    @Test(
        "what a zero withheld is given at 80 mg/dL or more, with no forecast below 70, and lapses else",
        arguments: [(120.0, nil, true), (80, 71, true), (79, nil, false), (120, 69, false)]
            as [(Double, Double?, Bool)])
    func withheldIsGivenWithinBounds(glucose: Double, forecast: Double?, isGiven: Bool) throws {
        let (lab, _) = try lab { _ in
            var output = StepOutput(basal: InsulinAmount(units: 0.1))
            output.forecast = forecast.map { GlucoseConcentration(milligramsPerDecilitre: $0) }
            return output
        }
        try dieUnderAZero(lab, thenReads: glucose)
        let before = lab.pump.requests.count
        lab.relaunch()
        try lab.executor.advance(to: .minutes(207))
        // Four steps never ran under the zero, and the fifth comes a minute late: 0.4 U beside its own.
        let asked = lab.pump.requests.dropFirst(before).map { ($0.amount.units * 100).rounded() }
        #expect(asked == [isGiven ? 50 : 10])
        // It never waits.
        try lab.live(untilMinute: 212)
        #expect(lab.pump.requests.last.map { ($0.amount.units * 100).rounded() } == 10)
    }

    @Test("each lapse is told with its meal, until it is seen")
    func eachLapse() throws {
        let (lab, heard) = try lab { input in
            StepOutput(meal: InsulinAmount(units: (input.user.meal?.carbohydrate.grams ?? 0) / 10))
        }
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        for (minute, grams) in [(3, 40.0), (63, 60.0), (123, 30.0)] as [(Int64, Double)] {
            try lab.live(untilMinute: minute)
            try lab.executor.inspect {
                try lab.loop.announce(
                    MealAnnouncement(
                        carbohydrate: Carbohydrate(grams: grams), instant: lab.executor.now))
            }
        }
        try lab.live(untilMinute: 200)
        #expect(heard.lapsed.map(\.units) == [4, 10, 13])
        #expect(heard.lapsed.allSatisfy { $0.isNew })
        #expect(
            heard.lapsed.last?.words
                == "4 U for a meal of 40 g; 6 U for a meal of 60 g; 3 U for a meal of 30 g")
        #expect(lab.display.lapses.count == 3 && lab.display.dropped?.amount.units == 3)
        lab.executor.inspect { lab.loop.here { $0.dismissDropped() } }
        #expect(heard.lapsed.last == LoopLapsed(units: 0, words: "", isNew: false))
        #expect(lab.display.lapses.isEmpty)
    }

    @Test("a dose that the person called off has not lapsed")
    func calledOff() throws {
        let (lab, heard) = try lab { input in StepOutput(meal: input.user.manualBolus ?? .zero) }
        try lab.live(untilMinute: 2)
        lab.pump.isConnected = false
        try lab.executor.inspect { try lab.loop.request(manualBolus: InsulinAmount(units: 2)) }
        try lab.live(untilMinute: 8)
        lab.executor.inspect { lab.loop.here { $0.cancelOwed() } }
        #expect(heard.lapsed.allSatisfy { !$0.isNew && $0.units == 0 })
    }
}
