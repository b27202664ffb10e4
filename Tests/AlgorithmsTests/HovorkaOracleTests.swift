// hovorka-mpc beside scipy: parameters of a therapy, what the filter believes, and the plan, over drawn problems.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

/// A recording of Tests/Oracles/hovorka_oracle.py, and what Tests/Oracles/hovorka_oracle.ts answers to the same.
private struct Row: Decodable {
    struct Problem: Decodable {
        struct Therapy: Decodable { var weight, basal, factor, ratio, target: Double }
        struct Belief: Decodable { var sensorNoise, glucoseNoise, spread, window: Double }
        var therapy: Therapy
        var before: Double
        /// Boluses and basal, U, the newest last.
        var cells: [[Double]]
        var readings: [Double?]
        var meals: [[Double]]
        var belief: Belief
        var bolus, target, highest, aggressiveness: Double
    }
    struct Answer: Decodable {
        var scale, production, absorbed: Double
        var insulin, gut, mean, deviations, trajectory, rates, glucose: [Double]
        var cost: Double
    }
    /// LoopInsighT1's.
    struct Second: Decodable { var glucose, trajectory, rates: [Double] }
    var problem: Problem
    var answer: Answer
    var second: Second

    static func all() throws -> [Row] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Oracles/recordings/hovorka.json")
        let text = try String(contentsOf: path, encoding: .utf8)
        return try text.split(separator: "\n").dropFirst().map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
    }

    var prior: HovorkaGlucoseParameters {
        HovorkaTherapy(
            basal: problem.therapy.basal, correctionFactor: problem.therapy.factor,
            carbRatio: problem.therapy.ratio, weight: problem.therapy.weight, target: problem.therapy.target
        ).person().0
    }

    var plasma: Double { HovorkaMeans.VI * problem.therapy.weight }

    /// The belief at the end of the readings, the insulin and the gut.
    func believed() -> (HovorkaBelief, HovorkaInsulin, HovorkaGut) {
        var s = HovorkaBelief.Settings()
        (s.sensorNoise, s.glucoseNoise) = (problem.belief.sensorNoise, problem.belief.glucoseNoise)
        (s.spread, s.window) = (problem.belief.spread, problem.belief.window)
        var insulin = HovorkaInsulin.steady(problem.before * 1000 / 60)
        var gut = HovorkaGut()
        var belief: HovorkaBelief?
        func eat(_ place: Int) {
            for meal in problem.meals where Int(meal[0]) == place { gut.D1 += meal[1] }
        }
        let prior = prior
        let first = problem.cells.count - problem.readings.count + 1
        for (index, cell) in problem.cells.enumerated() {
            if index == first, let reading = problem.readings[0] {
                let forcing = HovorkaForcing(insulin, gut, prior)
                belief = HovorkaBelief(
                    glucose: reading / HovorkaMeans.milligrams,
                    steady: forcing.x1 / (HovorkaMeans.k12 + forcing.x2), s)
                eat(0)
            }
            insulin.S1 += 1000 * cell[0]
            let rate = cell[1] / 5 * 1000
            if belief == nil {
                HovorkaTransition.whole.apply(&insulin, rate: rate)
            } else {
                belief?.predict(&insulin, &gut, rate: rate, prior, s)
                eat(index - first + 1)
                if let reading = problem.readings[index - first + 1] {
                    belief?.correct(reading / HovorkaMeans.milligrams, s)
                }
            }
        }
        insulin.S1 += 1000 * problem.bolus
        return (belief ?? HovorkaBelief(), insulin, gut)
    }

    /// The plan's problem, from the oracle's own belief: errors of the filter are no errors of the plan.
    func planned() -> HovorkaProblem {
        let (_, insulin, gut) = believed()
        var belief = prior
        belief.sT *= exponential(answer.mean[2])
        belief.sD *= exponential(answer.mean[3])
        belief.sE *= exponential(answer.mean[4])
        belief.E *= 1 + answer.mean[5]
        belief.F *= 1 + answer.mean[6]
        let glucose = HovorkaGlucose(G: answer.mean[0], q: answer.mean[1])
        return HovorkaProblem(
            body: HovorkaBody(insulin: insulin, gut: gut, glucose: glucose), parameters: belief,
            trajectory: HovorkaPlan.trajectory(from: glucose.G, to: problem.target),
            highest: problem.highest, aggressiveness: problem.aggressiveness, first: problem.therapy.basal)
    }
}

private func largest(_ a: [Double], _ b: [Double]) -> Double {
    a.count == b.count ? zip(a, b).map { abs($0 - $1) }.max() ?? .infinity : .infinity
}

private func list(_ values: InlineArray<12, Double>) -> [Double] { values.indices.map { values[$0] } }

@Suite("hovorka-mpc, beside scipy and LoopInsighT1,")
struct HovorkaOracleTests {
    @Test("makes the same parameters of a therapy")
    func therapy() throws {
        for row in try Row.all() {
            let p = row.prior
            let absorbed =
                p.perGram * HovorkaMeans.molarMass / 1000 * HovorkaMeans.VG * row.problem.therapy.weight
            #expect(abs(p.sT * row.plasma / HovorkaMeans.SIT / row.answer.scale - 1) < 5e-5)
            #expect(abs(p.E / row.answer.production - 1) < 5e-5)
            #expect(abs(absorbed / row.answer.absorbed - 1) < 5e-5)
        }
    }

