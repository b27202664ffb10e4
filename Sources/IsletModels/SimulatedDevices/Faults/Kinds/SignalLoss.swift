// Readings that don't arrive.
//
// Losses are two-state in steps of a sample.

import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let signalLoss = FaultKind(
        id: "signal-loss", meaning: "readings don't arrive, and are backfilled", source: "Emami 2015",
        rate: FaultRate(1.7, "1/day", 0...24),
        notice: .nothing("the flow leaves it to the sensor's own app; steps without glucose give basal"),
        signs: [.noReadings], sampling: FaultSampling(perDay: 0.5...12, medianMinutes: 12, spread: 1.2),
        effect: .sensor(.part { SignalLosses($0) }))
}

final class SignalLosses: SensorFault {
    /// Samples that a short loss lasts are geometric with this p, up to `longestShortLoss`: nine in ten losses < 20 min.
    static let shortLossP = 0.45
    static let longestShortLoss = 4
    static let longLossShare = 0.02
    /// Minutes.
    static let longLossMedian = 60.0
    static let longLossSpread = 0.8
    /// By day as often again as by night.
    static let dayWeight = 2.0

    private let log: FaultLog
    private let times: FaultTimes?
    private var next: Instant
    private var until: Instant?

    init(_ setting: SensorFaultSetting) {
        log = setting.log
        times = setting.rate.map { rate in
            // A loss can't begin during one: the hazard in between is higher for it.
            let free = 1 - min(0.9, rate * Self.meanMinutes / 1440)
            let night = rate / free / (16 * Self.dayWeight + 8)
            return FaultTimes(
                setting.streams.stream("fault.signal-loss"), perDayHour: Self.dayWeight * night,
                perNightHour: night, startOfDay: setting.startOfDay)
        }
        next = times?.next(after: setting.now) ?? .distantFuture
    }

    /// Mean length of a loss.
    static var meanMinutes: Double {
        let q = 1 - shortLossP
        var (weight, sum) = (0.0, 0.0)
        for n in 1...longestShortLoss {
            let p = power(q, Double(n - 1)) * shortLossP
            weight += p
            sum += p * Double(n)
        }
        let long = longLossMedian * exponential(longLossSpread * longLossSpread / 2)
        return (1 - longLossShare) * 5 * sum / weight + longLossShare * long
    }

    func begin(_ fault: ScheduledFault) {
        lose(from: fault.at, until: fault.at.adding(fault.nanoseconds), now: fault.at)
    }

    func advance(to now: Instant) {
        if let end = until, end <= now {
            until = nil
            log.end(.signalLoss, at: end)
        }
        while next <= now, let times {
            let end = next.adding(Self.nanoseconds(times.random))
            lose(from: next, until: end, now: now)
            next = times.next(after: end)
        }
    }

    func nextChange(after now: Instant) -> Instant { min(next, until ?? .distantFuture) }

    var holdsReadingsBack: Bool { until != nil }

    private func lose(from began: Instant, until end: Instant, now: Instant) {
        if let current = until {
            until = max(current, end)
            return
        }
        log.begin(.signalLoss, at: began)
        if end <= now { log.end(.signalLoss, at: end) } else { until = end }
    }

    static func nanoseconds(_ random: GSLRandom) -> Int64 {
        guard random.uniform() >= longLossShare else {
            return GSLRandom.minutes(
                random.logNormal(mu: naturalLogarithm(longLossMedian), sigma: longLossSpread))
        }
        while true {
            let samples = random.geometric(p: shortLossP)
            if samples <= longestShortLoss { return Int64(samples) * 5 * Nanoseconds.minute }
        }
    }
}
