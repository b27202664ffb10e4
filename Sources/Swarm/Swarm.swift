// Many seeds of the swarm, and what they come to.
//
// Guarantees: a seed's verdict doesn't depend on the other seeds, on the number of workers or on their order.

package import IsletFiles
package import IsletTrials
import IsletDevices
package import IsletLoop
import IsletModels
import Foundation
package import IsletKernel

package struct Swarm: Sendable {
    package let seeds: ClosedRange<UInt64>
    package let duration: TimeSpan
    package let jobs: Int
    let algorithm: TunedAlgorithm
    let wrapPump: @Sendable (any InsulinPumpPort) -> any InsulinPumpPort

    /// The most seeds in one run.
    package static let mostSeeds: UInt64 = 10_000_000

    package init(
        seeds: ClosedRange<UInt64>, duration: TimeSpan = SwarmPlan.defaultDuration, jobs: Int,
        algorithm: TunedAlgorithm = .pidInsulinFeedback
    ) {
        self.init(seeds: seeds, duration: duration, jobs: jobs, algorithm: algorithm, wrapPump: { $0 })
    }

    init(
        seeds: ClosedRange<UInt64>, duration: TimeSpan = SwarmPlan.defaultDuration, jobs: Int,
        algorithm: TunedAlgorithm = .pidInsulinFeedback,
        wrapPump: @escaping @Sendable (any InsulinPumpPort) -> any InsulinPumpPort
    ) {
        self.seeds = seeds
        self.duration = duration
        self.jobs = jobs
        self.algorithm = algorithm
        self.wrapPump = wrapPump
    }

    /// Reads `A..B`, both ends in, or one seed.
    package static func seeds(_ text: String) -> ClosedRange<UInt64>? {
        if let one = UInt64(text) { return one...one }
        guard let dots = text.range(of: "..") else { return nil }
        guard let low = UInt64(text[..<dots.lowerBound]), let high = UInt64(text[dots.upperBound...]),
            low <= high, high - low < mostSeeds
        else { return nil }
        return low...high
    }

    /// The trial of a seed: its day and its person.
    package func trial(_ seed: UInt64) throws -> SwarmTrial {
        let study = try SwarmPlan.study(seed: seed, duration: duration, algorithm: algorithm)
        let subjects = try CohortLoader.subjects(of: study, studyPath: "", jobs: 1)
        guard let subject = subjects.first else {
            throw InputError(file: study.name, found: "no subject", expected: "one")
        }
        return SwarmTrial(study: study, subject: subject, wrapPump: wrapPump)
    }

    /// The verdicts, by seed.
    /// - Throws: `CancellationError` once `isInterrupted` says so.
    package func run(
        isInterrupted: @escaping @Sendable () -> Bool = { false }, progress: ProgressLine
    ) throws -> [SwarmVerdict] {
        try Workers.map(count: Int(seeds.count), jobs: jobs, isInterrupted: isInterrupted) { index in
            let verdict = try trial(seeds.lowerBound + UInt64(index)).run()
            progress.add(patientDays: verdict.livedDays)
            return verdict
        }
    }

    /// Watches every session of a study, by session index.
    package static func replay(
        _ study: Study, studyPath: String, jobs: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false },
        progress: (Int) -> ProgressLine
    ) throws -> (verdicts: [SwarmVerdict], names: [String]) {
        let subjects = try CohortLoader.subjects(
            of: study, studyPath: studyPath, jobs: jobs, isInterrupted: isInterrupted)
        let arms = study.arms.count
        let line = progress(subjects.count * arms)
        let verdicts = try Workers.map(
            count: subjects.count * arms, jobs: jobs, isInterrupted: isInterrupted
        ) { session in
            let verdict = try SwarmTrial(
                study: study, subject: subjects[session / arms], index: session / arms,
                armIndex: session % arms
            ).run()
            line.add(patientDays: verdict.livedDays)
            return verdict
        }
        line.finish()
        return (
            verdicts, verdicts.indices.map { "\(subjects[$0 / arms].name) in \(study.arms[$0 % arms].name)" }
        )
    }
}

/// How reports write what was found.
package struct SwarmText: Sendable {
    private let startOfDay: Int64

    package init(_ study: Study) {
        startOfDay = Int64(study.start.localSecondOfDay) * Nanoseconds.second
    }

    /// Local time of day; the days after the first are named.
    package func time(_ instant: Instant) -> String {
        let seconds = (startOfDay + instant.nanoseconds) / Nanoseconds.second
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let clock = "\(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
        return seconds < 86_400 ? clock : "day \(seconds / 86_400) \(clock)"
    }

    /// `double-delivery at 13:05:00: request 85: found 24 pulses pushed, expected at most 12`
    package func line(_ violation: Violation) -> String {
        "\(violation.invariant) at \(time(violation.instant)): \(violation.what): found \(violation.found), "
            + "expected \(violation.expected)"
    }

    /// A plan as one line an entry.
    package static func plan(_ faults: Study.Faults) -> [String] {
        FaultKind.all.compactMap { kind in
            switch faults.settings[kind.index] {
            case .off: nil
            case .rate(let rate): "\(kind.id), rate \(rate)"
            case .ratesByAge: "\(kind.id), rates by age"
            }
        } + faults.scheduled.map { "\($0.kind.id) at \($0.time) for \($0.length)" }
    }

    /// What the swarm checks, and what ends or explains each kind of fault: Markdown.
    package static func tables() -> String {
        var text = "| invariant | what must hold |\n|---|---|\n"
        for invariant in SwarmInvariants.all { text += "| `\(invariant.name)` | \(invariant.promise) |\n" }
        text += "\n| fault | alert | without one, explained by |\n|---|---|---|\n"
        for rule in FaultRule.all {
            let alerts =
                rule.alerts.isEmpty ? "none" : rule.alerts.map { "`\($0)`" }.joined(separator: " or ")
            text += "| `\(rule.kind.id)` | \(alerts) | \(rule.explanation) |\n"
        }
        return text
    }
}
