// The commands of `islet` that another program has: they keep their spelling, and the program that stands beside it runs them.
//
// Guarantees: the other program gets the arguments as they are, and its exit code is the command's. Where it isn't there, one line says how to
// build it, and the exit code is 66. Nothing of the other program is built for `islet`.

import ArgumentParser
import Foundation
import Glibc
import IsletCommands
import IsletDevices

/// A program that stands beside `islet`.
enum OtherProgram: String {
    case live = "islet-live"
    case thresholds = "islet-thresholds"
    case swarm = "islet-swarm"

    /// The commands that another program has whole, asked for help or not.
    static let commands: [any ElsewhereCommand.Type] = [
        SyncCommand.self, ThresholdsCommand.self, SwarmCommand.self,
    ]

    /// Takes over where the first word is such a command; returns where it is not.
    static func takeOverIfAsked() throws {
        let words = CommandLine.arguments.dropFirst()
        let word = words.first == "help" ? words.dropFirst().first : words.first
        guard let command = commands.first(where: { $0.configuration.commandName == word }) else { return }
        try command.program.takeOver()
    }

    /// Where it stands, beside this program.
    var path: String {
        get throws {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(filePath: own).deletingLastPathComponent().appending(path: rawValue).path(
                percentEncoded: false)
        }
    }

    /// Goes on as the other program, called as `islet` was.
    /// - Throws: `InputError` where it isn't there.
    func takeOver() throws -> Never {
        let path = try self.path
        let words = ["islet"] + CommandLine.arguments.dropFirst()
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        execv(path, arguments)
        let problem = errno
        for argument in arguments { free(argument) }
        guard problem == ENOENT else {
            throw InputError(
                .missing, file: path, found: String(cString: strerror(problem)),
                expected: "a program that can be run")
        }
        throw InputError(
            .missing, file: path, found: "nothing",
            expected:
                "the program that has this command: `swift build \(Self.configuration)--product \(rawValue)` builds it"
        )
    }

    #if DEBUG
        private static let configuration = ""
    #else
        private static let configuration = "-c release "
    #endif
}

/// A command that another program has: here for the list that `islet --help` prints.
protocol ElsewhereCommand: ParsableCommand {
    static var program: OtherProgram { get }
}

/// `islet sync`
struct SyncCommand: ElsewhereCommand {
    static let program = OtherProgram.live
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Post the step logs of a study's sessions to a remote endpoint.")
}

/// `islet thresholds`
struct ThresholdsCommand: ElsewhereCommand {
    static let program = OtherProgram.thresholds
    static let configuration = CommandConfiguration(
        commandName: "thresholds",
        abstract: "Keep an owner's thresholds of any subject and metric; play values against them.")
}

/// `islet swarm`
struct SwarmCommand: ElsewhereCommand {
    static let program = OtherProgram.swarm
    static let configuration = CommandConfiguration(
        commandName: "swarm",
        abstract: "Draw faults by seed and check that the safety invariants hold.")
}
