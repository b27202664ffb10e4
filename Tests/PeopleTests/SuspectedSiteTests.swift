// What a person beside a loop makes of a high that lasts, and the three ways in which that can do harm: a failed site that nobody suspects, one that is
// changed in vain again and again, and a pen's insulin on top of what is on board.

import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletPeople

@Suite("A site is suspected")
struct SuspectedSiteTests {
    private func settings(_ change: (inout PersonSettings) -> Void = { _ in }) -> PersonSettings {
        var settings = PersonSettings(.attentive)
        settings.noticesAwake = 1
        settings.looksPerDay = 200
        settings.changesSite = 1
        (settings.checksKetonesAdult, settings.correctsByPen) = (0, 0)
        change(&settings)
        return settings
    }

    private struct Course {
        var hours = 8
        var mgdl: (Int) -> Double = { _ in 310 }
        /// Since when it is high, minutes.
        var since: (Int) -> Int? = { _ in 0 }
        var anHourAgo: Double? = 310
        var isBesideLoop = true
        var ringsAt: Int?
        var meals: [PlannedMeal] = []
    }

    /// Lives through some hours from noon on, a minute at a time.
    private func live(
        _ course: Course, _ settings: PersonSettings, hour: Int64 = 12, age: PersonAge = .adult,
        _ phone: (FakePhone) -> Void = { _ in }, each: (PersonWorld, Int) -> Void = { _, _ in }
    ) throws -> PersonWorld {
        let world = PersonWorld(
            settings, age: age, hour: hour, meals: course.meals, isBesideLoop: course.isBesideLoop)
        world.phone.isClosedLoop = true
        world.phone.anHourAgo = course.anHourAgo
        phone(world.phone)
        for minute in 0..<course.hours * 60 {
            try world.advance(toMinute: Double(minute))
            world.show(course.mgdl(minute))
            world.phone.highSince = course.since(minute).map { .minutes(Int64($0)) }
            if course.ringsAt == minute { world.ring(.high, code: "HIGH", bound: 250) }
            each(world, minute)
        }
        return world
    }

    private func rows(_ world: PersonWorld, _ kinds: PersonRow.Kind...) -> [PersonRow] {
        world.recorder.person.filter { kinds.contains($0.kind) }
    }

    @Test("whoever looks changes the pod of a failed site, two hours into the high and no sooner")
    func failed() throws {
        var course = Course()
        course.hours = 4
        let world = try live(course, settings()) { $0.siteFails = true }
        defer { world.end() }
        let changes = rows(world, .siteChange)
        let at = try #require(changes.first?.instant.minutes)
        #expect((120.0..<180).contains(at), "\(at)")
        #expect(changes.count == 1 && rows(world, .siteChangeInVain).isEmpty)
        let worn = try #require(world.phone.podWornSince?.minutes)
        #expect(abs(worn - at - 20) < 1e-6, "\(worn)")
        #expect(rows(world, .siteSuspected).first.map { abs($0.amount - at) < 1e-6 } == true)
    }

    @Test("whom an alarm told of the high looks again when it has lasted, without a look of their own")
    func alarm() throws {
        var course = Course()
        course.ringsAt = 30
        func changed(_ heard: Double) throws -> [Double] {
            let world = try live(course, settings { ($0.looksPerDay, $0.noticesAwake) = (0, heard) })
            defer { world.end() }
            return rows(world, .siteChangeInVain).map(\.instant.minutes)
        }
        #expect(try changed(1).first == 120)
        // The harm that is left: nobody looks, and nobody is told.
        #expect(try changed(0).isEmpty)
    }

    @Test(
        "nobody thinks of it without a loop, where it isn't so high, where glucose falls, after a meal, with a fresh pod, without one, or with a dead app",
        arguments: 0..<9)
    func never(_ which: Int) throws {
        var (course, settings) = (Course(), self.settings())
        course.hours = 3
        var prepare: (FakePhone) -> Void = { _ in }
        switch which {
        case 0: course.isBesideLoop = false
        case 1: course.mgdl = { _ in 250 }
        case 2: course.anHourAgo = 361
        case 3:
            course.meals = [PlannedMeal(instant: .minutes(70), carbohydrate: Carbohydrate(grams: 20))]
        case 4: prepare = { $0.podWornSince = .minutes(70) }
        case 5: prepare = { $0.podWornSince = nil }
        case 6: settings.suspectsSite = 0
        case 7:
            settings.reopensApp = 0
            prepare = { $0.isAppAlive = false }
        default: settings = PersonSettings(.deaf)
        }
        let world = try live(course, settings, prepare)
        defer { world.end() }
        #expect(rows(world, .siteSuspected, .siteChange, .siteChangeInVain).isEmpty, "\(which)")
        #expect(!world.phone.log.contains { $0.hasPrefix("site") } && world.phone.injected.isEmpty)
        // The same hours without what was changed do lead to it.
        let other = try live(Course(hours: 3), self.settings())
        defer { other.end() }
        #expect(rows(other, .siteChangeInVain).count == 1)
    }

    @Test("two days of one high cost two pods in vain, not one at each look; the next high may cost another")
    func inVain() throws {
        var course = Course()
        course.hours = 48
        let one = try live(course, settings { $0.correctsByPen = 1 })
        defer { one.end() }
        let instants = rows(one, .siteChangeInVain).map(\.instant.minutes)
        #expect(instants.count == 2 && rows(one, .siteChange).isEmpty)
        #expect((instants.last ?? 0) - (instants.first ?? 0) >= 140, "\(instants)")
        #expect(one.person.here(on: one.executor).siteChangesInVain == 2)
        course.mgdl = { (1500..<1560).contains($0) ? 180 : 310 }
        course.since = { $0 < 1500 ? 0 : $0 < 1560 ? nil : 1560 }
        let two = try live(course, settings())
        defer { two.end() }
        #expect(rows(two, .siteChangeInVain).count == 4)
    }

