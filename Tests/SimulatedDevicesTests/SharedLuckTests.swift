import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// What one session's luck may hang on: its own streams and the time, not what else is on or was sent.
@Suite struct SharedLuckTests {
    // MARK: Commands

    /// Sends a bolus every five minutes, with other commands in between, and answers with the instants of failures.
    private func send(
        _ plan: FaultPlan, count: Int64, readsBetween: Int64 = 0, setsBasal: Bool = false
    ) throws -> (boluses: [Instant: PumpError], reads: [Instant: PumpError], bench: PumpBench) {
        let bench = try PumpBench(faults: plan)
        var boluses: [Instant: PumpError] = [:]
        var reads: [Instant: PumpError] = [:]
        func note(_ outcomes: inout [Instant: PumpError], _ body: () throws -> Void) {
            do { try body() } catch let error as PumpError { outcomes[bench.executor.now] = error } catch {}
        }
        for id in 0..<count {
            for k in 0...readsBetween {
                try bench.at(Instant(nanoseconds: (5 * id * 60 + k) * Nanoseconds.second)) { pump in
                    note(&reads) { _ = try pump.completedBolus(after: nil) }
                    if k == 0, setsBasal { try? pump.setProgrammedBasal(hourly(1 + Double(id % 2))) }
                    if k == 0 { note(&boluses) { _ = try pump.requestBolus(units(0.1), id: id) } }
                }
            }
        }
        return (boluses, reads, bench)
    }

