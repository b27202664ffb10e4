// What the loop does about its devices: readings off the grid, a sensor that must be asked, signs of life, totals.

import IsletLoop
import IsletDevices
import IsletKernel
import Testing

private let seconds = Nanoseconds.second

@Suite("A reading off the grid")
struct ReadingOffTheGridTests {
    private func ages(_ lab: Lab) -> [Int64?] {
        lab.algorithm.inputs.map { input in
            input.cgm.map { (input.now.nanoseconds - $0.instant.nanoseconds) / seconds }
        }
    }

    @Test(
        "within 27 s of its grid point serves that step the moment it arrives, hour after hour",
        arguments: [-27, -26, -10, -1, 0, 1, 5, 20, 27])
    func withinTheWindow(offset: Int64) throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 241, offset: offset * seconds)
        #expect(lab.algorithm.inputs.map(\.algorithmTime) == Array(0...48))
        // Steps 0 and 1 know nothing yet of when readings come.
        #expect(ages(lab).dropFirst(2).allSatisfy { $0 == 0 })
        for input in lab.algorithm.inputs.dropFirst(2) {
            #expect(input.now == Instant.minutes(input.algorithmTime * 5).adding(offset * seconds))
        }
    }

    @Test("further away holds no step up: it serves the next one, once", arguments: [-28, 28, 55])
    func outsideTheWindow(offset: Int64) throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 241, offset: offset * seconds)
        let age = offset < 0 ? -offset : 300 - offset
        #expect(ages(lab).dropFirst(2).allSatisfy { $0 == age })
        #expect(
            lab.algorithm.inputs.dropFirst(2).allSatisfy { $0.now == .minutes($0.algorithmTime * 5) })
    }

    @Test(
        "that is late for once is waited for; one that doesn't come holds up one step for 27 s, and no other")
    func late() throws {
        let lab = try Lab()
        lab.sensor.latestReading = reading(at: 0)
        try lab.live(untilMinute: 28)
        try lab.read(at: Instant.minutes(30).adding(12 * seconds))
        try lab.executor.advance(to: .minutes(34))
        #expect(lab.algorithm.inputs.last?.now == Instant.minutes(30).adding(12 * seconds))
        #expect(lab.algorithm.inputs.last?.cgm != nil)
        // From here on the signal is lost for hours.
        try lab.executor.advance(to: .minutes(240))
        let lost = lab.algorithm.inputs.dropFirst(7)
        #expect(lost.first?.now == Instant.minutes(35).adding(27 * seconds))
        #expect(lost.dropFirst().allSatisfy { $0.now == .minutes($0.algorithmTime * 5) })
        #expect(lost.count == 42 && lost.allSatisfy { $0.cgm == nil })
    }
}

@Suite("A sensor that must be asked")
struct AskedSensorTests {
    @Test("is asked before each step, again ten seconds after an error, and each read and error counts")
    func errors() throws {
        let lab = try Lab()
        lab.sensor.isPolled = true
        lab.sensor.latestReading = reading(at: 0)
        var failures = 0
        lab.sensor.answer = { [executor = lab.executor] in
            failures -= 1
            return failures >= 0
                ? nil
                : GlucoseReading(
                    instant: executor.now, glucose: GlucoseConcentration(milligramsPerDecilitre: 120))
        }
        try lab.executor.advance(to: .minutes(31))
        // At the start, then 27 s before each grid point, and the step follows at once.
        #expect(lab.algorithm.inputs.dropFirst().allSatisfy { $0.cgm?.instant == $0.now })
        #expect(lab.sensor.reads == 7 && lab.memory.work.sensorErrors == 0)
        // Two errors: the step begins with the third read. Five: it waits beyond its grid point.
        for (count, offset) in [(2, Int64(-7)), (5, 23)] {
            failures = count
            let next = lab.memory.nextStep
            try lab.executor.advance(to: next.adding(60 * seconds))
            #expect(lab.algorithm.inputs.last?.now == next.adding(offset * seconds))
            #expect(lab.algorithm.inputs.last?.cgm != nil)
        }
        #expect(lab.memory.work.sensorErrors == 7 && lab.memory.work.sensorReads == 7 + 3 + 6)
        // An hour of errors: steps run without glucose, and the sensor is asked every ten seconds all the while.
        failures = 100_000
        let steps = lab.algorithm.inputs.count
        let asked = lab.sensor.reads
        try lab.executor.advance(to: lab.executor.now.adding(Nanoseconds.hour))
        #expect(lab.algorithm.inputs.count - steps == 12)
        #expect((330...361).contains(lab.sensor.reads - asked))
        failures = 0
        try lab.executor.advance(to: lab.executor.now.adding(6 * Nanoseconds.minute))
        #expect(lab.algorithm.inputs.last?.cgm != nil)
    }

    @Test("is read every 15 minutes without a session, as the pump is")
    func idle() throws {
        let lab = try Lab(begins: false)
        lab.sensor.isPolled = true
        lab.sensor.answer = { reading(at: 0) }
        try lab.executor.advance(to: .minutes(121))
        #expect(lab.sensor.reads == 9 && lab.memory.work.pumpReads == 9)
    }
}

@Suite("Countdowns")
struct CountdownTests {
    @Test("last as long as the temporary basal itself, with steps and without")
    func countdown() throws {
        for trouble in ["none", "no glucose", "failing algorithm"] {
            let lab = try Lab(basalSource: .programmed) { input in
                if trouble == "failing algorithm" { throw AlgorithmFailure() }
                return StepOutput()
            }
            if trouble != "no glucose" { lab.sensor.latestReading = reading(at: 0) }
            try lab.executor.advance(to: .minutes(1))
            try lab.executor.inspect {
                try lab.loop.here { try $0.setTemporaryBasal(multiplier: 2, steps: 3) }
            }
            try lab.executor.advance(to: Instant.minutes(20).adding(-1))
            #expect(lab.pump.rates.last?.unitsPerHour == 2.4, "\(trouble)")
            #expect(lab.display.temporaryBasalEnds == .minutes(20), "\(trouble)")
            try lab.executor.advance(to: .minutes(21))
            #expect(lab.pump.rates.last?.unitsPerHour == 1.2, "\(trouble)")
            #expect(lab.display.temporaryBasalEnds == nil, "\(trouble)")
            #expect(lab.display.basalMultiplierStepsLeft == 0, "\(trouble)")
        }
    }
}
