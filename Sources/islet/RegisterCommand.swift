// `islet register STUDY`: the plan of a study, written down before it is run.

import ArgumentParser
import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletKernel
import IsletTrials

/// `islet register`
struct RegisterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Write down a study's plan, and its digest, before it is run.",
        discussion: """
            Writes STUDY.plan.json: the question, primary outcomes, margin, gate, rule of selection, what is exploratory, seeds, arms, and the digest of all that. \
            `islet run` finds it beside the study (or by --plan), puts it into the folder of results before the first session, and refuses a study that is \
            another by then. Nobody need trust this machine's clock: have the digest, which is printed, stamped or kept by somebody else.

            Examples:
              islet register Cohorts/quickstart.yaml --out quickstart.plan.json
              islet run Cohorts/quickstart.yaml --plan quickstart.plan.json --out results/quickstart
              islet verify results/quickstart --plan quickstart.plan.json
            """)

    @OptionGroup var arguments: StudyArguments

    @Option(help: "The seed of every random draw, in place of the study's.")
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Where the plan goes (default: beside the study, STUDY.plan.json). A file that is there is not replaced.",
            valueName: "FILE.json"))
    var out: String?

    @Option(help: ArgumentHelp("Seal the plan with this key.", valueName: "KEYFILE"))
    var seal: String?

    func run() throws {
        var study = try arguments.read()
        if let seed { study.seed = seed }
        _ = try study.cohortSize(studyPath: arguments.study)
        try study.checkConfirmation(file: arguments.study)
        let path = out ?? Self.beside(arguments.study)
        var registration = Registration(
            try Self.plan(of: study, studyPath: arguments.study), registeredAt: WallTime.now)
        if let seal { registration.seal(try SealKey(file: seal)) }
        // Made once, whoever else registers at the same time.
        guard try ShardStore.place(Array(registration.json.prettyText.utf8), at: path) else {
            throw OutputError(
                .cannotCreate, path: path,
                message: "is there already: a plan is registered once; name another file with --out")
        }
        try StandardStream.output.write(
            """
            plan     \(path)
            digest   \(registration.digest)

            """)
    }

    /// The plan that was registered for the study; nil where none was.
    /// - Parameter plan: as it was named; nil for the one beside the study.
    /// - Throws: `InputError` where the study is another than the plan says.
    static func registered(for study: Study, plan: String?, studyPath: String) throws -> Registration? {
        let beside = beside(studyPath)
        guard let path = try plan ?? (isThere(beside) ? beside : nil) else {
            return nil
        }
        let registration = try Registration(path: path)
        let here = try Self.plan(of: study, studyPath: studyPath)
        guard here.digest != registration.digest else { return registration }
        let differences = here.differences(from: registration.plan).joined(separator: "; ")
        guard plan != nil else {
            // Nobody asked for it by name: the run goes on, as one without a registered plan.
            StandardStream.error.writeLineIgnoringFailure(
                "warning: \(path): the plan registered there is of another study (\(printable(differences, limit: 600))): these results count as not registered"
            )
            return nil
        }
        throw InputError(
            file: path, found: "a plan of another study: \(printable(differences, limit: 600))",
            expected: "the plan of \(studyPath): what was registered is run, or registered anew")
    }

    /// Where the plan of a study is looked for.
    static func beside(_ study: String) -> String {
        let url = URL(fileURLWithPath: study)
        let end = url.pathExtension
        let stem = end.isEmpty ? study : String(study.dropLast(end.count + 1))
        return stem + ".plan.json"
    }

    static func plan(of study: Study, studyPath: String) throws -> StudyPlan {
        // Programs of one's own count by what they are, whether or not they have been started.
        let study = try study.hashingPrograms(studyPath: studyPath)
        guard case .table = study.cohort else { return StudyPlan(study, tableSHA256: nil) }
        let table = try CohortLoader.tablePath(of: study, studyPath: studyPath)
        return StudyPlan(study, tableSHA256: try ResultFolder.hash(ofFile: table))
    }
}

/// What this machine's clock shows: for what is written down, never for what is computed.
enum WallTime {
    static var now: String { Date.now.ISO8601Format() }
}
