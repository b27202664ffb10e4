// A pump that is replaced, reprogrammed, or used by somebody else: what the loop believes of insulin, and what the person gets.

import IsletLoop
import DeviceLinks
import IsletDevices
import IsletKernel
import IsletModels
import Testing

@Suite("A linked pump that is met anew", .timeLimit(.minutes(45))) struct LinkedMeetingTests {
    /// What the loop has been told that the pump gave by itself between two minutes, U.
    private func told(_ bench: LinkBench, _ from: Int64, _ to: Int64) -> Double {
        let known = bench.rows.filter { $0.basalGiven != nil }
        let first = known.last { $0.instant <= .minutes(from) }?.basalGiven ?? .zero
        let last = known.last { $0.instant <= .minutes(to) }?.basalGiven ?? .zero
        return (last - first).units
    }

    /// Three hours out of reach, of which two and a half have the programme; then another pump answers, or one without its memory.
    @Test(arguments: ["another", "simulator"])
    func `what flowed while nobody heard the pump counts when another one answers`(
        _ name: String
    ) throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        bench.fault = { _, _ in .lost }
        try bench.live(untilMinute: 240)
        let flowed = bench.flow(60, 240)
        #expect(flowed > 2.8)
        if name == "another" { try bench.wear(try faultyPump(.none, device: name)) }
        bench.fault = { _, _ in nil }
        try bench.live(untilMinute: 270)
        #expect(told(bench, 60, 265) >= flowed - 0.2, "\(told(bench, 60, 265)) of \(flowed)")
        #expect(told(bench, 60, 265) < flowed + 0.7)
        #expect(bench.inspect { $0.isReady || $0.status.condition == .bolusing })
    }

    /// Another app gave 6 U ten minutes, or four hours, before this session began.
    @Test(arguments: [(10, 5.8...6.1), (240, 2.9...3.1), (700, 0.0...0.0)])
    func `what the pump gave before it was met is heard of before the loop doses`(
        _ minutes: Int64, _ expected: ClosedRange<Double>
    ) throws {
        let pump = try faultyPump(.none)
        _ = try pump.perform(LinkCommand(number: 40, act: .bolus(id: 7, units: 6)), at: .start)
        // Its clock has gone on, the session's begins now.
        let bench = try LinkBench(simulator: pump, worn: minutes * Nanoseconds.minute)
        try bench.live(untilMinute: 45)
        let heard = bench.rows.map { ($0.instant, $0.basalGiven?.units ?? 0) }
        let most = heard.last { $0.0 < .minutes(11) }?.1 ?? 0
        #expect((expected.lowerBound - 0.05...expected.upperBound + 0.35).contains(most), "\(heard)")
        // None was given before that.
        let boluses = pump.boluses.dropFirst()
        #expect(boluses.count >= 3)
        let first = bench.rows.first { ($0.requested ?? .zero) > .zero }?.instant ?? .start
        #expect(first >= .minutes(expected.upperBound > 0 ? 11 : 0), "\(first.minutes)")
    }

    /// Whatever the next pump's own programme is, and whoever reprograms it.
    @Test(arguments: [0.1, 3.0]) func `the programme in the pump is always the person's own`(_ other: Double)
        throws
    {
        let bench = try LinkBench()
        try bench.openLoop()
        try bench.live(untilMinute: 60)
        try bench.wear(try faultyPump(.none, device: "another", basal: other))
        try bench.live(untilMinute: 200)
        #expect((2.3...2.5).contains(bench.flow(75, 195)), "\(bench.flow(75, 195)) U in 2 h at 1.2 U/h")
        try bench.simulator.executor.inspect {
            try bench.simulator.pump.setProgrammedBasal(InsulinRate(unitsPerHour: other))
        }
        bench.alter = {
            if $0.number % 2 == 0, $0.programmedUnitsPerHour == 1.2 { $0.programmedUnitsPerHour = other }
        }
        try bench.live(untilMinute: 215)
        bench.alter = { _ in }
        try bench.live(untilMinute: 350)
        #expect((2.3...2.5).contains(bench.flow(225, 345)), "\(bench.flow(225, 345)) U in 2 h at 1.2 U/h")
    }

    /// A driver that can't say its programme, and one that rounds coarsely: neither is told for ever, and a temporary basal doesn't wait for it.
    @Test(arguments: [nil, 1.25] as [Double?]) func `a programme is not told again and again`(_ said: Double?)
        throws
    {
        let bench = try LinkBench()
        bench.alter = { $0.programmedUnitsPerHour = said }
        try bench.openLoop()
        try bench.live(untilMinute: 30)
        try bench.temporaryBasal(0.5, steps: 12)
        try bench.live(untilMinute: 60)
        let programmes = bench.sent.count { if case .programmedBasal = $0.act { true } else { false } }
        #expect(programmes < 4, "\(programmes)")
        #expect(bench.trueTemporaryBasal.map { abs($0.unitsPerHour - 0.6) < 1e-9 } ?? false)
    }

    /// 4 U at the pump's keys: they count, and the loop has its pump back.
    @Test
    func `a bolus at the pump's keys counts once, rings, and puts the pump out of reach for a while only`()
        throws
    {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        let before = told(bench, 0, 60)
        _ = try bench.simulator.executor.inspect {
            try bench.simulator.pump.requestBolus(units(4), id: 5000)
        }
        try bench.live(untilMinute: 66)
        #expect(bench.alerts.told.last == 4)
        try bench.live(untilMinute: 120)
        #expect(bench.alerts.told.last == 0)
        #expect(bench.inspect { $0.status.isConnected })
        let own = told(bench, 60, 115)
        #expect((3.99...4.9).contains(own), "\(own) U after \(before) U")
        let asked = bench.simulator.boluses.count
        try bench.live(untilMinute: 180)
        #expect(bench.simulator.boluses.count >= asked + 10)
        #expect(told(bench, 115, 175) < 0.3)
    }

    @Test func `another app's look doesn't put the pump out of reach for good`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        _ = try bench.simulator.perform(LinkCommand(number: 5000, act: .readStatus), at: bench.executor.now)
        try bench.live(untilMinute: 90)
        #expect(bench.inspect { $0.status.isConnected })
        let asked = bench.simulator.boluses.count
        try bench.live(untilMinute: 150)
        #expect(bench.simulator.boluses.count >= asked + 10)
        #expect(
            abs(bench.counted - bench.bolusUnits) < 1e-6 || bench.outcomes.contains(2), "\(bench.differences)"
        )
    }

    /// 6 U at the pump before, 2 U at this one: the 6 stay unknown when the 2 are known.
    @Test func `knowing of one bolus silences no alert for another`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 59)
        try bench.announce(grams: 60)
        var largest = 5.0
        bench.fault = { command, _ in
            if case .bolus(_, let units) = command.act, units > largest { return .silent }
            return nil
        }
        try bench.live(to: .minutes(60).adding(25 * Nanoseconds.second))
        #expect(bench.isOpen)
        try bench.wear(try faultyPump(.none, device: "another"))
        try bench.live(untilMinute: 70)
        #expect(bench.alerts.told.last.map { $0 > 5.5 } ?? false)
        try bench.live(untilMinute: 79)
        try bench.announce(grams: 20)
        largest = 1
        var isOut = false
        bench.fault = { command, _ in
            if case .bolus(_, let units) = command.act, units > 1 { isOut = true }
            return isOut ? .silent : nil
        }
        try bench.live(untilMinute: 110)
        #expect(bench.alerts.told.last.map { $0 > 7.5 } ?? false)
        bench.fault = { _, _ in nil }
        try bench.live(untilMinute: 125)
        #expect(
            bench.alerts.told.last.map { (5.5...6.5).contains($0) } ?? false, "\(bench.alerts.told.suffix(3))"
        )
    }

    // MARK: What the person wants at once

    /// Told again until the pump has done it, however often it is lost.
    @Test(arguments: [Fault.lost, .silent, .failsSent, .failsUnsent])
    func `what the person wants at once is told until it is done`(
        _ fault: Fault
    ) throws {
        for count in [1, 3] {
            let bench = try LinkBench()
            try bench.openLoop()
            try bench.live(untilMinute: 61)
            var left = count
            bench.fault = { command, _ in
                guard command.act != .readStatus, left > 0 else { return nil }
                left -= 1
                return fault
            }
            try bench.executor.inspect { try bench.pump.suspend(nanoseconds: nil) }
            try bench.live(untilMinute: 75)
            #expect(bench.alerts.open == [.suspendInProgress], "\(fault), \(count) times")
            #expect(bench.flow(75, 75) == 0)
            left = count
            try bench.executor.inspect { try bench.pump.resume() }
            try bench.live(untilMinute: 90)
            #expect(bench.alerts.open == [], "\(fault), \(count) times")
            try bench.live(untilMinute: 155)
            #expect(
                (1.1...1.3).contains(bench.flow(90, 150)), "\(fault), \(count) times: \(bench.flow(90, 150))")
        }
    }

    @Test func `what the pump never did is told, and left to the person`() throws {
        let bench = try LinkBench()
        try bench.live(untilMinute: 61)
        bench.fault = { _, _ in .lost }
        try bench.executor.inspect { try bench.pump.suspend(nanoseconds: nil) }
        try bench.live(untilMinute: 80)
        let notices = bench.inspect { $0.here { $0.takeNotices() } }.map(\.text)
        #expect(notices.contains { $0.hasPrefix("has not confirmed to suspend") }, "\(notices)")
        bench.fault = { _, _ in nil }
        try bench.live(untilMinute: 100)
        #expect(bench.alerts.open == [])
    }

    /// Else a meal's bolus waits for minutes behind the order to stop one that is long over, or is stopped in its place.
    @Test(arguments: [nil, Fault.lost]) func `what stops a bolus that is over holds back no later one`(
        _ fault: Fault?
    ) throws {
        let bench = try LinkBench()
        try bench.openLoop()
        try bench.live(untilMinute: 61)
        _ = try bench.executor.inspect { try bench.pump.requestBolus(units(1), id: 900) }
        try bench.live(untilMinute: 64)
        let given = bench.simulator.bolusUnits
        var isFirst = true
        bench.fault = { command, _ in
            guard command.act == .cancelBolus, isFirst else { return nil }
            isFirst = false
            return fault
        }
        try bench.executor.inspect {
            _ = try bench.pump.cancelBolus()
            #expect(try bench.pump.requestBolus(units(3), id: 901) == .underWay)
        }
        try bench.live(untilMinute: 68)
        #expect(!isFirst)
        #expect(abs(bench.simulator.bolusUnits - given - 3) < 1e-9, "\(bench.simulator.bolusUnits - given)")
        #expect(bench.sent.filter { $0.act == .cancelBolus }.count <= 2)
    }

    /// Harm: corrections on top of a lunch's insulin that another pump gave before it came in this one's place.
    @Test(arguments: [true, false]) func `another pump brings what it gave before`(_ gave: Bool) throws {
        let bench = try LinkBench()
        try bench.openLoop()
        try bench.live(untilMinute: 61)
        #expect(bench.inspect { $0.status.insulinKnownSince } == nil)
        let before = try #require(bench.inspect { $0.basalDelivered })
        bench.alter = { report in
            report.device = "another"
            guard gave else { return report.bolus = nil }
            var bolus = PumpReport.Bolus(id: 400, units: 6, deliveredUnits: 6, isRunning: false)
            bolus.secondsAgo = 3600
            report.bolus = bolus
        }
        try bench.live(untilMinute: 80)
        let since = bench.inspect { $0.status.insulinKnownSince }
        #expect((since != nil) == gave)
        let counted = try #require(bench.inspect { $0.basalDelivered }).units - before.units
        // An hour of the eight in which it acts is over, and the programme ran.
        let expected = (gave ? 6 * 7.0 / 8 : 0) + 1.2 * 19 / 60
        #expect(abs(counted - expected) < 0.15, "\(counted) U")
    }
}