    @Test func aCommandsLuckHangsOnItsInstantNotOnWhatWasSentBefore() throws {
        let plan = FaultPlan(rates: [(.commandFailure, 0.05), (.uncertainDelivery, 0.2)])
        let quiet = try send(plan, count: 4000)
        let chatty = try send(plan, count: 4000, readsBetween: 3, setsBasal: true)
        // Silences are the same, and so is what happens outside of them.
        #expect(quiet.boluses.count > 150)
        #expect(quiet.boluses == chatty.boluses)
        for (instant, error) in quiet.reads { #expect(chatty.reads[instant] == error) }
        #expect(quiet.bench.faults.filter { $0.kind == "uncertain-delivery" }.count > 20)
        #expect(chatty.reads.count > 2 * quiet.reads.count)
    }

    @Test func uncertainDeliveriesTakeNothingOffTheRateOfCommandsThatAreAlwaysAnswered() throws {
        let count: Int64 = 60_000
        let bench = try PumpBench(
            faults: FaultPlan(rates: [(.commandFailure, 0.05), (.uncertainDelivery, 0.4)]))
        var failed = 0
        for id in 0..<count {
            try bench.at(Instant(nanoseconds: id * Nanoseconds.second)) { pump in
                do { _ = try pump.completedBolus(after: nil) } catch PumpError.commandFailed { failed += 1 }
            }
        }
        let expected = 0.05 * Double(count)
        #expect(standardErrors(failed, expected: expected) < 3, "\(failed) of \(expected)")
        #expect(bench.recorder.faults.count { $0.kind == "command-failure" } == failed)
    }

    @Test func twoFaultsScheduledAtOneInstantAreIndependent() throws {
        var pairs: [(Double, Double)] = []
        for seed in 0..<UInt64(400) {
            let faults = [FaultKind.occlusion, .siteFailure].map {
                ScheduledFault(kind: $0, at: .minutes(60), nanoseconds: Nanoseconds.hour)
            }
            let bench = try PumpBench(faults: FaultPlan(scheduled: faults), seed: seed)
            pairs.append(
                try bench.at(.minutes(61)) { pump in
                    pump.here {
                        let threshold = Double($0.site.occlusion?.threshold ?? 0) * 0.05
                        return (threshold / 2.5 - 1, ($0.site.failure?.floor ?? 0) / 0.5)
                    }
                })
        }
        let n = Double(pairs.count)
        let (mx, my) = (pairs.reduce(0) { $0 + $1.0 } / n, pairs.reduce(0) { $0 + $1.1 } / n)
        let covariance = pairs.reduce(0) { $0 + ($1.0 - mx) * ($1.1 - my) } / n
        #expect((covariance * 12).magnitude < 3 / n.squareRoot(), "\(covariance * 12)")
    }

    @Test func anOutageAndTheSilenceAfterARequestAreLoggedApartAlsoWhereTheyOverlap() throws {
        var overlapping = 0
        for seed in UInt64(1)...40 {
            let plan = FaultPlan(scheduled: [
                ScheduledFault(
                    kind: .uncertainDelivery, at: .minutes(9), nanoseconds: 2 * Nanoseconds.minute),
                ScheduledFault(kind: .pumpOutage, at: .minutes(12), nanoseconds: 5 * Nanoseconds.minute),
            ])
            let bench = try PumpBench(faults: plan, seed: seed)
            try bench.at(.minutes(10)) { pump in
                #expect(throws: PumpError.uncertain) { try pump.requestBolus(units(2), id: 7) }
            }
            try bench.at(hours(24)) { #expect($0.status.isConnected) }
            let rows = bench.faults
            let outage = try #require(rows.first { $0.kind == "pump-outage" })
            let silence = try #require(rows.first { $0.kind == "uncertain-delivery" })
            #expect(rows.count == 2)
            #expect(abs(outage.from * 60 - 12) < 1e-9 && abs(outage.to * 60 - 17) < 1e-9)
            #expect(abs(silence.from * 60 - 10) < 1e-9)
            // The request is settled by the first exchange, which an outage may put off.
            if silence.to * 60 > 12 {
                overlapping += 1
                #expect(silence.to >= outage.to - 1e-9)
            }
        }
        #expect((5...39).contains(overlapping))
    }

    // MARK: Each kind against each other

    /// A span of a fault, and what the devices were then.
    private struct Life {
        var faults: [FaultRow]
        var timings: [SensorTiming] = []
        /// Instants at which a bolus found the pump out of reach.
        var unreached: Set<Instant> = []
        /// When a pod was stopped or changed.
        var pods: [Instant] = []

        func onsets(_ kind: FaultKind) -> [Instant] {
            faults.filter { $0.kind == kind.id }.map(\.instant).sorted()
        }

        func isDuring(_ kind: FaultKind, _ instant: Instant) -> Bool {
            faults.contains { $0.kind == kind.id && $0.instant <= instant && instant <= $0.end }
        }

        /// The sensor in use, and its age.
        func wear(at instant: Instant) -> (index: Int, age: Int64)? {
            timings.lastIndex { $0.insertedAt <= instant }.map {
                ($0, instant.nanoseconds - timings[$0].insertedAt.nanoseconds)
            }
        }
    }

    static let sensorRates: [(FaultKind, Double)] = [
        (.compressionLow, 2), (.signalLoss, 6), (.temporarySensorError, 3), (.sensorFailure, 0.6),
        (.lateSensorChange, 20),
    ]

    private func sensorLife(_ kinds: [FaultKind], subject: UInt64) throws -> Life {
        let executor = SessionExecutor()
        defer { try? executor.end() }
        let recorder = SessionRecorder(level: .events)
        let sensor = SimulatedSensor(
            executor: executor, model: .ideal, device: .dexcomG7,
            streams: RandomStreams(seed: 8, subject: subject), body: FakeBody(), recorder: recorder,
            faults: FaultPlan(rates: Self.sensorRates.filter { kinds.contains($0.0) }))
        executor.start("begin") { try await sensor.begin(observers: []) }
        try executor.advance(to: hours(45 * 24))
        let timings = executor.inspect {
            sensor.here {
                $0.finish()
                return $0.timings
            }
        }
        return Life(faults: recorder.faults, timings: timings)
    }

    @Test(arguments: sensorRates.map(\.0))
    func aSensorsFaultsAreShiftedByNoOtherOfItsFaults(_ kind: FaultKind) throws {
        var (kept, explained) = (0, 0)
        for subject in 0..<UInt64(4) {
            let alone = try sensorLife([kind], subject: subject)
            for (other, _) in Self.sensorRates where other != kind {
                let both = try sensorLife([kind, other], subject: subject)
                switch kind {
                case .compressionLow, .signalLoss:
                    #expect(both.onsets(kind) == alone.onsets(kind), "\(kind) with \(other)")
                    kept += alone.onsets(kind).count
                case .temporarySensorError:
                    // Which day of wear it is decides whether one is thinned; during one there is no other.
                    let (a, b) = (alone.onsets(kind), both.onsets(kind))
                    kept += Set(a).intersection(b).count
                    for (onset, here, there) in a.filter({ !b.contains($0) }).map({ ($0, alone, both) })
                        + b.filter({ !a.contains($0) }).map({ ($0, both, alone) })
                    {
                        explained += 1
                        let isFirstDay = (here.wear(at: onset)?.age ?? .max) < Nanoseconds.day
                        #expect(isFirstDay || there.isDuring(kind, onset), "\(onset) with \(other)")
                    }
                    if other == .compressionLow || other == .signalLoss { #expect(a == b) }
                default:
                    // Sensor by sensor, at the same age: when it is inserted is the other kind's affair.
                    func ages(_ life: Life) -> [Int: Int64] {
                        // One that outlives its ten days, as a late change lets it, may fail then.
                        let wears = life.onsets(kind).compactMap { life.wear(at: $0) }
                            .filter { kind == .lateSensorChange || $0.age < SensorDevice.dexcomG7.life }
                        return Dictionary(wears.map { ($0.index, $0.age) }) { first, _ in first }
                    }
                    let (a, b) = (ages(alone), ages(both))
                    let sensors = min(alone.timings.count, both.timings.count) - 1
                    for index in 0..<sensors where kind == .sensorFailure || b[index] != nil {
                        #expect(a[index] == b[index], "sensor \(index) with \(other)")
                        if a[index] != nil { kept += 1 }
                    }
                }
            }
        }
        #expect(kept > (kind == .sensorFailure || kind == .lateSensorChange ? 15 : 100), "\(kept)")
        if kind == .temporarySensorError { #expect(explained * 2 < kept, "\(explained) against \(kept)") }
    }

    static let pumpRates: [(FaultKind, Double)] = [
        (.pumpOutage, 3), (.commandFailure, FaultKind.commandFailure.rate.defaultValue),
        (.uncertainDelivery, 0.5),
        (.occlusion, 0.5),
        (.siteFailure, 0.02), (.podFault, 0.3), (.latePodChange, 10), (.missingPulses, 1),
    ]

    private func pumpLife(_ kinds: [FaultKind], seed: UInt64) throws -> Life {
        let bench = try PumpBench(
            faults: FaultPlan(rates: Self.pumpRates.filter { kinds.contains($0.0) }), seed: seed)
        var life = Life(faults: [])
        bench.executor.journal.observer = {
            if $0.kind == .podStopped || $0.kind == .podChanged { life.pods.append($0.instant) }
        }
        defer { bench.executor.journal.observer = nil }
        for id in Int64(0)..<40 * 288 {
            try bench.at(.minutes(5 * id)) { pump in
                if id == 0 { try? pump.setProgrammedBasal(hourly(1)) }
                do {
                    _ = try pump.requestBolus(units(0.1), id: id)
                } catch PumpError.notConnected {
                    life.unreached.insert(bench.executor.now)
                } catch {}
            }
        }
        bench.executor.inspect { bench.pump.here { $0.finish() } }
        life.faults = bench.recorder.faults
        return life
    }

    @Test(arguments: pumpRates.map(\.0))
    func aPumpsFaultsAreShiftedByNoOtherOfItsFaults(_ kind: FaultKind) throws {
        let alone = try pumpLife([kind], seed: 3)
        var kept = 0
        for (other, _) in Self.pumpRates where other != kind {
            let both = try pumpLife([kind, other], seed: 3)
            let (a, b) = (alone.onsets(kind), both.onsets(kind))
            let common = Set(a).intersection(b)
            kept += common.count
            // The pods' lives are the same up to here.
            let parted = zip(alone.pods, both.pods).first { $0 != $1 }.map { min($0.0, $0.1) }
            let end = min(
                parted ?? .distantFuture,
                alone.pods.count == both.pods.count
                    ? .distantFuture
                    : (alone.pods.count > both.pods.count ? alone.pods : both.pods)[
                        min(alone.pods.count, both.pods.count)])
            for (onset, there) in a.filter({ !common.contains($0) }).map({ ($0, both) })
                + b.filter({ !common.contains($0) }).map({ ($0, alone) })
            {
                switch kind {
                case .pumpOutage, .missingPulses:
                    Issue.record("\(kind) at \(onset) with \(other)")
                case .commandFailure, .uncertainDelivery:
                    // A command that the link didn't carry can't fail; and a failed bolus is one or the other.
                    let isOther = kind == .commandFailure && there.isDuring(.uncertainDelivery, onset)
                    #expect(
                        there.unreached.contains(onset) || isOther, "\(kind) at \(onset) with \(other)")
                default:
                    // It struck no pod, or one that it had struck before; or pods were changed at other times.
                    #expect(
                        onset >= end || there.isDuring(kind, onset), "\(kind) at \(onset) with \(other)")
                }
            }
        }
        #expect(kind == .missingPulses || kept > 20, "\(kept)")
    }
}
