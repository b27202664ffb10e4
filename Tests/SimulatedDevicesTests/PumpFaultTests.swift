import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

@Suite struct PumpFaultTests {
    @Test func faultsComeAtTheirRatesAndTheirSpansAreLogged() throws {
        let days = 3000.0
        let plan = FaultPlan(
            rates: [.pumpOutage, .occlusion, .siteFailure, .podFault].map { ($0, $0.rate.defaultValue) })
        let bench = try PumpBench(faults: plan)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        try bench.at(hours(days * 24)) { pump in pump.here { $0.finish() } }
        let faults = bench.faults
        func spans(_ kind: FaultKind) -> [Double] {
            faults.filter { $0.kind == kind.id }.map { ($0.to - $0.from) * 60 }.sorted()
        }
        let outages = spans(.pumpOutage)
        #expect(standardErrors(outages.count, expected: 0.5 * days) < 3)
        // Log-normal, median 8 min: the standard error of its median is 1.25·0.9/√n of itself.
        let median = outages[outages.count / 2]
        #expect((median / 8 - 1).magnitude < 3 * 1.2533 * 0.9 / Double(outages.count).squareRoot())
        #expect(standardErrors(spans(.occlusion).count, expected: 0.01 * days) < 3)
        #expect(standardErrors(spans(.siteFailure).count, expected: 4.7e-4 * 24 * days) < 3)
        #expect(standardErrors(spans(.podFault).count, expected: 0.003 * days) < 3)
        #expect(faults.allSatisfy { $0.to >= $0.from })
        // Each broken pod says so once.
        #expect(bench.observer.alerts.count { $0 == "+fault" } == spans(.podFault).count)
        let ledger = bench.ledger
        #expect(ledger.isBalanced)
        // What reached the body by rate or by release is what the ledger says, to a pulse a pod.
        let received = bench.body.basalUnits + bench.body.bolusUnits
        #expect(abs(received - Double(ledger.basal) / 20) < 0.05 * days / 3 * 2.2)
    }

    @Test func aKindThatIsOnShiftsNoOther() throws {
        func outages(_ plan: FaultPlan) throws -> [Double] {
            let bench = try PumpBench(faults: plan)
            try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
            try bench.at(hours(24 * 60)) { _ in }
            return bench.faults.filter { $0.kind == "pump-outage" }.map(\.from)
        }
        let alone = try outages(FaultPlan(rates: [(.pumpOutage, 0.5)]))
        let among = try outages(
            FaultPlan(rates: FaultKind.all.map { ($0, $0.rate.defaultValue) }))
        #expect(alone == among && alone.count > 10)
    }

    /// Sends boluses into a plan, and answers with what came of them.
    private func send(
        _ plan: FaultPlan, count: Int64, seed: UInt64 = 1
    ) throws -> (bench: PumpBench, failed: Int, uncertain: [Int64]) {
        let bench = try PumpBench(faults: plan, seed: seed)
        var failed = 0
        var uncertain: [Int64] = []
        for id in 0..<count {
            try bench.at(.minutes(5 * id)) { pump in
                do {
                    _ = try pump.requestBolus(units(0.1), id: id)
                } catch PumpError.commandFailed {
                    failed += 1
                } catch PumpError.uncertain {
                    uncertain.append(id)
                } catch PumpError.notConnected, PumpError.notReady {
                }
            }
        }
        return (bench, failed, uncertain)
    }

    @Test func commandsFailAtTheirRatesAndOneInTwentyFailuresIsUncertain() throws {
        let count: Int64 = 60_000
        let plan = FaultPlan(rates: [(.commandFailure, 0.01), (.uncertainDelivery, 0.05)])
        let (bench, failed, uncertain) = try send(plan, count: count)
        let sent = Double(bench.ledger.requested / 2)
        #expect(standardErrors(failed, expected: sent * 0.01 * 0.95) < 3)
        #expect(standardErrors(uncertain.count, expected: sent * 0.01 * 0.05) < 3)
        #expect(bench.ledger.isBalanced && bench.ledger.uncertain > 0)
        #expect(bench.recorder.faults.count { $0.kind == "command-failure" } == failed)
    }

    @Test(arguments: UInt64(1)...20)
    func anUncertainRequestIsResolvedWhenThePumpIsBack(_ seed: UInt64) throws {
        let plan = FaultPlan(
            scheduled: [
                ScheduledFault(kind: .uncertainDelivery, at: .minutes(9), nanoseconds: 2 * Nanoseconds.minute)
            ])
        let bench = try PumpBench(faults: plan, seed: seed)
        try bench.at(.minutes(10)) { pump in
            #expect(throws: PumpError.uncertain) { try pump.requestBolus(units(2), id: 7) }
            #expect(!pump.status.isConnected && pump.status.unresolvedRequest == 7)
            #expect(throws: PumpError.notConnected) { try pump.outcome(of: 7) }
            #expect(throws: PumpError.notConnected) { try pump.requestBolus(units(2), id: 7) }
        }
        try bench.at(hours(12)) { pump in
            #expect(pump.status.isConnected && pump.status.unresolvedRequest == nil)
            let outcome = try pump.outcome(of: 7)
            #expect(outcome == .neverArrived || outcome == .carriedOut(units(2)))
            let delivered = outcome == .neverArrived ? InsulinAmount.zero : units(2)
            #expect(abs(bench.body.bolusUnits - delivered.units) < 1e-9)
            #expect(bench.ledger.uncertain == (outcome == .neverArrived ? 40 : 0))
            // Asked again under its id, it is delivered once in all.
            try #expect(pump.requestBolus(units(2), id: 7) == .accepted(units(2)))
            #expect(abs(bench.body.bolusUnits - 2) < 1e-9)
        }
        #expect(bench.ledger.isBalanced && bench.ledger.delivered == 40)
        #expect(bench.faults.map(\.kind).sorted() == ["uncertain-delivery"])
    }

