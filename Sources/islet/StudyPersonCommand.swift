// `islet study person`: the model of the person, and every setting with its source.

import IsletFiles
import ArgumentParser
import IsletTrials

/// `islet study person`
struct StudyPersonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "person", abstract: "Print the model of the person who hears the alarm, as Markdown.",
        discussion: """
            Every setting of a study's `person`, by preset, with its source: published, or assumed. docs/person.md is this text.

            Example:
              islet study person
            """)

    func run() throws {
        try StandardStream.output.write(PersonPage.markdown)
    }
}
