// `islet algorithm`: programs of one's own, looked at without a study.

import ArgumentParser
import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletResults
import IsletTrials

/// `islet algorithm`
struct AlgorithmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "algorithm", abstract: "Check an algorithm of one's own, and print what it is told.",
        subcommands: [
            AlgorithmCheckCommand.self, AlgorithmReplayCommand.self, AlgorithmFieldsCommand.self,
            AlgorithmHostCommand.self,
        ])
}

/// `islet algorithm check`
struct AlgorithmCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Ask a program 2000 steps in many ways: the same bits?",
        discussion: """
            Starts the program, as `islet run --allow-algorithm` does. Asks it alone or in groups of several sizes, in another order, and each step twice with
            the first answer undone; exit code 1 where any answer differs in a bit, with the step and both answers. A file that ends in .py is run by python3, one that ends in .so is a library; anything
            else is a program and its arguments.

            Examples:
              islet algorithm check Python/examples/mine.py
              islet algorithm check Python/examples/mine.py --set gain=0.4
              islet algorithm check node Python/examples/proportional.js
            """)

    @OptionGroup var program: AlgorithmProgram

    func run() throws {
        let check = try AlgorithmCheck(try program.reference, path: AlgorithmProgram.here)
        let ready = check.host.ready
        try StandardStream.output.writeLine(
            printable(
                "\(ready.name) version \(ready.version), \(ready.isTogether ? "together" : "alone"), \(ready.isPacked ? "packed" : "lines"); \(ready.runtime)",
                limit: 500))
        for parameter in ready.parameters {
            try StandardStream.output.writeLine(
                printable(
                    "  \(parameter.name) \(parameter.value) from \(parameter.least) to \(parameter.most) \(parameter.unit): \(parameter.meaning)",
                    limit: 300))
        }
        do {
            let result = try check.run(now: { ProgressLine.monotonicSeconds() })
            try StandardStream.output.writeLine(
                """
                \(result.askedSteps) steps, the same bits \(result.ways.joined(separator: ", ")); \(result.failedSteps) of them failed
                \(SummaryText.decimal(result.microseconds)) µs a step
                """)
            guard result.failedSteps < result.askedSteps else {
                throw CheckFailure(message: "\(ready.name): every step failed")
            }
        } catch let finding as AlgorithmCheck.Finding {
            throw CheckFailure(message: "\(ready.name): \(finding)")
        }
    }
}

/// A program of one's own, as a command line names it.
struct AlgorithmProgram: ParsableArguments {
    @Argument(help: "A Python file, a shared library, or a program and its arguments.")
    var program: [String]

    @Option(help: ArgumentHelp("A parameter of it; may be repeated.", valueName: "name=value"))
    var set: [String] = []

    @Option(help: "How many it is asked about at once, where it runs together.")
    var group: Int = 100

    @Flag(help: "Load a shared library into this program.")
    var inProcess = false

    /// What its path is relative to.
    static var here: String { FileManager.default.currentDirectoryPath + "/study" }

    var reference: PluginReference {
        get throws {
            guard (1...1000).contains(group) else {
                throw ValidationError("--group takes a number from 1 to 1000.")
            }
            let isLibrary = program.count == 1 && program[0].hasSuffix(".so")
            guard isLibrary || !inProcess else {
                throw ValidationError("--in-process takes a shared library, as in mine.so.")
            }
            let kind: PluginReference.Program =
                isLibrary
                ? .library(program[0])
                : program.count > 1 || !program[0].contains(".") ? .command(program) : .python(program[0])
            var reference = PluginReference(kind)
            reference.group = group
            reference.isInProcess = inProcess
            reference.origin.file = program[0]
            for word in set {
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, let value = Double(parts[1]), value.isFinite else {
                    throw ValidationError("--set takes name=value, as in gain=0.4.")
                }
                reference.parameters.append(PluginReference.Parameter(parts[0], value))
            }
            return reference
        }
    }
}

/// `islet algorithm replay`
struct AlgorithmReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Ask a program for each step of a stored session, beside what was asked for then.",
        discussion: """
            Runs the session again, checks its digest, and starts the program, which is told each step as the session's own algorithm was told it. Prints the steps whose
            doses or forecast differ in a bit, and how many are equal; exit code 1 where one differs. So a port is held to what it is a port of.

            Examples:
              islet run Cohorts/speed.yaml --out results/port --set cohort.generate.count=2 --set duration=1d --quiet
              islet algorithm replay results/port --session 0 Python/examples/pid.py
            """)

    @Argument(help: "A study's output directory.")
    var directory: String

    @Option(help: "Which session.")
    var session: Int

    @OptionGroup var program: AlgorithmProgram

    @Option(help: "How many of the steps that differ are printed.")
    var most: Int = 20

    @OptionGroup var source: CohortSource

    @OptionGroup var algorithms: AlgorithmPermission

    func run() throws {
        let store = try StudyStore(readingAt: ResultFolder(path: directory).storePath)
        let sessions = try ResultSessions(
            store, directory: directory, studyPath: source.study, jobs: 1,
            allowsAlgorithms: algorithms.isGiven)
        guard let entry = try sessions.entries(session: session, arm: nil).first else { return }
        let replay = try AlgorithmReplay(try program.reference, path: AlgorithmProgram.here)
        var (count, different, farthest) = (0, 0, 0.0)
        try replay.run(try sessions.steps(of: entry), of: sessions.study, entry) { step in
            count += 1
            farthest = max(farthest, step.distance)
            guard let difference = step.difference else { return }
            different += 1
            guard different <= most else { return }
            try StandardStream.output.writeLine(
                printable("step \(step.number), \(step.at): \(difference)", limit: 1000))
        }
        let name = replay.host.ready.name
        guard different > 0 else {
            return try StandardStream.output.writeLine(
                "\(name): \(count) steps of session \(session) (\(entry.subject) in \(entry.arm)), all equal to the bit"
            )
        }
        throw CheckFailure(
            message:
                "\(name): \(different) of \(count) steps of session \(session) differ, two numbers by at most \(farthest)"
        )
    }
}

/// `islet algorithm fields`
struct AlgorithmFieldsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fields", abstract: "Print what an algorithm of one's own is told and answers.",
        discussion: """
            Examples:
              islet algorithm fields
              islet algorithm fields --header > islet_algorithm.h
            """)

    @Flag(help: "As a C header.")
    var header = false

    @Flag(help: "Names, types and units alone, as `hello` has them.")
    var json = false

    func run() throws {
        if json { return try StandardStream.output.writeLine(PluginHost.layouts.compactText) }
        try StandardStream.output.write(header ? AlgorithmPage.header : AlgorithmPage.markdown)
    }
}

/// `islet algorithm host`: the process that a library is asked in.
struct AlgorithmHostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Answer for a shared library; what `library:` of a study starts.",
        discussion: """
            Speaks islet-step/1 on standard input and output. Nobody needs to call it.

            Examples:
              islet algorithm host ./mine.so
            """, shouldDisplay: false)

    @Argument(help: "The library.")
    var library: String

    func run() throws {
        var host = try LibraryHost(path: library)
        try host.serve()
    }
}
