// `islet algorithm`: programs of one's own, looked at without a study.

import ArgumentParser
import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletTrials

/// `islet algorithm`
struct AlgorithmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "algorithm", abstract: "Check an algorithm of one's own, and print what it is told.",
        subcommands: [AlgorithmCheckCommand.self, AlgorithmFieldsCommand.self, AlgorithmHostCommand.self])
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

    @Argument(help: "A Python file, or a program and its arguments.")
    var program: [String]

    @Option(help: ArgumentHelp("A parameter of it; may be repeated.", valueName: "name=value"))
    var set: [String] = []

    @Option(help: "How many it is asked about at once, where it runs together.")
    var group: Int = 100

    func run() throws {
        guard (1...1000).contains(group) else {
            throw ValidationError("--group takes a number from 1 to 1000.")
        }
        let kind: PluginReference.Program =
            program.count > 1 || !program[0].contains(".")
            ? .command(program) : program[0].hasSuffix(".so") ? .library(program[0]) : .python(program[0])
        var reference = PluginReference(kind)
        reference.group = group
        reference.origin.file = program[0]
        for word in set {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let value = Double(parts[1]), value.isFinite else {
                throw ValidationError("--set takes name=value, as in gain=0.4.")
            }
            reference.parameters.append(PluginReference.Parameter(parts[0], value))
        }
        let check = try AlgorithmCheck(reference, path: FileManager.default.currentDirectoryPath + "/study")
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

    func run() throws {
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
