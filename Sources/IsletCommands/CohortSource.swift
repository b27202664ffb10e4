// `--study`: where a results folder's cohort came from a table, the file beside which that table stands.

package import ArgumentParser

package struct CohortSource: ParsableArguments, Sendable {
    @Option(help: "The study's file, where its cohort is a table: the table's path is relative to it.")
    package var study: String?

    package init() {}
}
