// What `islet verify` takes, of a results folder and of a live session's journal.

package import ArgumentParser

package struct VerifyArguments: ParsableArguments {
    @Argument(help: "A study's output directory, or a live session's journal.", completion: .file())
    package var directory: String

    @Option(help: "Run so many sessions again, spread evenly (default: all).")
    package var sample: Int?

    @Option(help: "Run this session again only: its index, as in sessions.csv.")
    package var session: Int?

    @Option(
        help: ArgumentHelp(
            "Check the seal of the folder, or of the journal, with this key.", valueName: "KEYFILE"))
    package var key: String?

    @Option(
        help: ArgumentHelp(
            "The plan in the folder must be this one, which was kept elsewhere.", valueName: "FILE.json"))
    package var plan: String?

    @OptionGroup package var source: CohortSource

    @OptionGroup package var algorithms: AlgorithmPermission

    @OptionGroup package var threads: ThreadCount

    @Flag(help: "No progress.")
    package var quiet = false

    package init() {}

    package func validate() throws {
        if let sample, sample < 0 { throw ValidationError("--sample takes a number from 0.") }
        if let session, session < 0 { throw ValidationError("--session takes an index from 0.") }
        if sample != nil, session != nil { throw ValidationError("--sample or --session, not both.") }
    }
}
