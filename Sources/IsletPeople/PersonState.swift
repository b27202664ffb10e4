// What a person knows and intends: what is due, what was heard, what was eaten and dosed lately.

import IsletAlerts
import IsletDevices
import IsletKernel

/// The state of one person: a class, so that no look at it copies it.
final class PersonState {
    /// Why the phone is looked at.
    enum Cause: UInt64 {
        case ownAccord, alert, recheck
    }

    /// A bolus for a meal that was eaten before.
    struct LateBolus {
        var at: Instant
        var meal: MealAnnouncement
        /// Its first bite.
        var eaten: Instant
    }

    struct HeardAlert {
        var topic: AlertTopic
        var code: AlertName
        var glucoseBound: Double?
    }

    let settings: PersonSettings
    let age: PersonAge
    let draws: PersonDraws
    private let configuration: PersonConfiguration
    private var sleep: PersonSleep
    /// The chance to hear, sleeping, of somebody of this age.
    let wakes: Double

    // What is due
    var attendsAt: Instant?
    var rechecksAt: Instant?
    var looksAt: Instant?
    var closesAt: Instant?
    var bites: (at: Instant, grams: Double)?

    // Hearing
    /// Heard, and not looked into yet.
    var heard: [HeardAlert] = []
    /// By topic: the slot of the last ring and how many there were in it.
    private var ringSlots = [Int64](repeating: -1, count: AlertTopic.allCases.count)
    private var ringsInSlot = [Int](repeating: 0, count: AlertTopic.allCases.count)
    private var lastRings = [Instant?](repeating: nil, count: AlertTopic.allCases.count)
    /// By topic: the evening of the last night in which it rang.
    private var ringNights = [Int64?](repeating: nil, count: AlertTopic.allCases.count)
    /// The parent of a child; nil for others.
    private var parent: (draws: PersonDraws, sleep: PersonSleep)?
    /// Rings that called for nothing, oldest first.
    private var nuisances: [Instant] = []
    /// Awake at night until then.
    var awakeUntil = Instant.start

    // Feeling
    /// The last that the body told of a low, mg/dL.
    var plasma: (at: Instant, mgdl: Double)?
    var lastLow: Instant?
    var lowDraw = 1.0
    var feltAt: Instant?

    // Doing
    var lastRescue: Instant?
    var lastMeal: Instant?
    /// Rescues of the last two hours.
    private var rescues: [(at: Instant, grams: Double)] = []
    var lastBolus: Instant?
    /// By hand, against a high.
    var lastCorrection: Instant?
    /// The first bite of what was announced last.
    var announcedMeal: Instant?
    /// The bound of a high alarm that was heard and is not settled: corrected, over, or long ago.
    var highAlarm: (bound: Double, heardAt: Instant)?
    /// When the site was thought of last, and pods changed for it in the high that began then.
    var lastSuspicion: Instant?
    var siteChanges: (high: Instant, count: Int)?
    /// Meals that are eaten, and whose bolus is still to come.
    var owedBoluses = 0
    /// Late boluses that wait for a low to be over, soonest first.
    var lateBoluses: [LateBolus] = []
    /// The next meal of the plan.
    var nextMeal: Instant?
    var seenDropped: Instant?
    /// The first ring about the low that has not been treated, and whether it was at night.
    var lowRang: (at: Instant, isNight: Bool)?
    /// Something was eaten against this low: what rings about it later is no other one.
    var hasEatenInLow = false
    private var lookDay: Int64?
    private var lookCount = 0
    private var lookClock = Instant.start
    var counts = PersonFacts()

    init(_ configuration: PersonConfiguration) {
        self.configuration = configuration
        settings = configuration.settings
        age = configuration.age
        draws = PersonDraws(configuration.streams)
        sleep = PersonSleep(configuration.settings, configuration.age, configuration.calendar, draws)
        wakes = configuration.settings.wakes(configuration.age)
        if age == .child, settings.parentNights > 0 {
            let draws = PersonDraws(configuration.streams, of: .parent)
            parent = (draws, PersonSleep(configuration.settings, .adult, configuration.calendar, draws))
        }
    }

