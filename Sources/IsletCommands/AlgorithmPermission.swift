// `--allow-algorithm`: a study may name a program, and nobody's study runs one unasked.

import ArgumentParser

package struct AlgorithmPermission: ParsableArguments, Sendable {
    @Flag(
        name: .customLong("allow-algorithm"),
        help:
            "Let the programs run that the study names as algorithms (docs/algorithms.md): they may do whatever you may."
    )
    package var isGiven = false

    package init() {}
}
