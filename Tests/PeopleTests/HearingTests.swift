// Who hears what, how soon, and with which luck.

import Alerts
import Records
import SessionTime
import SimulationKernel
import Testing

@testable import People

@Suite("A person hears")
struct HearingTests {
    /// Rings at 03:00 of many people, `count` times five minutes apart; nobody acts in between.
    private func nights(_ age: PersonAge, people: Int, rings count: Int) throws -> [[Bool]] {
        var settings = PersonSettings(.typical)
        settings.looksPerDay = 0
        settings.wakingDelay = 1440
        settings.wakingDelaySpread = 0
        settings.backToSleep = 0
        settings.fatigue = 0
        return try (0..<people).map { subject in
            let world = PersonWorld(settings, age: age, hour: 3, subject: UInt64(subject))
            defer { world.end() }
            var heard: [Bool] = []
            for n in 0..<count {
                try world.advance(toMinute: Double(5 * n))
                heard.append(world.ring(.low))
                if heard.last == true { break }
            }
            return heard
        }
    }

    private func isWithin3Errors(_ share: Double, _ p: Double, _ n: Int) -> Bool {
        abs(share - p) <= 3 * (p * (1 - p) / Double(n)).squareRoot()
    }

    @Test(
        "asleep as often as the settings say: the first ring, the later ones, and whole events, by age",
        arguments: [(PersonAge.adult, 0.37), (.adolescent, 0.53), (.child, 0.20)])
    func asleep(_ age: PersonAge, p: Double) throws {
        let people = 4000
        let nights = try nights(age, people: people, rings: 4)
        let first = Double(nights.count { $0[0] }) / Double(people)
        #expect(isWithin3Errors(first, 1.4 * p, people))
        let later = nights.flatMap { $0.dropFirst() }
        #expect(isWithin3Errors(Double(later.count { $0 }) / Double(later.count), p, later.count))
        // An event of four rings, 20 min: 1 - Π(1 - p_i).
        var sleepOn = 1 - 1.4 * p
        for _ in 0..<3 { sleepOn *= 1 - p }
        let events = Double(nights.count { $0.contains(true) }) / Double(people)
        #expect(isWithin3Errors(events, 1 - sleepOn, people))
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
            logs.append(logarithm(minutes))
        }
        #expect(isWithin3Errors(Double(heard) / Double(people), 0.9, people))
        let n = Double(logs.count)
        let mean = logs.reduce(0, +) / n
        let sd = (logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (n - 1)).squareRoot()
        #expect(abs(mean - logarithm(4)) <= 3 * 0.8 / n.squareRoot())
        #expect(abs(sd - 0.8) <= 3 * 0.8 / (2 * n).squareRoot())
    }

    @Test("less after rings that called for nothing, never below the floor, and as well again a week later")
    func fatigue() throws {
        var mind = PersonMind(
            PersonConfiguration(
                settings: PersonSettings(.typical), age: .adult,
                calendar: SessionCalendar(startEpochSeconds: 0, offsetSeconds: 0),
                streams: RandomStreams(seed: 1, subject: 0), therapy: .testing,
                duration: .minutes(60 * 24 * 60)))
        #expect(mind.attention(at: .start) == 1)
        mind.calledForNothing(20, at: .start)
        #expect(abs(mind.attention(at: .minutes(1)) - exponential(-0.5)) < 1e-12)
        mind.calledForNothing(1000, at: .minutes(2))
        #expect(mind.attention(at: .minutes(3)) == 0.3)
        #expect(mind.attention(at: .minutes(60 * 24 * 7 + 3)) == 1)
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
        let stored = Mirror(reflecting: settings).children.compactMap { $0.value is Double ? $0.label : nil }
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
