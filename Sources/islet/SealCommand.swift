// `islet seal DIR`: a seal over a folder of results, for `islet verify --key`.

import ArgumentParser
import IsletCommands
import IsletFiles
import IsletTrials

/// `islet seal`
struct SealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Seal a results folder with a key; `islet verify --key` checks it.",
        discussion: """
            Writes seal.json: name, length and SHA-256 of every file, and an HMAC-SHA256 over their chain. `islet run --seal KEYFILE` does it when the run is done.
            Whoever has the key can make another seal; nobody else can. `islet report` makes another page, and takes the seal away: seal again.

            Example:
              islet seal results/quickstart --key study.key
            """)

    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: ArgumentHelp("The key: a file of 16 bytes or more.", valueName: "KEYFILE"))
    var key: String

    func run() throws {
        let folder = ResultFolder(path: directory)
        let lock = try folder.lock()
        defer { lock.release() }
        try FolderSeal(folder, key: SealKey(file: key)).write()
        try StandardStream.output.writeLine("sealed   \(folder.file(FolderSeal.name))")
    }
}
