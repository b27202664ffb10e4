// `islet alerts schema`: the JSON Schemas of policy and scenario files.

import IsletFiles
import IsletAlerts
import ArgumentParser
import IsletTrials

/// `islet alerts schema`
struct AlertsSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of policy files, or of scenario files.",
        discussion: """
            Examples:
              islet alerts schema
              islet alerts schema --scenario
            """)

    @Flag(help: "The schema of scenario files.")
    var scenario = false

    @Flag(help: "The same as a page for people: docs/policy-files.md, docs/scenario-files.md.")
    var markdown = false

    func run() throws {
        if markdown {
            return try StandardStream.output.write(scenario ? AlertScenario.reference : AlertPolicy.reference)
        }
        let schema = scenario ? AlertScenario.jsonSchema : AlertPolicy.jsonSchema
        try StandardStream.output.write(schema.prettyText)
    }
}
