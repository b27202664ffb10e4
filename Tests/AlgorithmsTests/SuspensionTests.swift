import IsletDevices
import IsletKernel
import Testing

@testable import IsletLoop

/// Algorithms that give the programme, or nothing.
@Suite struct SuspensionTests {
    /// An algorithm with its state, stepped every five minutes.
    private final class Bench<Algorithm: DosingAlgorithm> {
        let algorithm: Algorithm
        var state = Algorithm.State()
        private(set) var now = Instant.start

        init(_ algorithm: Algorithm) { self.algorithm = algorithm }

        func step(
            _ glucose: Double?, meal: Double? = nil, manual: Double? = nil, multiplier: Double = 1
        ) throws -> StepOutput {
            defer { skip() }
            var input = stepInput(glucose: glucose, meal: meal, manual: manual, at: now)
            input.basalMultiplier = multiplier
            return try algorithm.run(input, state: &state)
        }

        /// A step that never runs.
        func skip() { now = now.adding(5 * Nanoseconds.minute) }
    }

    /// 1.2 U/h.
    private let basal = InsulinAmount(units: 1.2 / 12)

    @Test(arguments: [AlgorithmKind.lowGlucoseSuspend, .predictiveSuspend])
    func `people correct highs by hand beside them, as beside a pump`(kind: AlgorithmKind) {
        #expect(kind.basalSource == .algorithm && !kind.lowersHighs)
        #expect(!TunedAlgorithm(kind).algorithm.lowersHighs)
        #expect(!AlgorithmKind.basalBolus.lowersHighs && AlgorithmKind.pidInsulinFeedback.lowersHighs)
    }

    @Test func `at the threshold there is no basal, above it there is`() throws {
        let bench = Bench(LowGlucoseSuspend())
        #expect(try bench.step(71).basal == basal)
        #expect(try bench.step(70).basal == .zero)
        #expect(try bench.step(70.5).basal == basal)
        // Who doesn't know doesn't withhold.
        #expect(try bench.step(nil).basal == basal)
        // What the person asked for of the programme is heeded.
        #expect(abs(try bench.step(120, multiplier: 0.5).basal.units - 0.05) < 1e-12)
    }

