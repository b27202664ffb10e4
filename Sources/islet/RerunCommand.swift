// `islet rerun DIR`: the study of a folder of results, run again by what stands in the folder alone.

import ArgumentParser
import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletTrials

/// `islet rerun`
struct RerunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rerun", abstract: "Run the study of a results folder again, from the folder alone.",
        discussion: """
            Takes study, people, policies and plan out of the folder, so that it may have come from another machine, and compares the digests. The same as
            `islet run DIR/manifest.json --out NEW`, and exit code 1 where the digest is another one.

            Example:
              islet rerun results/quickstart --out results/again
            """)

    @Argument(help: "A study's output directory.", completion: .directory)
    var directory: String

    @Option(help: "The directory for the new results: absent or empty, unless --resume is given.")
    var out: String

    @OptionGroup var threads: ThreadCount

    @Flag(help: "Go on with the run in the new directory after an interruption.")
    var resume = false

    @Flag(inversion: .prefixedNo, help: "Write report.html.")
    var report = true

    @Flag(help: "No progress and no table.")
    var quiet = false

    @OptionGroup var algorithms: AlgorithmPermission

    func run() throws {
        let folder = ResultFolder(path: directory)
        guard try isThere(folder.manifestPath) else {
            throw InputError(
                .missing, file: folder.manifestPath, found: "nothing", expected: "a study's output directory")
        }
        let identity = try RunIdentity(of: folder)
        guard identity.shard.isWhole else {
            throw InputError(
                file: folder.path, found: "shard \(identity.shard)", expected: "a whole study: `islet merge`")
        }
        try identity.checkEngine(of: folder, "results")
        let before = try StoredDigest(folder)
        var words = [folder.manifestPath, "--out", out, "--jobs", "\(threads.count)"]
        if let plan = try folder.registration(), plan.isRegistered {
            words += ["--plan", folder.file(Registration.name)]
        }
        if resume { words.append("--resume") }
        if !report { words.append("--no-report") }
        if quiet { words.append("--quiet") }
        if algorithms.isGiven { words.append("--allow-algorithm") }
        try RunCommand.parse(words).run()
        let after = try StoredDigest(ResultFolder(path: out))
        guard before == after else {
            throw CheckFailure(
                message:
                    "\(out): digest \(after.text), that of \(directory) is \(before.text): not the same sessions"
            )
        }
        try StandardStream.output.writeLine("\(out): the same digest as \(directory), \(after.text)")
    }
}

/// What `summary.json` says.
private struct StoredDigest: Equatable {
    let text: String

    init(_ folder: ResultFolder) throws {
        let path = folder.file("summary.json")
        let root = try JSONValue.read(readInput(path, limitBytes: 1 << 30), file: path)
        guard case .string(let digest)? = root["digest"] else {
            throw InputError(file: path, found: "no digest", expected: "what a run wrote")
        }
        text = digest
    }
}
