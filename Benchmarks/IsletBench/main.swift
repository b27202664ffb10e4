// `make bench`: one table and one JSON file, all measured in one run on one machine.
//
// Guarantees: what is compared is interleaved, so that the machine's drifts hit both sides; each figure is the best of
// its rounds; ratios are the message, seconds the side note.
// Does not: run in tests. A timing is no assertion.

import IsletFiles
import Foundation
import IsletTrials

/// Run by this program itself, side by side with a twin: `islet-bench sessions ROUNDS JOBS [path=value ...]`.
if CommandLine.arguments.count >= 4, CommandLine.arguments[1] == "sessions",
    let rounds = Int(CommandLine.arguments[2]), let jobs = Int(CommandLine.arguments[3])
{
    let overrides = Array(CommandLine.arguments.dropFirst(4))
    print(try Workload(overrides: overrides).wallSeconds(rounds: rounds, jobs: jobs))
} else if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "live",
    let count = Int(CommandLine.arguments[2])
{
    print(try LiveSessions.residentBytes(count: count))
} else if CommandLine.arguments.dropFirst().first == "ward" {
    // `islet-bench ward [SESSIONS [SECONDS]]`: many live sessions by the clock; then 30 days of one, from its journal.
    let numbers = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
    let ward = WardBench(sessions: numbers.first ?? 1000, seconds: numbers.dropFirst().first ?? 600)
    exit(try ward.run() ? 0 : 1)
} else if CommandLine.arguments.dropFirst().first == "linked" {
    // `islet-bench linked [DAYS]`: a linked session of so many days, lived again from its journal.
    exit(
        try LinkedMonth(days: CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 30).run()
            ? 0 : 1)
} else if CommandLine.arguments.dropFirst().first == "fuzz" {
    exit(try Fuzz.run(Array(CommandLine.arguments.dropFirst(2))) ? 0 : 1)
} else if CommandLine.arguments.dropFirst() == ["ratio"] {
    var table = BenchTable()
    try table.measureRatio()
    print(table.text)
} else if CommandLine.arguments.dropFirst() == ["export"] {
    var table = BenchTable()
    try table.measureExport()
    print(table.text)
} else if CommandLine.arguments.dropFirst().first == "cost" {
    // `islet-bench cost [ROUNDS]`: what the coefficients of `RunCost` are here.
    try SessionCosts().run(rounds: CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 5)
} else if CommandLine.arguments.dropFirst().first == "steps" {
    // `islet-bench steps [ROUNDS [ALGORITHM]]`: what a step of each algorithm takes.
    let rest = CommandLine.arguments.dropFirst(2)
    try StepCosts().run(rounds: rest.first.flatMap { Int($0) } ?? 5, algorithm: rest.dropFirst().first)
} else if CommandLine.arguments.dropFirst() == ["statistics"] {
    try StatisticsOracle.run()
} else if CommandLine.arguments.dropFirst().first == "coverage" {
    // `islet-bench coverage [STUDIES [SUBJECTS [DAYS [JOBS [FIRST-SEED]]]]]`: shards of many studies have first seeds that lie so far apart.
    let numbers = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
    let wanted = numbers + [1000, 60, 1, 2, 1].dropFirst(numbers.count)
    let coverage = StudyCoverage(
        studies: wanted[0], subjects: wanted[1], jobs: wanted[3], days: wanted[2],
        firstSeed: UInt64(max(0, wanted[4])))
    exit(try coverage.run() ? 0 : 1)
} else if let word = CommandLine.arguments.dropFirst().first, !word.hasSuffix(".json") {
    FileHandle.standardError.write(
        Data(
            """
            islet-bench: \(word): expected nothing, a .json file to write, or one of sessions, live, ward, linked, fuzz, ratio, \
            export, cost, steps, statistics, coverage

            """.utf8))
    exit(64)
} else {
    let json = CommandLine.arguments.dropFirst().first ?? "Benchmarks/results/bench.json"
    var table = BenchTable()
    try table.measure()
    print(table.text)
    try FileManager.default.createDirectory(
        atPath: (json as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try AtomicFile.write(table.json.prettyText, to: json)
    print("written to \(json)")
}
