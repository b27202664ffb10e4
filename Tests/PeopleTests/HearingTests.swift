// Who hears what, how soon, and with which luck.

import IsletAlerts
import IsletNumerics
import IsletDevices
import IsletKernel
import Testing

@testable import IsletPeople

@Suite("A person hears")
struct HearingTests {
    /// Rings at 03:00 of many people, `count` times five minutes apart, until one wakes; nobody acts in between.
    /// - Parameter before: whether it has rung about the same in that night, in an earlier sleep cycle, and woken nobody.
    private func nights(
        _ age: PersonAge, people: Int, rings count: Int, before: Bool = false,
        _ change: (inout PersonSettings) -> Void = { _ in }
    ) throws -> [[Bool]] {
        var settings = PersonSettings(.typical)
        settings.looksPerDay = 0
        settings.parentNights = 0
        change(&settings)
        settings.wakingDelay = 1440
        settings.wakingDelaySpread = 0
        settings.backToSleep = 0
        settings.fatigue = 0
        return try (0..<people).compactMap { subject in
            let world = PersonWorld(settings, age: age, hour: before ? 1 : 3, subject: UInt64(subject))
            defer { world.end() }
            var heard: [Bool] = []
            // Whom an earlier ring woke is not asked: the next sleep cycle knows nothing of it.
            if before, world.ring(.low) { return nil }
            for n in 0..<count {
                try world.advance(toMinute: Double(5 * n) + (before ? 90 : 0))
                heard.append(world.ring(.low))
                if heard.last == true { break }
            }
            return heard
        }
    }

    private func isWithin3Errors(_ share: Double, _ p: Double, _ n: Int) -> Bool {
        abs(share - p) <= 3 * (p * (1 - p) / Double(n)).squareRoot()
    }

    /// The chance that one of `chances` wakes where rings have `share` of their luck in common: the mean over sleep's depth.
    private func eventRate(_ chances: [Double], share: Double) -> Double {
        let steps = 2000
        var slept = 0.0
        for step in 0..<steps {
            let depth = Normal.quantile((Double(step) + 0.5) / Double(steps))
            slept += chances.reduce(1) { sleep, p in
                let z = (Normal.quantile(p) - share.squareRoot() * depth) / (1 - share).squareRoot()
                return sleep * (1 - Normal.cumulative(z))
            }
        }
        return 1 - slept / Double(steps)
    }

    @Test(
        "asleep as often as the settings say: the first ring of a night, a later event's first ring, and whole events, by age",
        arguments: [(PersonAge.adult, 0.37), (.adolescent, 0.53), (.child, 0.20)])
    func asleep(_ age: PersonAge, p: Double) throws {
        let people = 4000
        let first = try nights(age, people: people, rings: 4)
        let ofNight = Double(first.count { $0[0] }) / Double(people)
        #expect(isWithin3Errors(ofNight, 1.4 * p, people))
        let events = Double(first.count { $0.contains(true) }) / Double(people)
        #expect(isWithin3Errors(events, eventRate([1.4 * p, p, p, p], share: 0.3), people))
        let later = try nights(age, people: people, rings: 4, before: true)
        let ringFirst = Double(later.count { $0[0] }) / Double(later.count)
        #expect(isWithin3Errors(ringFirst, p, later.count))
        let laterEvents = Double(later.count { $0.contains(true) }) / Double(later.count)
        #expect(isWithin3Errors(laterEvents, eventRate([p, p, p, p], share: 0.3), later.count))
    }

    /// Buckingham 2005: 20 people of 4 to 17 years, 180 alarms asleep: 29 % woke; 66 % of events did, which is 2 to 4 alarms an event, some 60
    /// events in all, and a standard error of 6 points.
    @Test("asleep to single rings and to events of children and adolescents within what was published")
    func events() throws {
        var rates: [PersonAge: (ring: Double, event: Double)] = [:]
        for age in [PersonAge.child, .adolescent] {
            // The first of a night is one in nine.
            let nights = try nights(age, people: 2000, rings: 4, before: true)
            let rings = nights.reduce(0) { $0 + $1.count }
            let woken = nights.count { $0.contains(true) }
            rates[age] = (Double(woken) / Double(rings), Double(woken) / Double(nights.count))
        }
        let child = try #require(rates[.child]), adolescent = try #require(rates[.adolescent])
        // 17 % (4 to 6 years) and 20 % (7 to 11), 53 % (adolescents), each of some 60 rings: twice their standard errors.
        #expect((0.10...0.30).contains(child.ring), "\(child.ring)")
        #expect((0.40...0.66).contains(adolescent.ring), "\(adolescent.ring)")
        // Three in five events are children's where single rings wake 29 % in all.
        let pooled = 0.6 * child.event + 0.4 * adolescent.event
        #expect((0.54...0.78).contains(pooled), "\(child.event) and \(adolescent.event)")
        // With independent rings children and adolescents would wake to more.
        let independent = try nights(.child, people: 2000, rings: 4, before: true) { $0.depthShare = 0 }
        let woken = independent.count { $0.contains(true) }
        #expect(Double(woken) / Double(independent.count) > child.event + 0.05)
    }

