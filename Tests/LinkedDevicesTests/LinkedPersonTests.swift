// What a linked pump's faults do to the person in the hours after: nobody is left without insulin unawares, and nobody gets what she called off.

import IsletLoop
import DeviceLinks
import IsletDevices
import IsletKernel
import IsletModels
import Testing

/// A body that takes what comes as it comes: what was cut off never came.
final class Sink: InsulinReceiver, @unchecked Sendable {
    private unowned let executor: SessionExecutor
    private var coming: (amount: Double, from: Int64, over: Int64)?
    init(_ executor: SessionExecutor) { self.executor = executor }

    func receive(_ amount: InsulinAmount, over nanoseconds: Int64) throws {
        coming = (amount.units, executor.now.nanoseconds, nanoseconds)
    }
    func stopReceiving() throws -> InsulinAmount {
        guard let coming, coming.over > 0 else { return .zero }
        self.coming = nil
        let share = Double(executor.now.nanoseconds - coming.from) / Double(coming.over)
        return InsulinAmount(units: coming.amount * max(0, 1 - share))
    }
    func setBasalRate(_ rate: InsulinRate) throws {}
}

/// A pump with faults of its own.
func faultyPump(
    _ faults: FaultPlan, seed: UInt64 = 1, device: String = "simulator", basal: Double = 1.2
) throws -> PumpSimulator {
    let executor = SessionExecutor()
    let pump = SimulatedPump(
        executor: executor, body: Sink(executor), recorder: SessionRecorder(level: .summary), faults: faults,
        streams: RandomStreams(seed: seed, subject: 0))
    executor.start("pump") {
        await pump.begin(observers: [])
        try await pump.preset(InsulinRate(unitsPerHour: basal))
    }
    try executor.advance(to: .start)
    return PumpSimulator(
        executor: executor, pump: pump, device: device, startUTC: LinkBench.start,
        programmed: InsulinRate(unitsPerHour: basal))
}

