import IsletDevices
import IsletKernel
import Testing

@testable import IsletModels

/// What exercise does to a body.
@Suite struct ExerciseTests {
    private func bout(_ from: Int64, _ minutes: Int64, counts: Double = 1800) -> ExerciseBout {
        ExerciseBout(from: .minutes(from), until: .minutes(from + minutes), counts: counts)
    }

    /// The equations as they are printed, by a classical Runge-Kutta of a hundredth of a minute.
    private func published(_ minutes: Int, counts: (Double) -> Double) -> (
        Z: Double, rGU: Double, rGP: Double
    ) {
        func rates(_ t: Double, _ x: SIMD4<Double>) -> SIMD4<Double> {
            let (Y, Z) = (x[0], x[1])
            var power = 1.0
            for _ in 0..<20 { power *= Y / 1500 }
            let fY = power / (1 + power)
            let dY: Double = (counts(t) - Y) / 5
            let dZ: Double = 3e-6 * fY * Y - (1 - fY) * Z / 600
            let uptake: Double = 1e-6 * fY * Y - 0.10 * x[2]
            let production: Double = 3e-7 * fY * Y - 0.06 * x[3]
            return SIMD4(dY, dZ, uptake, production)
        }
        var x = SIMD4<Double>()
        let h = 0.01
        for step in 0..<minutes * 100 {
            // Within a step counts are those of its middle: bouts begin and end between two.
            let t = (Double(step) + 0.5) * h
            let a = rates(t, x)
            let b = rates(t, x + a * (h / 2))
            let c = rates(t, x + b * (h / 2))
            let d = rates(t, x + c * h)
            let middle: SIMD4<Double> = (b + c) * 2
            x += (a + middle + d) * (h / 6)
        }
        return (x[1], x[2], x[3])
    }

    @Test(arguments: [1300.0, 1500, 1800, 3000])
    func `uptake, production and sensitivity are the published equations'`(counts: Double) {
        var state = ExerciseState()
        state.advance(40, counts: counts, ExerciseAnswer())
        state.advance(25, counts: 0, ExerciseAnswer())
        let exact = published(65) { $0 < 40 ? counts : 0 }
        #expect(abs(state.Z / exact.Z - 1) < 5e-4, "\(state.Z) \(exact.Z)")
        #expect(abs(state.rGU / exact.rGU - 1) < 5e-4, "\(state.rGU) \(exact.rGU)")
        #expect(abs(state.rGP / exact.rGP - 1) < 5e-4, "\(state.rGP) \(exact.rGP)")
    }

