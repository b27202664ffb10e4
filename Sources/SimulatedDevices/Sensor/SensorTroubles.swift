// What goes wrong with a sensor: compression lows, losses of signal, temporary errors, early failure, a late change.
//
// Guarantees: each kind draws from a stream of its own, and sensor k's failure and change from streams of index k; every
// span is logged with its true instants. Asking costs one comparison while nothing begins or ends.
// Does not: touch the error model's draws: a reading outside a fault is the one that the same session has without.
//
// Sources: durations and amplitudes of compression lows after Facchinetti 2016 (5th, 50th, 95th percentiles), a
// rectangle through a first-order system whose time constant is assumed; losses two-state in steps of a sample.

import Devices
import GSL
import SessionTime
import SimulationKernel

final class SensorTroubles {
    /// Of the first-order system that a compression passes through (assumed).
    static let compressionTimeConstant = 10 * Span.minute
    /// mg/dL: what is left of a compression below this is nothing.
    static let negligibleCompression = 0.25
    /// Samples that a short loss lasts are geometric with this p, up to `longestShortLoss`: nine in ten losses < 20 min.
    static let shortLossP = 0.45
    static let longestShortLoss = 4
    static let longLossShare = 0.02
    /// Minutes.
    static let longLossMedian = 60.0
    static let longLossSpread = 0.8
    /// By day as often again as by night.
    static let lossDayWeight = 2.0
    /// Minutes: 95 % end within 3 h (assumed).
    static let errorMedian = 45.0
    static let errorSpread = 0.84
    /// On the first day of wear, against later (assumed).
    static let errorFirstDayWeight = 3.0
    /// From a failure to the next sensor, where the person isn't late (assumed).
    static let replacementDelay = 30 * Span.minute

    struct Compression {
        var began: Instant
        var ends: Instant
        /// mg/dL.
        var amplitude: Double

        func depth(at now: Instant) -> Double {
            let tau = Double(SensorTroubles.compressionTimeConstant)
            func share(_ from: Instant, _ to: Instant) -> Double {
                exponential(-Double(to.nanoseconds - from.nanoseconds) / tau)
            }
            if now <= ends { return amplitude * (1 - share(began, now)) }
            return amplitude * (1 - share(began, ends)) * share(ends, now)
        }
    }

    private let plan: FaultPlan
    private let device: SensorDevice
    private let streams: RandomStreams
    let log: FaultLog
    private var compressions: FaultTimes?
    private var losses: FaultTimes?
    private var errors: FaultTimes?
    private var nextCompression = Instant.distantFuture
    private var nextLoss = Instant.distantFuture
    private var nextError = Instant.distantFuture
    private var scheduled: ArraySlice<ScheduledFault>

    private(set) var active: [Compression] = []
    private(set) var lostUntil: Instant?
    private(set) var errorUntil: Instant?
    private(set) var errorState = SensorState.temporaryError
    private var insertedAt = Instant.start
    /// When the sensor in use fails; `distantFuture` for one that doesn't.
    private(set) var failsAt = Instant.distantFuture
    /// When the person puts the next one in.
    private(set) var changeAt = Instant.distantFuture
    private var hasFailed = false
    /// Nothing begins or ends before.
    private(set) var nextChange = Instant.start

