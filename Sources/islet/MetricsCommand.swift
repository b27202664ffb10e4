// `islet metrics FILE.csv`: the consensus metrics of one glucose trace.

import IsletFiles
import ArgumentParser
import IsletTrials

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

            What the tables of a study's results hold, column by column (docs/data.md is `islet metrics --columns`):
            \(DataDictionary.plainText)
            """)

    private static let keys = GlucoseMetricKey.allCases.map { key in
        let unit = key.unit.isEmpty || key.unit == "readings" || key.unit == "events" ? "" : " (\(key.unit))"
        let padding = String(repeating: " ", count: max(1, 22 - key.rawValue.count))
        return "  " + key.rawValue + padding + key.summary + unit
    }.joined(separator: "\n")

    @Argument(
        help: ArgumentHelp("The trace.", valueName: "FILE.csv"), completion: .file(extensions: ["csv"]))
    var file: String?

    @Flag(help: "Print the definition of every column of a study's results, as Markdown, and stop.")
    var columns = false

    func validate() throws {
        if file == nil, !columns { throw ValidationError("Missing expected argument '<FILE.csv>'") }
    }

    private static let byteLimit = 256 << 20

    func run() throws {
        if columns { try StandardStream.output.write(DataDictionary.markdown) }
        guard let file else { return }
        let trace = try MetricsCSV.parse(bytes: readInput(file, limitBytes: Self.byteLimit), file: file)
        let members = GlucoseMetrics(trace).ordered.map { key, value in
            JSONValue.Member(
                key.rawValue,
                value.map { key.isCount ? .integer(Int64($0)) : .number($0) } ?? .null)
        }
        try StandardStream.output.write(JSONValue.object(members).prettyText)
    }
}
