import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// Sensors that follow plasma by a compartment of their own.
@Suite struct OwnLagTests {
    /// Oracle: Euler's method in steps of a hundredth of a minute.
    @Test(arguments: [2.0, 7, 25]) func `the compartment is exact for plasma that goes straight`(lag: Double)
    {
        var own = OwnInterstitium(lagMinutes: lag, intervalMinutes: 5)
        var random = RandomStreams(seed: 3, subject: 0).stream("lag")
        var plasma = 120.0
        var oracle = plasma
        #expect(own.follow(plasma) == plasma, "the first sample is no steady state")
        for _ in 0..<200 {
            let next = max(30, plasma + 40 * (random.uniform() - 0.5))
            let steps = 50_000
            for step in 0..<steps {
                let now = plasma + (next - plasma) * (Double(step) + 0.5) / Double(steps)
                oracle += (now - oracle) / lag * 5 / Double(steps)
            }
            plasma = next
            #expect(abs(own.follow(plasma) - oracle) < 2e-3)
        }
        for _ in 0..<200 { _ = own.follow(90) }
        #expect(abs(own.follow(90) - 90) < 1e-6, "in a steady state it isn't plasma")
    }

    @Test func `a ramp is followed by the lag itself`() {
        var own = OwnInterstitium(lagMinutes: 7, intervalMinutes: 5)
        var (plasma, shown) = (300.0, 300.0)
        for _ in 0..<40 {
            plasma -= 5
            shown = own.follow(plasma)
        }
        // Falling by 1 mg/dL/min, seven minutes late.
        #expect(abs(shown - plasma - 7) < 0.05)
    }

    private func readings(_ sensor: TunedSensor, plasma: @escaping (Int) -> Double) throws -> [Double] {
        let executor = SessionExecutor()
        let body = FakeBody { _ in 100 }
        body.plasma = plasma
        let recorder = SessionRecorder(level: .full)
        let simulated = SimulatedSensor(
            executor: executor, model: sensor.model, streams: RandomStreams(seed: 9, subject: 0), body: body,
            recorder: recorder)
        executor.start("sensor") { try await simulated.begin(observers: []) }
        try executor.advance(to: .minutes(6 * 60))
        return recorder.readings.map(\.mgdl)
    }

    @Test func `a sensor without a lag of its own hears nothing of plasma, one with one of nothing else`()
        throws
    {
        var own = TunedSensor(.dexcomG6)
        let isSet = own.set("lag", to: 7) && own.set("noise", to: 0) && own.set("spread", to: 0)
        #expect(isSet)
        var body = own
        let isBodys = body.set("lag", to: 0)
        #expect(isBodys)
        let steady = try readings(body) { _ in 300 }
        #expect(steady.allSatisfy { abs($0 - steady[0]) < 0.5 }, "\(steady.prefix(5))")
        // Plasma leaps from 100 to 200: the reading follows, late, and arrives.
        let leaping = try readings(own) { $0 < 36 ? 100 : 200 }
        let early = leaping[20]
        #expect(leaping[37] > early + 20 && leaping[37] < leaping[44] - 5)
        #expect(abs((leaping.last ?? 0) - early - 94.2) < 1, "\(leaping)")
    }
}
