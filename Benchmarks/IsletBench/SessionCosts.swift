// `islet-bench cost`: what the pieces of a session's work take on this machine: the coefficients of `RunCost`.
//
// Guarantees: every study is one that a dry run samples whole; it counts with the best of some rounds by the thread's own time, without the drawing of people; the coefficients are those at or
// above 0 that leave the least sum of squared relative errors. Beside each study stands what the coefficients that are in use make of it.
// Does not: write results. What a row, a log and a policy's outcomes take in the store is not among the figures.

import Foundation
import IsletTrials

struct SessionCosts {
    private struct Lived {
        var name: String
        var work: RunCost.Work
        var seconds: Double
    }

    private static let pieces: [(name: String, count: @Sendable (RunCost.Work) -> Double)] = [
        ("day with a person", { $0.heardDays }),
        ("day with faults", { $0.faultyDays }),
        ("evaluation", { Double($0.evaluations) }),
        ("job or event", { Double($0.jobs + $0.events) }),
        ("judgement in shadow", { Double($0.judgements) }),
        ("row", { Double($0.rows) }),
        ("policy's session", { Double($0.policySessions) }),
        ("session", { Double($0.sessions) }),
    ]

    /// As many as a dry run samples, for as long at most.
    private static let people = 12
    private static let cohort = "cohort: { generate: { group: adult, count: 12 } }\nduration: 4d\n"
    private static let life = cohort + "scenario: { preset: life }\n"
    private static let closed = "arms: [{ algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]\n"

    private static func sweep(_ debounces: Int, _ cooldowns: Int) -> String {
        let waits = (0..<debounces).map { "\($0 * 5)m" }.joined(separator: ", ")
        let rests = (0..<cooldowns).map { "\($0 * 10)m" }.joined(separator: ", ")
        return
            "sweep: { of: dexcom-g7, grid: { \"rules[LOW,HIGH].debounce\": [\(waits)], \"rules[LOW,HIGH].cooldown\": [\(rests)] } }\n"
    }

    private static let studies: [(name: String, text: String)] = [
        ("open loop", cohort + "arms: [{ algorithm: basal-bolus }]\n"),
        ("open loop, summary", cohort + "record: summary\narms: [{ algorithm: basal-bolus }]\n"),
        ("open loop, 6 h", cohort.replacing("4d", with: "6h") + "arms: [{ algorithm: basal-bolus }]\n"),
        ("closed loop", cohort + closed),
        ("closed loop, 1 day", cohort.replacing("4d", with: "1d") + closed),
        ("closed loop, all faults", cohort + "faults: all\n" + closed),
        ("closed loop, one fault", cohort + "faults: { signal-loss: true }\n" + closed),
        ("closed loop, app faults", cohort + "faults: { app-quit: true, app-relaunch: true }\n" + closed),
        ("open loop, all faults", cohort + "faults: all\narms: [{ algorithm: basal-bolus }]\n"),
        ("closed loop, every row", cohort + "record: full\n" + closed),
        ("life", life + closed),
        ("life, open loop", life + "arms: [{ algorithm: basal-bolus, alerts: dexcom-g7 }]\n"),
        ("life, heard", life + "person: typical\n" + closed),
        (
            "life, heard, open loop",
            life + "person: typical\narms: [{ algorithm: basal-bolus, alerts: dexcom-g7 }]\n"
        ),
        ("life, 3 in shadow", life + closed + "policies: [loop, trio, bionicloop]\n"),
        ("life, 8 in shadow", life + closed + sweep(4, 2)),
        ("life, 60 in shadow", life + closed + sweep(10, 6)),
    ]

    func run(rounds: Int) throws {
        let lived = try Self.studies.map { study in
            let parsed = try Study.parse(study.text, file: "\(study.name).yaml")
            let subjects = try (0..<Self.people).map {
                try CohortLoader.subject($0, of: parsed, studyPath: "")
            }
            let runner = TrialRunner(study: parsed, subjects: subjects, jobs: 1, words: parsed.resultWords)
            let seconds = try best(of: rounds) {
                let began = Stopwatch.threadSeconds()
                for session in runner.sessions { _ = try runner.run(session) }
                return Stopwatch.threadSeconds() - began
            }
            // The same people for the same time.
            let work = try RunCost(of: parsed, studyPath: "", subjects: Self.people).sample
            return Lived(name: study.name, work: work, seconds: seconds)
        }
        let fitted = Self.fit(lived)
        for (piece, seconds) in zip(Self.pieces, fitted) {
            print("\(piece.name): \(Self.text(seconds * 1e9)) ns")
        }
        print("us a patient-day: measured, by these, by those in use")
        for study in lived {
            let made = zip(Self.pieces, fitted).reduce(0.0) { $0 + $1.0.count(study.work) * $1.1 }
            let days = study.work.patientDays / 1e6
            print(
                "\(study.name): \(Self.text(study.seconds / days)), \(Self.text(made / days)), "
                    + "\(Self.text(study.work.seconds / days)); factor in use "
                    + Self.text(study.work.seconds / study.seconds))
        }
    }

    /// One coefficient at a time, each at its best beside the others, until none moves any more.
    private static func fit(_ lived: [Lived]) -> [Double] {
        let rows = lived.map { study in pieces.map { $0.count(study.work) / study.seconds } }
        var fitted = [Double](repeating: 0, count: pieces.count)
        for _ in 0..<200_000 {
            for place in fitted.indices {
                var (product, square) = (0.0, 0.0)
                for row in rows {
                    var others = 0.0
                    for other in fitted.indices where other != place { others += row[other] * fitted[other] }
                    product += row[place] * (1 - others)
                    square += row[place] * row[place]
                }
                if square > 0 { fitted[place] = max(0, product / square) }
            }
        }
        return fitted
    }

    private static func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
