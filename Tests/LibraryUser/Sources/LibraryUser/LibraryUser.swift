// Uses Islet as a library, and checks what it says. The last line is `N passed, N failed`.

import IsletModels
import IsletKernel
import IsletTrials

@main struct LibraryUser {
    static func main() throws {
        var (passed, failed) = (0, 0)
        func check(_ what: String, _ holds: Bool) {
            print(holds ? "ok" : "FAILED", what)
            if holds { passed += 1 } else { failed += 1 }
        }

        let heard = try timesOfThreeAlarms()
        check("the kernel fires alarms in order: \(heard)", heard == [1, 2, 3])

        let (full, again, half) = (try day(share: 1), try day(share: 1), try day(share: 0.5))
        check("a session repeats to the digest", full.digest == again.digest)
        check("it lives the whole day", full.end == .completed)
        let (mean, higher) = (full.outcomes["mean_mgdl"], half.outcomes["mean_mgdl"])
        check(
            "half of the bolus leaves glucose higher: \(String(describing: mean)), \(String(describing: higher))",
            mean.flatMap { mean in higher.map { $0 > mean + 5 } } ?? false)
        print("\(passed) passed, \(failed) failed")
    }

    /// Seconds at which three alarms were heard that were set in another order.
    static func timesOfThreeAlarms() throws -> [Int64] {
        final class Heard: @unchecked Sendable { var seconds: [Int64] = [] }
        let heard = Heard()
        let executor = SessionExecutor()
        for second in [3, 1, 2] as [Int64] {
            executor.start("alarm \(second)") {
                try await SessionClock(executor).sleep(until: Instant(nanoseconds: second * 1_000_000_000))
                heard.seconds.append(executor.now.nanoseconds / 1_000_000_000)
            }
        }
        _ = try executor.advance(to: Instant(nanoseconds: 10_000_000_000))
        try executor.end()
        return heard.seconds
    }

    /// A day of an adult who is dosed by `HalfBolus`.
    static func day(share: Double) throws -> SessionOutcome {
        let study = try Study.parse(
            "duration: 1d\ncohort: { generate: { count: 1 } }\narms: [{ algorithm: basal-bolus }]\n",
            file: "a study of our own")
        var numbers = RandomStreams(seed: 1, subject: 0).stream("cohort")
        let subject = try CohortGenerator(group: .adult).subject(0, using: &numbers)
        var seams = SessionSeams()
        seams.algorithm = { _ in HalfBolus(share: share) }
        return try Session(study: study, subject: subject, index: 0, arm: study.arms[0], seams: seams).run()
    }
}
