import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// A pod from its priming to its end, and what it says on the way.
@Suite struct PodLifeTests {
    @Test func aPodRemindsExpiresServesEightHoursAndStops() throws {
        var habits = PodHabits.manual
        // A person who is late for days on end.
        habits.meanLateness = 1_000_000 * Nanoseconds.hour
        habits.pauseShare = 0
        let bench = try PumpBench(habits: habits)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        let phases: [(Double, PodPhase, PumpStatus.Condition)] = [
            (69.9, .active, .ready), (70, .expiring, .ready), (71.9, .expiring, .ready),
            (72, .expired, .ready), (79.9, .expired, .ready), (80, .fault, .fault), (90, .fault, .fault),
        ]
        for (hour, phase, condition) in phases {
            try bench.at(hours(hour)) {
                #expect($0.status.pod == phase, "\(hour) h")
                #expect($0.status.condition == condition, "\(hour) h")
                #expect($0.status.podExpiresAt == (phase == .fault ? nil : hours(72)))
            }
        }
        #expect(
            bench.observer.alerts == [
                "+userPodExpiration", "-userPodExpiration", "+podExpiring", "+podExpireImminent", "+alarm",
            ])
        #expect(bench.ledger.basal == 80 * 20)
        #expect(abs(bench.body.basalUnits - 80) < 1e-9)
        try bench.at(hours(91)) { pump in
            #expect(throws: PumpError.notReady(.fault)) { try pump.requestBolus(units(1), id: 1) }
        }
    }

    @Test func aPunctualPersonChangesThePodAtItsExpiryAndPrimesItForAMinute() throws {
        let bench = try PumpBench(habits: .manual)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        try bench.at(hours(72)) {
            #expect($0.status.condition == .noPod)
            #expect($0.status.pod == .priming)
            #expect($0.status.podExpiresAt == nil)
        }
        // 2.6 U and 0.5 U, a pulse a second.
        let primed = hours(72).adding(62 * Nanoseconds.second)
        try bench.at(primed.adding(-1)) { #expect($0.status.pod == .priming) }
        try bench.at(primed) { pump in
            #expect(pump.status.pod == .active)
            #expect(pump.status.podExpiresAt == primed.adding(72 * Nanoseconds.hour))
            #expect(abs(pump.here { $0.trueReservoir().units } - 196.9) < 1e-9)
        }
        #expect(bench.ledger.primed == 62)
        // The programme goes on with the new pod.
        try bench.at(hours(100)) { _ in }
        #expect(abs(bench.body.basalUnits - (100 - 62.0 / 3600)) < 1e-6)
        #expect(bench.observer.pump.map(\.pod) == [.expiring, .priming, .active])
    }

    /// Harm: a pod that is half filled counts as in use, its life is drawn twice, and the time without one is too short.
    @Test func aPodThatIsTakenOffWhileItPrimesIsNeverAttached() throws {
        let bench = try PumpBench(habits: .manual)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        let begin = hours(10)
        for seconds in [Int64(0), 40] {
            try bench.at(begin.adding(seconds * Nanoseconds.second)) { pump in pump.here { $0.changePodNow() }
            }
        }
        let primed = begin.adding((40 + 62) * Nanoseconds.second)
        try bench.at(primed.adding(-1)) { #expect($0.status.pod == .priming) }
        for instant in [primed, primed.adding(5 * Nanoseconds.minute)] {
            try bench.at(instant) {
                #expect($0.status.pod == .active)
                #expect($0.status.podExpiresAt == primed.adding(72 * Nanoseconds.hour))
            }
        }
        #expect(bench.observer.pump.count { $0.pod == .active } == 1)
    }

    @Test func theReservoirIsExactUpToFiftyUnits() throws {
        let bench = try PumpBench()
        for id in Int64(0)..<8 {
            try bench.at(.minutes(id * 30)) { _ = try $0.requestBolus(units(20), id: id) }
            try bench.at(.minutes(id * 30 + 29)) {
                let left = 180 - 20 * Double(id)
                #expect($0.status.isReservoirExact == (left <= 50))
                #expect(abs($0.status.reservoir.units - min(left, 50)) < 1e-9)
            }
        }
    }

    @Test func aLowReservoirIsSaidAtTenUnitsAndAnEmptyOneStopsEverything() throws {
        var device = PumpDevice.omnipod
        device.reservoir = units(20)
        let bench = try PumpBench(device, habits: .manual)
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(2)) }
        try bench.at(hours(5).adding(-2 * Nanoseconds.second)) { _ in #expect(bench.observer.alerts == []) }
        try bench.at(hours(5).adding(2 * Nanoseconds.second)) { _ in
            #expect(bench.observer.alerts == ["+lowReservoir"])
        }
        try bench.at(hours(10).adding(5 * Nanoseconds.second)) {
            #expect($0.status.condition == .fault)
            #expect($0.status.reservoir == .zero)
        }
        #expect(bench.observer.alerts == ["+lowReservoir", "+alarm"])
        #expect(bench.ledger.basal == 400)
        #expect(abs(bench.body.basalUnits - 20) < 0.01)
        // Twenty minutes later the person changes it.
        try bench.at(hours(10.4)) { #expect($0.status.condition == .ready) }
        #expect(bench.observer.alerts == ["+lowReservoir", "+alarm", "-lowReservoir", "-alarm"])
    }

    @Test func aBolusThatThePodCantCoverIsCutToWhatIsThereAndTheAlarmWaitsForItsEnd() throws {
        var device = PumpDevice.omnipod
        device.reservoir = units(5)
        let bench = try PumpBench(device, habits: .manual)
        try bench.at(.start) { try #expect($0.requestBolus(units(6), id: 1) == .accepted(units(5))) }
        try bench.at(.start.adding(199 * Nanoseconds.second)) { #expect($0.status.condition == .bolusing) }
        try bench.at(.start.adding(200 * Nanoseconds.second)) { #expect($0.status.condition == .fault) }
        let ledger = bench.ledger
        #expect(ledger.delivered == 100 && ledger.refused == 20 && ledger.isBalanced)
    }

    @Test func aSuspensionCutsTheBolusStopsTheBasalAndRemindsWhenItIsOver() throws {
        let bench = try PumpBench()
        try bench.at(.start) {
            try $0.setProgrammedBasal(hourly(1))
            _ = try $0.requestBolus(units(10), id: 1)
        }
        try bench.at(.start.adding(100 * Nanoseconds.second)) {
            try $0.suspend(nanoseconds: 30 * Nanoseconds.minute)
            #expect($0.status.condition == .suspended)
            try #expect($0.completedBolus(after: nil)?.delivered == units(2.5))
            #expect(try $0.outcome(of: 1) == .carriedOut(units(2.5)))
        }
        #expect(bench.observer.alerts == ["+suspendInProgress"])
        try bench.at(.minutes(60)) { pump in
            #expect(pump.status.condition == .suspended)
            #expect(throws: PumpError.notReady(.suspended)) { try pump.requestBolus(units(1), id: 2) }
            #expect(bench.observer.alerts == ["+suspendInProgress", "-suspendInProgress", "+suspendEnded"])
            try pump.resume()
        }
        #expect(bench.observer.alerts.last == "-suspendEnded")
        try bench.at(.minutes(120)) { _ in }
        let ledger = bench.ledger
        #expect(ledger.delivered == 50 && ledger.lost == 150 && ledger.refused == 20 && ledger.isBalanced)
        #expect(abs(bench.body.bolusUnits - 2.5) < 1e-9)
        #expect(abs(bench.body.basalUnits - (1 + 100.0 / 3600)) < 1e-9)
    }

    @Test func aZeroThatIsRenewedChangesNothingUntilItEnds() throws {
        let bench = try PumpBench()
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        for minute in stride(from: Int64(60), through: 180, by: 5) {
            try bench.at(.minutes(minute)) {
                try $0.setTemporaryBasal(.zero, nanoseconds: 30 * Nanoseconds.minute)
            }
        }
        // One change when it began: renewing it gives the body nothing to do.
        #expect(bench.body.rates.map(\.unitsPerHour) == [1, 0])
        try bench.at(Instant.minutes(210).adding(-1)) { #expect($0.status.temporaryBasal == .zero) }
        try bench.at(.minutes(210)) { #expect($0.status.temporaryBasal == nil) }
        #expect(bench.body.rates.map(\.unitsPerHour) == [1, 0, 1])
        // A shorter one in its place ends when it says.
        try bench.at(.minutes(240)) { try $0.setTemporaryBasal(.zero, nanoseconds: 12 * Nanoseconds.hour) }
        try bench.at(.minutes(250)) { try $0.setTemporaryBasal(.zero, nanoseconds: 30 * Nanoseconds.minute) }
        try bench.at(.minutes(281)) { #expect($0.status.temporaryBasal == nil) }
        // What the pump gave by itself: the first hour, 210 to 240, 280 on.
        try bench.at(.minutes(340)) {
            #expect(abs(($0.basalDelivered?.units ?? 0) - 2.5) < 1e-9)
            $0.here { $0.setConnected(false) }
            #expect($0.basalDelivered == nil)
        }
    }

    @Test func aTemporaryRateRunsForItsTimeAndNoLonger() throws {
        let bench = try PumpBench()
        try bench.at(.start) { try $0.setProgrammedBasal(hourly(1)) }
        try bench.at(hours(1)) { pump in
            #expect(throws: BasalScheduleError.self) {
                try pump.setTemporaryBasal(hourly(3), nanoseconds: 29 * Nanoseconds.minute)
            }
            #expect(throws: BasalScheduleError.self) {
                try pump.setTemporaryBasal(hourly(3), nanoseconds: 13 * Nanoseconds.hour)
            }
            try pump.setTemporaryBasal(hourly(3), nanoseconds: 2 * Nanoseconds.hour)
        }
        try bench.at(hours(5)) { try $0.setTemporaryBasal(hourly(0), nanoseconds: Nanoseconds.hour) }
        try bench.at(hours(5.5)) { try $0.cancelTemporaryBasal() }
        try bench.at(hours(6)) { _ in }
        #expect(abs(bench.body.basalUnits - (1 + 6 + 2 + 0 + 0.5)) < 1e-9)
        #expect(bench.ledger.basal == 190)
    }

    @Test func aTemporaryRateSetAnewAtEachStepDeliversNothingWherePulsesGoMissing() throws {
        for (isMissing, expected) in [(false, 0.3), (true, 0.0)] {
            let plan = isMissing ? FaultPlan(rates: [(.missingPulses, 1)]) : .none
            let bench = try PumpBench(faults: plan)
            for step in Int64(0)..<12 {
                // 0.3 U/h is half a pulse in five minutes.
                try bench.at(.minutes(5 * step)) {
                    try $0.setTemporaryBasal(hourly(0.3), nanoseconds: 30 * Nanoseconds.minute)
                }
            }
            try bench.at(.minutes(60)) { _ in }
            let received = bench.body.basalUnits + bench.body.bolusUnits
            #expect(abs(received - expected) < 1e-6)
            #expect(abs(Double(bench.ledger.basal) / 20 - expected) < 1e-6)
            // Left alone, nothing goes missing.
            try bench.at(.minutes(84)) { _ in }
            let more = bench.body.basalUnits + bench.body.bolusUnits - received
            #expect(abs(more - 0.1) <= 0.05)
        }
    }

    @Test func whatThePumpSaysWhileItIsOutOfReachComesWhenItIsBack() throws {
        let bench = try PumpBench(habits: .manual)
        try bench.at(hours(69)) { pump in pump.here { $0.setConnected(false) } }
        try bench.at(hours(71)) {
            #expect(bench.observer.alerts == [])
            // What was known last.
            #expect($0.status.pod == .active && !$0.status.isConnected)
            $0.here { $0.setConnected(true) }
            #expect(bench.observer.alerts == ["+userPodExpiration"])
            #expect($0.status.pod == .expiring)
        }
    }

    @Test func otherAlertsComeAndGo() throws {
        let bench = try PumpBench()
        try bench.at(.minutes(1)) { pump in
            pump.here { $0.timeOffsetDidChange(synchronized: false) }
            pump.here { $0.incompatiblePodDidAppear(removed: false) }
            try pump.acknowledge(.incompatiblePod)
            pump.here { $0.timeOffsetDidChange(synchronized: true) }
        }
        #expect(
            bench.observer.alerts == [
                "+timeOffsetChangeDetected", "+incompatiblePod", "-incompatiblePod",
                "-timeOffsetChangeDetected",
            ])
    }
}
