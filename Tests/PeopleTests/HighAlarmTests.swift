// What a high alarm brings about, and what helps in a low that nobody treats.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletPeople

@Suite("A high alarm leads somewhere")
struct HighAlarmTests {
    private func settings(_ change: (inout PersonSettings) -> Void = { _ in }) -> PersonSettings {
        var settings = PersonSettings(.attentive)
        settings.looksPerDay = 0
        settings.noticesAwake = 1
        settings.correctsAlarmed = 1
        change(&settings)
        return settings
    }

    /// Rings once at noon, and goes on showing the same.
    private func after(
        _ alarm: Double?, showing mgdl: Double, hours: Int = 6,
        _ change: (inout PersonSettings) -> Void = { _ in }, meals: [PlannedMeal] = []
    ) throws -> PersonWorld {
        let world = PersonWorld(settings(change), meals: meals)
        for minute in 0..<hours * 60 {
            try world.advance(toMinute: Double(minute))
            world.show(mgdl)
            if minute == 30, let alarm { world.ring(.high, code: "HIGH", bound: alarm) }
        }
        return world
    }

    @Test("what is above the threshold that somebody chose is corrected, once; what is below it is not")
    func threshold() throws {
        for (alarm, mgdl, times) in [
            (180.0, 190.0, 1), (180, 165, 0), (250, 245, 1), (160, 149, 0), (300, 215, 0),
        ] {
            let world = try after(alarm, showing: mgdl)
            defer { world.end() }
            #expect(world.body.asked.count == times, "\(alarm) rang at \(mgdl): \(world.body.asked)")
        }
    }

    @Test("while a bolus acts it is not; when that is over, they look again and it is, without another ring")
    func waits() throws {
        let meal = PlannedMeal(instant: .minutes(10), carbohydrate: Carbohydrate(grams: 40))
        let world = try after(180, showing: 240, meals: [meal])
        defer { world.end() }
        #expect(world.body.asked.count == 1)
        #expect((world.body.asked.first?.minute ?? 0) >= 190, "\(world.body.asked)")
        let over = PersonWorld(settings(), meals: [meal])
        defer { over.end() }
        for minute in 0..<360 {
            try over.advance(toMinute: Double(minute))
            over.show(minute < 120 ? 240 : 130)
            if minute == 30 { over.ring(.high, code: "HIGH", bound: 180) }
        }
        #expect(over.body.asked.isEmpty, "a high that was over was corrected")
    }

    /// Harm: hours of a low that is felt, because a look for a correction is planned.
    @Test(
        "a low that is felt, or warned of, is acted on before the look that was planned about the high",
        arguments: [true, false])
    func lowGoesFirst(isFelt: Bool) throws {
        let meal = PlannedMeal(instant: .minutes(10), carbohydrate: Carbohydrate(grams: 40))
        let world = PersonWorld(settings { $0.treatsSeen = 1 }, meals: [meal])
        defer { world.end() }
        for minute in 0..<180 {
            try world.advance(toMinute: Double(minute))
            // A correction is allowed again at 190.
            world.show(minute < 90 ? 240 : minute < 100 || isFelt ? 84 : 62)
            if minute == 30 { world.ring(.high, code: "HIGH", bound: 180) }
            if minute == 95, !isFelt { world.ring(.low) }
            if minute == 95, isFelt { world.feel(55) }
        }
        let first = world.body.eaten.first { $0.minute > 90 }
        #expect((first?.minute ?? .infinity) < (isFelt ? 105 : 120), "\(world.body.eaten)")
    }

    @Test("beside an algorithm nothing is corrected, and unheard alarms lead nowhere")
    func never() throws {
        let deaf = try after(180, showing: 240) { $0.noticesAwake = 0 }
        defer { deaf.end() }
        #expect(deaf.body.asked.isEmpty)
        let world = PersonWorld(settings())
        defer { world.end() }
        world.phone.isClosedLoop = true
        for minute in 0..<300 {
            try world.advance(toMinute: Double(minute))
            world.show(240)
            if minute % 30 == 0 { world.ring(.high, code: "HIGH", bound: 180) }
        }
        #expect(world.body.asked.isEmpty)
    }

    @Test("others help where glucose is so low that they see it, not above, and not who nobody reaches")
    func help() throws {
        func eaten(_ mgdl: Double, _ change: (inout PersonSettings) -> Void = { _ in }) throws -> [Double] {
            let world = PersonWorld(
                settings {
                    ($0.noticesAwake, $0.feelsAwake, $0.feelsAsleep) = (0, 0, 0)
                    $0.helped = 0.5
                    change(&$0)
                })
            defer { world.end() }
            for minute in stride(from: 0.0, to: 120, by: 5) {
                try world.advance(toMinute: minute)
                world.feel(mgdl)
            }
            return world.body.eaten.map(\.grams)
        }
        #expect(try !eaten(35).isEmpty)
        #expect(try eaten(45).isEmpty)
        #expect(try eaten(35) { $0.helped = 0 }.isEmpty)
        #expect(PersonSettings(.deaf).helped == 0)
    }

    @Test("not every low that is seen is treated at once; a severe one is")
    func watched() throws {
        func minutes(_ mgdl: Double, _ share: Double) throws -> [Double] {
            let world = PersonWorld(settings { $0.treatsSeen = share })
            defer { world.end() }
            for minute in 0..<120 {
                try world.advance(toMinute: Double(minute))
                world.show(mgdl)
                if minute == 5 { world.ring(.low, bound: 70) }
            }
            return world.body.eaten.map(\.minute)
        }
        #expect(try minutes(65, 0).isEmpty)
        #expect(try minutes(65, 1).first.map { $0 < 20 } == true)
        #expect(try minutes(45, 0).first.map { $0 < 20 } == true)
    }

    @Test("a child eats by weight, an adult doesn't; who is unaware feels lows later, and is so for ever")
    func traits() throws {
        let typical = PersonSettings(.typical)
        var feels: [Double] = []
        for index in 0..<400 {
            let streams = RandomStreams(seed: 1, subject: UInt64(index))
            let own = typical.own(streams, subject: nil)
            #expect(own == typical.own(streams, subject: nil))
            #expect(own.rescue == typical.rescue)
            feels.append(own.feelsBelow)
        }
        let unaware = feels.count { $0 == typical.unawareFeelsBelow }
        #expect((55...105).contains(unaware), "\(unaware) of 400")
        #expect(Set(feels).count > 250)
    }
}
