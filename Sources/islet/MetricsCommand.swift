// `islet metrics FILE.csv`: the consensus metrics of one glucose trace.

import ArgumentParser
import Trials

/// `islet metrics`
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Print the metrics of a glucose trace as JSON.",
        discussion: """
            FILE.csv has the columns time (ISO 8601, rising) and glucose_mgdl; others are ignored, an empty glucose is a \
            missing reading. Gaps count in no percentage, and no event spans one longer than 30 min. A metric that the \
            trace does not define is null.

            Keys, in order:
            \(keys)

            Example:
              islet metrics sensor.csv
            """)

    private static let keys = GlucoseMetricKey.allCases.map { key in
        let unit = key.unit.isEmpty || key.unit == "readings" || key.unit == "events" ? "" : " (\(key.unit))"
        let padding = String(repeating: " ", count: max(1, 22 - key.rawValue.count))
        return "  " + key.rawValue + padding + key.summary + unit
    }.joined(separator: "\n")

    @Argument(
        help: ArgumentHelp("The trace.", valueName: "FILE.csv"), completion: .file(extensions: ["csv"]))
    var file: String

    private static let byteLimit = 256 << 20

    func run() throws {
        let trace = try MetricsCSV.parse(bytes: readInput(file, limitBytes: Self.byteLimit), file: file)
        let members = GlucoseMetrics(trace).ordered.map { key, value in
            JSONValue.Member(
                key.rawValue,
                value.map { key.isCount ? .integer(Int64($0)) : .number($0) } ?? .null)
        }
        try StandardStream.output.write(JSONValue.object(members).prettyText)
    }
}