@Suite("A linked pump's person", .timeLimit(.minutes(45))) struct LinkedPersonTests {
    // MARK: What the pump has to say

    @Test func `a pod that fails rings within a poll, and is quiet when the next one works`() throws {
        let fault = ScheduledFault(kind: .podFault, at: .minutes(65), nanoseconds: 40 * Nanoseconds.minute)
        let bench = try LinkBench(simulator: try faultyPump(FaultPlan(scheduled: [fault])))
        try bench.live(untilMinute: 64)
        #expect(bench.alerts.issued.isEmpty)
        try bench.live(untilMinute: 69)
        #expect(bench.alerts.open.contains { $0 == .fault || $0 == .alarm || $0 == .unexpectedAlert })
        try bench.live(untilMinute: 140)
        #expect(bench.alerts.open == [])
    }

    /// Harm: no insulin, and no word of it: the app knew of a pod that had failed, and heard of one that has.
    @Test func `a pod that fails out of reach after another one rings too`() throws {
        let faults = [(65, 20), (110, 90)].map {
            ScheduledFault(
                kind: .podFault, at: .minutes($0.0), nanoseconds: Int64($0.1) * Nanoseconds.minute)
        }
        let bench = try LinkBench(simulator: try faultyPump(FaultPlan(scheduled: faults)))
        bench.fault = { _, now in (70...120).contains(now.minutes) ? .lost : nil }
        try bench.live(untilMinute: 69)
        let first = bench.alerts.issued
        #expect(first.count == 1 && bench.alerts.open == first)
        try bench.live(untilMinute: 135)
        #expect(bench.alerts.issued == first + first && bench.alerts.open == first)
        try bench.live(untilMinute: 180)
        #expect(bench.alerts.issued == first + first)
    }

    /// Whether or not it calls that an alert.
    @Test func `a pump that only says that it has failed rings all the same`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 60)
        bench.alter = { $0.condition = .fault }
        try bench.live(untilMinute: 65)
        #expect(bench.alerts.open == [.fault])
        bench.alter = { $0.condition = .suspended }
        try bench.live(untilMinute: 70)
        #expect(bench.alerts.open == [.suspendInProgress])
        bench.alter = { _ in }
        try bench.live(untilMinute: 75)
        #expect(bench.alerts.open.isEmpty)
    }

    @Test func `a suspension reminds the person when its time is over`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        try bench.executor.inspect { try bench.pump.suspend(nanoseconds: 30 * Nanoseconds.minute) }
        try bench.live(untilMinute: 70)
        #expect(bench.alerts.open == [.suspendInProgress])
        try bench.live(untilMinute: 95)
        #expect(bench.alerts.open == [.suspendEnded])
        try bench.executor.inspect { try bench.pump.resume() }
        try bench.live(untilMinute: 100)
        #expect(bench.alerts.open.isEmpty)
        #expect(bench.flow(65, 95) < 0.11)
    }

    @Test func `a pump that never answers is told of once its silence has lasted`() throws {
        let bench = try LinkBench()
        bench.fault = { _, _ in .lost }
        try bench.live(untilMinute: 1)
        #expect(bench.devices.statuses.count == 1 && bench.devices.statuses.allSatisfy { !$0.isConnected })
    }

    // MARK: Clocks

    /// By three hours, by little again and again, and from the first word on.
    @Test(arguments: [180, -180, 5, -5, 1560] as [Double]) func `a pump's clock that is off ends nothing`(
        _ minutes: Double
    )
        throws
    {
        for begins in [Int64(0), 60] {
            let bench = try LinkBench()
            try bench.live(untilMinute: begins)
            bench.clockAhead = Int64(minutes * Double(Nanoseconds.minute))
            try bench.live(untilMinute: begins + 12)
            #expect(bench.inspect { $0.status.isConnected }, "from \(begins)")
            #expect(bench.alerts.open == [.timeOffsetChangeDetected], "from \(begins)")
            let given = bench.simulator.boluses.count
            try bench.live(untilMinute: begins + 72)
            #expect(bench.simulator.boluses.count > given + 9, "from \(begins)")
            #expect(abs(bench.counted - bench.bolusUnits) < 1e-9)
            bench.clockAhead = 0
            try bench.live(untilMinute: begins + 84)
            #expect(bench.alerts.open == [])
        }
    }

    // MARK: Called off

    /// While it is in flight, while it is queued, and where its answer is lost.
    @Test(arguments: [nil, .silent, .late, .failsSent, .lost] as [Fault?])
    func `a temporary basal that is called off doesn't run on`(
        _ fault: Fault?
    ) throws {
        for afterSeconds in [Int64(0), 1, 8, 70] {
            let bench = try LinkBench()
            try bench.openLoop()
            try bench.live(untilMinute: 61)
            var isOver = false
            bench.fault = { command, _ in
                guard case .temporaryBasal = command.act, !isOver else { return nil }
                isOver = true
                return fault
            }
            try bench.temporaryBasal(2, steps: 48)
            try bench.live(to: bench.executor.now.adding(afterSeconds * Nanoseconds.second))
            bench.endTemporaryBasal()
            try bench.live(untilMinute: 200)
            let name = "\(fault.map(\.rawValue) ?? "no fault") after \(afterSeconds) s"
            #expect(bench.trueTemporaryBasal == nil, "\(name)")
            #expect(
                (2.2...2.6).contains(bench.flow(75, 195)),
                "\(name): \(bench.flow(75, 195)) U in 2 h at 1.2 U/h")
        }
    }

    /// Open loop begins while the zero of the last step is on its way.
    @Test func `the basal is back at once when the loop opens`() throws {
        for fault in [nil, Fault.silent, .late, .failsSent] {
            let bench = try LinkBench()
            try bench.live(untilMinute: 59)
            bench.fault = { command, now in
                guard now.minutes >= 60, now.minutes < 61, case .temporaryBasal = command.act else {
                    return nil
                }
                return fault
            }
            // The step at minute 60 has just run.
            try bench.live(to: .minutes(60).adding(9 * Nanoseconds.second))
            try bench.openLoop()
            try bench.live(untilMinute: 100)
            #expect(bench.flow(65, 90) > 0.4, "\(fault.map(\.rawValue) ?? "no fault"): \(bench.flow(65, 90))")
        }
    }

    /// She pressed stop since she had misjudged the meal.
    @Test func `a bolus that is stopped before it was sent, or that never arrived, isn't given after all`()
        throws
    {
        for fault in [nil, Fault.lost, .failsUnsent, .diesBefore] {
            let bench = try LinkBench()
            try bench.live(untilMinute: 59)
            try bench.announce(grams: 60)
            bench.fault = { command, _ in
                if case .bolus(_, let units) = command.act, units > 5 { return fault }
                return nil
            }
            func isUnderWay() -> Bool { bench.inspect { $0.status.unresolvedRequest != nil } }
            try bench.live(to: .minutes(60).adding(6 * Nanoseconds.second))
            // What is in flight when the step at 7 s asks for its bolus lets that wait.
            if fault == nil {
                bench.executor.inspect {
                    _ = #expect(throws: PumpError.underWay) {
                        try bench.pump.setTemporaryBasal(.zero, nanoseconds: 30 * Nanoseconds.minute)
                    }
                }
            }
            while !isUnderWay(), bench.executor.now < .minutes(64) {
                try bench.live(to: bench.executor.now.adding(Nanoseconds.second / 2))
            }
            #expect(isUnderWay())
            if fault == .lost || fault == .diesBefore {
                try bench.live(to: bench.executor.now.adding(10 * Nanoseconds.second))
            }
            try bench.stop()
            try bench.live(untilMinute: 120)
            let name = fault.map(\.rawValue) ?? "queued"
            #expect(
                bench.simulator.boluses.allSatisfy { $0.units < 1 }, "\(name): \(bench.simulator.boluses)")
            #expect(abs(bench.counted - bench.bolusUnits) < 1e-6, "\(name): \(bench.differences)")
            #expect(bench.steps.count > 20)
        }
    }

    // MARK: A pump that leaves boluses unanswered

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `what the pump gave in its silence is counted, and never given again`(
        _ seed: UInt64
    ) throws {
        let plan = FaultPlan(rates: [(.uncertainDelivery, 0.08), (.commandFailure, 0.1)])
        let bench = try LinkBench(simulator: try faultyPump(plan, seed: seed))
        for meal in 1...4 {
            try bench.live(untilMinute: Int64(meal) * 180 - 120)
            try bench.announce(grams: 60)
        }
        try bench.live(untilMinute: 780)
        #expect(bench.simulator.ledger.delivered > 0)
        #expect(bench.counted >= bench.bolusUnits - 1e-6, "\(bench.differences)")
        #expect(
            abs(bench.counted - bench.bolusUnits) < 1e-6 || bench.outcomes.contains(2) || bench.isOpen,
            "\(bench.differences)")
        #expect(bench.simulator.boluses.count { $0.units > 3 } <= 4)
        let ids = bench.simulator.boluses.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(bench.simulator.boluses.count > 40)
        #expect(bench.refusals.isEmpty, "\(bench.refusals)")
    }
}