    init(
        plan: FaultPlan, device: SensorDevice, streams: RandomStreams, startOfDay: Int64, log: FaultLog,
        at now: Instant
    ) {
        self.plan = plan
        self.device = device
        self.streams = streams
        self.log = log
        scheduled = plan.scheduled.filter { $0.kind.isOfSensor }[...]
        if let rate = plan.rate(of: .compressionLow) {
            compressions = FaultTimes(
                streams.stream("fault.compression-low"), perDayHour: 0, perNightHour: rate / 8,
                startOfDay: startOfDay)
        }
        if let rate = plan.rate(of: .signalLoss) {
            // A loss can't begin during one: the hazard in between is higher for it.
            let free = 1 - min(0.9, rate * Self.meanLossMinutes / 1440)
            let night = rate / free / (16 * Self.lossDayWeight + 8)
            losses = FaultTimes(
                streams.stream("fault.signal-loss"), perDayHour: Self.lossDayWeight * night,
                perNightHour: night, startOfDay: startOfDay)
        }
        if let rate = plan.rate(of: .temporarySensorError) {
            // The hazard of the first day; later ones are thinned.
            let days = Double(device.life) / Double(Span.day)
            // An error can't begin during one: the hazard in between is higher for it.
            let mean = Self.errorMedian * exponential(Self.errorSpread * Self.errorSpread / 2)
            let free = 1 - min(0.9, rate * mean / 1440)
            let perDay = rate / free * Self.errorFirstDayWeight * days / (Self.errorFirstDayWeight + days - 1)
            errors = FaultTimes(streams.stream("fault.temporary-sensor-error"), perHour: perDay / 24)
        }
        nextCompression = compressions?.next(after: now) ?? .distantFuture
        nextLoss = losses?.next(after: now) ?? .distantFuture
        nextError = errors?.next(after: now) ?? .distantFuture
    }