    var therapy: TherapySettings { configuration.therapy }
    /// Whether they think of the site where glucose stays high.
    var watchesSite: Bool { configuration.isBesideLoop && settings.suspectsSite > 0 }

    var next: Instant? {
        var next = Instant.distantFuture
        if let attendsAt { next = min(next, attendsAt) }
        if let rechecksAt { next = min(next, rechecksAt) }
        if let looksAt { next = min(next, looksAt) }
        if let closesAt { next = min(next, closesAt) }
        if let bites { next = min(next, bites.at) }
        if let late = lateBoluses.first { next = min(next, late.at) }
        return next == .distantFuture ? nil : next
    }

    static func nanoseconds(_ minutes: Double) -> Int64 { Int64(minutes * Double(Nanoseconds.minute)) }
    static func minutes(_ from: Instant, _ to: Instant) -> Double {
        Double(to.nanoseconds - from.nanoseconds) / Double(Nanoseconds.minute)
    }

    /// exp(ln median + spread·z), within a day.
    static func logNormal(_ median: Double, _ spread: Double, _ z: Double) -> Double {
        min(median * exponential(spread * z), 1440)
    }

    // MARK: Sleep

    func isNight(at now: Instant) -> Bool { sleep.isNight(at: now) }

    func isAsleep(at now: Instant) -> Bool { now >= awakeUntil && sleep.isNight(at: now) }

    /// Awake now, and for a while.
    func stayAwake(from now: Instant, until instant: Instant) {
        awakeUntil = max(awakeUntil, instant.adding(Self.nanoseconds(settings.backToSleep)))
        guard isNight(at: now) || isNight(at: awakeUntil) else { return }
        if let last = counts.awake.last, last.to >= now {
            counts.awake[counts.awake.count - 1].to = max(last.to, awakeUntil)
        } else {
            counts.awake.append((now, awakeUntil))
        }
    }

    func ate(at now: Instant) {
        lastMeal = now
        stayAwake(from: now, until: now)
    }

    // MARK: Looking of one's own accord

    /// The next look after `now`, at random over the day's waking hours. Those of a day don't hang on what else was looked at.
    func planLook(after now: Instant) {
        looksAt = nil
        guard settings.looksPerDay > 0 else { return }
        if lookDay == nil {
            let day = configuration.calendar.day(of: now)
            lookDay = day
            lookClock = sleep.night(day - 1).to
        }
        while let day = lookDay, lookClock <= configuration.duration {
            let bed = sleep.night(day).from
            let awake = Double(bed.nanoseconds - sleep.night(day - 1).to.nanoseconds)
            let mean = max(awake / settings.looksPerDay, Double(Nanoseconds.second))
            let gap = min(draws.look(day, n: lookCount) * mean, Double(2 * Nanoseconds.day))
            lookClock = lookClock.adding(Int64(gap) + 1)
            lookCount += 1
            if lookClock >= bed {
                lookDay = day + 1
                lookCount = 0
                lookClock = sleep.night(day).to
            } else if lookClock > now {
                looksAt = lookClock
                return
            }
        }
    }

    // MARK: Rings

    /// Counts a ring; says the how many-th about this it is in its slot, from 0, and whether it is the first of an event.
    func count(_ topic: AlertTopic, at now: Instant) -> (n: Int, isFirst: Bool) {
        let place = Int(topic.rawValue)
        let slot = now.nanoseconds / PersonDraws.slot
        if ringSlots[place] != slot {
            ringSlots[place] = slot
            ringsInSlot[place] = 0
        }
        let n = ringsInSlot[place]
        ringsInSlot[place] += 1
        let gap = Self.nanoseconds(settings.ringGap)
        let isFirst = lastRings[place].map { now.nanoseconds - $0.nanoseconds > gap } ?? true
        lastRings[place] = now
        return (n, isFirst)
    }