    @Test("for a child, with a parent's ears at night: awake, asleep, and not where there is none")
    func parents() throws {
        let people = 3000
        // The child itself hears nothing here.
        let alone = try nights(.child, people: 200, rings: 1) { $0.wakesChild = 0 }
        #expect(!alone.contains([true]))
        func first(_ change: (inout PersonSettings) -> Void) throws -> (share: Double, count: Int) {
            let nights = try nights(.child, people: people, rings: 1, before: true, change)
            return (Double(nights.count { $0[0] }) / Double(nights.count), nights.count)
        }
        let asleep = try first {
            $0.wakesChild = 0
            $0.parentNights = 1
        }
        #expect(isWithin3Errors(asleep.share, 0.37, asleep.count))
        // Either hears, by luck of their own.
        let both = try first { $0.parentNights = 1 }
        #expect(isWithin3Errors(both.share, 1 - (1 - 0.37) * (1 - 0.20), both.count))
        // In half of the nights there is one.
        let half = try nights(.child, people: people, rings: 1) {
            $0.wakesChild = 0
            $0.parentNights = 0.5
            $0.firstRing = 1
        }
        #expect(isWithin3Errors(Double(half.count { $0[0] }) / Double(people), 0.185, people))
        // Adolescents and adults have none.
        let grown = try nights(.adolescent, people: 200, rings: 1) {
            $0.wakesAdolescent = 0
            $0.parentNights = 1
        }
        #expect(!grown.contains([true]))
    }

    /// The harm: one sleep cycle is 18 rings, and whoever slept as deep as that slept into a low that kills.
    @Test("of a deep low within a few rings, however deep the sleep; who is deaf to rings still doesn't")
    func deepLows() throws {
        for (preset, expected) in [(PersonPreset.typical, 150), (.muted, 0), (.deaf, 0)] {
            var settings = PersonSettings(preset)
            settings.looksPerDay = 0
            settings.feelsAwake = 0
            settings.feelsAsleep = 0
            settings.wakesAdult = 0
            var woken = 0
            for subject in 0..<150 {
                let world = PersonWorld(settings, hour: 3, subject: UInt64(subject))
                defer { world.end() }
                var isWoken = false
                for n in 0..<6 where !isWoken {
                    try world.advance(toMinute: Double(5 * n))
                    world.feel(42)
                    isWoken = world.ring(.low)
                }
                if isWoken { woken += 1 }
                // What isn't deep, or is over, is a ring like others.
                try world.advance(toMinute: 90)
                if !isWoken { world.feel(50) }
                #expect(isWoken || !world.ring(.low))
            }
            #expect(woken == expected, "\(preset)")
        }
    }

    @Test("and whose parent hears is treated: the child sleeps, a parent comes, and the low is eaten against")
    func parentTreats() throws {
        var settings = PersonSettings(.typical)
        settings.wakesChild = 0
        settings.wakesParent = 1
        settings.looksPerDay = 0
        let world = PersonWorld(settings, age: .child, hour: 2)
        defer { world.end() }
        world.show(60)
        #expect(world.ring(.low))
        try world.advance(toMinute: 60)
        #expect(world.body.eaten.count >= 1)
        #expect(world.recorder.person.map(\.kind).prefix(2) == [.parentHeard, .looked])
    }

