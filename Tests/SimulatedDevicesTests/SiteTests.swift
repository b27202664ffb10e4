import IsletDevices
import IsletNumerics
import IsletKernel
import Testing

@testable import IsletModels

/// What a blocked cannula and a failing site make of the insulin, against the guides' tables.
@Suite struct SiteTests {
    /// Hours from the onset to the alarm; nil where none came within `limit`.
    private func timeToAlarm(
        rate: Double, bolus: Double = 0, threshold: Double, limit: Double = 80
    ) throws -> Double? {
        var device = PumpDevice.omnipod
        device.basalStep = hourly(1e-6)
        let bench = try PumpBench(device, habits: .manual)
        try bench.at(.start) { pump in
            try pump.setProgrammedBasal(hourly(rate))
            try pump.here(threshold) { try $0.occlude(threshold: $1, clearsAfter: nil) }
            if bolus > 0 { _ = try pump.requestBolus(units(bolus), id: 1) }
        }
        try bench.at(hours(limit)) { _ in }
        // It lasts until the pod is off, which the person sees to after the alarm.
        let reaction = Double(PodHabits.manual.reaction) / Double(Nanoseconds.hour)
        return bench.faults.first { $0.kind == "occlusion" }.map { $0.to - reaction }
    }

    /// Guides of Omnipod 5 and Omnipod GO: typical and longest time to the alarm, h; U/day for the GO.
    private static let published: [(rate: Double, bolus: Double, typical: Double, longest: Double)] = [
        (0, 5, 33.0 / 60, 35.0 / 60), (1, 0, 3, 5.5), (10.0 / 24, 0, 8.5, 12.5), (25.0 / 24, 0, 3.5, 5.5),
        (40.0 / 24, 0, 2.5, 3.5),
    ]

    @Test func noAlarmTakesLongerThanTheGuidesAllowAndTheTypicalOnesAreAmongThem() throws {
        for row in Self.published {
            // Thresholds over the whole range of the rule.
            let times = try stride(from: 2.5, through: 5.0, by: 0.25).map {
                try #require(try timeToAlarm(rate: row.rate, bolus: row.bolus, threshold: $0))
            }
            let place = "\(row.rate) U/h, bolus \(row.bolus) U: \(times)"
            #expect(times.allSatisfy { $0 <= row.longest + 0.001 }, "\(place)")
            let (least, most) = (times.min() ?? 0, times.max() ?? 0)
            #expect(least <= row.typical + 0.001 && most >= row.typical, "\(place)")
        }
    }

    @Test func atTheSmallestRateItTakesTwoDaysOrThePodsWholeLife() throws {
        // 51 h typical, 80 h at most: 4 U take that long, and a pod lives no longer.
        let early = try #require(try timeToAlarm(rate: 0.05, threshold: 2.5, limit: 100))
        #expect(abs(early - 50.5) < 0.1)
        let late = try #require(try timeToAlarm(rate: 0.05, threshold: 5, limit: 100))
        #expect(late <= 80.001)
    }

