// `islet compare A B`: what changed between two results folders, and whether it is within bounds.

import ArgumentParser
import IsletCommands
import IsletFiles
import IsletResults
import IsletDevices
import IsletTrials

/// `islet compare`
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Compare two results folders, person by person; for use in CI.",
        discussion: """
            Prints B less A for every arm that both have (or for the one arm of each), paired by person where both folders have the same
            people, which is refused else. Exit code 1 where a bound of --fail-on is crossed.

            A bound `OUTCOME > NUMBER` is crossed unless the upper end of the 95 % interval of B - A is at most NUMBER; `OUTCOME < NUMBER`
            likewise at the lower end. So what too few people leave open counts as crossed. `B: OUTCOME > NUMBER` is a bound on B itself, a budget. A bound on
            a difference without a sign is a warning that says how it was read.

            Examples:
              islet compare results/main results/branch
              islet compare results/main results/branch --fail-on 'tbr_54_percent > +0.5' --fail-on 'tir_70_180_percent < -1'
              islet compare results/main results/branch --fail-on 'B: alerts_notifications_per_day > 6'
            """)

    @Argument(help: "The output directory that is compared with.", completion: .directory)
    var a: String

    @Argument(help: "The output directory that is judged.", completion: .directory)
    var b: String

    @Option(
        help: ArgumentHelp(
            "A difference that must not be, as 'tbr_54_percent > +0.5'. May be given several times.",
            valueName: "bound"))
    var failOn: [String] = []

    @Option(help: "Compare this arm only.")
    var arm: String?

    @Flag(help: "Compare people who are not the same ones, as independent groups.")
    var unpaired = false

    @Flag(help: "No table; bounds are told all the same.")
    var quiet = false

    @OptionGroup var units: GlucoseUnits

    func run() throws {
        let bounds = try failOn.map { try DifferenceBound($0, file: "--fail-on") }
        for warning in bounds.compactMap(\.warning) {
            StandardStream.error.writeLineIgnoringFailure("warning: " + printable(warning, limit: 600))
        }
        let comparison = try FolderComparison(
            Self.values(a), Self.values(b), arm: arm, isPaired: !unpaired)
        let findings = try bounds.map { try comparison.findings($0, in: units.unit) }.flatMap { $0 }
        if !quiet {
            try StandardStream.output.write(
                comparison.table(
                    showing: bounds.map(\.metric), in: units.unit, width: StandardStream.output.tableColumns))
        }
        for finding in findings { try StandardStream.output.writeLine(finding.text) }
        let crossed = findings.count { $0.isCrossed }
        guard crossed > 0 else { return }
        throw CheckFailure(message: "\(crossed) of \(findings.count) bounds crossed")
    }

    static func values(_ path: String) throws -> FolderValues {
        let folder = ResultFolder(path: path)
        return try FolderValues(folder, store: StudyStore(readingAt: folder.storePath))
    }
}
