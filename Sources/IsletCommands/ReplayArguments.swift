// What `islet replay` takes, of a study's session and of a live session's journal.

package import ArgumentParser
import IsletDevices
package import IsletFiles
package import IsletLoop
import IsletTrials

package struct ReplayArguments: ParsableArguments {
    @Argument(help: "A study's output directory, or a live session's journal.")
    package var directory: String

    @Option(help: "The session's index, as in sessions.csv.")
    package var session: Int?

    @Option(
        help: ArgumentHelp(
            "Stop this long after the start, as in 90m or 1d2h.", valueName: "T"))
    package var until: String?

    @Option(
        help: ArgumentHelp(
            "Tell what happened from 30 min before to 30 min after each effect of this alert: a code, or an alert's number as in `islet alerts explain --list`.",
            valueName: "ALERT"))
    package var around: String?

    @Option(help: "The alerts of this policy, which listened in shadow, in place of the arm's own.")
    package var policy: String?

    @OptionGroup package var source: CohortSource

    @OptionGroup package var algorithms: AlgorithmPermission

    @Option(
        help: ArgumentHelp(
            "What is otherwise from --until on, of a live session: policy=FILE, algorithm=NAME, or both in turn.",
            valueName: "policy=FILE|algorithm=NAME"))
    package var fork: [String] = []

    @OptionGroup package var units: GlucoseUnits

    package init() {}

    package func validate() throws {
        if !fork.isEmpty {
            guard until != nil else {
                throw ValidationError("--fork takes --until: from when on it is otherwise.")
            }
            _ = try ForkWords(fork)
        }
        if let until, TimeSpan(until) == nil {
            throw ValidationError("--until takes a duration, as in 90m or 1d2h.")
        }
        if let session, session < 0 { throw ValidationError("--session takes an index from 0.") }
    }

    /// What `--fork` says.
    package var forkWords: ForkWords? { get throws { fork.isEmpty ? nil : try ForkWords(fork) } }

    package var end: TimeSpan? { until.flatMap { TimeSpan($0) } }
}

/// What `--fork` says.
package struct ForkWords {
    package private(set) var policy: String?
    package private(set) var algorithm: TunedAlgorithm?

    package init(_ words: [String]) throws {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            switch (parts[0], parts.count == 2 ? parts[1] : "") {
            case (_, ""): throw ValidationError(Self.expectation)
            case ("policy", let file) where policy == nil: policy = file
            case ("algorithm", let name) where algorithm == nil:
                guard let kind = AlgorithmKind.named(name) else {
                    let all = AlgorithmKind.all.map(\.id)
                    let meant = nearest(to: name, among: all).map { "; nearest: \($0)" } ?? ""
                    throw ValidationError(
                        "--fork: found algorithm `\(printable(name, limit: 60))`, expected one of "
                            + "\(all.joined(separator: ", "))\(meant)")
                }
                algorithm = TunedAlgorithm(kind)
            default: throw ValidationError(Self.expectation)
            }
        }
    }

    private static let expectation =
        "--fork takes policy=FILE (a file or a preset's name) or algorithm=NAME, each once."
}