    /// The body tells of a low every five minutes.
    private static let low = 6 * Nanoseconds.minute

    /// Whether nothing about this has rung yet in the night of `now`.
    func isFirstOfNight(_ topic: AlertTopic, at now: Instant) -> Bool {
        let (place, night) = (Int(topic.rawValue), sleep.eveningDay(of: now))
        defer { ringNights[place] = night }
        return ringNights[place] != night
    }

    /// Minutes from a ring to the phone in the hand, of the person and of a parent; nil for who doesn't hear it. A parent listens while a child sleeps.
    func ears(
        _ topic: AlertTopic, at now: Instant, n: Int, isAsleep: Bool, isFirst: Bool
    ) -> (own: Double?, parents: Double?) {
        let attention = attention(at: now)
        let (settings, first) = (settings, isFirst ? settings.firstRing : 1)
        let isDeep =
            plasma.map { $0.mgdl < settings.wakesBelow && now.nanoseconds - $0.at.nanoseconds <= Self.low }
            ?? false
        func delay(_ draws: PersonDraws, _ isAsleep: Bool, _ wakes: Double) -> Double? {
            guard isAsleep else {
                let (uniform, z) = draws.ring(topic, at: now, n: n)
                guard uniform < settings.noticesAwake * attention else { return nil }
                return Self.logNormal(settings.awakeDelay, settings.awakeDelaySpread, z)
            }
            let (uniform, z) = draws.sleepingRing(
                topic, at: now, n: n, share: settings.depthShare, cycle: Self.nanoseconds(settings.sleepCycle)
            )
            guard uniform < min(1, wakes * first) * attention else { return nil }
            return Self.logNormal(settings.wakingDelay, settings.wakingDelaySpread, z)
        }
        // A deep low makes for light sleep, or for a noise that others would wake of.
        let own = isAsleep && isDeep ? delay(draws, false, wakes) : delay(draws, isAsleep, wakes)
        guard isAsleep, let parents = parent?.draws,
            parents.isSo(settings.parentNights, inNightOf: sleep.eveningDay(of: now))
        else { return (own, nil) }
        let sleeps = parent?.sleep.isNight(at: now) ?? true
        return (own, delay(parents, sleeps, settings.wakesParent))
    }

    /// A factor on the chance to hear.
    func attention(at now: Instant) -> Double {
        let oldest = now.adding(-Int64(settings.fatigueDays * Double(Nanoseconds.day)))
        if let first = nuisances.first, first < oldest { nuisances.removeAll { $0 < oldest } }
        guard !nuisances.isEmpty else { return 1 }
        return max(settings.fatigueFloor, exponential(-settings.fatigue * Double(nuisances.count) / 20))
    }

    func noteNuisances(_ count: Int, at now: Instant) {
        guard settings.fatigue > 0 else { return }
        // More than these move nothing.
        for _ in 0..<count where nuisances.count < 10_000 { nuisances.append(now) }
    }

    // MARK: Rescues

    /// Grams of the last two hours.
    func rescued(at now: Instant) -> Double {
        rescues.removeAll { $0.at.adding(2 * Nanoseconds.hour) <= now }
        return rescues.reduce(0) { $0 + $1.grams }
    }

    func rescue(_ grams: Double, at now: Instant) {
        lastRescue = now
        rescues.append((now, grams))
    }

    // MARK: Facts

    func facts(until end: Instant) -> PersonFacts {
        var facts = counts
        var sleep = sleep
        var day = sleep.eveningDay(of: .start) - 1
        while true {
            let night = sleep.night(day)
            if night.from >= end { break }
            if night.to > .start { facts.nights.append((night.from, night.to)) }
            day += 1
        }
        return facts
    }
}
