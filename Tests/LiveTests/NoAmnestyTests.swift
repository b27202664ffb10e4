// What ends and starts in a live session, and what is typed in: no dose twice, none against a meter.

import IsletAlerts
import IsletLoop
import IsletDevices
import IsletModels
import IsletKernel
import IsletFiles
import Testing
import IsletTrials

@testable import IsletLive

@Suite("Sessions that start anew", .timeLimit(.minutes(45))) struct NoAmnestyTests {
    private static let typedLow = "GLUCOSE-TYPED-LOW"

    /// A closed loop whose person has eaten without a word: it corrects.
    private func high(until minute: Int64) throws -> Told {
        let told = try Told(1)
        told.say(60, .meal(grams: 100, isEaten: true, isAnnounced: false))
        told.session.advance(to: .minutes(minute))
        return told
    }

    /// The most that one step may give, U.
    private func largestDose() throws -> Double {
        let basal = try #require(try opening(1).subject.person?.basalRate.unitsPerHour)
        return PIDInsulinFeedback().tuning.largestBasalMultiple * basal / 12
    }

    /// Harm: each press of start doses the same reading again: seven doses in five minutes.
    @Test func `seven starts in five minutes give no more than the grid's steps`() throws {
        let told = try high(until: 120)
        let before = told.session.ledger.bolus
        let begin = told.session.now
        for round in 0..<7 {
            let at = begin.adding(Int64(5 + round * 40) * Nanoseconds.second)
            #expect(told.session.take(LiveCommand(.endSession), at: at).outcome == .taken)
            let again = at.adding(10 * Nanoseconds.second)
            #expect(told.session.take(LiveCommand(.startSession), at: again).outcome == .taken)
        }
        told.session.advance(to: begin.adding(5 * Nanoseconds.minute - 1))
        let given = told.session.ledger.bolus - before
        #expect(given <= (try largestDose()) + 0.05, "\(given) U in five minutes")
        // The grid is the old one, and no point of it has two steps.
        let steps = told.heard.stepInstants.filter { $0 >= begin.adding(-30 * Nanoseconds.second) }
        #expect(
            Set(steps.map { ($0.nanoseconds + 30 * Nanoseconds.second) / (5 * Nanoseconds.minute) }).count
                == steps.count)
        told.session.advance(to: .minutes(150))
        #expect(told.session.snapshot.loop?.status == .closedLoop)
        #expect(told.session.ledger.bolus > before + given)
    }

    /// Harm: insulin that was given before the start is forgotten, and given again.
    @Test func `what is on board stays on board over a start`() throws {
        func loopsOwn(restarts: Bool) throws -> Double {
            let told = try high(until: 110)
            guard case .taken = told.say(111, .requestBolus(units: 4)) else { return .nan }
            told.say(112, .confirmBolus(request: 2, units: 4))
            told.session.advance(to: .minutes(118))
            if restarts {
                told.say(118, .endSession)
                told.say(119, .startSession)
            }
            let before = told.session.ledger
            told.session.advance(to: .minutes(240))
            let after = told.session.ledger
            return after.bolus + after.basal - before.bolus - before.basal
        }
        let (through, anew) = (try loopsOwn(restarts: false), try loopsOwn(restarts: true))
        #expect(anew <= through + 0.5, "\(anew) U after a start, \(through) U without one")
    }

    /// Harm: a meal that was announced is forgotten with the session, and nobody says so.
    @Test func `what waited for a step is dropped with its session and told`() throws {
        let told = try Told(1)
        told.session.advance(to: .minutes(61))
        told.say(61, .meal(grams: 40, isEaten: false, isAnnounced: true))
        told.say(62, .endSession)
        let dropped = try #require(told.session.snapshot.loop?.dropped)
        #expect(dropped.carbohydrate.grams == 40 && dropped.cause == .sessionEnded)
        told.say(63, .startSession)
        told.session.advance(to: .minutes(80))
        #expect(told.session.snapshot.loop?.dropped?.carbohydrate.grams == 40)
    }

    // MARK: Finger-sticks

    /// Harm: a sensor says 150 and more, the person measures 40, and the loop goes on correcting in silence.
    @Test func `a low typed in stops the insulin and rings whatever the sensor says`() throws {
        let told = try high(until: 121)
        let through = try high(until: 121)
        #expect(told.session.snapshot.loop?.glucose?.glucose.milligramsPerDecilitre ?? 0 > 150)
        #expect(told.say(121, .bloodGlucose(mgdl: 40)) == .taken)
        #expect(told.active().contains(Self.typedLow) && told.rings(Self.typedLow).count == 1)
        let row = try #require(told.session.snapshot.alerts.first { $0.code.rawValue == Self.typedLow })
        #expect(row.severity == .safetyCritical)
        let before = told.session.ledger
        told.session.advance(to: .minutes(136))
        through.session.advance(to: .minutes(136))
        #expect(told.session.ledger.bolus == before.bolus)
        #expect(through.session.ledger.bolus > before.bolus)
        // The sensor has said 70 and more all the time: after the quarter of an hour it counts.
        told.session.advance(to: .minutes(145))
        #expect(!told.active().contains(Self.typedLow))
        told.session.advance(to: .minutes(160))
        #expect(told.session.ledger.bolus > before.bolus)
    }

    /// Harm: under one of the shipped policies 40 from a meter rings for nobody. `story` and `story-literal` have none of it: they are of rooms, and no person's
    /// session takes them.
    @Test(arguments: AlertPreset.allCases.filter { $0 != .none })
    func `a low typed in rings by night under every policy that a person may have`(_ preset: AlertPreset)
        throws
    {
        let line = "  - { name: own, algorithm: pid-insulin-feedback, alerts: \(preset.rawValue) }"
        guard let study = try? smallStudy(line) else {
            #expect(preset == .story || preset == .storyLiteral)
            return
        }
        let told = try Told(2, study)
        // 23:00: quiet hours, where there are any.
        #expect(told.say(17 * 60, .bloodGlucose(mgdl: 40)) == .taken)
        let row = try #require(told.session.snapshot.alerts.first { $0.code.rawValue == Self.typedLow })
        #expect(row.severity == .safetyCritical && told.rings(Self.typedLow) == [17 * 60])
        told.say(17 * 60 + 5, .bloodGlucose(mgdl: 80))
        #expect(!told.active().contains(Self.typedLow))
    }

    @Test func `a low typed in is over with a value of 70 and not with one of 69`() throws {
        let told = try high(until: 121)
        told.say(121, .bloodGlucose(mgdl: 53.9))
        told.say(122, .calibration(mgdl: 69))
        #expect(told.active().contains(Self.typedLow))
        told.say(123, .bloodGlucose(mgdl: 70))
        #expect(!told.active().contains(Self.typedLow) && told.session.snapshot.loop?.typedLow == nil)
        told.say(124, .bloodGlucose(mgdl: 54))
        #expect(!told.active().contains(Self.typedLow))
    }

    /// Harm: a value that was mistyped, or taken with sugar on the finger, doses.
    @Test func `a high value typed in adds no insulin`() throws {
        let (told, through) = (try high(until: 121), try high(until: 121))
        told.say(121, .bloodGlucose(mgdl: 400))
        for session in [told.session, through.session] { session.advance(to: .minutes(180)) }
        #expect(told.session.ledger == through.session.ledger)
    }

    /// Harm: insulin for a meal, or by hand, is given at 40 mg/dL.
    @Test func `what is asked for at a typed low waits and lapses told`() throws {
        let told = try high(until: 121)
        told.say(121, .bloodGlucose(mgdl: 40))
        told.say(122, .meal(grams: 50, isEaten: false, isAnnounced: true))
        let before = told.session.ledger
        told.session.advance(to: .minutes(136))
        told.say(136, .bloodGlucose(mgdl: 45))
        told.session.advance(to: .minutes(150))
        #expect(told.session.ledger.bolus == before.bolus)
        #expect(told.session.snapshot.loop?.dropped?.cause == .lowTyped)
    }
}
