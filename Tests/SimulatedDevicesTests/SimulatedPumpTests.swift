import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

@Suite struct SimulatedPumpTests {
    private func seconds(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * Nanoseconds.second) }

    @Test func aBolusIsWholePulsesAndNotAHairMoreOrLess() throws {
        let bench = try PumpBench()
        let cases: [(Double, Double)] = [
            (0.05, 0.05), (0.0999, 0.05), (0.1 + 0.05, 0.15), (0.3 - 0.1, 0.2), (0.049, 0), (0, 0),
            (1.2345, 1.2),
        ]
        for (index, (asked, expected)) in cases.enumerated() {
            let answer = try bench.at(.minutes(Int64(index))) {
                try $0.requestBolus(units(asked), id: Int64(index))
            }
            guard case .accepted(let accepted) = answer else {
                Issue.record("\(asked): \(answer)")
                continue
            }
            #expect(abs(accepted.units - expected) < 1e-12, "\(asked)")
        }
        // What is no dose is refused, not taken for none.
        try bench.at(.minutes(30)) { pump in
            for nonsense in [-1, -0.001, .nan, .infinity, -.infinity, 30.01] {
                #expect(throws: PumpError.self) { try pump.requestBolus(units(nonsense), id: 99) }
            }
        }
        let ledger = bench.ledger
        #expect(ledger.delivered == 1 + 1 + 3 + 4 + 24)
        #expect(ledger.requested == ledger.delivered + ledger.refused)
    }

    @Test func aLongBolusTakesTwoSecondsAPulse() throws {
        let bench = try PumpBench()
        try bench.at(.start) { _ = try $0.requestBolus(units(10), id: 1) }
        #expect(bench.body.boluses.map(\.nanoseconds) == [400 * Nanoseconds.second])
        try bench.at(seconds(399)) { pump in
            #expect(pump.status.condition == .bolusing)
            try #expect(pump.completedBolus(after: nil) == nil)
            #expect(throws: PumpError.notReady(.bolusing)) { try pump.requestBolus(units(1), id: 2) }
        }
        try bench.at(seconds(400)) {
            #expect($0.status.condition == .ready)
            let done = try $0.completedBolus(after: nil)
            #expect(
                done == BolusStatus(id: 1, requestedAt: .start, requested: units(10), delivered: units(10)))
            // Asked again it says the same; asked for more there is nothing.
            try #expect($0.completedBolus(after: nil) == done)
            try #expect($0.completedBolus(after: 0) == done)
            try #expect($0.completedBolus(after: 1) == nil)
        }
        #expect(bench.ledger == PumpLedger(requested: 220, delivered: 200, refused: 20, basal: 0))
    }

    @Test func aRequestRepeatedUnderItsIdDeliversNothingMoreAndAnswersTheSame() throws {
        let bench = try PumpBench()
        try bench.at(.start) {
            try #expect($0.requestBolus(units(1), id: 7) == .accepted(units(1)))
            // Also while the bolus runs, and after it.
            try #expect($0.requestBolus(units(1), id: 7) == .accepted(units(1)))
        }
        try bench.at(.minutes(5)) {
            try #expect($0.requestBolus(units(3), id: 7) == .accepted(units(1)))
            try #expect($0.requestBolus(units(3), id: 6) == .accepted(.zero))
        }
        #expect(bench.body.boluses.count == 1)
        #expect(bench.ledger == PumpLedger(requested: 20, delivered: 20, refused: 0, basal: 0))
    }

    @Test func aRefusedRequestMayBeRepeatedUnderItsId() throws {
        let bench = try PumpBench()
        try bench.at(.start) { pump in
            _ = try pump.requestBolus(units(1), id: 1)
            #expect(throws: PumpError.self) { try pump.requestBolus(units(2), id: 2) }
        }
        try bench.at(.minutes(5)) { try #expect($0.requestBolus(units(2), id: 2) == .accepted(units(2))) }
    }

    @Test func whatIsBeyondThePumpsLimitsIsRefused() throws {
        let bench = try PumpBench()
        try bench.at(.start) { pump in
            #expect(throws: PumpError.outOfRange(units(30.05), limit: units(30))) {
                try pump.requestBolus(units(30.05), id: 1)
            }
            try #expect(pump.requestBolus(units(30), id: 2) == .accepted(units(30)))
            #expect(throws: PumpError.self) {
                try pump.setProgrammedBasal(InsulinRate(unitsPerHour: 30.1))
            }
        }
        #expect(bench.body.rates.isEmpty)
        #expect(bench.ledger == PumpLedger(requested: 1201, delivered: 600, refused: 601, basal: 0))
    }

    @Test func basalRatesAreRoundedToTheirStep() throws {
        let bench = try PumpBench()
        try bench.at(.start) {
            for rate in [1.02, 1.03, 0.02, 0.9] {
                try $0.setProgrammedBasal(InsulinRate(unitsPerHour: rate))
            }
            // Nobody's basal is negative: it was a slip, and zero would be a dangerous guess.
            for rate in [-1, -0.001, .nan, .infinity] {
                let rate = InsulinRate(unitsPerHour: rate)
                #expect(throws: PumpError.self) { [pump = $0] in try pump.setProgrammedBasal(rate) }
                #expect(throws: PumpError.self) { [pump = $0] in
                    try pump.setTemporaryBasal(rate, nanoseconds: Nanoseconds.hour)
                }
            }
        }
        let rates = bench.body.rates.map(\.unitsPerHour)
        for (rate, expected) in zip(rates, [1, 1.05, 0, 0.9]) { #expect(abs(rate - expected) < 1e-12) }
        #expect(rates.count == 4)
    }

    @Test func aDisconnectedPumpThrowsAndCountsNothing() throws {
        let bench = try PumpBench()
        try bench.at(.minutes(1)) { pump in
            pump.here { $0.setConnected(false) }
            pump.here { $0.setConnected(false) }
            #expect(!pump.status.isConnected)
            #expect(throws: PumpError.notConnected) { try pump.requestBolus(units(1), id: 1) }
            #expect(throws: PumpError.notConnected) { try pump.setProgrammedBasal(.zero) }
            #expect(throws: PumpError.notConnected) { try pump.completedBolus(after: nil) }
            pump.here { $0.setConnected(true) }
        }
        #expect(bench.ledger == PumpLedger())
        #expect(bench.observer.pump.map(\.isConnected) == [false, true])
    }

    @Test func aBolusGoesOnWhileThePumpIsOutOfReach() throws {
        let bench = try PumpBench()
        try bench.at(.start) { pump in
            _ = try pump.requestBolus(units(2), id: 1)
            pump.here { $0.setConnected(false) }
        }
        try bench.at(.minutes(10)) { pump in
            pump.here { $0.setConnected(true) }
            try #expect(pump.completedBolus(after: nil)?.delivered == units(2))
        }
    }

    @Test func theReservoirFallsWithBasalAndBolusAndAFreshPodComesAfterThreeDays() throws {
        let bench = try PumpBench()
        try bench.at(.start) { pump in
            try pump.setProgrammedBasal(InsulinRate(unitsPerHour: 1))
            _ = try pump.requestBolus(units(20), id: 1)
        }
        func reservoir(atHour hour: Int64) throws -> Double {
            try bench.at(.minutes(hour * 60)) { pump in pump.here { $0.trueReservoir().units } }
        }
        try #expect(abs(reservoir(atHour: 10) - 170) < 1e-9)
        try #expect(abs(reservoir(atHour: 71) - 109) < 1e-9)
        // What the old pod delivered is not taken out of the new one.
        try #expect(abs(reservoir(atHour: 72) - 200) < 1e-9)
        try #expect(abs(reservoir(atHour: 80) - 192) < 1e-9)
        #expect(bench.ledger.basal == 1600)
    }

    @Test func aPodThatCantCoverABolusIsChangedFirst() throws {
        var device = PumpDevice.omnipod
        device.reservoir = units(10)
        let bench = try PumpBench(device)
        for (minute, id) in [(0, 1), (10, 2)] as [(Int64, Int64)] {
            try bench.at(.minutes(minute)) {
                try #expect($0.requestBolus(units(6), id: id) == .accepted(units(6)))
            }
        }
        try bench.at(.minutes(20)) { #expect(abs($0.status.reservoir.units - 4) < 1e-9) }
    }

    @Test func aLargeBasalEmptiesPodAfterPod() throws {
        var device = PumpDevice.omnipod
        device.reservoir = units(10)
        let bench = try PumpBench(device)
        try bench.at(.start) { try $0.setProgrammedBasal(InsulinRate(unitsPerHour: 30)) }
        let left = try bench.at(.minutes(70)) { $0.status.reservoir.units }
        #expect(abs(left - 5) < 1e-9)
        #expect(bench.ledger.basal == 700)
    }

    @Test func rateChangesLoseNoPartsOfAPulse() throws {
        let bench = try PumpBench()
        for minute in Int64(0)..<600 {
            // 0.6 U/h is a pulse every five minutes; each minute sets it anew.
            try bench.at(.minutes(minute)) { try $0.setProgrammedBasal(InsulinRate(unitsPerHour: 0.6)) }
        }
        try bench.at(.minutes(600)) { _ in }
        #expect(bench.ledger.basal == 120)
    }

    @Test(arguments: UInt64(0)..<30)
    func theLedgerIsExactUnderAnyCommands(_ seed: UInt64) throws {
        var random = RandomStreams(seed: seed, subject: 0).stream("commands")
        let bench = try PumpBench()
        var now = Instant.start
        var (asked, basalUnits, rate) = (Int64(0), 0.0, 0.0)
        var isConnected = true
        for id in Int64(0)..<400 {
            let step = Int64.random(in: 0...20, using: &random) * 31 * Nanoseconds.second
            now = now.adding(step)
            basalUnits += rate * Double(step) / Double(Nanoseconds.hour)
            try bench.at(now) { pump in
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    isConnected.toggle()
                    pump.here(isConnected) { $0.setConnected($1) }
                case 1, 2:
                    let wanted = Double(Int.random(in: 0...60, using: &random)) / 20
                    if (try? pump.setProgrammedBasal(InsulinRate(unitsPerHour: wanted))) != nil {
                        rate = wanted
                    }
                default:
                    let wanted = Int64.random(in: 0...700, using: &random)
                    // A part of a pulse is neither requested nor refused.
                    let amount = units((Double(wanted) + Double.random(in: 0...0.9, using: &random)) / 20)
                    if isConnected { asked += wanted }
                    _ = try? pump.requestBolus(amount, id: id)
                }
            }
        }
        let ledger = bench.ledger
        #expect(ledger.requested == asked)
        #expect(ledger.requested == ledger.delivered + ledger.refused)
        let received = bench.body.boluses.reduce(0) { $0 + $1.amount.units }
        #expect(abs(received - Double(ledger.delivered) / 20) < 1e-6)
        #expect(bench.recorder.deliveries.map(\.units) == bench.body.boluses.map(\.amount.units))
        #expect(abs(basalUnits - Double(ledger.basal) / 20) <= 0.05 + 1e-6)
        #expect(ledger.delivered > 0 && ledger.refused > 0)
    }
}
