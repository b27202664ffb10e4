// When faults of one kind come.
//
// Guarantees: a Poisson process in continuous time; its hazard may differ between night (23:00 to 07:00) and day; one
// uniform number a fault.

import IsletNumerics
import IsletKernel

struct FaultTimes {
    static let nightBegins = 23 * Nanoseconds.hour
    static let nightEnds = 7 * Nanoseconds.hour

    let random: GSLRandom
    /// 1/ns.
    private let dayHazard: Double
    private let nightHazard: Double
    /// Nanoseconds between local midnight and the session's start.
    private let startOfDay: Int64

    /// - Parameters: faults an hour of day and of night.
    init(_ stream: RandomStream, perDayHour: Double, perNightHour: Double, startOfDay: Int64 = 0) {
        random = GSLRandom(stream)
        dayHazard = perDayHour / Double(Nanoseconds.hour)
        nightHazard = perNightHour / Double(Nanoseconds.hour)
        self.startOfDay = startOfDay
    }

    init(_ stream: RandomStream, perHour: Double) {
        self.init(stream, perDayHour: perHour, perNightHour: perHour)
    }

    /// The first fault after `instant`.
    func next(after instant: Instant) -> Instant {
        guard dayHazard > 0 || nightHazard > 0 else { return .distantFuture }
        var left = -naturalLogarithm(1 - random.uniform())
        if dayHazard == nightHazard { return Self.add(left / dayHazard, to: instant) }
        var now = instant
        while now.nanoseconds < Int64.max / 2 {
            let time = ((now.nanoseconds + startOfDay) % Nanoseconds.day + Nanoseconds.day) % Nanoseconds.day
            let isNight = time >= Self.nightBegins || time < Self.nightEnds
            let end =
                isNight
                ? (time < Self.nightEnds ? Self.nightEnds : Nanoseconds.day + Self.nightEnds)
                : Self.nightBegins
            let hazard = isNight ? nightHazard : dayHazard
            let span = Double(end - time)
            if hazard * span > left { return Self.add(left / hazard, to: now) }
            left -= hazard * span
            now = now.adding(end - time)
        }
        return .distantFuture
    }

    private static func add(_ nanoseconds: Double, to instant: Instant) -> Instant {
        guard nanoseconds < Double(Int64.max / 4), instant.nanoseconds < Int64.max / 4 else {
            return .distantFuture
        }
        return instant.adding(Int64(nanoseconds) + 1)
    }
}

extension GSLRandom {
    /// A log-normal whose halves have each their own spread, so that its 5th, 50th and 95th percentiles are those given.
    func splitLogNormal(_ low: Double, _ median: Double, _ high: Double) -> Double {
        let z = normal() / 1.6448536269514722
        return median * power(z < 0 ? median / low : high / median, z)
    }

    /// Minutes as nanoseconds.
    static func minutes(_ minutes: Double) -> Int64 { Int64(min(minutes, 1e7) * Double(Nanoseconds.minute)) }
}
