// `docs/data.md`: every column of every file and table, from the rows that make them.
//
// Guarantees: what a table has stands here and the other way round; the file in the repository is this text (`make docs`), which a test
// compares. Does not: describe a study's keys. `islet study schema` does.

import IsletDevices

package enum DataDictionary {
    /// The page, as Markdown.
    package static var markdown: String {
        ([head, sessionsFile, alertsFile, outcomeTables, policyOutcomes, summaryFile, stepsFile, store])
            .joined(
                separator: "\n")
    }

    /// All columns with their meanings, for a terminal.
    package static var plainText: String {
        var lines: [String] = []
        for table in ResultTable.all {
            lines.append("\(table.name): \(table.meaning)")
            lines += table.allColumns.map { "  \($0.name): \($0.meaning)" }
        }
        lines.append("outcomes, columns of sessions too:")
        lines += Outcome.everything.map { outcome in
            "  \(outcome.name)\(outcome.unit.isEmpty ? "" : " (\(outcome.unit))"): \(outcome.meaning)"
        }
        return lines.joined(separator: "\n")
    }

    private static let head = """
        # What is in a results folder

        Every column of every file and table. This page is written by `make docs` from the definitions that make the tables.

        The same names everywhere: `session` is the session's index (subject_index × number of arms + arm_index), `subject_index` and `subject` say who,
        `arm_index` and `arm` which arm. Tables join by `session`. Units stand last in names. What is not there is empty (CSV), NULL (SQLite) or null
        (JSON), never a magic number. Times are ISO 8601 with the study's offset, or nanoseconds (`_ns`) or seconds (`_s`) since the session's start.

        """

    private static var sessionsFile: String {
        let columns = ResultTable.sessions.columns.filter { !ResultTable.storeOnly.contains($0.name) }
        return
            "## sessions.csv\n\nOne row a session. After these columns stand the outcomes below, in their order.\n\n"
            + table(columns)
    }

    private static var alertsFile: String {
        "## alerts.csv\n\nAs the store's table `alerts`: \(ResultTable.alerts.meaning).\n\n"
            + table(ResultTable.origin + ResultTable.alerts.columns)
    }

    private static var outcomeTables: String {
        var text = """
            ## Outcomes

            Columns of `sessions.csv` and of the store's `sessions`, keys of `summary.json`. Empty where they are undefined for a session.

            """
        for kind in Outcome.Kind.allCases {
            text += "\n### Of \(kind.rawValue)\n\n| outcome | unit | better | meaning |\n|---|---|---|---|\n"
            for outcome in Outcome.everything where outcome.kind == kind {
                text +=
                    "| `\(outcome.name)` | \(outcome.unit) | \(outcome.better.rawValue) | \(cell(outcome.meaning))"
                text += outcome.comparedText + " |\n"
            }
        }
        return text
    }

    private static var policyOutcomes: String {
        """
        ## Outcomes of policies

        Of the arm's own policy and of those in shadow: keys of `summary.json`'s `policies`, and, where it says so, columns of the store's `policy_outcomes`. Policies
        in shadow are always scored as if a deaf person listened, blame included; of an arm's own policy blame is empty where nobody listens.

        | outcome | unit | better | stored | meaning |
        |---|---|---|---|---|

        """
            + PolicyOutcome.all.map {
                "| `\($0.name)` | \($0.unit) | \($0.better.rawValue) | \($0.isStored ? "yes" : "from `alerts`") | \(cell($0.meaning)) |\n"
            }.joined()
    }

    private static var summaryFile: String {
        "## summary.json\n\n| key | meaning |\n|---|---|\n"
            + SummaryKey.all.map { "| `\($0.path)` | \(cell($0.meaning)) |\n" }.joined()
    }

    private static var stepsFile: String {
        "## Step logs\n\nThe columns of `islet export`, one row a step.\n\n| column | meaning |\n|---|---|\n"
            + StepColumn.all.map {
                "| `\($0.name)` | \(cell($0.meaning)) |\n"
            }.joined()
    }

    private static var store: String {
        var text = """
            ## study.sqlite

            Tables of what happened have `session` (a foreign key) and `seq`, which together are their key. Each has a view `*_iso`: the same rows with
            `subject_index`, `subject`, `arm_index`, `arm`, and with ISO 8601 times in place of nanoseconds (`time` and `time_s`; `x_time` for each other `x_ns`).

            ```python
            import pandas, sqlite3
            store = sqlite3.connect("results/quickstart/study.sqlite")
            sessions = pandas.read_sql("SELECT * FROM sessions", store, parse_dates=["start"])
            effects = pandas.read_sql("SELECT * FROM alert_effects_iso", store, parse_dates=["time"])
            effects.merge(sessions, on=["session", "subject_index", "arm_index"])
            ```

            """
        for result in ResultTable.all {
            text +=
                "\n### \(result.name)\n\n\(result.meaning.prefix(1).uppercased() + result.meaning.dropFirst()). "
            text += result.level == .summary ? "Always there" : "From `record: \(result.level.rawValue)` on"
            text += result.viewName.map { "; view `\($0)`.\n\n" } ?? ".\n\n"
            text += stored(result)
            text += table(result.allColumns)
            if result == .policyOutcomes {
                text +=
                    "\nAnd a column (real, may be empty) for each of the outcomes of policies above that is stored.\n"
            }
        }
        return text
    }

    /// Where the rows stand, where that is a table of another name.
    private static func stored(_ result: ResultTable) -> String {
        guard result.storedName != result.name else { return "" }
        if case .packed = result.rows {
            return """
                A view of `\(result.storedName)`, which has one row a session and policy:

                | column | type | meaning |
                |---|---|---|
                | `log` | TEXT | JSON: of each decision a list of `time_ns` and the numbers (`words`) of effect, code, severity and reason |

                The view's columns:


                """
        }
        return "A view of `\(result.storedName)`, which keeps words as their numbers in `words`.\n\n"
    }

    private static func table(_ columns: [ResultColumn]) -> String {
        "| column | type | meaning |\n|---|---|---|\n"
            + columns.map { column in
                let type = column.storage.rawValue.lowercased() + (column.isOptional ? ", may be empty" : "")
                return "| `\(column.name)` | \(type) | \(cell(column.meaning)) |\n"
            }.joined()
    }

    /// A table cell's text: a bar in it would end the cell, and is escaped.
    private static func cell(_ text: String) -> String { text.split(separator: "|").joined(separator: "\\|") }
}

extension Outcome {
    /// How it is compared, as the end of its meaning.
    fileprivate var comparedText: String {
        switch compared {
        case .arms: ""
        case .policies: "; arms are not compared by it, policies in shadow are"
        case .never: "; arms are not compared by it"
        }
    }
}
