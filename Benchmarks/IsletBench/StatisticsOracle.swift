// Statistics on demand, for the comparison with scipy, statsmodels and lifelines: `islet-bench statistics < CASES`.
//
// Guarantees: one JSON object a line in, one out, in the same order; numbers as they come from `Statistics`, shortest text that reads back to the same.
// Tests/Oracles/statistics_oracle.py asks.

import IsletFiles
import Foundation
import IsletNumerics
import IsletKernel
import IsletTrials

enum StatisticsOracle {
    private struct Case: Decodable {
        var op: String
        var x: [Double]
        var y: [Double]?
        var endings: [Int]?
        var n: Int?
        var method: String?
    }

    static func run() throws {
        while let line = readLine(strippingNewline: true) {
            let asked = try JSONDecoder().decode(Case.self, from: Data(line.utf8))
            print(try answer(asked).compactText)
        }
    }

    private static func answer(_ asked: Case) throws -> JSONValue {
        let x = asked.x
        var stream = RandomStreams(seed: 1, subject: UInt64(x.count)).stream("oracle")
        func object(_ members: (String, Double)...) -> JSONValue {
            .object(members.map { .init($0.0, .number($0.1)) })
        }
        switch asked.op {
        case "signed-rank":
            let method = asked.method.flatMap { SignedRankTest.Method(rawValue: $0) }
            let test = try Statistics.signedRankTest(x, method: method)
            return object(("statistic", test.statistic), ("p", test.p))
        case "sign-flip":
            let test = try Statistics.signFlipTest(x, resamples: asked.n ?? 9999, using: &stream)
            return object(("p", test.p), ("exact", test.isExact ? 1 : 0))
        case "holm":
            return .array(try Statistics.holmAdjusted(x).map { .number($0) })
        case "incidence":
            let endings: [CumulativeIncidence.Ending] = [.censored, .event, .competing]
            let curve = try CumulativeIncidence(
                zip(x, asked.endings ?? []).map { .init(time: $0, ending: endings[$1]) })
            return .object([
                .init("times", .array(curve.steps.map { .number($0.time) })),
                .init("incidence", .array(curve.steps.map { .number($0.incidence) })),
                .init("competing", .array(curve.steps.map { .number($0.competing) })),
            ])
        case "bootstrap":
            let found = try Statistics.bootstrapMean(x, resamples: asked.n ?? 2000, using: &stream)
            return object(
                ("lower", found.interval.lower), ("upper", found.interval.upper),
                ("se", found.standardError), ("acceleration", found.acceleration))
        case "mean":
            let interval = try Statistics.meanInterval(of: x)
            return object(
                ("lower", interval.lower), ("upper", interval.upper),
                ("mcse", try Statistics.monteCarloStandardError(of: x)))
        case "welch":
            let found = try Statistics.welch(x, asked.y ?? [])
            return object(("lower", found.interval.lower), ("upper", found.interval.upper), ("p", found.p))
        case "student-power":
            return object(
                (
                    "power",
                    try Statistics.studentPower(difference: x[0], sd: x[1], n: asked.n ?? 2, alpha: x[2])
                ))
        case "rank-power":
            let odds = try Statistics.RankOdds(of: x)
            return object(("power", try Statistics.signedRankPower(odds, n: asked.n ?? 2)))
        default:
            throw CocoaError(.featureUnsupported)
        }
    }
}
