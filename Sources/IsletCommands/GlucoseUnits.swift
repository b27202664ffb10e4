// `--units`: in which unit glucose is printed, for all commands that print it to people.

package import ArgumentParser
package import IsletFiles

package struct GlucoseUnits: ParsableArguments, Sendable {
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
    package var unit: GlucoseUnit = .mgdl

    package init() {}
}
