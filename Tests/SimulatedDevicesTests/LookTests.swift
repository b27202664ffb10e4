// Who looks at a pump changes nothing about it.

import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

@Suite("A look at a pump")
struct LookTests {
    /// Everything that a pump lets anybody read, without a command.
    private func look(_ bench: PumpBench) {
        _ = bench.ledger
        bench.executor.inspect {
            _ = bench.pump.status
            _ = bench.pump.isReady
            _ = bench.pump.here { $0.trueReservoir() }
            _ = bench.pump.here { $0.openIssues() }
        }
    }

    /// Two days of commands and faults. Answers with the journal's digest, the account and the reservoir at the end.
    private func life(_ seed: UInt64, isSeamless: Bool, looksEvery: Int64?) throws -> String {
        var random = RandomStreams(seed: seed, subject: 1).stream("commands")
        var looks = RandomStreams(seed: seed, subject: 2).stream("looks")
        var device = PumpDevice.omnipod
        device.reservoir = units(12)
        let bench = try PumpBench(
            device, faults: FaultPlan(rates: [(.occlusion, 3), (.siteFailure, 0.1), (.pumpOutage, 3)]),
            habits: isSeamless ? .seamless : .manual, seed: seed)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1.05)) }
        var now = Instant.start
        for id in Int64(1)..<160 {
            let next = now.adding(Int64.random(in: 1...36, using: &random) * Nanoseconds.minute)
            if let looksEvery {
                while now < next {
                    now = min(next, now.adding(Int64.random(in: 1...looksEvery, using: &looks)))
                    try bench.executor.advance(to: now)
                    look(bench)
                }
            }
            now = next
            try bench.at(now) { pump in
                if id % 5 == 0 {
                    try? pump.setProgrammedBasal(hourly(Double.random(in: 0...3, using: &random)))
                } else if id % 7 == 0 {
                    _ = try? pump.requestBolus(units(Double.random(in: 0...3, using: &random)), id: id)
                }
            }
        }
        let left = try bench.at(now) { pump in pump.here { $0.trueReservoir().units } }
        return "\(bench.executor.journal.digest) \(bench.ledger) \(left) \(bench.body.rates.count)"
    }

    @Test("at any instants leaves digest, account and pods as they are", arguments: [true, false])
    func looks(isSeamless: Bool) throws {
        for seed in UInt64(0)..<12 {
            let unseen = try life(seed, isSeamless: isSeamless, looksEvery: nil)
            #expect(try life(seed, isSeamless: isSeamless, looksEvery: 20 * Nanoseconds.minute) == unseen)
        }
    }

    @Test("shows the reservoir as it is at that instant, to a pulse, also between its milestones")
    func isCurrent() throws {
        let bench = try PumpBench(habits: .manual)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        for hour in [0.5, 1, 7.25, 30] {
            let left = try bench.at(hours(hour)) { pump in pump.here { $0.trueReservoir().units } }
            #expect(abs(left - (200 - hour)) <= 0.05 + 1e-9)
            #expect(bench.ledger.basal == Int64((hour * 20).rounded(.down)))
        }
    }
}
