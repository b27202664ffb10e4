// `islet alerts test FILE...`: unit tests of alert policies.

import IsletFiles
import ArgumentParser
import IsletCommands
import IsletTrials

/// `islet alerts test`
struct AlertsTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run scenario files in virtual time.",
        discussion: """
            One line a case; a diff for each failure: - expected, + happened. Exit code 0 when all pass, 1 when one fails,
            65 for a malformed file, 66 for a missing one.

            Example:
              islet alerts test Tests/AlertScenarios/*.yaml --junit report.xml
            """)

    @Argument(help: "Scenario files.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var files: [String]

    @Option(help: "Also write the results as JUnit XML.", completion: .file())
    var junit: String?

    @Flag(help: "Print failures only.")
    var quiet = false

    func run() throws {
        var scenarios: [AlertScenario] = []
        for file in files { scenarios.append(try AlertScenario.read(path: file)) }
        var report: [(file: String, suite: String, results: [AlertCaseResult])] = []
        var (passed, failed) = (0, 0)
        for scenario in scenarios {
            var results: [AlertCaseResult] = []
            for one in scenario.cases {
                let result = one.run()
                results.append(result)
                if result.passed { passed += 1 } else { failed += 1 }
                if result.passed, quiet { continue }
                var lines = "\(result.passed ? "ok  " : "FAIL") \(scenario.suite): \(result.name)\n"
                if !result.passed {
                    lines += "     \(scenario.file)\(one.line.map { ":\($0)" } ?? "")\n"
                    for difference in result.differences { lines += "     \(difference)\n" }
                }
                try StandardStream.output.write(lines)
            }
            report.append((scenario.file, scenario.suite, results))
        }
        if let junit { try AtomicFile.write(JUnitReport.text(report), to: junit) }
        try StandardStream.output.writeLine("\(passed) passed, \(failed) failed")
        if failed > 0 { throw CheckFailure() }
    }
}
