// `--study`: where a results folder's cohort came from a table, the file beside which that table stands.

import ArgumentParser

struct CohortSource: ParsableArguments {
    @Option(help: "The study's file, where its cohort is a table: the table's path is relative to it.")
    var study: String?
}