    @Test
    func `at its knots the course is the equations', between them it goes straight, and it never jumps`() {
        var course = ExerciseCourse([bout(60, 40), bout(400, 30, counts: 2500)], ExerciseAnswer())
        #expect(course.effect(at: .minutes(59)) == .none)
        let exact = published(40) { _ in 1800 }
        let end = course.effect(at: .minutes(100))
        #expect(abs(end.exchange - (exact.rGP - exact.rGU)) < 1e-6 && abs(end.sensitivity - exact.Z) < 1e-5)
        #expect(end.exchange < -0.005, "muscles take more than the liver gives: \(end)")
        var last = course.effect(at: .start)
        for second in stride(from: Int64(0), through: 1000 * 60, by: 10) {
            let now = course.effect(at: Instant(nanoseconds: second * Nanoseconds.second))
            #expect(
                abs(now.exchange - last.exchange) < 2e-3 && abs(now.sensitivity - last.sensitivity) < 2e-3)
            #expect(now.sensitivity >= 0)
            last = now
        }
        // A look back is the same as the first one was.
        #expect(course.effect(at: .minutes(100)) == end)
        // Hours later nothing is taken, and insulin still acts more: half of it is gone in 600·ln 2 minutes.
        let (later, laterStill) = (course.effect(at: .minutes(600)), course.effect(at: .minutes(1016)))
        #expect(later.exchange == 0 && later.sensitivity > 0.1)
        #expect(abs(laterStill.sensitivity / later.sensitivity - 0.5) < 0.001)
    }

    @Test func `a bout that begins before the last one's tail is over goes on from it`() {
        var apart = ExerciseCourse([bout(0, 30), bout(60, 30)], ExerciseAnswer())
        let exact = published(90) { $0 < 30 || $0 > 60 ? 1800 : 0 }
        let end = apart.effect(at: .minutes(90))
        #expect(abs(end.exchange - (exact.rGP - exact.rGU)) < 1e-6 && abs(end.sensitivity - exact.Z) < 1e-5)
    }

    /// Days before a session's start have bouts, too: a run-in lives them.
    @Test func `before the session's start it is the same as after`() {
        var (early, late) = (
            ExerciseCourse([bout(-3000, 40)], ExerciseAnswer()),
            ExerciseCourse([bout(0, 40)], ExerciseAnswer())
        )
        for minute in stride(from: Int64(-100), through: 4000, by: 7) {
            #expect(early.effect(at: .minutes(minute - 3000)) == late.effect(at: .minutes(minute)))
        }
    }

    @Test func `without a bout, and before the first, a body is as it was to the bit`() throws {
        let p = try generatedParameters(.adult, 2)
        func course(_ exercise: ExerciseCourse?) throws -> [Float] {
            let executor = SessionExecutor()
            let patient = VirtualPatient(
                executor: executor, model: UVAPadova2008(parameters: p, options: .lifelike),
                variation: BodyVariation(exercise: exercise))
            try executor.inspect { try patient.here { try $0.receive(InsulinAmount(units: 1), over: 0) } }
            try executor.advance(to: .minutes(300))
            return try executor.inspect { try patient.here { try $0.plasmaTruth() } }
        }
        let without = try course(nil)
        #expect(try course(ExerciseCourse([], ExerciseAnswer())) == without)
        let with = try course(ExerciseCourse([bout(200, 40)], ExerciseAnswer()))
        #expect(Array(with[...40]) == Array(without[...40]) && with[48] < without[48] - 5, "\(with[48])")
    }

    /// Per minute: what leaves plasma by exercise is what it says, what tissue uses more is what insulin does more, and nothing else moves.
    @Test
    func `mass is conserved with exercise and counter-regulation, and a steady state without them stays`()
        throws
    {
        for index in 0..<10 {
            let p = try generatedParameters(AgeGroup.allCases[index % 3], index)
            let model = UVAPadova2008(parameters: p, options: .lifelike)
            let c = model.engine.constants
            var state = SixStates(first: SIMD2(9000, 4000), second: SIMD2(3000, 150), third: SIMD2(180, 120))
            let signals = SIMD2(20.0, 110.0)
            func rates() -> SixStates { UVAPadova2008.restRates(state, signals, at: 2, c) }
            for glucose in [60.0, 110, 240] {
                state.third = SIMD2(glucose * p.Vg, glucose * p.Vg * 0.7)
                model.vary(sensitivity: (1, 1), productionRise: (0, 0), overMinutes: 5)
                let rest = rates()
                let effect = ExerciseEffect(exchange: -0.012, sensitivity: 0.2)
                model.vary(
                    sensitivity: (1, 1), productionRise: (0.3, 0.3), exercise: (effect, effect),
                    overMinutes: 5)
                let moving = rates()
                let utilisation = max(0, p.Vm0 + p.Vmx * signals[0])
                let used = utilisation * state.third[1] / (p.Km0 + state.third[1])
                let plasma = moving.third[0] - rest.third[0]
                let own = p.kp1 - p.kp2 * state.third[0] - p.kp3 * signals[1]
                let made = max(0, own + 0.3 * p.EGPb) - max(0, own)
                #expect(abs(plasma - (made - 0.012 * state.third[0])) < 1e-9)
                #expect(abs(moving.third[1] - rest.third[1] + 0.2 * used) < 1e-9)
                #expect(moving.first == rest.first && moving.second == rest.second)
            }
            model.settle()
            let before = model.plasma
            var course = ExerciseCourse([], ExerciseAnswer())
            var counter = CounterRegulation(
                threshold: 56, gain: 0.04, ceiling: 1.2, timeConstant: 30, asleep: 0.6, afterLow: 0.6)
            for step in 0..<288 {
                let at = Instant.minutes(Int64(step) * 5)
                counter.see(model.plasma, at: at, isAsleep: false)
                let (level, effect) = (counter.level(at: at), course.effect(at: at))
                model.vary(
                    sensitivity: (1, 1), productionRise: (level, level), exercise: (effect, effect),
                    overMinutes: 5)
                try model.advance(byMinutes: 5)
            }
            guard before > 81, p.Vm0 + p.Vmx * 0 > 0 else { continue }
            #expect(abs(model.plasma - before) < 1e-6 * before, "\(index): \(model.plasma) \(before)")
        }
    }

    /// T1DEXI's half an hour of aerobic exercise took 18 mg/dL (deviation 39) in adults, most of them with insulin of a meal on board. Fasting, with basal alone.
    @Test func `half an hour takes some tens of milligrams, more of who answers more`() throws {
        for index in 0..<10 {
            let p = try generatedParameters(.adult, index)
            func fall(_ answer: ExerciseAnswer) throws -> Double {
                let model = UVAPadova2008(parameters: p, options: .lifelike)
                var course = ExerciseCourse([bout(0, 30)], answer)
                let before = model.plasma
                for step in 0..<6 {
                    let (now, then) = (Int64(step) * 5, Int64(step) * 5 + 5)
                    model.vary(
                        sensitivity: (1, 1), productionRise: (0, 0),
                        exercise: (course.effect(at: .minutes(now)), course.effect(at: .minutes(then))),
                        overMinutes: 5)
                    try model.advance(byMinutes: 5)
                }
                return before - model.plasma
            }
            let (usual, strong) = (try fall(ExerciseAnswer()), try fall(ExerciseAnswer(uptake: 1.5)))
            #expect((5...45).contains(usual) && strong > usual + 5, "\(index): \(usual), \(strong)")
        }
    }
}
