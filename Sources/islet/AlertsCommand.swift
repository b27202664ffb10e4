// `islet alerts`: test, list and explain alerts.

import ArgumentParser
import IsletTrials

/// `islet alerts`
struct AlertsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Test, replay and merge alert policies, list alerts, print the schemas.",
        subcommands: [
            AlertsTestCommand.self, AlertsListCommand.self, AlertsSchemaCommand.self,
            AlertsExplainCommand.self, AlertsMergeCommand.self, AlertsReplayCommand.self,
        ])
}
