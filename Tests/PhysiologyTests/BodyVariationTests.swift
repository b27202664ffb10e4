import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// What a body has beside the published equations, and what it does to the person.
@Suite struct BodyVariationTests {
    private func body(_ p: UVAPadova2008.Parameters, _ options: BodyOptions = .lifelike) -> UVAPadova2008 {
        UVAPadova2008(parameters: p, options: options)
    }

    /// A day with a meal, its bolus and a night.
    private func day(_ model: UVAPadova2008) throws -> [Double] {
        var course: [Double] = []
        model.injectBolus(InsulinAmount(units: 5), centredMinutesFromNow: 0)
        model.setCarbohydrateRate(milligramsPerMinute: 5000)
        try model.advance(byMinutes: 12)
        model.setCarbohydrateRate(milligramsPerMinute: 0)
        for _ in 0..<280 {
            try model.advance(byMinutes: 5)
            course.append(model.plasma)
        }
        return course
    }

    @Test func optionsThatFindNothingToDoChangeNothing() throws {
        for group in AgeGroup.allCases {
            let p = try generatedParameters(group, 3)
            let published = try day(body(p, .published))
            let lifelike = try day(body(p))
            // Every factor is 1; where glucose stays above 81 and utilisation positive, the equations are the published ones.
            guard published.allSatisfy({ (85...160).contains($0) }) else { continue }
            let off = zip(published, lifelike).map { abs($0 - $1) }.max() ?? .nan
            #expect(off < 0.02, "\(group): \(off)")
        }
    }

    /// A pump that is off for six hours must not carry anybody past 500 mg/dL through utilisation that has turned into production.
    @Test func withoutInsulinForSixHoursNobodyPasses500() throws {
        var past = (published: 0, lifelike: 0)
        for index in 0..<60 {
            let p = try generatedParameters(.child, index)
            for options in [BodyOptions.published, .lifelike] {
                let model = body(p, options)
                model.setInsulinRate(.zero)
                try model.advance(byMinutes: 360)
                guard model.plasma > 500 else { continue }
                if options == .lifelike { past.lifelike += 1 } else { past.published += 1 }
            }
        }
        #expect(past.published > 5 && past.lifelike == 0, "\(past)")
    }

