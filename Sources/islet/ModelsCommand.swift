// `islet models`: the glucose models, and what their parameter tables hold.

import IsletDevices
import IsletFiles
import ArgumentParser
import IsletCommands
import IsletModels
import IsletTrials

/// `islet models`
struct ModelsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models", abstract: "List the glucose models, or show one.",
        discussion: """
            Examples:
              islet models
              islet models show uva-padova-2008
            """,
        subcommands: [List.self, Show.self], defaultSubcommand: List.self)

    /// `islet models list`
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the models.",
            discussion: """
                Example:
                  islet models list
                """)

        func run() throws {
            let rows = ModelKind.all.map { [$0.id, $0.title, $0.source] }
            try StandardStream.output.write(TextTable.aligned(rows))
        }
    }

    /// `islet models show NAME`
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a model's source, states and the columns of its parameter table.",
            discussion: """
                Columns may stand in any order, and others are ignored. Where CR (g/U) and CF (mg/dL/U) are among them, a \
                study doses by them; where they are not, it finds them by simulation.

                Example:
                  islet models show uva-padova-2008
                """)

        @Argument(help: "The model.")
        var name: ModelKind

        func run() throws {
            let model = name
            var text = "\(name.id): \(model.title)\nsource: \(model.source)\n\nStates\n"
            text += TextTable.aligned(
                [["state", "unit", "meaning"]] + model.states.map { [$0.symbol, $0.unit, $0.meaning] })
            text += "\nColumns of a parameter table, beside Name\n"
            text += TextTable.aligned(
                [["column", "unit", "range", "need", "meaning"]]
                    + model.columns.map { column in
                        [
                            column.name, column.unit,
                            "\(column.range.lowerBound)...\(column.range.upperBound)",
                            Self.text(column.need), column.meaning,
                        ]
                    })
            if let first = model.initialStateColumns.first, let last = model.initialStateColumns.last {
                text += "\nInitial values of the states, all or none: '\(first)' ... '\(last)'\n"
            }
            try StandardStream.output.write(text)
        }

        private static func text(_ need: ParameterNeed) -> String {
            switch need {
            case .required: "required"
            case .defaulted(let value): "else \(value)"
            case .derived: "else computed"
            }
        }
    }
}