    /// Two hours at most of any six, whatever the sensor says: a sensor that reads low for ever must not starve anybody.
    @Test func `after two hours without it basal runs for four`() throws {
        let bench = Bench(LowGlucoseSuspend())
        let zeros = try (0..<288).map { _ in try bench.step(50).basal == .zero }
        #expect(zeros[..<24].allSatisfy { $0 } && !zeros[24..<72].contains(true))
        #expect(zeros[72..<96].allSatisfy { $0 } && !zeros[96])
        for from in 0...288 - 72 { #expect(zeros[from..<from + 72].count { $0 } <= 24) }
    }

    @Test func `a stop lasts as long as it is said to, and no longer than it may`() throws {
        var held = LowGlucoseSuspend()
        held.shortest = 60
        let bench = Bench(held)
        #expect(try bench.step(70).basal == .zero)
        // An hour from the first stop; a reading that is missing meanwhile leaves the step to the pump.
        for _ in 0..<5 { #expect(try bench.step(140).basal == .zero) }
        #expect(try bench.step(nil).basal == basal)
        for _ in 0..<5 { #expect(try bench.step(140).basal == .zero) }
        #expect(try bench.step(140).basal == basal)
        held.shortest = 300
        let long = Bench(held)
        let zeros = try (0..<72).map { try long.step($0 == 0 ? 60 : 150).basal == .zero }
        #expect(zeros[..<24].allSatisfy { $0 } && !zeros[24...].contains(true))
    }

    @Test func `predictive suspension counts two hours in any two and a half`() throws {
        let bench = Bench(PredictiveSuspend())
        let zeros = try (0..<288).map { _ in try bench.step(50).basal == .zero }
        #expect(zeros.count { $0 } > 200)
        for from in 0...288 - 30 { #expect(zeros[from..<from + 30].count { $0 } <= 24) }
        // Steps that never ran had the pump's programme.
        let gaps = Bench(PredictiveSuspend())
        for _ in 0..<24 { #expect(try gaps.step(50).basal == .zero) }
        #expect(try gaps.step(50).basal == basal)
        for _ in 0..<29 { gaps.skip() }
        #expect(try gaps.step(50).basal == .zero)
        // A day apart nothing is remembered, nor does the record break.
        for _ in 0..<1000 { gaps.skip() }
        #expect(try gaps.step(50).basal == .zero)
    }

    /// By hand: 130, 120, 110, 100 falls by 2 mg/dL/min, to 40 in 30 min; 103, 102, 101, 100 to 94.
    @Test func `a straight line through four readings decides, half an hour on`() throws {
        let falling = Bench(PredictiveSuspend())
        for glucose in [130.0, 120, 110] {
            let output = try falling.step(glucose)
            #expect(output.basal == basal && output.forecast == nil, "three readings are no line")
        }
        let fourth = try falling.step(100)
        #expect(fourth.basal == .zero)
        #expect(abs(try #require(fourth.forecast).milligramsPerDecilitre - 40) < 1e-9)
        #expect(falling.algorithm.forecastMinutes == 30)
        let slow = Bench(PredictiveSuspend())
        for glucose in [103.0, 102, 101] { _ = try slow.step(glucose) }
        let output = try slow.step(100)
        #expect(abs(try #require(output.forecast).milligramsPerDecilitre - 94) < 1e-9)
        #expect(output.basal == basal)
        // It rises again: basal is back, though glucose is lower than when it was stopped.
        for glucose in [92.0, 88] { _ = try falling.step(glucose) }
        let back = try [90.0, 93, 97, 102].map { try falling.step($0).basal }
        #expect(back.last == basal)
        // Low now, and falling or level; once the line rises basal is back, also below 70.
        for glucose in [66.0, 63, 61, 60] { #expect(try slow.step(glucose).basal == .zero) }
        #expect(try slow.step(61).basal == .zero, "60 and 61 after 63 are no rise yet")
        #expect(try slow.step(64).basal == basal)
    }

    /// Oracle: the line's value by the normal equations of drawn readings at drawn instants.
    @Test func `the line is that of least squares`() throws {
        var random = RandomStreams(seed: 11, subject: 0).stream("line")
        for _ in 0..<1000 {
            var line = ReadingLine()
            var minute = 10_000 * random.uniform()
            var points: [(x: Double, y: Double)] = []
            for _ in 0..<4 {
                points.append((minute, 40 + 300 * random.uniform()))
                line.add(points[points.count - 1].y, minute: minute)
                minute += 1 + 5 * random.uniform()
            }
            let (n, origin) = (4.0, points[3].x)
            let (sx, sy) = (points.reduce(0) { $0 + $1.x - origin }, points.reduce(0) { $0 + $1.y })
            let sxx = points.reduce(0) { $0 + ($1.x - origin) * ($1.x - origin) }
            let sxy = points.reduce(0) { $0 + ($1.x - origin) * $1.y }
            let slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
            let wanted = (sy - slope * sx) / n + slope * 30
            #expect(abs(try #require(line.value(after: 30)) - wanted) < 1e-6)
        }
    }

    @Test func `across a gap no line is drawn`() throws {
        let bench = Bench(PredictiveSuspend())
        for glucose in [130.0, 120, 110] { _ = try bench.step(glucose) }
        bench.skip()
        bench.skip()
        let output = try bench.step(90)
        #expect(output.forecast == nil && output.basal == basal)
        // What is low now needs no line.
        #expect(try bench.step(69).basal == .zero)
    }

    @Test func `meals and boluses by hand are basal-bolus's, also while basal is stopped`() throws {
        var none = NoState()
        for glucose in [55.0, 120, 250] {
            let wanted = BasalBolus().run(
                stepInput(glucose: glucose, meal: 45, manual: 1.5), state: &none)
            let low = try Bench(LowGlucoseSuspend()).step(glucose, meal: 45, manual: 1.5)
            let ahead = try Bench(PredictiveSuspend()).step(glucose, meal: 45, manual: 1.5)
            for output in [low, ahead] {
                #expect(output.meal == wanted.meal && output.correction == wanted.correction)
                #expect(output.basal == (glucose < 70 ? .zero : basal))
            }
        }
    }

    @Test func `parameters reach the decision`() throws {
        var kind = TunedAlgorithm(.lowGlucoseSuspend)
        let isSet = kind.set("suspendAt", to: 90)
        #expect(isSet)
        let tuned = try #require(kind.algorithm as? LowGlucoseSuspend)
        #expect(try Bench(tuned).step(85).basal == .zero)
        var short = PredictiveSuspend()
        short.longest = 10
        let bench = Bench(short)
        #expect(try (0..<3).map { _ in try bench.step(50).basal == .zero } == [true, true, false])
    }
}