    @Test func aboutHalfOfTheUncertainRequestsWereCarriedOut() throws {
        let plan = FaultPlan(
            rates: [(.commandFailure, 1), (.uncertainDelivery, 1)])
        let (bench, _, uncertain) = try send(plan, count: 8000)
        let carriedOut = Double(bench.ledger.delivered / 2) / Double(uncertain.count)
        #expect(uncertain.count > 1000)
        #expect((carriedOut - 0.5).magnitude < 3 * 0.5 / Double(uncertain.count).squareRoot())
    }

    @Test func scheduledFaultsHappenWhenTheyAreScheduled() throws {
        func fault(_ kind: FaultKind, _ hour: Double, _ length: Double) -> ScheduledFault {
            ScheduledFault(kind: kind, at: hours(hour), nanoseconds: hours(length).nanoseconds)
        }
        let bench = try PumpBench(
            faults: FaultPlan(scheduled: [
                fault(.podFault, 30, 2), fault(.pumpOutage, 1, 0.5), fault(.commandFailure, 3, 1),
                fault(.occlusion, 5, 1), fault(.siteFailure, 10, 5),
            ]))
        try bench.at(hours(3.5)) { pump in
            #expect(throws: PumpError.commandFailed) { try pump.requestBolus(units(1), id: 1) }
            #expect(throws: PumpError.commandFailed) { try pump.setProgrammedBasal(hourly(1)) }
        }
        try bench.at(hours(31)) { #expect($0.status.condition == .fault) }
        try bench.at(hours(33)) { #expect($0.status.condition == .ready) }
        let expected: [(String, Double, Double)] = [
            ("pump-outage", 1, 1.5), ("command-failure", 3, 4), ("occlusion", 5, 6), ("site-failure", 10, 15),
            ("pod-fault", 30, 32),
        ]
        for (fault, expected) in zip(bench.faults, expected) {
            #expect(fault.kind == expected.0 && fault.from == expected.1 && fault.to == expected.2)
        }
        #expect(bench.faults.count == expected.count)
    }

    /// Any commands under any faults: the account is exact, and the body got what it says.
    @Test(arguments: UInt64(0)..<40)
    func theLedgerIsExactUnderAnyCommandsAndFaults(_ seed: UInt64) throws {
        var random = RandomStreams(seed: seed, subject: 1).stream("commands")
        let rates: [(FaultKind, Double)] = FaultKind.all.compactMap { kind in
            guard Bool.random(using: &random) else { return nil }
            switch kind {
            case .pumpOutage, .occlusion, .podFault: return (kind, .random(in: 0...12, using: &random))
            case .siteFailure: return (kind, .random(in: 0...0.3, using: &random))
            case .commandFailure, .uncertainDelivery: return (kind, .random(in: 0...0.5, using: &random))
            default: return (kind, kind.rate.defaultValue)
            }
        }
        var device = PumpDevice.omnipod
        if seed % 2 == 0 { device.reservoir = units(30) }
        let bench = try PumpBench(device, faults: FaultPlan(rates: rates), seed: seed)
        var now = Instant.start
        for id in Int64(0)..<400 {
            now = now.adding(Int64.random(in: 0...20, using: &random) * 31 * Nanoseconds.second)
            try bench.at(now) { pump in
                switch Int.random(in: 0..<14, using: &random) {
                case 0: pump.here(Bool.random(using: &random)) { $0.setConnected($1) }
                case 1: try? pump.setProgrammedBasal(hourly(Double.random(in: 0...3, using: &random)))
                case 2:
                    try? pump.setTemporaryBasal(
                        hourly(Double.random(in: 0...3, using: &random)), nanoseconds: Nanoseconds.hour)
                case 3: try? pump.suspend(nanoseconds: 10 * Nanoseconds.minute)
                case 4, 5: try? pump.resume()
                case 6: _ = try? pump.cancelBolus()
                case 7: _ = try? pump.completedBolus(after: id - 10)
                default:
                    pump.here { $0.setConnected(true) }
                    let pulses = Int64.random(in: 0...300, using: &random)
                    _ = try? pump.requestBolus(units(Double(pulses) / 20), id: id)
                }
                let ledger = pump.here { $0.ledger() }
                #expect(ledger.isBalanced, "\(ledger)")
                #expect(ledger.held >= 0 && ledger.basalHeld >= 0 && ledger.delivered >= 0)
                #expect(pump.here { $0.trueReservoir() } <= device.reservoir)
            }
        }
        let ledger = bench.ledger
        #expect(ledger.requested > 0)
        // Where a site fails or a flow is cut, the body's even flow and the ledger's pulses differ by parts of one.
        let received = bench.body.bolusUnits + bench.body.basalUnits
        let counted = Double(ledger.delivered + ledger.basal) / 20
        let changes = Double(bench.body.rates.count + bench.recorder.faults.count + 10)
        #expect((received - counted).magnitude < 0.05 * changes, "\(received) against \(counted)")
    }
}
