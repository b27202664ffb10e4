// `islet cohort`: the virtual people of a study, as data.

import ArgumentParser
import IsletCommands
import Foundation
import IsletModels
import IsletDevices
import IsletTrials

/// `islet cohort`
struct CohortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cohort", abstract: "Look at the virtual people of a study.",
        subcommands: [CohortExportCommand.self])
}

/// `islet cohort export`
struct CohortExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a study's generated cohort as a parameter table.",
        discussion: """
            One row a subject: the model's parameters, the therapy that was found for them (CR, CF) and the \
            generator's version. A study with `cohort: { table: FILE.csv }` and the same seed then runs the same people.

            Examples:
              islet cohort export Cohorts/quickstart.yaml --out adults.csv
              islet cohort export Cohorts/quickstart.yaml --set cohort.generate.count=10 --out -
            """)

    @OptionGroup var arguments: StudyArguments

    @Option(help: ArgumentHelp("Where the table goes; - is standard output.", valueName: "FILE.csv"))
    var out: String

    @Option(help: "The seed of every random draw, in place of the study's.")
    var seed: UInt64?

    func run() throws {
        var study = try arguments.read()
        if let seed { study.seed = seed }
        guard case .generate = study.cohort else {
            throw InputError(
                file: arguments.study, found: "a cohort that is a table already",
                expected: "cohort: { generate: ... }")
        }
        let subjects = try CohortLoader.subjects(
            of: study, studyPath: arguments.study, jobs: ProcessInfo.processInfo.activeProcessorCount)
        try Output.write(CohortGenerator.csv(subjects), to: out)
    }
}
