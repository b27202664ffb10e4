// `islet trace`: one subject of a table, driven by inputs of each minute.

import IsletFiles
import ArgumentParser
import IsletCommands
import IsletModels
import IsletDevices
import IsletTrials

/// `islet trace`
struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Run one subject open loop, without sensor or pump.",
        discussion: """
            IN.csv has the columns minute,carbs_g,insulin_u; a row applies evenly over its minute, and a minute that is \
            not listed has neither food nor insulin (basal included). OUT.csv has minute,plasma_mgdl,interstitial_mgdl \
            from minute 0 to the end of the last row. The run starts from the table's initial values where it has \
            them, else from the steady state. `islet models show NAME` lists the columns of TABLE.csv.

            Example:
              islet trace --model uva-padova-2008 --parameters TABLE.csv --subject adult#001 --inputs IN.csv --out OUT.csv
            """)

    @Option(help: "The glucose model.")
    var model: ModelKind

    @Option(
        help: ArgumentHelp("A table of the model's parameters, one row a subject.", valueName: "TABLE.csv"),
        completion: .file(extensions: ["csv"]))
    var parameters: String

    @Option(help: ArgumentHelp("The subject's name in the table.", valueName: "NAME"))
    var subject: String

    @Option(
        help: ArgumentHelp("What is eaten and infused.", valueName: "IN.csv"),
        completion: .file(extensions: ["csv"]))
    var inputs: String

    @Option(
        help:
            "Columns of the table that follow from others: check them (rows that contradict themselves are refused), or recompute them."
    )
    var derived: DerivedColumns = .check

    @Option(help: ArgumentHelp("Where the trace goes; - is standard output.", valueName: "OUT.csv"))
    var out: String

    /// Two years by the minute, with room for long numbers.
    private static let inputByteLimit = 64 << 20

    func run() throws {
        let table = try ParameterTable(
            readInput(parameters, limitBytes: CohortLoader.tableByteLimit), file: parameters, model: model,
            derived: derived)
        let entry = try table.entry(named: subject)
        let inputs = try TraceInputs(
            readInput(inputs, limitBytes: Self.inputByteLimit), file: inputs)
        let live = entry.parameters.makeModel(initialState: entry.initialState, settings: .trace)
        let trace: TraceRun
        do {
            trace = try TraceRun(live, subject: subject, inputs: inputs)
        } catch {
            throw InputError(
                file: parameters, line: entry.line, found: "\(error)",
                expected: "parameters that the model can be run with")
        }
        try Output.write(trace.csv, to: out)
    }
}
