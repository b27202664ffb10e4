import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// What a body does by itself against a low, and how sugar against it is taken up.
@Suite struct CounterRegulationTests {
    private func regulation(
        threshold: Double = 60, gain: Double = 0.03, ceiling: Double = 1, afterLow: Double = 0.5
    ) -> CounterRegulation {
        CounterRegulation(
            threshold: threshold, gain: gain, ceiling: ceiling, timeConstant: 30, asleep: 0.5,
            afterLow: afterLow)
    }

    private func at(_ minute: Int64) -> Instant { .minutes(minute) }

    @Test func `it comes slowly, goes slowly, stays below its ceiling and never takes production away`() {
        var one = regulation(ceiling: 0.5)
        one.see(70, at: at(0), isAsleep: false)
        #expect(one.level(at: at(60)) == 0)
        one.see(50, at: at(5), isAsleep: false)
        // A tenth of the way in a tenth of 30 min, nearly: 0.3·(1 − e^−0.1).
        #expect(abs(one.level(at: at(8)) - 0.3 * (1 - exponential(-0.1))) < 1e-12)
        for minute in stride(from: Int64(10), through: 400, by: 5) {
            one.see(20, at: at(minute), isAsleep: false)
        }
        #expect(one.level(at: at(400)) <= 0.5 && one.level(at: at(400)) > 0.499)
        one.see(90, at: at(405), isAsleep: false)
        let left = one.level(at: at(435))
        #expect(left > 0 && left < 0.5 * exponential(-0.99))
    }

    @Test func `asleep, and on the day after a deep low, the answer is smaller`() {
        func answer(asleep: Bool, after deepMinutes: Int64) -> Double {
            var one = regulation()
            for minute in stride(from: Int64(0), to: deepMinutes, by: 5) {
                one.see(50, at: at(minute), isAsleep: false)
            }
            one.see(100, at: at(deepMinutes), isAsleep: false)
            for minute in stride(from: Int64(600), to: 700, by: 5) {
                one.see(50, at: at(minute), isAsleep: asleep)
            }
            return one.level(at: at(700))
        }
        let awake = answer(asleep: false, after: 0)
        #expect(awake > 0.25)
        #expect(abs(answer(asleep: true, after: 0) / awake - 0.5) < 1e-6)
        #expect(abs(answer(asleep: false, after: 20) / awake - 0.5) < 1e-3)
        // Ten minutes are no low that blunts.
        #expect(abs(answer(asleep: false, after: 10) / awake - 1) < 1e-3)
    }

    /// Insulin that nobody eats for, over a night: who has the answer is less low for longer, and nobody is by it alone above where they began.
    @Test func `a low that nobody treats is less deep with it`() throws {
        for index in 0..<8 {
            let p = try generatedParameters(.adult, index)
            func course(_ counter: CounterRegulation?) throws -> [Double] {
                let executor = SessionExecutor()
                let patient = VirtualPatient(
                    executor: executor, model: UVAPadova2008(parameters: p, options: .lifelike),
                    variation: BodyVariation(counterRegulation: counter))
                try executor.inspect {
                    try patient.here { try $0.receive(InsulinAmount(units: 4), over: 0) }
                }
                try executor.advance(to: at(480))
                return try executor.inspect { try patient.here { try $0.plasmaTruth() } }.map(Double.init)
            }
            let (without, with) = (try course(nil), try course(regulation()))
            let (deep, less) = (without.min() ?? 0, with.min() ?? 0)
            guard deep < 55 else { continue }
            #expect(less > deep, "adult \(index): \(deep) and \(less)")
            #expect(zip(without, with).allSatisfy { $1 >= $0 - 0.05 })
        }
    }

    @Test func `what is swallowed arrives, all that is available of it, whatever ways meet`() throws {
        var path = UVAPadova2008.RescuePath()
        path.swallow(milligrams: 16_000, RescueUptake(minutes: 40, availability: 0.75))
        var arrived = 0.0
        func pass(_ minutes: Int) {
            for _ in 0..<minutes * 100 {
                arrived += path.appearance(afterMinutes: 0.005) * 0.01
                path.advance(byMinutes: 0.01)
            }
        }
        pass(15)
        path.swallow(milligrams: 20_000, RescueUptake(minutes: 10, availability: 1))
        #expect(path.timeConstantMinutes > 10 && path.timeConstantMinutes < 40)
        pass(600)
        #expect(abs(arrived - 32_000) < 1, "\(arrived)")
    }
}
