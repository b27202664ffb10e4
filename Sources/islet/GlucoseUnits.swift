// `--units`: in which unit glucose is printed, for all commands that print it to people.

import ArgumentParser
import Charts

struct GlucoseUnits: ParsableArguments {
    @Option(
        name: .customLong("units"),
        help: ArgumentHelp(
            "Glucose in what is printed: mg/dL or mmol/L. Files keep mg/dL, and so do numbers that are given.",
            valueName: "unit"),
        completion: .list(GlucoseUnit.allCases.map(\.rawValue)),
        transform: { text in
            guard
                let unit = GlucoseUnit.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() }
                )
            else { throw ValidationError("--units takes mg/dL or mmol/L.") }
            return unit
        })
    var unit: GlucoseUnit = .mgdl
}
