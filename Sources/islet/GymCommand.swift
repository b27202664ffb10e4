// `islet gym`: sessions as environments, for whoever trains a controller or an alarm.

import ArgumentParser
import IsletTrials

/// `islet gym`
struct GymCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gym", abstract: "Sessions as environments: reset, step, close.",
        discussion: """
            Speaks islet-gym/1 on standard input and output (docs/python.md): what `islet.gym` of the Python package starts. Ends when
            standard input does.

            Examples:
              islet gym < /dev/null
            """)

    func run() throws {
        var server = GymServer()
        server.serve()
    }
}