    /// Insulin for a meal that is never eaten: what the brain leaves keeps more people out of nowhere.
    @Test func aLowIsLessDeepWhereTheBrainTakesLess() throws {
        for index in 0..<10 {
            let p = try generatedParameters(.adult, index)
            var nadirs: [Double] = []
            for options in [BodyOptions.published, .lifelike] {
                let model = body(p, options)
                model.injectBolus(InsulinAmount(units: 4), centredMinutesFromNow: 0)
                var lowest = model.plasma
                for _ in 0..<96 {
                    try model.advance(byMinutes: 5)
                    lowest = min(lowest, model.plasma)
                }
                nadirs.append(lowest)
            }
            #expect(nadirs[1] >= nadirs[0] - 0.05)
            if nadirs[0] < 50 { #expect(nadirs[1] > nadirs[0] + 2, "\(nadirs)") }
        }
    }

    /// 16 g against a falling glucose: through the stomach they come too late, on their own path within the quarter of an hour after
    /// which guidelines look again.
    @Test func rescueCarbohydrateActsBeforeOneLooksAgain() throws {
        var faster = 0
        for index in 0..<20 {
            let p = try generatedParameters(.adult, index)
            let plain = body(p)
            let eaten = body(p)
            let rescued = body(p)
            eaten.setCarbohydrateRate(milligramsPerMinute: 5000)
            rescued.swallowRescue(Carbohydrate(grams: 16))
            try eaten.advance(byMinutes: 3.2)
            eaten.setCarbohydrateRate(milligramsPerMinute: 0)
            try eaten.advance(byMinutes: 21.8)
            try rescued.advance(byMinutes: 25)
            try plain.advance(byMinutes: 25)
            #expect(rescued.plasma > plain.plasma + 8, "\(rescued.plasma) against \(plain.plasma)")
            if rescued.plasma > eaten.plasma { faster += 1 }
        }
        #expect(faster >= 16, "\(faster) of 20")
    }

    @Test func rescueCarbohydrateArrivesWhole() throws {
        let model = body(try generatedParameters(.adult, 1))
        model.swallowRescue(Carbohydrate(grams: 20))
        #expect(abs(model.carbohydrateInGut.grams - 20) < 1e-12)
        var arrived = 0.0
        for _ in 0..<2400 {
            let before = model.carbohydrateAbsorptionRate
            try model.advance(byMinutes: 0.1)
            arrived += (before + model.carbohydrateAbsorptionRate) / 2 * 0.1
        }
        #expect(abs(arrived - 20_000) < 20, "\(arrived) mg")
        #expect(model.carbohydrateInGut.grams < 0.01)
    }

    /// Meals whose insulin was forgotten, all day: what the kidney passes beyond the published term brings down everybody who is that high, and by more the
    /// higher they are.
    @Test func forgottenInsulinCarriesFewerPeopleFar() throws {
        var published = BodyOptions.lifelike
        published.excretesMore = false
        var past = (published: 0, lifelike: 0)
        for index in 0..<30 {
            let p = try generatedParameters(.child, index)
            let highest = try [published, .lifelike].map { options in
                let model = body(p, options)
                var highest = 0.0
                for _ in 0..<3 {
                    model.setCarbohydrateRate(milligramsPerMinute: 5000)
                    try model.advance(byMinutes: 14)
                    model.setCarbohydrateRate(milligramsPerMinute: 0)
                    for _ in 0..<60 {
                        try model.advance(byMinutes: 5)
                        highest = max(highest, model.plasma)
                    }
                }
                return highest
            }
            // Where a session would end.
            if highest[0] > 1000 { past.published += 1 }
            if highest[1] > 1000 { past.lifelike += 1 }
            if highest[0] > 700 { #expect(highest[1] < 0.85 * highest[0], "\(highest)") }
        }
        #expect(past.published > 5 && 3 * past.lifelike <= past.published, "\(past)")
    }

    @Test func lessSensitiveIsHigherAndDawnIsHigher() throws {
        let p = try generatedParameters(.adult, 2)
        func after(_ sensitivity: Double, _ rise: Double) throws -> Double {
            let model = body(p)
            for _ in 0..<72 {
                model.vary(
                    sensitivity: (sensitivity, sensitivity), productionRise: (rise, rise), overMinutes: 5)
                try model.advance(byMinutes: 5)
            }
            return model.plasma
        }
        let usual = try after(1, 0)
        #expect(abs(usual - p.Gb) < 0.05)
        #expect(try after(0.7, 0) > usual + 5)
        #expect(try after(1.4, 0) < usual - 5)
        #expect(try after(1, 0.1) > usual + 2)
    }

    @Test func mealsOfTheirOwnEmptyFasterOrSlowerAndArriveInTheirShare() throws {
        let p = try generatedParameters(.adult, 4)
        func absorbed(_ absorption: MealAbsorption, minutes: Double) throws -> Double {
            let model = body(p)
            model.absorb(absorption)
            model.setCarbohydrateRate(milligramsPerMinute: 5000)
            try model.advance(byMinutes: 10)
            model.setCarbohydrateRate(milligramsPerMinute: 0)
            try model.advance(byMinutes: minutes)
            return 50 - model.carbohydrateInGut.grams
        }
        let usual = try absorbed(.usual, minutes: 60)
        #expect(try absorbed(MealAbsorption(emptying: 1.5), minutes: 60) > usual + 1)
        #expect(try absorbed(MealAbsorption(emptying: 0.7), minutes: 60) < usual - 1)
        let model = body(p)
        model.absorb(MealAbsorption(availability: 10))
        #expect(model.engine.constants.pointee.p.f == 1, "nothing arrives twice")
    }

    @Test func aRestoredOrTakenBackBodyRepeatsBitForBit() throws {
        let p = try generatedParameters(.adolescent, 5)
        let model = body(p)
        model.absorb(MealAbsorption(emptying: 1.2, uptake: 0.8, availability: 1.05))
        model.setCarbohydrateRate(milligramsPerMinute: 5000)
        model.vary(sensitivity: (1.2, 1.1), productionRise: (0.02, 0.03), overMinutes: 5)
        try model.advance(byMinutes: 5)
        model.setCarbohydrateRate(milligramsPerMinute: 0)
        model.swallowRescue(Carbohydrate(grams: 16))
        let snapshot = model.snapshot
        func goOn(_ model: UVAPadova2008) throws -> [UInt64] {
            for _ in 0..<20 {
                model.vary(sensitivity: (1.1, 0.9), productionRise: (0.03, 0), overMinutes: 5)
                try model.advance(byMinutes: 5)
            }
            return model.snapshot.map(\.bitPattern)
        }
        let other = body(p)
        other.restore(snapshot)
        model.restore(snapshot)
        model.keep()
        let first = try goOn(model)
        #expect(try goOn(other) == first)
        let again = body(p)
        again.restore(snapshot)
        again.keep()
        try again.advance(byMinutes: 3)
        again.goBack()
        #expect(try goOn(again) == first)
    }

    @Test func levelsArePassedSmoothlyAndDawnsEnd() {
        let hour = Nanoseconds.hour
        func at(_ hours: Double) -> Instant { Instant(nanoseconds: Int64(hours * Double(hour))) }
        var variation = BodyVariation(
            levels: [
                .init(from: at(-20), sensitivity: 1), .init(from: at(4), sensitivity: 2),
                .init(from: at(7), sensitivity: 0.5),
            ], rises: [.init(from: at(3), until: at(8), height: 0.1)])
        #expect(variation.sensitivity(at: at(3)) == 1)
        #expect(abs(variation.sensitivity(at: at(4.5)) - (1 + 0.15625)) < 1e-9)
        #expect(variation.sensitivity(at: at(9)) == 0.5)
        // Looks may go back: a segment that was run ahead is taken back.
        #expect(variation.sensitivity(at: at(3)) == 1)
        #expect(variation.productionRise(at: at(3)) == 0 && variation.productionRise(at: at(8)) == 0)
        #expect(abs(variation.productionRise(at: at(5.5)) - 0.1) < 1e-12)
        #expect(variation.productionRise(at: at(20)) == 0)
        // No jump anywhere.
        var last = variation.sensitivity(at: at(2))
        for minute in 120..<720 {
            let now = variation.sensitivity(at: Instant.minutes(Int64(minute)))
            #expect(abs(now - last) < 0.05, "minute \(minute)")
            last = now
        }
    }
}
