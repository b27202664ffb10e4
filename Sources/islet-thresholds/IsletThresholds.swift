// The program of `islet thresholds`, which `islet` runs; called by its own name it takes the same commands.

import ArgumentParser
import IsletCommands
import IsletTrials

/// `islet-thresholds`
@main
struct IsletThresholds: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "islet", abstract: "An owner's thresholds, in a store on this device.",
        version: BuildFacts.version, subcommands: [ThresholdsCommand.self])

    static func main() { runAsProgram("thresholds") }
}
