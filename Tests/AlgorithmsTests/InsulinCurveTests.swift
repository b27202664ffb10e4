// Curves beside their closed forms, and what a ledger does beside the sum over its doses.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("A curve of insulin")
struct InsulinCurveTests {
    /// Published check values: duration and peak, τ, a, S, and what is left after 30, 60, 90, 120, 180, 240 and 300 min.
    private static let published: [(Double, Double, Double, Double, Double, [Double])] = [
        (360, 75, 101.7857, 0.565476, 2.082955, [0.9295, 0.7793, 0.6091, 0.4498, 0.2082, 0.0727, 0.0139]),
        (360, 65, 83.3696, 0.463164, 1.797487, [0.9131, 0.7380, 0.5520, 0.3886, 0.1629, 0.0515, 0.0090]),
        (360, 55, 67.1000, 0.372778, 1.578177, [0.8885, 0.6807, 0.4778, 0.3144, 0.1147, 0.0316, 0.0048]),
        (300, 75, 112.5, 0.75, 2.691094, [0.9250, 0.7640, 0.5812, 0.4106, 0.1588, 0.0329, 0]),
    ]

    @Test("has the published constants and shares")
    func values() {
        for (duration, peak, tau, a, S, left) in Self.published {
            let curve = ExponentialCurve(duration: duration, peak: peak)
            #expect(abs(curve.tau - tau) < 5e-5 && abs(curve.a - a) < 5e-7 && abs(curve.S - S) < 5e-7)
            for (minutes, share) in zip([30.0, 60, 90, 120, 180, 240, 300], left) {
                #expect(abs(curve.remaining(minutes) - share) < 5.1e-5)
            }
        }
    }

    @Test("is its closed form at 10 000 points, with the C library's exponential, to 1e-9")
    func closedForm() {
        for place in 0..<10_000 {
            let x = Double(place) / 9_999
            let (td, tp) = (300 + 180 * (x * 7).truncatingRemainder(dividingBy: 1), 35 + 75 * x)
            let curve = ExponentialCurve(duration: td, peak: tp)
            let t = td * (x * 131).truncatingRemainder(dividingBy: 1)
            let tau = tp * (1 - tp / td) / (1 - 2 * tp / td)
            let a = 2 * tau / td
            let S = 1 / (1 - a + (1 + a) * exp(-td / tau))
            let left = 1 - S * (1 - a) * ((t * t / (tau * td * (1 - a)) - t / tau - 1) * exp(-t / tau) + 1)
            let acts = S / (tau * tau) * t * (1 - t / td) * exp(-t / tau)
            #expect(abs(curve.remaining(t) - left) < 1e-9 && abs(curve.activity(t) - acts) < 1e-9)
        }
    }

    @Test("acts as fast as what is left of it falls, and is gone at its end")
    func falls() {
        let curve = ExponentialCurve(duration: 360, peak: 75)
        for minute in stride(from: 1.0, to: 359, by: 7) {
            let slope = (curve.remaining(minute - 1e-3) - curve.remaining(minute + 1e-3)) / 2e-3
            #expect(abs(slope - curve.activity(minute)) < 1e-8)
        }
        #expect(curve.remaining(0) == 1 && curve.remaining(360) == 0 && curve.remaining(1e6) == 0)
        #expect(curve.activity(-1) == 0 && curve.activity(360) == 0)
        #expect(curve.activity(75) > curve.activity(70) && curve.activity(75) > curve.activity(80))
    }

    @Test("of a ledger is the sum over its doses, now, ahead and back")
    func ledger() {
        for (duration, peak) in [(300.0, 55.0), (345, 65), (360, 75), (480, 75)] {
            let curve = ExponentialCurve(duration: duration, peak: peak)
            let insulin = LedgerActivity(curve)
            let programme = 1.1
            var ledger = InsulinLedger()
            var doses: [(units: Double, minute: Double)] = []
            var random = 0.37
            func next() -> Double {
                random = (random * 997.3 + 0.123).truncatingRemainder(dividingBy: 1)
                return random
            }
            for step in 0..<150 as Range<Int64> {
                var input = stepInput(basal: programme, at: .minutes(5 * step))
                if step > 0 {
                    let flowed = 0.2 * next()
                    input.pumpBasal = PumpBasal(
                        amount: InsulinAmount(units: flowed), since: .minutes(5 * (step - 1)))
                    doses.append((flowed - programme / 12, Double(5 * step) - 2.5))
                }
                ledger.take(input)
                let bolus = next() < 0.2 ? next() : 0
                ledger.note(own: InsulinAmount(units: bolus), of: input)
                if bolus > 0 { doses.append((bolus, Double(5 * step))) }
                guard step % 10 == 9 else { continue }
                let now = Double(5 * step)
                var ahead = InlineArray<48, Double>(repeating: 0)
                var zero = InlineArray<48, Double>(repeating: 0)
                let onBoard = insulin.act(&ledger, programme: programme, ahead: &ahead, zero: &zero)
                let kept = doses.filter { now - $0.minute <= 475 }
                #expect(
                    abs(onBoard - kept.reduce(0) { $0 + $1.units * curve.remaining(now - $1.minute) }) < 1e-9)
                for tick in 0..<48 {
                    let then = now + 5 * Double(tick)
                    let acts = kept.reduce(0) { $0 + $1.units * curve.activity(then - $1.minute) }
                    #expect(abs(ahead[tick] - acts) < 1e-9)
                    var withheld = 0.0
                    for cell in 0..<tick {
                        withheld += programme / 12 * curve.activity(then - now - 5 * Double(cell) - 2.5)
                    }
                    #expect(abs(zero[tick] - acts + withheld) < 1e-9)
                }
                let before = doses.filter { $0.minute <= now - 30 }
                    .reduce(0) { $0 + $1.units * curve.activity(now - 30 - $1.minute) }
                let back = insulin.activity(ledger, programme: programme, cellsAgo: 6)
                if now < 475 { #expect(abs(back - before) < 1e-9) }
            }
        }
    }
}
