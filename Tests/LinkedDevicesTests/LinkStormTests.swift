// What people, pumps and clocks do beside a link that fails: alone, in pairs and triples, over nine hours, and what it does to the person.

import IsletLoop
import DeviceLinks
import IsletDevices
import IsletKernel
import IsletModels
import Testing

/// What happens beside the link.
enum Trouble: String, CaseIterable, Sendable {
    /// The pump's clock is off by hours from here on.
    case clockStep
    /// The person stops the meal's bolus.
    case stop
    /// Open loop; a double basal for four hours is called off within two minutes.
    case tempOff
    /// Forty minutes.
    case suspend
    /// The pod fails, and is changed forty minutes later.
    case podFault
    /// Another pump is worn, with counters and a programme of its own.
    case swapped
    /// The pump falls silent after boluses, given or not.
    case uncertain
    /// Four units at the pump's keys.
    case keys
    /// Another app asks the pump how it is.
    case otherMaster
    /// Somebody gives the pump another programme.
    case reprogrammed
    /// Nobody reaches the pump for two hours.
    case outOfReach
}

@Suite("A linked pump in a storm", .timeLimit(.minutes(45))) struct LinkStormTests {
    private struct Life {
        var bench: LinkBench
        /// When no insulin flowed for a reason: minutes.
        var dry: [ClosedRange<Int>] = []
        /// When the pump ran another programme that nobody reached it to put right, and by how much that is above the person's.
        var foreign: (minutes: ClosedRange<Int>, unitsPerHour: Double)?
        var openUntil = 0
        var keys = 0.0
        var hasStopped = false
        var ringsInDry = true
    }

    /// The person's own programme: U/h.
    private static let basal = 1.2

    /// Troubles from the second to the fourth hour, then five hours of peace.
    private func live(_ troubles: [Trouble], seed: UInt64, share: Double) throws -> Life {
        var random = RandomStreams(seed: seed, subject: 0).stream("storm")
        func minute(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
        var scheduled: [ScheduledFault] = []
        let failsAt = minute(70...200)
        if troubles.contains(.podFault) {
            scheduled.append(
                ScheduledFault(kind: .podFault, at: .minutes(failsAt), nanoseconds: 40 * Nanoseconds.minute))
        }
        if troubles.contains(.uncertain) {
            scheduled.append(
                ScheduledFault(
                    kind: .uncertainDelivery, at: .minutes(60), nanoseconds: 160 * Nanoseconds.minute))
        }
        var life = Life(
            bench: try LinkBench(simulator: try faultyPump(FaultPlan(scheduled: scheduled), seed: seed)))
        let bench = life.bench
        let ways: [Fault] = [
            .silent, .lost, .late, .veryLate, .failsSent, .failsUnsent, .floods, .diesBefore, .diesAfter,
        ]
        let outFrom = minute(70...110)
        // Another programme runs from its beginning until somebody reaches the pump; that may take a quarter of an hour more.
        func runsAnother(from at: Instant, _ unitsPerHour: Double) {
            guard troubles.contains(.outOfReach), at.minutes < Double(outFrom + 120) else { return }
            life.foreign = (
                max(Int(at.minutes), Int(outFrom))...Int(outFrom) + 135, max(0, unitsPerHour - Self.basal)
            )
        }
        var draws = RandomStreams(seed: seed, subject: 0).stream("ways")
        bench.fault = { _, now in
            if troubles.contains(.outOfReach), (outFrom...outFrom + 120).contains(Int64(now.minutes)) {
                return .lost
            }
            guard now.minutes >= 60, now.minutes < 230, Double.random(in: 0..<1, using: &draws) < share else {
                return nil
            }
            return ways[Int.random(in: 0..<ways.count, using: &draws)]
        }
        var acts: [(at: Instant, act: (inout Life) throws -> Void)] = []
        for trouble in troubles {
            let at = Instant.minutes(minute(65...200))
            let late = at.adding(minute(1...110) * Nanoseconds.second)
            switch trouble {
            case .clockStep:
                let ahead = (minute(0...1) == 0 ? 3 : -3) * Nanoseconds.hour
                acts.append((at, { $0.bench.clockAhead = ahead }))
            case .stop:
                let stop = Instant.minutes(60).adding(minute(0...200) * Nanoseconds.second)
                acts.append((stop, { life in life.hasStopped = (try? life.bench.stop()) != nil }))
            case .tempOff:
                acts.append(
                    (
                        at,
                        {
                            try $0.bench.openLoop()
                            try $0.bench.temporaryBasal(2, steps: 48)
                        }
                    ))
                acts.append((late, { $0.bench.endTemporaryBasal() }))
                acts.append((.minutes(300), { try $0.bench.openLoop(false) }))
                life.openUntil = 300
            case .suspend:
                acts.append((at, { life in Self.insist(&life) { try $0.suspend(nanoseconds: nil) } }))
                acts.append(
                    (at.adding(40 * Nanoseconds.minute), { life in Self.insist(&life) { try $0.resume() } }))
                // The alert rings on: she looks again, and resumes again.
                for again in 1...10 {
                    acts.append(
                        (
                            at.adding(Int64(40 + 20 * again) * Nanoseconds.minute),
                            { life in
                                guard life.bench.inspect({ $0.status.condition }) == .suspended else {
                                    return
                                }
                                Self.insist(&life) { try $0.resume() }
                            }
                        ))
                }
                let outFor = troubles.contains(.outOfReach) ? 150 : 0
                life.dry.append(Int(at.minutes) - 1...Int(at.minutes) + 75 + outFor)
            case .podFault: life.dry.append(Int(failsAt)...Int(failsAt) + 45)
            case .swapped:
                let basal = minute(0...1) == 0 ? 0.3 : 3
                runsAnother(from: at, basal)
                acts.append(
                    (at, { try $0.bench.wear(try faultyPump(.none, device: "another", basal: basal)) }))
            case .keys:
                acts.append(
                    (
                        at,
                        { life in
                            let simulator = life.bench.simulator
                            _ = try simulator.executor.advance(
                                to: max(life.bench.executor.now, simulator.executor.now))
                            let taken = try? simulator.executor.inspect {
                                try simulator.pump.requestBolus(units(4), id: 900_000)
                            }
                            if case .accepted(let amount) = taken { life.keys = amount.units }
                        }
                    ))
            case .otherMaster:
                acts.append(
                    (
                        at,
                        { life in
                            _ = try? life.bench.simulator.perform(
                                LinkCommand(number: 900_000, act: .readStatus), at: life.bench.executor.now)
                        }
                    ))
            case .reprogrammed:
                runsAnother(from: at, 3)
                acts.append(
                    (
                        at,
                        { life in
                            let simulator = life.bench.simulator
                            _ = try? simulator.perform(
                                LinkCommand(number: 800_000, act: .programmedBasal(unitsPerHour: 3)),
                                at: life.bench.executor.now)
                        }
                    ))
            case .uncertain, .outOfReach: break
            }
        }
        try bench.live(untilMinute: 59)
        try bench.announce(grams: 60)
        for act in acts.sorted(by: { $0.at < $1.at }) {
            try bench.live(to: max(act.at, bench.executor.now))
            try act.act(&life)
        }
        try bench.live(untilMinute: 540)
        return life
    }

    /// The person tries again every minute while the pump is out of reach.
    private static func insist(_ life: inout Life, _ act: (LinkedPump) throws -> Void) {
        for _ in 0..<150 {
            if (try? life.bench.executor.inspect { try act(life.bench.pump) }) != nil { return }
            try? life.bench.live(to: life.bench.executor.now.adding(Nanoseconds.minute))
        }
    }

    private func check(_ troubles: [Trouble], seed: UInt64, share: Double = 0.2) throws {
        let life = try live(troubles, seed: seed, share: share)
        let bench = life.bench
        let name = "\(troubles.map(\.rawValue)) seed \(seed)"
        // All that flowed is known to the loop, or more: what was requested, and what the pump gave by itself or at its keys.
        let told = bench.rows.last { $0.basalGiven != nil }?.basalGiven?.units ?? 0
        let given = bench.bolusUnits + bench.basalUnits
        #expect(
            bench.counted + told >= given - 0.35,
            "\(name): counted \(bench.counted) and \(told), given \(given)")
        // And no more than what can't be known: the meal, the keys, and two hours of basal.
        #expect(
            bench.counted + told <= given + 6.3 + 4 + 4.5,
            "\(name): counted \(bench.counted) and \(told), given \(given)")
        let numbers = bench.simulator.arrived.map(\.number)
        #expect(Set(numbers).count == numbers.count, "\(name): a command was sent twice")
        #expect(bench.overlaps == 0, "\(name): two commands in flight")
        // Never double and never starved, outside of what stopped the pump and of the meal's hour.
        let keysAt = bench.given.indices.dropFirst().filter { bench.given[$0] - bench.given[$0 - 1] > 1 }
        for begin in stride(from: 90, to: 420, by: 5) {
            let window = begin...begin + 120
            if life.dry.contains(where: { $0.overlaps(window) }) { continue }
            let large = keysAt.filter { (begin + 5...begin + 120).contains($0 * 5) }.reduce(0) {
                $0 + bench.given[$1] - bench.given[$1 - 1]
            }
            let flow = bench.flow(begin, begin + 120) - large
            // Half an hour after the last trouble all is whole.
            let another = life.foreign.map {
                Double(
                    max(
                        0,
                        min($0.minutes.upperBound, window.upperBound)
                            - max($0.minutes.lowerBound, window.lowerBound)))
                    / 60 * $0.unitsPerHour
            }
            let most = 4.6 + (another ?? 0)
            // Where no bolus is answered for hours the zero that each step renews is all that surely arrives.
            let bounds = begin >= 330 ? 1.9...2.9 : troubles.contains(.uncertain) ? 0...most : 0.3...most
            #expect(bounds.contains(flow), "\(name): \(flow) U in the two hours from minute \(begin)")
        }
        // In the end the loop runs, the pump has the person's programme, and the person was told of what needed telling.
        #expect(bench.steps.count { $0.minutes > 502 } >= 6, "\(name)")
        #expect(bench.inspect { $0.status.isConnected }, "\(name): the pump isn't believed any more")
        let programmed = bench.simulator.executor.inspect { bench.simulator.pump.here { $0.programmedNow() } }
        #expect(abs(programmed.unitsPerHour - Self.basal) < 1e-6, "\(name): it runs \(programmed)")
        let asked = bench.sent.suffix(60).count { if case .bolus = $0.act { true } else { false } }
        #expect(asked > 5, "\(name): \(asked) boluses at the end")
        let open = bench.alerts.open
        #expect(open == (bench.clockAhead == 0 ? [] : [.timeOffsetChangeDetected]), "\(name): \(open)")
        if troubles.contains(.podFault), !troubles.contains(.swapped), !troubles.contains(.outOfReach) {
            #expect(
                bench.alerts.issued.contains { $0 == .fault || $0 == .alarm || $0 == .unexpectedAlert },
                "\(name)")
        }
        if bench.outcomes.contains(2) { #expect(bench.alerts.told.contains { $0 > 0 }, "\(name): no alert") }
    }

    @Test(arguments: Trouble.allCases) func alone(_ trouble: Trouble) throws {
        try check([trouble], seed: 1, share: 0)
        for seed in 2...4 { try check([trouble], seed: UInt64(seed)) }
    }

    @Test func inPairs() throws {
        for (index, first) in Trouble.allCases.enumerated() {
            for second in Trouble.allCases.dropFirst(index + 1) { try check([first, second], seed: 11) }
        }
    }

    /// A sample in ordinary runs, all of them behind `make soak`.
    @Test func inTriples() throws {
        try forTriples(of: Trouble.allCases, oneIn: 10) { try check($0, seed: $1) }
    }
}