    @Test("has the same insulin and carbohydrate under way, and believes the same of glucose and parameters")
    func belief() throws {
        var moved = 0.0
        for row in try Row.all() {
            let (belief, insulin, gut) = row.believed()
            let V = row.plasma
            let mine = [
                insulin.S1, insulin.S2, insulin.plasma / V, insulin.w1 / V, insulin.w2 / V, insulin.w3 / V,
            ]
            #expect(largest(mine, row.answer.insulin) < 1e-5 * max(1, row.answer.insulin[0]))
            #expect(largest([gut.D1, gut.D2], row.answer.gut) < 1e-5)
            for part in 0..<HovorkaBelief.parts {
                let deviation = belief.covariance[part * (HovorkaBelief.parts + 1)].squareRoot()
                // What theirs differs by, beside how sure either is.
                #expect(abs(belief.mean[part] - row.answer.mean[part]) < 0.2 * deviation, "\(part)")
                #expect(abs(deviation / row.answer.deviations[part] - 1) < 0.03, "\(part)")
            }
            let distance = abs(belief.mean[0] - row.answer.mean[0]) * HovorkaMeans.milligrams
            moved = max(moved, distance)
            #expect(distance < 0.5)
        }
        print("largest distance of glucose: \(moved) mg/dL")
    }

    @Test("foresees the same glucose for the same rates, along the same trajectory")
    func forecasts() throws {
        var (worst, second) = (0.0, 0.0)
        for row in try Row.all() {
            let problem = row.planned()
            var rates = HovorkaPlan.Rates(repeating: 0)
            for slot in 0..<12 { rates[slot] = row.answer.rates[slot] }
            let mine = list(problem.glucose(rates)).map { $0 * HovorkaMeans.milligrams }
            let theirs = row.answer.glucose.map { $0 * HovorkaMeans.milligrams }
            worst = max(worst, largest(mine, theirs))
            // Their integrator goes by minutes.
            second = max(second, largest(mine, row.second.glucose))
            #expect(largest(list(problem.trajectory), row.answer.trajectory) < 1e-6)
            #expect(
                largest(list(problem.trajectory).map { $0 * 18.018 }, row.second.trajectory) < 0.05)
        }
        #expect(worst < 0.05 && second < 0.05, "\(worst) \(second) mg/dL")
        print("largest distance of a forecast: scipy \(worst), LoopInsighT1 \(second) mg/dL")
    }

    @Test("finds the plan that scipy finds, and one that is no worse than LoopInsighT1's")
    func plans() throws {
        var (apart, better) = (0.0, 0)
        for row in try Row.all() {
            let problem = row.planned()
            let plan = problem.solve()
            var theirs = HovorkaPlan.Rates(repeating: 0)
            var seconds = theirs
            for slot in 0..<12 {
                theirs[slot] = row.answer.rates[slot]
                seconds[slot] = row.second.rates[slot]
            }
            let cost = problem.cost(theirs, problem.glucose(theirs))
            #expect(plan.cost <= cost * (1 + 1e-6) + 1e-6)
            #expect(abs(plan.cost / row.answer.cost - 1) < 0.01 || abs(plan.cost - row.answer.cost) < 1)
            let first = abs(plan.rates[0] - row.answer.rates[0]) / problem.highest
            apart = max(apart, first)
            #expect(first < 0.001, "\(plan.rates[0]) \(row.answer.rates[0]) of \(problem.highest)")
            let second = problem.cost(seconds, problem.glucose(seconds))
            #expect(plan.cost <= second * (1 + 1e-6) + 1e-6)
            if plan.cost < second * 0.99 { better += 1 }
        }
        print("first rate apart by \(apart) of the highest; better than LoopInsighT1's by 1 %: \(better)")
    }
}

@Suite("The plan's solver")
struct BoxQuadraticTests {
    @Test("ends where no bound holds back what would rather leave it, and what is free has no slope")
    func optimal() {
        var random = Numbers(7)
        var held = 0
        for round in 0..<3000 {
            var problem = BoxQuadratic()
            let rank = round % 3 == 0 ? 3 : 16
            let (small, span) = (round % 5 == 0 ? 1e-8 : 1e-3, random.next() * 3)
            for _ in 0..<rank {
                let row = (0..<12).map { _ in random.next() - 0.5 }
                for i in 0..<12 { for j in 0...i { problem.hessian[i * 12 + j] += row[i] * row[j] } }
            }
            for i in 0..<12 {
                problem.hessian[i * 12 + i] += small
                problem.gradient[i] = random.next() - 0.5
                problem.lower[i] = -span * random.next()
                problem.upper[i] = random.next() < 0.1 ? 0 : span * random.next()
            }
            let x = problem.minimum()
            let slope = problem.slope(x)
            // What rounding leaves of a slope grows with how far x went.
            let tolerance = 1e-9 + 1e-6 * small
            for i in 0..<12 {
                #expect(x[i] >= problem.lower[i] && x[i] <= problem.upper[i])
                let isLow = x[i] == problem.lower[i]
                let isHigh = x[i] == problem.upper[i]
                if isLow || isHigh { held += 1 }
                #expect(isLow || slope[i] < tolerance, "\(round): \(slope[i])")
                #expect(isHigh || slope[i] > -tolerance, "\(round): \(slope[i])")
            }
        }
        #expect(held > 5000)
    }

    /// mulberry's cousin, enough to draw problems.
    private struct Numbers {
        var state: UInt64
        init(_ seed: UInt64) { state = seed }
        mutating func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) / 9_007_199_254_740_992
        }
    }
}
