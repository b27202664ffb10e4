// What a person does, and what they must never do.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletPeople

extension TherapySettings {
    static let testing = TherapySettings(
        bodyWeightKilograms: 70, basalRate: InsulinRate(unitsPerHour: 1), carbohydrateRatioGramsPerUnit: 10,
        correctionFactorMgdlPerUnit: 40, totalDailyInsulin: InsulinAmount(units: 45))
}

@Suite("A person acts")
struct ActingTests {
    private func settings(_ change: (inout PersonSettings) -> Void = { _ in }) -> PersonSettings {
        var settings = PersonSettings(.attentive)
        settings.looksPerDay = 0
        settings.noticesAwake = 1
        settings.feelsAwake = 1
        settings.rescueSpread = 0
        change(&settings)
        return settings
    }

    /// Lives with a low that nothing lifts, and with everything that can ring and be felt about it.
    private func endlessLow(_ mgdl: Double, hours: Double, _ settings: PersonSettings) throws -> PersonWorld {
        let world = PersonWorld(settings)
        for minute in stride(from: 0.0, through: hours * 60, by: 1) {
            try world.advance(toMinute: minute)
            world.show(mgdl)
            world.phone.toAcknowledge = [("LOW", world.executor.now.adding(-Nanoseconds.minute))]
            world.ring(.low, code: "LOW")
            world.ring(.low, code: "URGENT-LOW")
            world.ring(.low, code: "URGENT-LOW-SOON")
            if minute.truncatingRemainder(dividingBy: 5) == 0 { world.feel(mgdl) }
        }
        return world
    }

    @Test(
        "once on one low, however many alerts ring and however it is felt: not again within 15 min, nor above the limit in two hours",
        arguments: [65.0, 40])
    func oneRescueAtATime(mgdl: Double) throws {
        let world = try endlessLow(mgdl, hours: 12, settings())
        defer { world.end() }
        let eaten = world.body.eaten
        #expect(eaten.count > 10)
        for (before, after) in zip(eaten, eaten.dropFirst()) { #expect(after.minute - before.minute >= 15) }
        for (index, one) in eaten.enumerated() {
            let lately = eaten[...index].filter { one.minute - $0.minute < 120 }
            #expect(lately.reduce(0) { $0 + $1.grams } <= 75)
        }
    }

    /// Harm: an alarm that goes on ringing while somebody eats looks quicker, by a second and a third delay of its own.
    @Test("on a low, and its delay counts once, from the first ring to the first bite")
    func oneDelayALow() throws {
        let world = try endlessLow(62, hours: 3, settings())
        defer { world.end() }
        #expect(world.body.eaten.count > 3)
        let facts = try #require(world.executor.inspect { world.person.here { $0.facts() } })
        #expect(facts.treated.sum == 1)
        #expect(abs(facts.treatMinutes.sum - (world.body.eaten.first?.minute ?? 0)) < 1e-9)
        // Seen to be over, the next one is another.
        world.show(110)
        try world.advance(toMinute: 400)
        world.show(62)
        world.ring(.low)
        try world.advance(toMinute: 430)
        #expect(world.executor.inspect { world.person.here { $0.facts() } }?.treated.sum == 2)
    }

    @Test("on a low soon: acknowledges, eats, looks again a quarter of an hour later and is content")
    func treats() throws {
        let world = PersonWorld(settings())
        defer { world.end() }
        world.show(62)
        try world.advance(toMinute: 1)
        world.phone.toAcknowledge = [("LOW", .start)]
        world.ring(.low)
        try world.advance(toMinute: 15)
        #expect(world.body.eaten.map(\.grams) == [settings().rescue])
        #expect(world.phone.log.prefix(2) == ["open", "acknowledge LOW"])
        world.show(85)
        try world.advance(toMinute: 120)
        #expect(world.body.eaten.count == 1)
        #expect(world.recorder.person.filter { $0.kind == .looked }.count == 2)
        // The app went back behind.
        #expect(
            world.phone.log.filter { $0 == "open" }.count == world.phone.log.filter { $0 == "close" }.count)
    }

