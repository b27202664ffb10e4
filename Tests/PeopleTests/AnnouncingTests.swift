// Meal insulin that comes late, not at all, or beside something else: what a person must not make of it in the hours after.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletPeople

@Suite("A person announces")
struct AnnouncingTests {
    private func settings(_ change: (inout PersonSettings) -> Void = { _ in }) -> PersonSettings {
        var settings = PersonSettings(.attentive)
        settings.looksPerDay = 150
        settings.correctsOpenLoop = 1
        settings.feelsAwake = 0
        settings.fetch = 0
        settings.rescueSpread = 0
        settings.asksAgain = 1
        change(&settings)
        return settings
    }

    private func meal(at minute: Int64, grams: Double, late: Int64?) -> PlannedMeal {
        var meal = PlannedMeal(instant: .minutes(minute), carbohydrate: Carbohydrate(grams: grams))
        meal.announcement = late.map {
            MealAnnouncement(carbohydrate: Carbohydrate(grams: grams), instant: .minutes(minute + $0))
        }
        return meal
    }

    /// Looks all the time while the phone shows `mgdl`.
    private func live(_ world: PersonWorld, from: Double = 0, to: Double, _ mgdl: (Double) -> Double) throws {
        for minute in stride(from: from, through: to, by: 1) {
            world.show(mgdl(minute))
            try world.advance(toMinute: minute)
        }
    }

    @Test(
        "one bolus for a meal that is bolused for late, and no correction of its rise, before or for hours after"
    )
    func lateAndHigh() throws {
        let world = PersonWorld(settings(), meals: [meal(at: 60, grams: 80, late: 25)])
        defer { world.end() }
        try live(world, to: 61) { _ in 120 }
        try live(world, from: 61, to: 60 + 25 + 175) { _ in 300 }
        #expect(world.body.announced.map(\.minute) == [85])
        #expect(world.body.asked.isEmpty)
        // Hours later a high that is still there is corrected.
        try live(world, from: 261, to: 330) { _ in 300 }
        #expect(world.body.asked.count == 1)
    }

    @Test("no bolus for a meal that is long absorbed, however late a study makes them, and says so")
    func tooLate() throws {
        let world = PersonWorld(settings(), meals: [meal(at: 60, grams: 80, late: 200)])
        defer { world.end() }
        try live(world, to: 600) { _ in 130 }
        #expect(world.body.announced.isEmpty)
        #expect(world.recorder.person.filter { $0.kind == .bolusLeftOut }.map(\.amount) == [80])
        // And what it leaves high may be corrected, once in three hours.
        try live(world, from: 601, to: 700) { _ in 300 }
        #expect(world.body.asked.count == 1)
    }

    @Test(
        "a late bolus waits for a low to be treated, is given once then, and left out where that takes too long",
        arguments: [(90.0, 1), (60.0, 0)])
    func lateAndLow(after mgdl: Double, boluses: Int) throws {
        let world = PersonWorld(settings { $0.mealWait = 0 }, meals: [meal(at: 60, grams: 80, late: 20)])
        defer { world.end() }
        try live(world, to: 70) { _ in 110 }
        world.show(60)
        world.ring(.low)
        try live(world, from: 71, to: 82) { _ in 60 }
        #expect(world.body.announced.isEmpty, "insulin while a low was treated")
        let sugar = world.body.eaten.dropFirst()
        #expect(sugar.count >= 1)
        try live(world, from: 83, to: 400) { _ in mgdl }
        #expect(world.body.announced.count == boluses)
        #expect(world.body.announced.allSatisfy { $0.minute <= 120 })
        #expect(world.recorder.person.count { $0.kind == .bolusLeftOut } == 1 - boluses)
    }

    @Test("a missed bolus is corrected once, and not right before the next meal, whose bolus corrects")
    func missedAndCorrected() throws {
        let plan = [meal(at: 60, grams: 80, late: nil), meal(at: 180, grams: 60, late: 0)]
        let world = PersonWorld(settings(), meals: plan)
        defer { world.end() }
        try live(world, to: 119) { $0 < 61 ? 120 : 300 }
        #expect(world.body.asked.count == 1)
        let other = PersonWorld(settings(), meals: plan)
        defer { other.end() }
        try live(other, to: 350) { $0 < 121 ? 120 : 300 }
        #expect(other.body.asked.isEmpty)
        #expect(other.body.announced.map(\.minute) == [180])
    }

    /// What was dropped is shown; everything else is as a study may have it.
    private func askedAgain(
        _ dropped: Int64, _ mgdl: Double, meals: [PlannedMeal], at minute: Double,
        before: (PersonWorld) throws -> Void = { _ in }
    ) throws -> Bool {
        let world = PersonWorld(
            settings {
                $0.looksPerDay = 0
                $0.correctsAbove = 250
            }, meals: meals)
        defer { world.end() }
        try before(world)
        try world.advance(toMinute: minute)
        world.phone.dropped = PersonDropped(
            at: .minutes(dropped), insulin: InsulinAmount(units: 4), carbohydrate: .zero)
        world.show(mgdl)
        world.ring(.pump)
        try world.advance(toMinute: minute + 6)
        return world.phone.log.contains("ask again")
    }

    @Test(
        "no meal's insulin again beside a bolus that came since, one that is still to come, or for an absorbed meal"
    )
    func againOnce() throws {
        let onTime = meal(at: 60, grams: 80, late: 0)
        #expect(try askedAgain(75, 200, meals: [onTime], at: 80))
        // Another meal was bolused for since.
        let snack = meal(at: 78, grams: 15, late: 0)
        #expect(try !askedAgain(75, 200, meals: [onTime, snack], at: 80))
        // Another is eaten, and its bolus still to come.
        let late = meal(at: 78, grams: 40, late: 20)
        #expect(try !askedAgain(75, 200, meals: [onTime, late], at: 80))
        // Bolused for half an hour late, dropped a quarter of an hour later, seen another twenty minutes later.
        #expect(try !askedAgain(105, 200, meals: [meal(at: 60, grams: 80, late: 30)], at: 125))
        // A correction, then a meal: of the two something was dropped.
        let corrected = try askedAgain(75, 200, meals: [meal(at: 66, grams: 80, late: 0)], at: 80) { world in
            try world.advance(toMinute: 5)
            world.show(300)
            world.ring(.high)
            try world.advance(toMinute: 60)
        }
        #expect(corrected, "a correction an hour ago has nothing to do with it")
    }
}
