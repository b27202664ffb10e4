import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// What a sensor finds between the body's own instants, against a body that stops wherever it is asked.
@Suite struct SampledBodyTests {
    private struct Course {
        var samples: [Double] = []
        var truth: [Float] = []
        var felt: [Double] = []
        var evaluations = 0
    }

    /// Two days of steps, meals and long boluses, and a sensor that measures at a phase and asks a little later.
    /// - Parameters:
    ///   - stops: integrates to each sample and from there, by an input that changes nothing.
    ///   - feels: somebody asks every five minutes how it feels.
    ///   - lateness: how long after the truth's instants the steps run, as those do that wait for a reading.
    ///   - isPunctual: no step runs early.
    private func live(
        _ kind: ModelKind, phase: Int64, delay: Int64, stops: Bool, feels: Bool = false, lateness: Int64 = 0,
        isPunctual: Bool = false, settings: IntegrationSettings = .session
    ) throws -> Course {
        let subject = try #require(subjectsOfEveryModel().first { $0.kind == kind })
        let executor = SessionExecutor()
        defer { try? executor.end() }
        let patient = VirtualPatient(executor: executor, model: subject.makeModel(settings: settings))
        var random = RandomStreams(seed: 5, subject: 0).stream("test")
        let end = 2 * Nanoseconds.day
        // (instant, order, what)
        var script: [(Int64, Int, () throws -> Void)] = []
        var course = Course()
        for step in 0..<end / (5 * Nanoseconds.minute) {
            // A step that runs early now and then, as one does that a late reading wakes.
            let at = max(
                0,
                step * 5 * Nanoseconds.minute + lateness
                    - (!isPunctual && step % 7 == 3 ? 20 * Nanoseconds.second : 0))
            let pulses = Int64.random(in: 0...3, using: &random)
            script.append(
                (
                    at, 1,
                    {
                        try patient.receive(
                            InsulinAmount(units: Double(pulses) * 0.05), over: pulses * 2 * Nanoseconds.second
                        )
                    }
                ))
        }
        for meal in 0..<8 {
            let at = Int64.random(in: 0..<end, using: &random)
            script.append(
                (
                    at, 1,
                    {
                        try patient.eat(Carbohydrate(grams: 20 + 7 * Double(meal)))
                        try patient.receive(InsulinAmount(units: 4), over: 160 * Nanoseconds.second)
                    }
                ))
            script.append(
                (at + 100 * Nanoseconds.second, 1, { _ = try patient.stopReceiving() }))
        }
        for look in 1..<end / (5 * Nanoseconds.minute) where feels {
            let felt = { course.felt.append(try patient.feltGlucose().milligramsPerDecilitre) }
            script.append((look * 5 * Nanoseconds.minute, 2, felt))
        }
        var sample = phase
        patient.executor.inspect { patient.expectSample(at: Instant(nanoseconds: phase)) }
        while sample + delay < end {
            let at = sample
            if stops { script.append((at, 0, { _ = try patient.here { try $0.plasmaGlucose() } })) }
            script.append(
                (
                    at + delay, 0,
                    {
                        let next = Instant(nanoseconds: at + 5 * Nanoseconds.minute)
                        course.samples.append(try patient.sampledGlucose(next: next).milligramsPerDecilitre)
                    }
                ))
            sample += 5 * Nanoseconds.minute
        }
        for (at, _, what) in script.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            try executor.advance(to: Instant(nanoseconds: at))
            try executor.inspect { try what() }
        }
        try executor.advance(to: Instant(nanoseconds: end))
        course.truth = try executor.inspect { try patient.here { try $0.plasmaTruth() } }
        course.evaluations = executor.inspect { patient.here { $0.evaluations() } }
        return course
    }

    @Test(arguments: [ModelKind.uvaPadova2008, .hovorkaWilinska, .medtronicVirtualPatient])
    func aSampleBetweenTwoStepsIsTheBodysOwnToAHundredth(_ kind: ModelKind) throws {
        for (phase, delay) in [(0, 0), (40, 4), (121, 25), (268, 10), (290, 8), (299, 3)] as [(Int64, Int64)]
        {
            let (phase, delay) = (phase * Nanoseconds.second, delay * Nanoseconds.second)
            for lateness in [0, 10 * Nanoseconds.second] {
                let ahead = try live(
                    kind, phase: phase, delay: delay, stops: false, lateness: lateness)
                let exact = try live(
                    kind, phase: phase, delay: delay, stops: true, lateness: lateness,
                    settings: .reference)
                #expect(ahead.samples.count == exact.samples.count && ahead.samples.count > 570)
                #expect(ahead.truth.count == exact.truth.count)
                let off = zip(ahead.samples, exact.samples).map { abs($0 - $1) }.max() ?? .nan
                let offTruth = zip(ahead.truth, exact.truth).map { abs($0 - $1) }.max() ?? .nan
                #expect(off < 0.02 && offTruth < 0.02, "phase \(phase): \(off), truth \(offTruth)")
            }
        }
    }

    @Test func aPhaseOfItsOwnCostsTheIntegratorNextToNothing() throws {
        let onGrid = try live(.uvaPadova2008, phase: 0, delay: 0, stops: false).evaluations
        for phase in [40, 121, 200] as [Int64] {
            let own = try live(
                .uvaPadova2008, phase: phase * Nanoseconds.second, delay: 10 * Nanoseconds.second,
                stops: false)
            #expect(Double(own.evaluations) < 1.25 * Double(onGrid), "\(own.evaluations) against \(onGrid)")
        }
    }

    /// A reading that arrives right after the grid's point is waited for: the truth in between is looked at on the way.
    @Test func stepsThatWaitForAReadingCostTheIntegratorNextToNothing() throws {
        let onGrid = try live(.uvaPadova2008, phase: 0, delay: 0, stops: false).evaluations
        // The step runs the moment that the reading arrives.
        for (phase, delay) in [(294, 8), (297, 20), (1, 8), (2, 24)] as [(Int64, Int64)] {
            let late = try live(
                .uvaPadova2008, phase: phase * Nanoseconds.second, delay: delay * Nanoseconds.second,
                stops: false,
                lateness: (phase + delay) % 300 * Nanoseconds.second)
            #expect(
                Double(late.evaluations) < 1.3 * Double(onGrid), "\(late.evaluations) against \(onGrid)")
        }
    }

    /// A look at the truth's own moments stops nobody, though the steps come a little later or earlier. One that comes before it is
    /// expected, or after, costs what was gone ahead for it.
    @Test(arguments: [22, 280] as [Int64], [true, false])
    func whoFeelsEveryFiveMinutesCostsTheIntegratorNextToNothing(lateness: Int64, isPunctual: Bool) throws {
        let second = Nanoseconds.second
        func course(feels: Bool, _ settings: IntegrationSettings = .session) throws -> Course {
            try live(
                .uvaPadova2008, phase: (lateness - 10) * second, delay: 10 * second, stops: false,
                feels: feels,
                lateness: lateness * second, isPunctual: isPunctual, settings: settings)
        }
        let (unfelt, felt) = (try course(feels: false), try course(feels: true))
        let exact = try course(feels: true, .reference)
        #expect(
            Double(felt.evaluations) < (isPunctual ? 1.12 : 1.4) * Double(unfelt.evaluations),
            "\(felt.evaluations) against \(unfelt.evaluations)")
        #expect(felt.felt.count == 575 && exact.felt.count == 575)
        let off = zip(felt.felt, exact.felt).map { abs($0 - $1) }.max() ?? .nan
        let offTruth = zip(felt.truth, exact.truth).map { abs($0 - $1) }.max() ?? .nan
        #expect(off < 0.02 && offTruth < 0.02, "\(off), truth \(offTruth)")
    }

    /// Who looks is not told of a glucose that nobody has, and learns of the end when it comes.
    @Test func aLookAtABodyThatLeavesItsRangeEndsThere() throws {
        let subject = try #require(subjectsOfEveryModel().first { $0.kind == .uvaPadova2008 })
        let executor = SessionExecutor()
        defer { try? executor.end() }
        let patient = VirtualPatient(executor: executor, model: subject.makeModel(settings: .session))
        var left: LeftPhysiologicalRange?
        for look in 1..<(2 * 288) as Range<Int64> where left == nil {
            try executor.advance(to: .minutes(look * 5))
            do {
                try executor.inspect { _ = try patient.feltGlucose() }
                // Doses come later than looks, so that each look goes ahead.
                try executor.advance(to: executor.now.adding(22 * Nanoseconds.second))
                try executor.inspect {
                    try patient.receive(InsulinAmount(units: 10), over: Nanoseconds.second)
                }
            } catch let error as LeftPhysiologicalRange {
                left = error
            }
        }
        let end = try #require(left)
        #expect(end.instant == executor.now && end.instant.nanoseconds % VirtualPatient.truthInterval == 0)
        #expect(end.plasmaGlucose.milligramsPerDecilitre < 10)
    }
}
