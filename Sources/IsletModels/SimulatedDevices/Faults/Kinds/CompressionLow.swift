// Lying on the sensor by night.
//
// Sources: durations and amplitudes after Facchinetti 2016 (5th, 50th, 95th percentiles), a rectangle through a first-order system
// whose time constant is assumed.

import IsletNumerics
import IsletKernel

extension FaultKind {
    public static let compressionLow = FaultKind(
        id: "compression-low", meaning: "lying on the sensor by night lowers its readings",
        source: "Baysal 2014, converted: 3 % of 8 h at 45 min each", rate: FaultRate(0.3, "1/night", 0...20),
        notice: .nothing("the sensor can't tell it from a true low"), signs: [.lowReadings],
        sampling: FaultSampling(perDay: 0.5...6, medianMinutes: 45, spread: 0.5),
        effect: .sensor(.part { CompressionLows($0) }))
}

final class CompressionLows: SensorFault {
    /// Time constant of the first-order system that a compression passes through (assumed).
    static let timeConstant = 10 * Nanoseconds.minute
    /// mg/dL: what is left of a compression below this is nothing.
    static let negligible = 0.25

    struct Compression {
        var began: Instant
        var ends: Instant
        /// mg/dL.
        var amplitude: Double

        func depth(at now: Instant) -> Double {
            let tau = Double(CompressionLows.timeConstant)
            func share(_ from: Instant, _ to: Instant) -> Double {
                exponential(-Double(to.nanoseconds - from.nanoseconds) / tau)
            }
            if now <= ends { return amplitude * (1 - share(began, now)) }
            return amplitude * (1 - share(began, ends)) * share(ends, now)
        }
    }

    private let streams: RandomStreams
    private let log: FaultLog
    private let times: FaultTimes?
    private var next: Instant
    private(set) var active: [Compression] = []
    /// Ends of compressions that are not logged yet, in the order of their beginnings.
    private var closing: [Instant] = []

    init(_ setting: SensorFaultSetting) {
        streams = setting.streams
        log = setting.log
        times = setting.rate.map {
            FaultTimes(
                setting.streams.stream("fault.compression-low"), perDayHour: 0, perNightHour: $0 / 8,
                startOfDay: setting.startOfDay)
        }
        next = times?.next(after: setting.now) ?? .distantFuture
    }

    func begin(_ fault: ScheduledFault) {
        let random = GSLRandom(
            streams.stream(
                "fault.compression-low.scheduled", index: UInt64(bitPattern: fault.at.nanoseconds)))
        compress(from: fault.at, minutes: Double(fault.nanoseconds) / Double(Nanoseconds.minute), random)
    }

    func advance(to now: Instant) {
        while next <= now, let times {
            let random = times.random
            compress(from: next, minutes: random.splitLogNormal(30, 45, 70), random)
            next = times.next(after: next)
        }
    }

    func settle(at now: Instant) {
        while let end = closing.first, end <= now {
            closing.removeFirst()
            log.end(.compressionLow, at: end)
        }
        active.removeAll { $0.ends <= now && $0.depth(at: now) < Self.negligible }
    }

    func nextChange(after now: Instant) -> Instant { active.isEmpty ? next : now.adding(1) }

    func reduction(at now: Instant) -> Double {
        active.isEmpty ? 0 : active.reduce(0) { $0 + $1.depth(at: now) }
    }

    private func compress(from began: Instant, minutes: Double, _ random: GSLRandom) {
        let amplitude = random.splitLogNormal(10, 24, 48)
        let ends = began.adding(GSLRandom.minutes(minutes))
        active.append(Compression(began: began, ends: ends, amplitude: amplitude))
        log.begin(.compressionLow, at: began)
        closing.append(ends)
    }
}
