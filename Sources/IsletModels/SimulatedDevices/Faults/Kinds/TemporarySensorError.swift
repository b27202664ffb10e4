// A sensor that has no reading for a while.

import IsletDevices
import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let temporarySensorError = FaultKind(
        id: "temporary-sensor-error", meaning: "the sensor has no reading for a while", source: "assumed",
        rate: FaultRate(0.1, "1/day", 0...24),
        notice: .alerts(["ALERT-CGM-UNAVAILABLE", "ALERT-CGM-FAILED-OR-EXPIRED"], unless: .unseen),
        signs: [.noReadings], sampling: FaultSampling(perDay: 0.5...8, medianMinutes: 30, spread: 1),
        effect: .sensor(.part { TemporarySensorErrors($0) }))
}

final class TemporarySensorErrors: SensorFault {
    /// Minutes: 95 % end within 3 h (assumed).
    static let median = 45.0
    static let spread = 0.84
    /// On the first day of wear, against later (assumed).
    static let firstDayWeight = 3.0

    private let log: FaultLog
    private let times: FaultTimes?
    private var next: Instant
    private var until: Instant?
    private var shown = SensorState.temporaryError
    private var insertedAt = Instant.start

    init(_ setting: SensorFaultSetting) {
        log = setting.log
        times = setting.rate.map { rate in
            // The hazard of the first day; later ones are thinned.
            let days = Double(setting.device.life) / Double(Nanoseconds.day)
            // An error can't begin during one: the hazard in between is higher for it.
            let mean = Self.median * exponential(Self.spread * Self.spread / 2)
            let free = 1 - min(0.9, rate * mean / 1440)
            let perDay = rate / free * Self.firstDayWeight * days / (Self.firstDayWeight + days - 1)
            return FaultTimes(
                setting.streams.stream("fault.temporary-sensor-error"), perHour: perDay / 24)
        }
        next = times?.next(after: setting.now) ?? .distantFuture
    }

    func begin(_ fault: ScheduledFault) {
        err(
            from: fault.at, until: fault.at.adding(fault.nanoseconds), .temporaryError, now: fault.at)
    }

    func sensorChanged(at instant: Instant) {
        if until != nil { log.end(.temporarySensorError, at: instant) }
        until = nil
        insertedAt = instant
    }

    func advance(to now: Instant) {
        if let end = until, end <= now {
            until = nil
            log.end(.temporarySensorError, at: end)
        }
        while next <= now, let times {
            let random = times.random
            // Drawn on the first day of wear, too: which day it is must not shift what comes later.
            let isThinned = random.uniform() >= 1 / Self.firstDayWeight
            let isKept = !isThinned || next.nanoseconds - insertedAt.nanoseconds < Nanoseconds.day
            let minutes = random.logNormal(mu: naturalLogarithm(Self.median), sigma: Self.spread)
            let state: SensorState = random.uniform() < 0.5 ? .temporaryError : .noReliableGlucose
            if isKept { err(from: next, until: next.adding(GSLRandom.minutes(minutes)), state, now: now) }
            next = times.next(after: next)
        }
    }

    func nextChange(after now: Instant) -> Instant { min(next, until ?? .distantFuture) }

    var state: SensorState? { until == nil ? nil : shown }

    private func err(from began: Instant, until end: Instant, _ state: SensorState, now: Instant) {
        if let current = until {
            until = max(current, end)
            return
        }
        shown = state
        log.begin(.temporarySensorError, at: began)
        if end <= now { log.end(.temporarySensorError, at: end) } else { until = end }
    }
}
