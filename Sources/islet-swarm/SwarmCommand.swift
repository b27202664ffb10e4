// `islet swarm --seeds A..B`: days in which everything goes wrong, and what must hold all the same.

import IsletFiles
import Swarm
import ArgumentParser
import IsletCommands
import Foundation
import IsletDevices
import IsletLoop
import IsletTrials

/// `islet swarm`
struct SwarmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swarm",
        abstract: "Draw faults by seed and check that the safety invariants hold.",
        discussion: """
            Each seed is one virtual adult's day in closed loop; it draws which kinds of faults there are, how many, when and
            how long. The session is watched from outside the loop. Where an invariant is broken, the fault plan is shrunk to the
            smallest that still breaks it and written as a study, which `islet run` takes too. Exit code 1 then.

            Examples:
              islet swarm --seeds 1..2000
              islet swarm --seeds 417 --duration 3d
              islet swarm --seeds 1..100 --algorithm oref1-style
              islet swarm --seeds 417 --plan > plan.yaml
              islet swarm --replay swarm-failures/seed-417.yaml
              islet swarm --list
            """)

    @Option(help: ArgumentHelp("Seeds from A to B, or one seed.", valueName: "A..B"))
    var seeds: String?

    @Option(help: "How long each seed's session lasts, as in 1d or 12h (default: 1d).")
    var duration: String?

    @Option(
        help: ArgumentHelp(
            "Which algorithm lives the days (default: pid-insulin-feedback); faults and people of a seed stay the same.",
            valueName: "NAME"))
    var algorithm: String?

    @Option(
        help: ArgumentHelp(
            "Check the invariants in every session of this study instead of drawing.", valueName: "STUDY"))
    var replay: String?

    @Flag(help: "List the invariants, and which alert ends or what explains each kind of fault.")
    var list = false

    @Flag(help: "Print the study that the first seed stands for, unshrunk, and stop.")
    var plan = false

    @Option(help: "Where shrunk plans are written, made when there is one (default: swarm-failures).")
    var out = "swarm-failures"

    @Option(help: "Shrink the plans of the first so many seeds that fail (default: 5).")
    var shrink = 5

    @OptionGroup var threads: ThreadCount

    @Flag(help: "No progress.")
    var quiet = false

    func validate() throws {
        let asked = [seeds != nil, replay != nil, list].count { $0 }
        guard asked == 1 else { throw ValidationError("Give one of --seeds, --replay and --list.") }
        if let seeds, Swarm.seeds(seeds) == nil {
            throw ValidationError(
                "--seeds takes A..B, as in 1..2000, or one seed: A at most B, and ten million seeds at most.")
        }
        if let duration {
            guard let span = TimeSpan(duration), span.seconds > 0, span <= Study.maximumDuration else {
                throw ValidationError("--duration takes a length of time, as in 1d or 12h.")
            }
        }
        if let algorithm {
            guard seeds != nil else { throw ValidationError("--algorithm goes with --seeds.") }
            guard AlgorithmKind.named(algorithm) != nil else {
                let names = AlgorithmKind.all.map(\.id)
                let meant = nearest(to: algorithm, among: names).map { "; nearest: \($0)" } ?? ""
                throw ValidationError("--algorithm takes one of \(names.joined(separator: ", "))\(meant).")
            }
        }
        if duration != nil, seeds == nil { throw ValidationError("--duration goes with --seeds.") }
        if plan, seeds == nil { throw ValidationError("--plan goes with --seeds.") }
        if !(0...1000).contains(shrink) { throw ValidationError("--shrink takes a number from 0 to 1000.") }
        if out.isEmpty { throw ValidationError("--out takes a directory.") }
    }

    func run() throws {
        if list {
            try StandardStream.output.write(SwarmText.tables())
        } else if let replay {
            try replayStudy(replay)
        } else if plan, let range = seeds.flatMap(Swarm.seeds) {
            let span = duration.flatMap { TimeSpan($0) } ?? SwarmPlan.defaultDuration
            try StandardStream.output.write(
                SwarmPlan.study(seed: range.lowerBound, duration: span, algorithm: chosen).yaml)
        } else if let range = seeds.flatMap(Swarm.seeds) {
            try runSeeds(range)
        }
    }

    private var workers: Int { threads.count }
    private var chosen: TunedAlgorithm {
        algorithm.flatMap { AlgorithmKind.named($0) }.map { TunedAlgorithm($0) } ?? .pidInsulinFeedback
    }

    // MARK: Seeds

    private func runSeeds(_ range: ClosedRange<UInt64>) throws {
        let span = duration.flatMap { TimeSpan($0) } ?? SwarmPlan.defaultDuration
        let swarm = Swarm(seeds: range, duration: span, jobs: workers, algorithm: chosen)
        let interrupt = Interrupt()
        let progress = ProgressLine(sessions: Int(range.count), style: .standardError(quiet: quiet))
        let verdicts: [SwarmVerdict]
        do {
            verdicts = try swarm.run(isInterrupted: { interrupt.isRaised }, progress: progress)
        } catch {
            progress.clear()
            throw Self.spoken(error)
        }
        progress.finish()
        let broken = verdicts.filter { !$0.violations.isEmpty }
        for (place, verdict) in broken.enumerated() {
            guard let first = verdict.worst else { continue }
            let trial = try swarm.trial(verdict.seed)
            try write("seed \(verdict.seed): " + SwarmText(trial.study).line(first))
            if place < shrink {
                try tell(SwarmShrink(trial, breaking: first), seed: verdict.seed)
            } else {
                let length = span == SwarmPlan.defaultDuration ? "" : " --duration \(span)"
                let whose = algorithm.map { " --algorithm \($0)" } ?? ""
                try write("  again: islet swarm --seeds \(verdict.seed)\(length)\(whose)")
            }
        }
        try summarize(verdicts, "seeds")
    }

    private func tell(_ shrunk: SwarmShrink, seed: UInt64) throws {
        let path = out + "/seed-\(seed).yaml"
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        try AtomicFile.write(
            "# \(SwarmText(shrunk.trial.study).line(shrunk.violation))\n" + shrunk.trial.study.yaml, to: path)
        let count = shrunk.faultCount
        try write("  shrunk to \(count) \(count == 1 ? "fault" : "faults") in \(shrunk.runs) runs:")
        for line in SwarmText.plan(shrunk.trial.study.faults) { try write("    " + line) }
        try write("  again: islet swarm --replay \(path)")
    }

    // MARK: A study

    private func replayStudy(_ path: String) throws {
        let study = try Study.read(path: path)
        let interrupt = Interrupt()
        let (verdicts, names): ([SwarmVerdict], [String])
        do {
            (verdicts, names) = try Swarm.replay(
                study, studyPath: path, jobs: workers, isInterrupted: { interrupt.isRaised }
            ) { ProgressLine(sessions: $0, style: .standardError(quiet: quiet)) }
        } catch {
            throw Self.spoken(error)
        }
        for (session, verdict) in verdicts.enumerated() {
            for violation in verdict.violations {
                try write("session \(session), \(names[session]): " + SwarmText(study).line(violation))
            }
        }
        try summarize(verdicts, "sessions")
    }

    // MARK: Output

    private func write(_ line: String) throws { try StandardStream.output.writeLine(line) }

    private func summarize(_ verdicts: [SwarmVerdict], _ what: String) throws {
        let days = verdicts.reduce(0) { $0 + $1.livedDays }
        let faults = verdicts.reduce(0) { $0 + $1.faults }
        let steps = verdicts.reduce(0) { $0 + $1.steps }
        let left = verdicts.count { $0.leftRange }
        let broken = verdicts.count { !$0.violations.isEmpty }
        try write(
            "\(verdicts.count) \(what), \(SummaryText.decimal(days)) patient-days, \(faults) faults, \(steps) steps"
                + (left == 0 ? "" : "; \(left) left the physiological range and count up to there"))
        guard broken == 0 else {
            throw CheckFailure(message: "\(broken) of \(verdicts.count) \(what) break an invariant")
        }
        try write("no invariant broken")
    }

    private static func spoken(_ error: any Error) -> any Error {
        guard error is CancellationError else { return error }
        return OutputError(.temporary, path: "swarm", message: "interrupted")
    }
}
