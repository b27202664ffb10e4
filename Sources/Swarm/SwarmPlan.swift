// What a seed of the swarm stands for: one person's day in closed loop, and the faults that spoil it.
//
// Guarantees: a pure function of the seed. Each kind of fault is on or off, has a rate of its own, and stands in the study as
// faults at instants, so that they can be taken away one by one; what has no instant (habits) stands as a setting.
// Does not: know what a fault does. Lengths and rates are chosen to reach corners, not to be likely.

package import IsletFiles
package import IsletTrials
internal import IsletDevices
package import IsletLoop
internal import IsletNumerics
internal import IsletPeople
internal import Glibc
internal import IsletKernel
internal import IsletModels

package enum SwarmPlan {
    package static let defaultDuration = TimeSpan(seconds: 86_400)
    /// Faults of one kind in a day, at most.
    static let mostPerDay = 40

    /// The day of a seed; the same faults and person for each algorithm.
    package static func study(
        seed: UInt64, duration: TimeSpan = defaultDuration, algorithm: TunedAlgorithm = .pidInsulinFeedback
    ) throws -> Study {
        let streams = RandomStreams(seed: seed, subject: 0)
        var choice = streams.stream("swarm.study")
        // Either is Vettoretti's model of 2019; they differ in their warm-up.
        let sensor: SensorModel = choice.next() % 2 == 0 ? .vettoretti2019 : .dexcomG7
        var study = try Study.parse(
            """
            study: swarm
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            arms: [{ name: closed-loop, algorithm: pid-insulin-feedback }]
            """, file: "swarm")
        study.arms[0].algorithm = algorithm
        study.name = "swarm-\(seed)"
        study.seed = seed
        study.duration = duration
        study.sensor = TunedSensor(sensor)
        study.faults = faults(streams, duration: duration)
        study.person = person(streams)
        return study
    }

    /// Nobody listens to a third of the days; the others have a person who hears and acts, some with habits that no guide would advise. Half of them
    /// miscount, forget and come late.
    static func person(_ streams: RandomStreams) -> Study.Listener {
        var choice = streams.stream("swarm.person")
        let kind = choice.next() % 6
        if kind < 2 { return .nobody }
        var settings = PersonSettings(kind < 4 ? .typical : .attentive)
        if kind % 2 == 1 {
            // Corrects beside the loop, as soon and as often as settings allow, and asks again for whatever lapsed.
            settings.correctsClosedLoop = 1
            settings.correctsAfter = 2
            settings.correctsAbove = 150
            settings.looksPerDay = 60
            settings.asksAgain = 1
            // Changes pods at the first high, again and again, and has a pen beside it.
            (settings.suspectsAfter, settings.suspectsAgain) = (30, 60)
            (settings.changesSite, settings.siteChangesOfHigh, settings.correctsByPen) = (1, 10, 1)
        }
        if choice.next() % 2 == 0 {
            settings.announcing = .own
            if kind % 2 == 1 {
                settings.counting.lateBoluses = 0.8
                settings.counting.latestLate = 120
                settings.counting.countingSpread = 0.6
            }
        }
        return .somebody(settings)
    }

    static func faults(_ streams: RandomStreams, duration: TimeSpan) -> Study.Faults {
        var faults = Study.Faults.none
        for kind in FaultKind.all where kind.strikesClosedLoop {
            let random = GSLRandom(streams.stream("swarm.faults", index: UInt64(kind.index)))
            guard random.uniform() < 0.5 else { continue }
            guard let sampling = kind.sampling else {
                let rate = random.uniform(in: 0.5...6)
                faults.settings[kind.index] = .rate(min(rate, kind.rate.range.upperBound))
                continue
            }
            let (low, high) = (log(sampling.perDay.lowerBound), log(sampling.perDay.upperBound))
            let rate = exp(random.uniform(in: low...high))
            let most = Int((Double(mostPerDay) * max(1, duration.days)).rounded(.up))
            for _ in 0..<min(most, random.poisson(mean: rate * duration.days)) {
                let at = Int64(random.uniform() * Double(duration.seconds))
                let minutes = random.logNormal(mu: log(sampling.medianMinutes), sigma: sampling.spread)
                let length = min(max(1, Int64(minutes * 60)), 6 * 3600)
                faults.scheduled.append(
                    Study.Faults.Entry(
                        kind: kind, time: .once(TimeSpan(seconds: at)), length: TimeSpan(seconds: length)))
            }
        }
        faults.scheduled.sort { $0.time.since < $1.time.since }
        return faults
    }
}

extension MealTime {
    /// For the order of a plan: what comes daily comes first.
    fileprivate var since: TimeSpan {
        if case .once(let span) = self { return span }
        return TimeSpan(seconds: 0)
    }
}
