// `islet study schema`: the JSON Schema of study files, for editors and other tools.

import IsletFiles
import ArgumentParser
import IsletTrials

/// `islet study schema`
struct StudySchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of a study file.",
        discussion: """
            It is made from the same tables that study files are checked against.

            Example:
              islet study schema > study.schema.json
            """)

    @Flag(help: "The same as a page for people: docs/study-files.md.")
    var markdown = false

    func run() throws {
        try StandardStream.output.write(markdown ? Study.reference : Study.jsonSchema.prettyText)
    }
}
