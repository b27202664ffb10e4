// What oref1-style makes of readings, meals and boluses, beside what oref0 0.7.1 made of the same.

import Foundation
@testable import IsletLoop
import IsletDevices
import IsletKernel
import Testing

@Suite("oref1-style, beside oref0,")
struct Oref1MealsOracleTests {
    /// A row of Tests/Oracles/oref1_meals_oracle.js.
    private struct Row {
        var sensitivity = 0.0
        var carbRatio = 0.0
        var curve = ExponentialCurve(duration: 360, peak: 75)
        var readings: [Double] = []
        /// Amounts, and how many cells ago.
        var boluses: [(amount: Double, cell: Int)] = []
        var meals: [(amount: Double, cell: Int)] = []
        /// Delta, short and long; carbohydrate entered and left; slopes from the largest and the smallest deviation; insulin on board.
        var answers: [Double] = []
        var activity: [Double] = []
        var zeroActivity: [Double]?
        var text: Substring = ""
    }

    private static func rows() throws -> [Row] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Oracles/recordings/oref1-meals.txt")
        let text = try String(contentsOf: path, encoding: .utf8)
        return try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
            try #require(parts.count == 5, "\(line)")
            func numbers(_ text: Substring) -> [Double] {
                text.split(whereSeparator: { $0 == "," || $0 == " " }).map { Double($0) ?? .nan }
            }
            func timed(_ text: Substring) -> [(amount: Double, cell: Int)] {
                text.split(whereSeparator: { $0 == "," || $0 == " " }).filter { $0 != "-" }.map {
                    let pair = $0.split(separator: "@")
                    return (Double(pair[0]) ?? .nan, Int(pair[1]) ?? -1)
                }
            }
            var row = Row(text: line)
            let settings = numbers(parts[0])
            (row.sensitivity, row.carbRatio) = (settings[0], settings[1])
            row.curve = ExponentialCurve(duration: settings[2] * 60, peak: settings[3])
            row.readings = numbers(parts[1])
            (row.boluses, row.meals) = (timed(parts[2]), timed(parts[3]))
            let answers = parts[4].split(separator: " ")
            row.answers = answers[0..<8].map { Double($0) ?? .nan }
            row.activity = numbers(answers[8])
            row.zeroActivity = answers[9] == "-" ? nil : numbers(answers[9])
            return row
        }
    }

    @Test("counts changes, carbohydrate on board and slopes of deviations the same way")
    func meals() throws {
        var withMeals = 0
        for row in try Self.rows() {
            let now = 3000.0
            var glucose = Oref1Glucose()
            for cell in row.readings.indices.reversed() {
                glucose.age(by: 1)
                glucose.add(row.readings[cell], at: now - 5 * Double(cell))
                let activity = row.boluses.filter { $0.cell >= cell }
                    .reduce(0) { $0 + $1.amount * row.curve.activity(5 * Double($1.cell - cell)) }
                let impact = halfUp(-halfUp(activity, 10_000) * row.sensitivity * 5, 100)
                glucose.setImpact(impact, cell: 0)
            }
            var carbs = Oref1Carbs()
            for meal in row.meals.reversed() { carbs.add(meal.amount, at: now - 5 * Double(meal.cell)) }
            let deltas = glucose.deltas()
            #expect([deltas.last, deltas.short, deltas.long] == Array(row.answers[0..<3]), "\(row.text)")
            var deviations = glucose.deviations()
            let board = carbs.onBoard(
                &deviations, now: now, age: 0, gramsPerImpact: row.carbRatio / row.sensitivity, leastImpact: 8
            )
            #expect([board.entered, board.left] == Array(row.answers[3..<5]), "\(row.text)")
            if board.left > 0 { withMeals += 1 }
            let slopes = Oref1Carbs.slopes(&deviations, age: 0)
            // A thousandth of a mg/dL: sums of rounded numbers may fall to either side of a half.
            #expect(abs(slopes.fromMax - row.answers[5]) <= 0.0011, "\(row.text)")
            #expect(abs(slopes.fromMin - row.answers[6]) <= 0.0011, "\(row.text)")
        }
        #expect(withMeals > 50)
    }

    @Test(
        "counts insulin on board, and what acts of it, the same way; with a zero rate to half of one of its pulses"
    )
    func insulin() throws {
        for row in try Self.rows() {
            let insulin = LedgerActivity(row.curve)
            var ledger = InsulinLedger()
            for step in 0..<96 as Range<Int64> {
                var input = stepInput(basal: 1, at: .minutes(5 * step))
                if step > 0 {
                    input.pumpBasal = PumpBasal(
                        amount: InsulinAmount(units: 1.0 / 12), since: .minutes(5 * (step - 1)))
                }
                ledger.take(input)
                for bolus in row.boluses where bolus.cell == 95 - Int(step) {
                    ledger.note(own: InsulinAmount(units: bolus.amount), of: input)
                }
            }
            var ahead = InlineArray<48, Double>(repeating: 0)
            var zero = InlineArray<48, Double>(repeating: 0)
            let onBoard = insulin.act(&ledger, programme: 1, ahead: &ahead, zero: &zero)
            #expect(abs(onBoard - row.answers[7]) <= 0.00051, "\(row.text)")
            for tick in 0..<48 {
                #expect(abs(ahead[tick] * 10_000 - row.activity[tick]) <= 0.51, "\(row.text)")
                guard let theirs = row.zeroActivity else { continue }
                // Theirs flows in pulses of 0.05 U, which act from their own minutes.
                #expect(abs(zero[tick] * 10_000 - theirs[tick]) <= 3, "\(tick): \(zero[tick]) \(row.text)")
            }
        }
    }
}
