import IsletLoop
import DeviceLinks
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@Suite("A linked pump") struct LinkedPumpTests {
    @Test func `without faults every unit asked for is given, once, and basal never runs beside it`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 60)
        try bench.announce(grams: 60)
        try bench.live(untilMinute: 360)
        #expect(abs(bench.counted - bench.simulator.bolusUnits) < 1e-9)
        // The first step's basal is the pump's own; from then on the steps give all.
        #expect((0.05...0.4).contains(bench.simulator.basalUnits), "\(bench.simulator.basalUnits)")
        #expect((12.5...13.3).contains(bench.simulator.bolusUnits + bench.simulator.basalUnits))
        #expect(bench.outcomes.allSatisfy { $0 == 0 } && bench.outcomes.count > 60)
        #expect(bench.alerts.told.isEmpty)
        #expect(Set(bench.sent.map(\.number)).count == bench.sent.count)
    }

    @Test func `nothing is asked of a pump that has never been heard`() throws {
        let bench = try LinkBench()
        bench.fault = { _, _ in .lost }
        try bench.live(untilMinute: 60)
        #expect(bench.sent.count > 30 && bench.sent.allSatisfy { $0.act == .readStatus })
        #expect(bench.simulator.boluses.isEmpty)
        #expect(bench.inspect { !$0.status.isConnected && !$0.isReady })
        // Its own programme runs.
        #expect(abs(bench.simulator.basalUnits - 1.2) < 0.11)
    }

    @Test func `one command is in flight at a time, whatever the loop asks for meanwhile`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 2)
        let before = bench.sent.count
        bench.executor.inspect {
            #expect(throws: PumpError.underWay) {
                try bench.pump.setTemporaryBasal(.zero, nanoseconds: 30 * Nanoseconds.minute)
            }
            for _ in 0..<2 {
                let answer = try? bench.pump.requestBolus(units(1), id: 900)
                #expect(answer == .underWay)
            }
            #expect(throws: PumpError.notReady(.bolusing)) { try bench.pump.requestBolus(units(1), id: 901) }
            #expect(throws: Never.self) { try bench.pump.suspend(nanoseconds: nil) }
            #expect(throws: Never.self) { try bench.pump.resume() }
        }
        try bench.live(untilMinute: 20)
        #expect(bench.sent.count > before + 4 && bench.overlaps == 0)
        // Each answer takes its two seconds, and nothing overtakes it.
        let bolus = bench.simulator.arrived.filter { $0.act == .bolus(id: 900, units: 1) }
        #expect(bolus.count == 1)
    }

    /// Else the next report would have a bolus that the session knows nothing of, and no report would be believed ever after.
    @Test func `a bolus that is answered late is known when the next step has asked for another one`() throws
    {
        let bench = try LinkBench()
        try bench.live(untilMinute: 65)
        var fates: [Fault?] = [nil, .lost, nil, .late, .lost, .late, nil, .late, .lost]
        bench.fault = { _, _ in fates.isEmpty ? nil : fates.removeFirst() }
        try bench.live(untilMinute: 79)
        let given = bench.simulator.boluses.count
        #expect(fates.isEmpty)
        #expect(bench.inspect { $0.status.isConnected })
        try bench.live(untilMinute: 89)
        #expect(bench.simulator.boluses.count > given)
        #expect(abs(bench.counted - bench.simulator.bolusUnits) < 1e-9)
    }

    @Test func `what nobody hears of for a quarter of an hour is unknowable, rings, and counts`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 60)
        try bench.announce(grams: 60)
        var isCut = false
        bench.fault = { command, _ in
            if case .bolus(_, let units) = command.act, units > 5 { isCut = true }
            return isCut ? .lost : nil
        }
        try bench.live(untilMinute: 74)
        #expect(bench.alerts.told.isEmpty && bench.isOpen)
        try bench.live(untilMinute: 130)
        #expect(bench.outcomes.contains(2))
        #expect(bench.alerts.told.contains { $0 > 5.9 })
        #expect(bench.counted - bench.simulator.bolusUnits > 5.9)
        // The pump is back, and says that it never got it.
        bench.fault = { _, _ in nil }
        try bench.live(untilMinute: 150)
        #expect(bench.alerts.told.last == 0)
        #expect(abs(bench.counted - bench.simulator.bolusUnits) < 1e-9)
        // It is not given after all: the meal was long ago.
        #expect(bench.simulator.boluses.allSatisfy { $0.units < 1 })
    }

    @Test func `two hours that nobody lived through have at most one late step and no burst`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        let (steps, sent) = (bench.steps.count, bench.sent.count)
        var hasSlept = false
        bench.fault = { _, _ in
            defer { hasSlept = true }
            return hasSlept ? nil : .sleeps
        }
        try bench.live(untilMinute: 186)
        let woken = bench.steps.dropFirst(steps).filter { $0.minutes > 180 && $0.minutes < 184.9 }
        #expect(woken.count <= 1)
        #expect(bench.executor.inspect { bench.loop.here { $0.currentMemory.stepsSkipped } } >= 22)
        #expect(bench.sent.count - sent < 25)
        // Whatever the loop was doing when it fell asleep, the pump had its programme back within half an hour.
        let slept = bench.given[36] - bench.given[13]
        #expect((1.2 * 1.3...1.2 * 2.0 + 0.2).contains(slept), "\(slept)")
        try bench.live(untilMinute: 240)
        #expect(abs(bench.counted - bench.simulator.bolusUnits) < 1e-9)
    }

    @Test func `a second session on the same pump uses no number and no id again`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        let next = LinkedPump(
            executor: bench.executor, recorder: bench.recorder, limits: bench.simulator.pump.limits,
            pulse: units(0.05))
        let before = bench.simulator.arrived.map(\.number).max() ?? 0
        let ids = bench.simulator.boluses.map(\.id).max() ?? 0
        try bench.executor.inspect {
            next.here { $0.begin(observers: []) }
            for round in 0..<4 {
                for command in next.here({ $0.takeOutbox() }) {
                    let report = try bench.simulator.perform(command, at: bench.executor.now)
                    let said = Instant(nanoseconds: report.utcNanoseconds - LinkBench.start)
                    next.here((report, said)) { _ = $0.hear($1.0, saidAt: $1.1) }
                }
                if round == 0 { #expect(try next.requestBolus(units(1), id: 0) == .underWay) }
            }
            #expect(try next.outcome(of: 0) == .carriedOut(units(1)))
        }
        #expect((bench.simulator.boluses.last?.id ?? 0) == ids + 1)
        #expect(bench.simulator.arrived.last.map { $0.number > before } ?? false)
    }

    @Test func `no pump at all takes nothing`() throws {
        let pump = AbsentPump(
            pulse: units(0.05),
            limits: PumpLimits(
                largestBolus: units(30), largestBasal: InsulinRate(unitsPerHour: 30),
                temporaryBasalRange: 1...2))
        #expect(!pump.isReady)
        #expect(throws: PumpError.notConnected) { try pump.requestBolus(units(1), id: 1) }
    }
}