    @Test func anAlarmWaitsForTheEndOfABolus() throws {
        var device = PumpDevice.omnipod
        device.occlusionConfirmation = 0
        let bench = try PumpBench(device, habits: .manual)
        try bench.at(.start) { pump in
            try pump.here { try $0.occlude(threshold: 3, clearsAfter: nil) }
            _ = try pump.requestBolus(units(10), id: 1)
        }
        try bench.at(.start.adding(399 * Nanoseconds.second)) { #expect($0.status.condition == .bolusing) }
        try bench.at(.start.adding(401 * Nanoseconds.second)) { #expect($0.status.condition == .fault) }
        #expect(bench.observer.alerts == ["+alarm"])
        // All of it was pushed in vain, and went with the pod.
        try bench.at(hours(1)) { _ in }
        #expect(bench.ledger.lost == 200 && bench.ledger.isBalanced && bench.body.bolusUnits == 0)
    }

    @Test func aCannulaThatClearsReleasesWhatItHeldAndNotAPulseMore() throws {
        let bench = try PumpBench(habits: .manual)
        try bench.at(.start) { pump in
            try pump.setProgrammedBasal(hourly(1))
            _ = try pump.requestBolus(units(4), id: 1)
        }
        // Half of the bolus is through; then nothing for 40 min, and a bolus in vain.
        try bench.at(.start.adding(80 * Nanoseconds.second)) { pump in
            try pump.here { try $0.occlude(threshold: 5, clearsAfter: 40 * Nanoseconds.minute) }
        }
        let before = bench.body.basalUnits
        try bench.at(.minutes(20)) { _ = try $0.requestBolus(units(1), id: 2) }
        #expect(abs(bench.body.bolusUnits - 2) < 1e-9)
        #expect(bench.ledger.held == 60 && bench.ledger.isBalanced)
        try bench.at(.minutes(41)) { _ in }
        #expect(abs(bench.body.basalUnits - before) < 1e-9)
        try bench.at(.minutes(42)) { _ in }
        #expect(bench.ledger.held == 0 && bench.ledger.delivered == 100 && bench.ledger.isBalanced)
        // 5 U of boluses, and 40 min of basal at 1 U/h, in whole pulses.
        #expect(abs(bench.body.bolusUnits - 5.65) < 0.051)
        #expect(bench.observer.alerts == [])
        #expect(bench.faults.map(\.kind) == ["occlusion"])
    }

    @Test func aFailingSiteLetsItsShareThroughToAPulse() throws {
        let bench = try PumpBench(habits: .manual)
        try bench.at(.start) { pump in
            try pump.setProgrammedBasal(hourly(1))
            try pump.here { try $0.failSite(floor: 0.25) }
        }
        // From 1 to 0.25 over two hours: 0.625 on average.
        try bench.at(hours(2)) { _ in }
        #expect(abs(bench.body.basalUnits - 1.25) < 0.01)
        for id in Int64(0)..<40 {
            try bench.at(hours(2).adding(id * 5 * Nanoseconds.minute)) {
                _ = try $0.requestBolus(units(0.35), id: id)
            }
        }
        try bench.at(hours(12)) { _ in }
        #expect(abs(bench.body.bolusUnits - 14 * 0.25) <= 0.051)
        #expect(abs(bench.body.basalUnits - 3.75) < 0.01)
        let ledger = bench.ledger
        #expect(ledger.isBalanced && ledger.requested == 280)
        #expect(abs(Double(ledger.delivered) / 20 - bench.body.bolusUnits) < 1e-9)
        #expect(abs(Double(ledger.basal) / 20 - bench.body.basalUnits) < 0.1)
        #expect(ledger.basal + ledger.basalLost == 240)
        // No alarm, and the next pod has a site of its own.
        #expect(bench.observer.alerts == [])
        try bench.at(hours(73)) { _ in }
        let day = bench.body.basalUnits
        try bench.at(hours(83)) { _ in }
        #expect(abs(bench.body.basalUnits - day - 10) < 1e-6)
    }

    @Test(arguments: [(1.9, 2.7e-4), (5.8, 8.3e-4), (4.4, 6.3e-4), (3.3, 4.7e-4)])
    func infusionSetsFailAsOftenAsPublished(percent: Double, hazard: Double) throws {
        // 22,741 sets, as published; each its own stretch of 72 h.
        let sets = 22_741
        let times = FaultTimes(
            RandomStreams(seed: 4, subject: 0).stream("fault.site-failure"), perHour: hazard)
        var failed = 0
        var early = 0
        for _ in 0..<sets {
            let first = times.next(after: .start)
            if first <= hours(72) { failed += 1 }
            if first <= hours(24) { early += 1 }
        }
        // Constant hazards: the published numbers rise a little less than evenly over the three days.
        #expect(standardErrors(failed, expected: Double(sets) * percent / 100) < 3)
        if percent == 3.3 { #expect(standardErrors(early, expected: Double(sets) * 0.010) < 3) }
    }
}
