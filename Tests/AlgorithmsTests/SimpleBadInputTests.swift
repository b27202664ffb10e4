// What the simple algorithms make of input that contradicts itself, or cannot be: each row of the tables in docs/suspension.md and of the PID's page.

@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// A course of steps that no body gives.
private enum BadInput: String, CaseIterable {
    case ratioAgainstFactor, noBasal, noDailyInsulin, lowTarget, largeMeal, gap, minutesApart, allLowest,
        allHighest, jumpUp,
        jumpDown, clockAhead

    /// The answers, oldest first.
    func answers<Algorithm: DosingAlgorithm>(_ algorithm: Algorithm) -> [StepOutput] {
        var steps = AlgorithmSteps(algorithm)
        var answers: [StepOutput] = []
        func readings(_ values: [Double]) { for value in values { answers.append(steps.step(value)) } }
        switch self {
        case .ratioAgainstFactor:
            steps.therapy.carbohydrateRatioGramsPerUnit = 3
            steps.therapy.correctionFactorMgdlPerUnit = 200
            readings([120, 130, 140, 150, 160])
        case .noBasal:
            steps.therapy.basalRate = .zero
            readings([120, 160, 200, 240, 60])
        case .noDailyInsulin:
            steps.therapy.totalDailyInsulin = .zero
            readings([120, 160, 200, 240])
        case .lowTarget:
            steps.target = 70
            readings([72, 71, 69, 66])
        case .largeMeal:
            readings([110, 110])
            answers.append(steps.step(112, meal: 250))
        case .gap:
            readings([150, 140, 130, 120])
            _ = steps.step(nil, minutes: 14 * 60)
            readings([118, 117])
        case .minutesApart:
            readings([140, 139, 138])
            for value in [137.0, 136, 135] { answers.append(steps.step(value, minutes: 1)) }
        case .allLowest: readings([Double](repeating: 39, count: 48))
        case .allHighest: readings([Double](repeating: 401, count: 48))
        case .jumpUp: readings([110, 110, 110, 110, 260, 262])
        case .jumpDown: readings([210, 210, 210, 210, 60, 61])
        case .clockAhead:
            readings([120, 120])
            answers.append(steps.step(120) { $0.cgm?.instant = $0.now.adding(Nanoseconds.hour) })
            readings([120, 120])
        }
        return answers
    }
}

@Suite("Input that cannot be, before simple algorithms")
struct SimpleBadInputTests {
    /// Programme of a step at 1 U/h.
    private static let programme = 1.0 / 12

    @Test("gives numbers, none below zero, and no more than its limits", arguments: BadInput.allCases)
    fileprivate func bounded(_ input: BadInput) {
        let most = input == .noBasal ? 0 : Self.programme
        func check(_ answers: [StepOutput], correction: Double) {
            for answer in answers {
                for part in [answer.basal, answer.correction, answer.meal] {
                    #expect(part.units.isFinite && part.units >= 0)
                }
                #expect(answer.basal.units <= most + 1e-12)
                #expect(answer.correction.units <= correction * most + 1e-12)
                #expect(answer.forecast.map { $0.milligramsPerDecilitre.isFinite } ?? true)
            }
        }
        // Three times the programme at most.
        check(input.answers(PIDInsulinFeedback()), correction: 2)
        check(input.answers(LowGlucoseSuspend()), correction: 0)
        check(input.answers(PredictiveSuspend()), correction: 0)
        check(input.answers(BasalBolus()), correction: 0)
    }

    @Test("a meal of 250 g is asked for whole: the therapy's maximum bolus is the loop's")
    func largeMeal() {
        func last<Algorithm: DosingAlgorithm>(_ algorithm: Algorithm) -> Double? {
            BadInput.largeMeal.answers(algorithm).last?.meal.units
        }
        #expect(last(PIDInsulinFeedback()) == 25 && last(LowGlucoseSuspend()) == 25)
        #expect(last(PredictiveSuspend()) == 25 && last(BasalBolus()) == 25)
    }

    @Test("at 39 for hours the PID gives nothing; a suspension two hours of its window, then the programme")
    func allLowest() {
        #expect(
            BadInput.allLowest.answers(PIDInsulinFeedback()).allSatisfy { $0.basal + $0.correction == .zero })
        for stopped in [
            BadInput.allLowest.answers(LowGlucoseSuspend()), BadInput.allLowest.answers(PredictiveSuspend()),
        ] {
            #expect(stopped.prefix(24).allSatisfy { $0.basal == .zero })
            #expect(stopped[24].basal.units == Self.programme)
        }
    }

    @Test(
        "a gap leaves no line behind, a jump down stops at once, one up nothing but a correction of the PID")
    func gapsAndJumps() {
        #expect(
            BadInput.gap.answers(PredictiveSuspend()).suffix(2).allSatisfy {
                $0.basal.units == Self.programme
            })
        for down in [
            BadInput.jumpDown.answers(LowGlucoseSuspend()), BadInput.jumpDown.answers(PredictiveSuspend()),
            BadInput.jumpDown.answers(PIDInsulinFeedback()),
        ] {
            #expect(down[4].basal + down[4].correction == .zero)
        }
        for up in [
            BadInput.jumpUp.answers(LowGlucoseSuspend()), BadInput.jumpUp.answers(PredictiveSuspend()),
        ] {
            #expect(up.allSatisfy { $0.basal.units == Self.programme })
        }
    }

    @Test("a fall seen within minutes leads as far ahead as one of a quarter of an hour")
    func minutesApart() {
        // 1 mg/dL a minute at last: 30 min on it is 105, above what suspends.
        let answers = BadInput.minutesApart.answers(PredictiveSuspend())
        #expect(answers.allSatisfy { $0.basal.units == Self.programme })
        #expect((answers.last?.forecast?.milligramsPerDecilitre ?? 0) > 80)
    }
}
