import IsletDevices
import IsletNumerics
import IsletKernel
import Testing

@testable import IsletModels

/// Rates, durations and survival of 5000 sensors, ten days each, against the published figures.
@Suite struct SensorFaultRateTests {
    static let sensors = 5000
    static let days = 10.0

    private struct Tally {
        var spans: [FaultKind: [(from: Double, minutes: Double)]] = [:]
        var amplitudes: [Double] = []
    }

    /// Lets `SensorFaults` run from change to change, without the sensor around it.
    private func tally(_ plan: FaultPlan, device: SensorDevice = .dexcomG7, startOfDay: Int64 = 0) -> Tally {
        var tally = Tally()
        for subject in 0..<UInt64(Self.sensors) {
            let executor = SessionExecutor()
            let recorder = SessionRecorder(level: .events)
            let sensorFaults = SensorFaults(
                plan: plan, device: device, streams: RandomStreams(seed: 9, subject: subject),
                startOfDay: startOfDay, log: FaultLog(executor: executor, recorder: recorder), at: .start)
            sensorFaults.insert(index: 0, at: .start)
            let compressions = sensorFaults.parts.compactMap { $0.fault as? CompressionLows }.first
            let end = hours(24 * Self.days)
            var now = Instant.start
            while now < end {
                let before = compressions?.active.count ?? 0
                sensorFaults.advance(to: now)
                if let active = compressions?.active, active.count > before, let last = active.last {
                    tally.amplitudes.append(last.amplitude)
                }
                // While something is under way, five minutes; else on to the next change.
                now = max(now.adding(5 * Nanoseconds.minute), min(sensorFaults.nextChange, end))
            }
            sensorFaults.advance(to: end)
            for fault in recorder.faults {
                guard let kind = FaultKind.named(fault.kind) else { continue }
                tally.spans[kind, default: []].append(
                    (fault.instant.minutes, fault.end.minutes - fault.instant.minutes))
            }
            try? executor.end()
        }
        return tally
    }

    private func share(_ values: [Double], _ matches: (Double) -> Bool) -> Double {
        Double(values.count(where: matches)) / Double(values.count)
    }

    /// In standard errors of a share.
    private func off(_ share: Double, _ expected: Double, _ count: Int) -> Double {
        (share - expected).magnitude / (expected * (1 - expected) / Double(count)).squareRoot()
    }

    @Test func compressionLowsComeByNightAsOftenAsLongAndAsDeepAsPublished() {
        let tally = tally(FaultPlan(rates: [(.compressionLow, 0.3)]))
        let spans = tally.spans[.compressionLow] ?? []
        // Some begin before the end and last beyond it: they are missing from the log.
        let nights = Self.days * Double(Self.sensors)
        #expect(standardErrors(spans.count, expected: 0.3 * nights) < 3)
        for (at, p) in [(30.0, 0.05), (45, 0.5), (70, 0.95)] {
            #expect(off(share(spans.map(\.minutes)) { $0 <= at }, p, spans.count) < 3, "\(at) min")
        }
        for (at, p) in [(10.0, 0.05), (24, 0.5), (48, 0.95)] {
            let amplitudes = tally.amplitudes
            #expect(off(share(amplitudes) { $0 <= at }, p, amplitudes.count) < 3, "\(at) mg/dL")
        }
        #expect(
            spans.allSatisfy {
                let hour = ($0.from / 60).truncatingRemainder(dividingBy: 24)
                return hour >= 23 || hour < 7
            })
    }

    @Test func signalIsLostAsOftenAndForAsLongAsPublished() {
        let spans = tally(FaultPlan(rates: [(.signalLoss, 1.7)])).spans[.signalLoss] ?? []
        let days = Self.days * Double(Self.sensors)
        #expect(standardErrors(spans.count, expected: 1.7 * days) < 3)
        #expect(off(share(spans.map(\.minutes)) { $0 < 20 }, 0.9, spans.count) < 3)
        // Two to one: 16 h of day against 8 h of night make four to one.
        let byNight = share(spans.map { ($0.from / 60).truncatingRemainder(dividingBy: 24) }) {
            $0 >= 23 || $0 < 7
        }
        #expect(off(byNight, 0.2, spans.count) < 3)
        let long = spans.count { $0.minutes > 20 }
        let expected = 0.02 * (1 - 0.0849) * Double(spans.count)
        #expect(Double(long) < expected + 3 * expected.squareRoot() + 0.09 * Double(spans.count))
    }

    @Test(arguments: [SensorDevice.dexcomG6, .dexcomG7])
    func fourInFiveSensorsReachTheirTenthDayAndMostFailuresAreEarly(_ device: SensorDevice) {
        var failures: [Double] = []
        for subject in 0..<UInt64(Self.sensors) {
            let executor = SessionExecutor()
            let sensorFaults = SensorFaults(
                plan: FaultPlan(rates: [(.sensorFailure, 0.195)]), device: device,
                streams: RandomStreams(seed: 3, subject: subject), startOfDay: 0,
                log: FaultLog(executor: executor, recorder: SessionRecorder(level: .events)), at: .start)
            sensorFaults.insert(index: 0, at: .start)
            if sensorFaults.failsAt < hours(240) { failures.append(sensorFaults.failsAt.minutes / 1440) }
            try? executor.end()
        }
        let survival = 1 - Double(failures.count) / Double(Self.sensors)
        #expect(off(survival, 0.805, Self.sensors) < 3, "\(survival)")
        // Shape 0.7: 1 - exp(-0.2169 · 0.5^0.7) fail in the first half.
        let early = Double(failures.count { $0 < 5 }) / Double(Self.sensors)
        #expect(off(early, 0.12493, Self.sensors) < 3, "\(early)")
    }

    @Test func temporaryErrorsComeAtTheirRateEarlyAndEndWithinThreeHours() {
        let spans = tally(FaultPlan(rates: [(.temporarySensorError, 0.1)])).spans[.temporarySensorError] ?? []
        // Those that outlast the tenth day, about 0.4 % of the sensors, are missing from the log.
        let begun = 0.1 * Self.days * Double(Self.sensors)
        #expect(standardErrors(spans.count, expected: 0.996 * begun) < 3, "\(spans.count) of \(begun)")
        #expect(off(share(spans.map(\.minutes)) { $0 <= 180 }, 0.95, spans.count) < 3)
        #expect(off(share(spans.map(\.from)) { $0 < 1440 }, 0.25, spans.count) < 3)
    }
}
