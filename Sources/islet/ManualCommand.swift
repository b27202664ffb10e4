// `islet manual`: the manual page, from the definitions that `--help` is made of.

import ArgumentParser
import IsletCommands
import IsletDevices
import IsletFiles

/// `islet manual`
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print the manual page, islet(1), from the same definitions as --help.",
        discussion: """
            The page is roff, as `man` reads it.

            Examples:
              islet manual --out islet.1
            """)

    @Option(help: "Where to write the page; `-` is standard output.")
    var out = "-"

    func run() throws {
        let tree = try JSONDocument.parse(Islet._dumpHelp(), file: "help", limitBytes: .max)
        try Output.write(ManualPage(tree).text, to: out)
    }
}