    @Test(
        "with 32 g on a severe low, also right after a meal, and waits after a meal else",
        arguments: [(45.0, 1), (65, 0)])
    func afterAMeal(mgdl: Double, rescues: Int) throws {
        let meal = PlannedMeal(instant: .minutes(1), carbohydrate: Carbohydrate(grams: 50))
        let world = PersonWorld(settings { $0.rescueWait = 60 }, meals: [meal])
        defer { world.end() }
        try world.advance(toMinute: 2)
        world.show(mgdl)
        world.ring(.low)
        try world.advance(toMinute: 12)
        #expect(world.body.eaten.dropFirst().map(\.grams) == (rescues == 0 ? [] : [32]))
        // And then it is eaten against.
        try world.advance(toMinute: 20)
        world.show(mgdl)
        try world.advance(toMinute: 30)
        #expect(world.body.eaten.count == 2)
    }

    @Test("on nothing that is old, or not there")
    func staleReadings() throws {
        let world = PersonWorld(settings())
        defer { world.end() }
        world.show(50)
        try world.advance(toMinute: 16)
        world.ring(.low)
        try world.advance(toMinute: 60)
        #expect(world.body.eaten.isEmpty)
    }

    @Test(
        "by hand on a high in open loop, within the maximum bolus and hours apart; beside an algorithm never")
    func corrections() throws {
        for isClosed in [false, true] {
            let world = PersonWorld(
                settings {
                    $0.correctsOpenLoop = 1
                    $0.looksPerDay = 100
                })
            defer { world.end() }
            world.phone.isClosedLoop = isClosed
            for minute in stride(from: 0.0, through: 2880, by: 5) {
                try world.advance(toMinute: minute)
                world.show(590)
            }
            let asked = world.body.asked
            if isClosed {
                #expect(asked.isEmpty)
                continue
            }
            #expect(asked.count > 4)
            #expect(asked.allSatisfy { $0.units <= TherapySettings.testing.maximumBolus.units })
            for (before, after) in zip(asked, asked.dropFirst()) {
                #expect(after.minute - before.minute >= 180)
            }
        }
    }

    @Test("and asks again for what lapsed while it is fresh and glucose is not low, and puts it away else")
    func asksAgain() throws {
        for (mgdl, age, expected) in [(180.0, 10.0, "ask again"), (180, 40, "dismiss"), (65, 10, "dismiss")] {
            let world = PersonWorld(settings { $0.asksAgain = 1 })
            defer { world.end() }
            try world.advance(toMinute: 60)
            world.phone.dropped = PersonDropped(
                at: world.executor.now.adding(-Int64(age) * Nanoseconds.minute),
                insulin: InsulinAmount(units: 2),
                carbohydrate: .zero)
            world.show(mgdl)
            world.ring(.pump)
            try world.advance(toMinute: 65)
            #expect(world.phone.log.contains(expected))
            // Once, however often they look.
            world.ring(.pump)
            try world.advance(toMinute: 70)
            #expect(world.phone.log.filter { $0 == expected }.count == 1)
        }
    }

    @Test("on pods and sensors that are over, and opens an app that is dead")
    func devices() throws {
        let world = PersonWorld(settings())
        defer { world.end() }
        world.phone.podNeedsChange = true
        world.phone.sensorNeedsChange = true
        world.phone.isAppAlive = false
        world.show(120)
        world.ring(.pump)
        try world.advance(toMinute: 10)
        #expect(world.phone.isAppAlive)
        #expect(world.phone.log.contains { $0.hasPrefix("pod ") })
        #expect(world.phone.log.contains { $0.hasPrefix("sensor ") })
    }

    @Test("looks ten times a day by themselves, never asleep")
    func looks() throws {
        var settings = PersonSettings(.typical)
        settings.sleepSpread = 0
        let world = PersonWorld(settings, hour: 12)
        defer { world.end() }
        let days = 200.0
        try world.advance(toMinute: days * 1440)
        let opened = world.phone.log.filter { $0 == "open" }.count
        let expected = 9.9 * days
        #expect(abs(Double(opened) - expected) < 4 * expected.squareRoot())
    }
}
