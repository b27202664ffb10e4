// The decision of oref1-style beside what oref0 0.7.1 answered to the same inputs.

import Foundation
@testable import IsletLoop
import Testing

/// A recording of Tests/Oracles/oref1_oracle.js.
private struct Recording {
    struct Row {
        var situation = Oref1Situation()
        var activity = Oref1Activity()
        /// Nil where what runs goes on.
        var rate: Double?
        var minutes: Double?
        var bolus = 0.0
        var eventual: Double?
        var insulinRequired: Double?
        /// By insulin, with a zero rate, with carbohydrate, with what was not announced; nil where there is none.
        var predictions: [[Double]?] = []
        var text: Substring

        func decide() -> (decision: Oref1Decision, predictions: Oref1Predictions) {
            var (activity, predictions) = (activity, Oref1Predictions())
            return (situation.decide(&activity, &predictions), predictions)
        }
    }

    let head: [Substring]
    let rows: [Row]

    /// The small one of the project, or the one that `ISLET_OREF1_RECORDING` names.
    init() throws {
        let own = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Oracles/recordings/oref1.txt")
        let path = ProcessInfo.processInfo.environment["ISLET_OREF1_RECORDING"].map { URL(filePath: $0) }
        let text = try String(contentsOf: path ?? own, encoding: .utf8)
        let lines = text.split(separator: "\n")
        head = lines.filter { $0.hasPrefix("#") }
        rows = try lines.filter { !$0.hasPrefix("#") }.map(Self.row)
    }

    private static func row(_ text: Substring) throws -> Row {
        let fields = text.split(separator: " ")
        try #require(fields.count == 43, "\(text)")
        func number(_ place: Int) -> Double { Double(fields[place]) ?? .nan }
        func answer(_ place: Int) -> Double? { fields[place] == "-" ? nil : Double(fields[place]) }
        func runs(_ place: Int) -> [Double] {
            fields[place].split(separator: ",").flatMap { part -> [Double] in
                let pair = part.split(separator: "*")
                return Array(
                    repeating: Double(pair[0]) ?? .nan, count: pair.count > 1 ? Int(pair[1]) ?? 0 : 1)
            }
        }
        var row = Row(text: text)
        var s = Oref1Situation()
        (s.glucose, s.delta, s.shortDelta, s.longDelta) = (number(0), number(1), number(2), number(3))
        (s.minutesOld, s.basal, s.sensitivity, s.carbRatio) = (number(4), number(5), number(6), number(7))
        (s.lowTarget, s.highTarget, s.iob, s.minutesSinceBolus) = (
            number(8), number(9), number(10), number(11)
        )
        s.running = (number(12), number(13))
        (s.carbs, s.carbsOnBoard, s.minutesSinceCarbs) = (number(14), number(15), number(16))
        (s.slopeFromMax, s.slopeFromMin) = (number(17), number(18))
        s.ratio = number(19) == 0 ? nil : number(19)
        (s.raisesTarget, s.lowersTarget) = (number(20) == 1, number(21) == 1)
        (s.maximumIOB, s.maximumRate) = (number(22), number(23))
        (s.expectsUnannounced, s.allowsBoluses) = (number(24) == 1, number(25) == 1)
        (s.bolusMinutes, s.unannouncedBolusMinutes, s.bolusIncrement) = (number(26), number(27), number(28))
        (s.skipsNeutral, s.minuteOfHour) = (number(29) == 1, number(30))
        let (activity, zero) = (runs(31), runs(32))
        try #require(activity.count == 48 && zero.count == 48)
        for tick in 0..<48 {
            row.activity.ahead[tick] = activity[tick] / 10_000
            row.activity.zero[tick] = zero[tick] / 10_000
        }
        row.situation = s
        (row.rate, row.minutes, row.bolus) = (answer(34), answer(35), answer(36) ?? 0)
        (row.eventual, row.insulinRequired) = (answer(37), answer(38))
        row.predictions = (39...42).map { fields[$0] == "-" ? nil : runs($0) }
        return row
    }
}

@Suite("The decision of oref1-style")
struct Oref1OracleTests {
    @Test("is the one that oref0 takes: rate, length and bolus, on every way through it")
    func decisions() throws {
        let recording = try Recording()
        var ways: [Oref1Reason: Int] = [:]
        for row in recording.rows {
            let decision = row.decide().decision
            ways[decision.reason, default: 0] += 1
            #expect(
                decision.rate?.unitsPerHour == row.rate && decision.rate?.minutes == row.minutes
                    && decision.bolus == row.bolus, "\(row.text)")
            if let eventual = row.eventual { #expect(decision.eventual == eventual, "\(row.text)") }
            if let required = row.insulinRequired {
                #expect(decision.insulinRequired == required, "\(row.text)")
            }
        }
        for reason in Oref1Reason.allCases { #expect(ways[reason] != nil, "\(reason)") }
        #expect(recording.rows.count >= 2000)
        // What the recording stands for.
        let reached = try #require(recording.head[1].split(separator: "; ").last)
        #expect(reached.hasSuffix("of the oracle's lines reached"))
        #expect(try #require(Double(reached.prefix(4))) >= 95)
    }

    @Test("goes by its four predictions, to the milligram")
    func predictions() throws {
        var compared = [0, 0, 0, 0]
        for row in try Recording().rows {
            let (decision, predictions) = row.decide()
            guard decision.isForeseen else { continue }
            let ours: [Oref1Prediction?] = [
                predictions.insulin, predictions.zero, predictions.carbs, predictions.unannounced,
            ]
            for (course, (theirs, ours)) in zip(row.predictions, ours).enumerated() {
                #expect((theirs == nil) == (ours == nil), "\(row.text)")
                guard let theirs, var ours else { continue }
                compared[course] += 1
                // They end where nothing changes any more.
                for (place, value) in theirs.enumerated() { #expect(ours[place] == value, "\(row.text)") }
            }
        }
        #expect(compared.allSatisfy { $0 > 300 })
    }

    @Test("rounds halves upwards, as published, also beyond what a whole number holds")
    func rounding() {
        #expect(halfUp(2.5) == 3 && halfUp(-2.5) == -2 && halfUp(-2.51) == -3 && halfUp(0.49999) == 0)
        #expect(halfUp(1e300) == 1e300 && halfUp(-.infinity) == -.infinity && halfUp(Double.nan).isNaN)
        #expect(oref1Rate(0.974) == 0.95 && oref1Rate(10.06) == 10.1)
    }
}
