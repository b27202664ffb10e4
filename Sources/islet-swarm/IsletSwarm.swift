// The program of `islet swarm`, which `islet` runs; called by its own name it takes the same options.

import ArgumentParser
import IsletCommands
import IsletTrials

/// `islet-swarm`
@main
struct IsletSwarm: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "islet", abstract: "Days in which everything goes wrong, checked for safety.",
        version: BuildFacts.version, subcommands: [SwarmCommand.self])

    static func main() { runAsProgram("swarm") }
}