    @Test("awake as often as the settings say, and takes as long")
    func awake() throws {
        var settings = PersonSettings(.typical)
        settings.looksPerDay = 0
        settings.fatigue = 0
        var heard = 0
        var logs: [Double] = []
        let people = 4000
        for subject in 0..<people {
            let world = PersonWorld(settings, hour: 12, subject: UInt64(subject))
            defer { world.end() }
            world.show(120)
            guard world.ring(.pump) else { continue }
            heard += 1
            try world.advance(toMinute: 1439)
            let opened = world.recorder.person.first { $0.kind == .looked }
            let minutes = try #require(opened?.instant.minutes)
            logs.append(naturalLogarithm(minutes))
        }
        #expect(isWithin3Errors(Double(heard) / Double(people), 0.9, people))
        let n = Double(logs.count)
        let mean = logs.reduce(0, +) / n
        let sd = (logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (n - 1)).squareRoot()
        #expect(abs(mean - naturalLogarithm(4)) <= 3 * 0.8 / n.squareRoot())
        #expect(abs(sd - 0.8) <= 3 * 0.8 / (2 * n).squareRoot())
    }

    @Test("less after rings that called for nothing, never below the floor, and as well again a week later")
    func fatigue() throws {
        let state = PersonState(
            PersonConfiguration(
                settings: PersonSettings(.typical), age: .adult,
                calendar: SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0),
                streams: RandomStreams(seed: 1, subject: 0), therapy: .testing,
                duration: .minutes(60 * 24 * 60)))
        #expect(state.attention(at: .start) == 1)
        state.noteNuisances(20, at: .start)
        #expect(abs(state.attention(at: .minutes(1)) - exponential(-0.5)) < 1e-12)
        state.noteNuisances(1000, at: .minutes(2))
        #expect(state.attention(at: .minutes(3)) == 0.3)
        #expect(state.attention(at: .minutes(60 * 24 * 7 + 3)) == 1)
    }

    @Test("with the same luck whatever else rings before, about something else or at another time")
    func luck() throws {
        // A second policy rings ten times as often about highs, and about the low an hour before: whoever is deaf to those is woken alike.
        var settings = PersonSettings(.typical)
        settings.looksPerDay = 0
        settings.fatigue = 0
        settings.wakingDelay = 1440
        settings.backToSleep = 0
        settings.firstRing = 1
        var agree = 0
        for subject in 0..<500 {
            let quiet = PersonWorld(settings, hour: 1, subject: UInt64(subject))
            let loud = PersonWorld(settings, hour: 1, subject: UInt64(subject))
            defer { quiet.end(); loud.end() }
            var wasWoken = false
            for minute in stride(from: 0.0, through: 100, by: 10) {
                try loud.advance(toMinute: minute)
                wasWoken = loud.ring(.high, code: "HIGH") || wasWoken
            }
            guard !wasWoken else { continue }
            try loud.advance(toMinute: 110)
            try quiet.advance(toMinute: 110)
            #expect(loud.ring(.low) == quiet.ring(.low))
            agree += 1
        }
        // A few people sleep on through eleven rings.
        #expect(agree > 0)
    }

    @Test("nothing, whoever is deaf")
    func deaf() throws {
        let world = PersonWorld(PersonSettings(.deaf), hour: 3)
        defer { world.end() }
        for minute in stride(from: 0.0, through: 2880, by: 5) {
            try world.advance(toMinute: minute)
            world.show(40)
            world.feel(25)
            #expect(!world.ring(.low))
        }
        #expect(world.phone.log.isEmpty)
        #expect(world.body.eaten.isEmpty)
    }
}

extension PersonSettingsTests {
    /// Every stored number is a row, once: none can be set or assumed in secret.
    @Test func everySettingIsARow() {
        let settings = PersonSettings(.typical)
        let stored = [Mirror(reflecting: settings), Mirror(reflecting: settings.counting)].flatMap {
            $0.children.compactMap { $0.value is Double ? $0.label : nil }
        }
        #expect(stored.sorted() == PersonSettings.rows.map(\.name).sorted())
    }

    @Test func presetsAreWithinTheirRanges() {
        for preset in PersonPreset.allCases {
            let settings = PersonSettings(preset)
            for row in PersonSettings.rows {
                #expect(row.range.contains(settings[keyPath: row.path]), "\(preset) \(row.name)")
                #expect(!row.source.text.isEmpty && !row.meaning.isEmpty, "\(row.name)")
            }
        }
    }
}

@Suite("A person's settings") struct PersonSettingsTests {}
