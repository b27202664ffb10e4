// The command line: parses, runs, and leaves with the exit code of the public contract.
//
// Guarantees: every way out is one of the codes in `ExitStatus`; what went wrong is one line on standard error.

import ArgumentParser
import IsletCommands
import IsletTrials

/// `islet`
@main
struct Islet: ParsableCommand {
    static let version = BuildFacts.version

    static let configuration = CommandConfiguration(
        commandName: "islet",
        abstract: "In-silico trials of closed-loop insulin delivery and of its alerts.",
        discussion: """
            A study is a YAML file: virtual people, arms to compare, a scenario, a duration and a seed.

            Examples:
              islet run Cohorts/quickstart.yaml --out results/quickstart
              islet study check Cohorts/quickstart.yaml
              islet study check Cohorts/quickstart.yaml --set cohort.generate.count=10 --set duration=1d
              islet study schema > study.schema.json

            Shell completion: islet --generate-completion-script bash|zsh|fish

            Exit codes: 0 done, 1 a check failed, 64 usage, 65 bad input data, 66 missing input, 70 internal,
            73 cannot create output, 75 temporary, retry.
            """,
        version: version,
        subcommands: [
            RegisterCommand.self, RunCommand.self, RerunCommand.self, PlanCommand.self, StatusCommand.self,
            MergeCommand.self, SealCommand.self, VerifyCommand.self, ReplayCommand.self, ExportCommand.self,
            SyncCommand.self, ReportCommand.self, CompareCommand.self, PowerCommand.self,
            ValidateCommand.self,
            AlertsCommand.self, ThresholdsCommand.self,
            AlgorithmCommand.self, GymCommand.self, TraceCommand.self,
            MetricsCommand.self, ModelsCommand.self, CohortCommand.self, StudyCommand.self,
            SwarmCommand.self, DoctorCommand.self, ManualCommand.self,
        ])

    static func main() {
        do {
            try OtherProgram.takeOverIfAsked()
        } catch {
            leave(after: error)
        }
        runAsProgram()
    }
}
