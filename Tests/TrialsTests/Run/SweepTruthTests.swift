// Sweeps whose truth is known, as their effects were made up: does the first sentence say what is so, on fresh people?

import Foundation
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("Sweeps whose truth is known")
struct SweepTruthTests {
    /// What a variant does to everybody's mean.
    private struct Effect {
        var rings: Double
        var low: Double
    }

    /// Uniform in 0 ..< 1, by what it is for.
    private struct Luck {
        var state: UInt64
        mutating func next() -> Double {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return Double((z ^ (z >> 31)) >> 11) / 9_007_199_254_740_992
        }
        /// Skewed as time in lows is: exponential less its mean.
        mutating func skewed() -> Double { -log(1 - next()) - 1 }
        mutating func normal() -> Double {
            let (u, v) = (max(1e-12, next()), next())
            return (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
        }
    }

    private static let margin = 0.3

    private static func study(seed: UInt64) throws -> Study {
        try Study.parse(
            """
            seed: \(seed)
            cohort: { generate: { count: 60 } }
            person: typical
            arms: [{ name: usual, alerts: dexcom-g7 }, { name: deaf, alerts: dexcom-g7, person: deaf }]
            sweep:
              of: dexcom-g7
              mode: closed
              grid:
                "rules[LOW,HIGH].debounce": [0s, 10m, 30m, 60m]
                "rules[LOW,HIGH].cooldown": [0s, 20m, 60m]
            primary: [alerts_notifications_per_day]
            margin: { tbr_54_percent: \(margin) }
            confirm: { seed: \(seed + 1000) }
            """, file: "truth.yaml")
    }

    private static func summary(_ study: Study, _ effects: [String: Effect]) throws -> StudySummary {
        try StudySummary(
            of: study,
            store: MadeStore(study, subjects: 60) { subject, arm in
                var person = Luck(state: study.seed &* 7919 &+ UInt64(subject) &* 104_729)
                var own = Luck(
                    state: study.seed &* 15_485_863 &+ UInt64(subject) &* 32_452_843
                        &+ StudySummary.streamIndex("made up", arm))
                let (rings, low) = (8 + 2 * person.normal(), 1.2 + 0.5 * person.skewed())
                let effect = effects[arm] ?? Effect(rings: 0, low: arm == "deaf" ? 1.5 : 0)
                return [
                    "alerts_notifications_per_day": rings + effect.rings + 0.8 * own.normal(),
                    "tbr_54_percent": max(0, low + effect.low + 0.3 * own.skewed()),
                ]
            })
    }

    @Test(
        "what the first sentence says on fresh people is so, in at least 95 of 100 sweeps, and it is not silent"
    )
    func said() throws {
        var (wrong, winners, costs, told) = (0, 0, 0, 0)
        for number in 0..<50 {
            let study = try Self.study(seed: UInt64(100 + number))
            var luck = Luck(state: UInt64(number) &* 1_000_003)
            var effects: [String: Effect] = [:]
            for arm in study.candidates {
                // A third does nothing, a third spares rings at no cost, a third at one on either side of the margin.
                let kind = luck.next()
                effects[arm.name] = Effect(
                    rings: kind < 0.33 ? 0 : -3 * luck.next(), low: kind < 0.67 ? 0 : 0.6 * luck.next())
            }
            let selection = try #require(Self.summary(study, effects).selection)
            guard let arm = selection.arm else { continue }
            let confirmed = try Self.summary(
                study.confirmation(of: selection.arms, seed: selection.seed), effects)
            let headline = try #require(confirmed.sweep?.headline.text)
            let truth = try #require(effects[arm])
            told += 1
            var isWrong = false
            if headline.contains("the change in rings is shown") {
                winners += 1
                // It is not worse by the margin, and rings less.
                if truth.low >= Self.margin || truth.rings >= 0 { isWrong = true }
            }
            if headline.contains("COSTS") {
                costs += 1
                if truth.low <= 0 { isWrong = true }
            }
            if headline.contains("not worse by the margin") && truth.low >= Self.margin { isWrong = true }
            if isWrong { wrong += 1 }
        }
        #expect(told >= 45, "\(told)")
        #expect(wrong <= 2, "wrong \(wrong) of \(told), winners \(winners), costs \(costs)")
        #expect(winners >= 25, "winners \(winners) of \(told)")
        print("sweeps of known truth: \(told) told, \(wrong) wrong, \(winners) winners, \(costs) costs")
    }
}
