// `islet study check FILE`: is this a study, and how large is it?

import IsletFiles
import ArgumentParser
import IsletTrials

/// `islet study check`
struct StudyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a study file and print what it comes to.",
        discussion: """
            Prints subjects × arms × days and ok; a problem is file:line, what was found, what was expected.

            Examples:
              islet study check Cohorts/quickstart.yaml
              islet study check Cohorts/quickstart.yaml --set duration=28d --resolved
            """
    )

    @OptionGroup var arguments: StudyArguments

    @Flag(help: "Print the resolved study, every default written out.")
    var resolved = false

    func run() throws {
        let study = try arguments.read()
        let subjects = try study.cohortSize(studyPath: arguments.study)
        let sessions = subjects * study.arms.count
        if resolved { try StandardStream.output.write(study.yaml) }
        try StandardStream.output.write(
            """
            \(study.name): \(count(subjects, "subject")) × \(count(study.arms.count, "arm")) × \(study.duration) = \
            \(count(sessions, "session"))
            ok

            """)
    }

    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

extension StudyArguments {
    /// The study with its overrides.
    func read() throws -> Study {
        let study = try Study.read(path: study, overrides: set.map { try SetOverride($0) })
        for warning in study.warnings { StandardStream.error.writeLineIgnoringFailure("warning: \(warning)") }
        return study
    }
}
