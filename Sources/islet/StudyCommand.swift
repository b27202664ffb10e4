// `islet study`: what can be asked of a study file without running it.

import ArgumentParser

/// `islet study`
struct StudyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "study", abstract: "Check study files and print their schema.",
        subcommands: [StudyCheckCommand.self, StudySchemaCommand.self, StudyPersonCommand.self])
}

/// The study file and its overrides, as every command that takes a study takes them.
struct StudyArguments: ParsableArguments {
    @Argument(help: "The study, a YAML file.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var study: String

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change one value of the study before it is read; may be repeated.",
            discussion:
                "For example --set cohort.generate.count=10 or --set 'arms[0].algorithm=basal-bolus'.",
            valueName: "path=value"))
    var set: [String] = []
}