    @Test("ketones decide where they are looked for, and by age as many look as said that they do")
    func ketones() throws {
        func world(_ hasKetones: Bool, changes: Double) throws -> PersonWorld {
            try live(
                Course(hours: 4), settings { ($0.checksKetonesAdult, $0.changesSite) = (1, changes) }
            ) { $0.hasKetones = hasKetones }
        }
        let found = try world(true, changes: 0)
        defer { found.end() }
        #expect(rows(found, .ketonesChecked).map(\.amount) == [1])
        #expect(rows(found, .siteChangeInVain).count == 1 && found.phone.injected.count == 1)
        let none = try world(false, changes: 1)
        defer { none.end() }
        #expect(rows(none, .ketonesChecked).allSatisfy { $0.amount == 0 })
        #expect(rows(none, .siteChange, .siteChangeInVain).isEmpty && none.phone.injected.isEmpty)
        #expect(!rows(none, .siteSuspected).isEmpty)
        for (age, share) in [(PersonAge.adult, 0.11), (.adolescent, 0.17), (.child, 0.33)] {
            #expect(PersonSettings(.typical).checksKetones(age) == share)
        }
    }

    @Test(
        "a pen gives no more than a correction, in half units, and not on top of another, of sugar, or of a meal's bolus"
    )
    func pen() throws {
        func injected(
            _ course: Course = Course(hours: 4), hasKetones: Bool = false,
            _ change: (inout PersonSettings) -> Void = { _ in },
            each: (PersonWorld, Int) -> Void = { _, _ in }
        ) throws -> [(minute: Double, units: Double)] {
            let world = try live(
                course,
                settings {
                    ($0.correctsByPen, $0.checksKetonesAdult) = (1, hasKetones ? 1 : 0)
                    change(&$0)
                }, { $0.hasKetones = hasKetones }, each: each)
            defer { world.end() }
            return world.phone.injected
        }
        // 310 to 140 at 40 mg/dL a unit are 4.25 U.
        #expect(try injected().map(\.units) == [4])
        #expect(try injected { $0.correctsTowards = 600 }.isEmpty)
        // Once more in the same high, though ketones are found again, and hours after the first.
        let long = try injected(Course(hours: 10), hasKetones: true) { $0.suspectsAgain = 200 }
        #expect(long.count == 2, "\(long)")
        let soon = try injected(Course(hours: 10), hasKetones: true) { $0.siteChangesOfHigh = 9 }
        #expect(soon.count > 1)
        for course in [long, soon] {
            for (one, next) in zip(course, course.dropFirst()) { #expect(next.minute - one.minute >= 180) }
        }
        // A bolus for a meal of 2½ h ago is on board, unless ketones say that it never arrived.
        var eaten = Course(hours: 4)
        eaten.meals = [PlannedMeal(instant: .minutes(90), carbohydrate: Carbohydrate(grams: 40))]
        eaten.since = { _ in 60 }
        let before = try injected(eaten)
        #expect(before.isEmpty, "\(before)")
        #expect(try injected(eaten, hasKetones: true).count == 1)
        // Sugar of half an hour ago is not answered by a pen.
        let sugar = try injected(Course(hours: 3), hasKetones: true) { _ in
        } each: { world, minute in
            if minute % 30 == 0 { world.person.here(on: world.executor, ate: 16) }
        }
        #expect(sugar.isEmpty, "\(sugar)")
    }

    @Test("what is done doesn't hang on whether the site fails: the record alone does")
    func blind() throws {
        var (vain, right) = ([[String]](), [[String]]())
        for seed in 0..<20 {
            for fails in [false, true] {
                var course = Course(hours: 9)
                course.ringsAt = 10 + seed
                let world = try live(
                    course, settings { ($0.changesSite, $0.correctsByPen, $0.looksPerDay) = (0.5, 0.5, 20) }
                ) { $0.siteFails = fails }
                defer { world.end() }
                let log = world.phone.log + world.phone.injected.map { "pen \($0)" }
                if fails { right.append(log) } else { vain.append(log) }
                #expect(rows(world, fails ? .siteChangeInVain : .siteChange).isEmpty)
            }
        }
        #expect(vain == right && vain.contains { $0.contains { $0.hasPrefix("site") } })
    }

    @Test(
        "a high alarm at night that doesn't wake, a site that fails: it is found in the morning, and not before"
    )
    func night() throws {
        func first(_ wakes: Double) throws -> Double? {
            var course = Course(hours: 12)
            course.since = { _ in 0 }
            let world = try live(
                course, settings { ($0.wakesAdult, $0.firstRing, $0.sleepSpread) = (wakes, 1, 0) }, hour: 23,
                { $0.siteFails = true }
            ) { world, minute in
                if minute >= 60, minute % 30 == 0 { world.ring(.high, code: "HIGH", bound: 250) }
            }
            defer { world.end() }
            return rows(world, .siteChange).first?.instant.minutes
        }
        let (asleep, woken) = (try #require(try first(0)), try #require(try first(1)))
        #expect(asleep >= 480, "up at seven: \(asleep)")
        #expect((120.0..<180).contains(woken), "\(woken)")
    }
}

extension Person {
    fileprivate nonisolated func here(on executor: SessionExecutor) -> PersonFacts {
        executor.inspect { here { $0.facts() } } ?? PersonFacts()
    }
    fileprivate nonisolated func here(on executor: SessionExecutor, ate grams: Double) {
        executor.inspect { here(Carbohydrate(grams: grams)) { $0.ate(againstLow: $1) } }
    }
}