    /// Mean length of a loss.
    static var meanLossMinutes: Double {
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

    /// A new sensor, the `index`-th of the subject.
    func insert(index: UInt64, at instant: Instant) {
        if hasFailed { log.end(.sensorFailure, at: instant) }
        if log.isOpen(.lateSensorChange) { log.end(.lateSensorChange, at: instant) }
        if errorUntil != nil { log.end(.temporarySensorError, at: instant) }
        errorUntil = nil
        hasFailed = false
        insertedAt = instant
        failsAt = .distantFuture
        let change = GSLRandom(streams.stream("fault.sensor-change", index: index))
        let (lateness, delay) = (change.exponential(mean: 1), change.exponential(mean: 1))
        let mean = plan.rate(of: .lateSensorChange).map { $0 * Double(Span.hour) }
        changeAt = instant.adding(device.life + Int64(lateness * (mean ?? 0)))
        if let share = plan.rate(of: .sensorFailure), share > 0 {
            let random = GSLRandom(streams.stream("fault.sensor-failure", index: index))
            let life = random.weibull(scale: device.failureScale(share: share), shape: device.failureShape)
            if life < Double(device.life + device.grace) {
                failsAt = instant.adding(Int64(life))
                let replaced = failsAt.adding(Self.replacementDelay + Int64(delay * (mean ?? 0)))
                changeAt = min(changeAt, replaced)
                if failsAt >= changeAt { failsAt = .distantFuture }
            }
        }
        nextChange = .start
    }

    /// Brings everything up to `now`; call when `now` has reached `nextChange`.
    func advance(to now: Instant) {
        while let fault = scheduled.first, fault.at <= now {
            scheduled.removeFirst()
            begin(fault)
        }
        while nextCompression <= now, let times = compressions {
            let random = times.random
            compress(from: nextCompression, minutes: random.splitLogNormal(30, 45, 70), random)
            nextCompression = times.next(after: nextCompression)
        }
        if let end = lostUntil, end <= now {
            lostUntil = nil
            log.end(.signalLoss, at: end)
        }
        while nextLoss <= now, let times = losses {
            let end = nextLoss.adding(Self.lossNanoseconds(times.random))
            lose(from: nextLoss, until: end, now: now)
            nextLoss = times.next(after: end)
        }
        if let end = errorUntil, end <= now {
            errorUntil = nil
            log.end(.temporarySensorError, at: end)
        }
        while nextError <= now, let times = errors {
            let random = times.random
            // Drawn on the first day of wear, too: which day it is must not shift what comes later.
            let isThinned = random.uniform() >= 1 / Self.errorFirstDayWeight
            let isKept = !isThinned || nextError.nanoseconds - insertedAt.nanoseconds < Span.day
            let minutes = random.logNormal(mu: logarithm(Self.errorMedian), sigma: Self.errorSpread)
            let state: SensorState = random.uniform() < 0.5 ? .temporaryError : .noReliableGlucose
            if isKept {
                err(from: nextError, until: nextError.adding(GSLRandom.minutes(minutes)), state, now: now)
            }
            nextError = times.next(after: nextError)
        }
        if failsAt <= now, !hasFailed {
            hasFailed = true
            log.begin(.sensorFailure, at: failsAt)
        }
        endCompressions(at: now)
        let expires = insertedAt.adding(device.life + device.grace)
        if expires <= now, changeAt > expires, !hasFailed, !log.isOpen(.lateSensorChange) {
            log.begin(.lateSensorChange, at: expires)
        }
        setNextChange(after: now)
    }

    private func setNextChange(after now: Instant) {
        var next = min(nextCompression, nextLoss, nextError, scheduled.first?.at ?? .distantFuture)
        if let lostUntil { next = min(next, lostUntil) }
        if let errorUntil { next = min(next, errorUntil) }
        if !hasFailed { next = min(next, failsAt) }
        if !active.isEmpty { next = now.adding(1) }
        let expires = insertedAt.adding(device.life + device.grace)
        if changeAt > expires, expires > now { next = min(next, expires) }
        nextChange = next
    }

    // MARK: Kinds

    private func begin(_ fault: ScheduledFault) {
        let end = fault.at.adding(fault.nanoseconds)
        switch fault.kind {
        case .compressionLow:
            let random = GSLRandom(
                streams.stream(
                    "fault.compression-low.scheduled", index: UInt64(bitPattern: fault.at.nanoseconds)))
            compress(
                from: fault.at, minutes: Double(fault.nanoseconds) / Double(Span.minute), random)
        case .signalLoss: lose(from: fault.at, until: end, now: fault.at)
        case .temporarySensorError: err(from: fault.at, until: end, .temporaryError, now: fault.at)
        case .sensorFailure where !hasFailed:
            failsAt = fault.at
            changeAt = end
        default: break
        }
    }

    private func compress(from began: Instant, minutes: Double, _ random: GSLRandom) {
        let amplitude = random.splitLogNormal(10, 24, 48)
        active.append(
            Compression(began: began, ends: began.adding(GSLRandom.minutes(minutes)), amplitude: amplitude))
        log.begin(.compressionLow, at: began)
        closing.append(began.adding(GSLRandom.minutes(minutes)))
    }

    /// Ends of compressions that are not logged yet, in the order of their beginnings.
    private var closing: [Instant] = []

    private func endCompressions(at now: Instant) {
        while let end = closing.first, end <= now {
            closing.removeFirst()
            log.end(.compressionLow, at: end)
        }
        active.removeAll { $0.ends <= now && $0.depth(at: now) < Self.negligibleCompression }
    }

    private func lose(from began: Instant, until end: Instant, now: Instant) {
        if let current = lostUntil {
            lostUntil = max(current, end)
            return
        }
        log.begin(.signalLoss, at: began)
        if end <= now { log.end(.signalLoss, at: end) } else { lostUntil = end }
    }

    private func err(from began: Instant, until end: Instant, _ state: SensorState, now: Instant) {
        if let current = errorUntil {
            errorUntil = max(current, end)
            return
        }
        errorState = state
        log.begin(.temporarySensorError, at: began)
        if end <= now { log.end(.temporarySensorError, at: end) } else { errorUntil = end }
    }

    static func lossNanoseconds(_ random: GSLRandom) -> Int64 {
        guard random.uniform() >= longLossShare else {
            return GSLRandom.minutes(random.logNormal(mu: logarithm(longLossMedian), sigma: longLossSpread))
        }
        while true {
            let samples = random.geometric(p: shortLossP)
            if samples <= longestShortLoss { return Int64(samples) * 5 * Span.minute }
        }
    }

    // MARK: Effects

    /// What the compressions take off a reading, mg/dL.
    func compression(at now: Instant) -> Double {
        active.isEmpty ? 0 : active.reduce(0) { $0 + $1.depth(at: now) }
    }

    /// What the sensor's algorithm says, were it warm.
    func state(at now: Instant) -> SensorState {
        if hasFailed { return .failed }
        if now.nanoseconds - insertedAt.nanoseconds >= device.life + device.grace { return .expired }
        return errorUntil == nil ? .ok : errorState
    }
}
