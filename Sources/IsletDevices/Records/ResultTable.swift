// The tables of a study's results: each is one row here, each of its columns one row in turn.
//
// Guarantees: the store makes its tables and views from these rows, `alerts.csv` its header, `docs/data.md` and `islet metrics --help`
// their definitions; so no column is there that is not defined. Names are contracts that users script against.
// Conventions, for new tables too: a table's rows belong to a session, which is their first column and a foreign key; events have
// `seq`, which counts from 0 within session and table, and `time_ns`, since the session's start; what ends in `_ns` is
// such a time. Units stand last in names. What is not there is NULL, never a magic number.
// Does not: list outcomes, which are columns of `sessions` too. `Outcome` in Trials does.

/// One column of a table of results.
public struct ResultColumn: Hashable, Sendable {
    public enum Storage: String, Sendable {
        case integer = "INTEGER"
        case real = "REAL"
        case text = "TEXT"
    }

    public let name: String
    public let storage: Storage
    /// May be NULL.
    public let isOptional: Bool
    /// Text that the store keeps as its number in `words`.
    public let isWord: Bool
    public let meaning: String

    public init(
        _ name: String, _ storage: Storage, isOptional: Bool = false, isWord: Bool = false, _ meaning: String
    ) {
        self.name = name
        self.storage = storage
        self.isOptional = isOptional
        self.isWord = isWord
        self.meaning = meaning
    }
}

/// One table of results.
public struct ResultTable: Hashable, Sendable {
    public enum Rows: Hashable, Sendable {
        /// One for the whole study.
        case study
        /// One a session.
        case sessions
        /// As many as happened, each at its instant: `session`, `seq` and `time_ns` stand before the columns.
        case events
        /// Those of a session are told apart by these columns; `session` stands before them.
        case keyed([String])
        /// As many as happened to each policy in shadow; the store keeps those of a session and policy in one piece, in the table
        /// `logs`, so that this is a view.
        case packed(logs: String)
        /// Those that the whole study shares.
        case shared
    }

    public let name: String
    /// From which `record` on it has rows.
    public let level: RecordLevel
    public let rows: Rows
    public let meaning: String
    /// Those of its own.
    public let columns: [ResultColumn]

    public init(
        _ name: String, from level: RecordLevel, _ rows: Rows, _ meaning: String, _ columns: [ResultColumn]
    ) {
        self.name = name
        self.level = level
        self.rows = rows
        self.meaning = meaning
        self.columns = columns
    }

    /// All columns but those of outcomes.
    public var allColumns: [ResultColumn] {
        switch rows {
        case .study, .sessions, .shared: columns
        case .keyed: [Self.session] + columns
        case .packed: [Self.session, Self.policy, Self.sequence, Self.time] + columns
        case .events: [Self.session, Self.sequence, Self.time] + columns
        }
    }

    /// The view that has the same rows with names and ISO times; nil where the table has them itself.
    public var viewName: String? {
        switch rows {
        case .study, .sessions, .shared: nil
        case .events, .keyed, .packed: name + "_iso"
        }
    }

    /// Where the store keeps its rows: where words are numbers, the table itself is a view.
    public var storedName: String {
        if case .packed(let logs) = rows { return logs }
        return columns.contains(where: \.isWord) ? name + "_coded" : name
    }

    static let session = ResultColumn(
        "session", .integer, "the session's index: subject_index × number of arms + arm_index")
    static let sequence = ResultColumn("seq", .integer, "counts the session's rows of this table from 0")
    static let time = ResultColumn("time_ns", .integer, "when, in nanoseconds since the session's start")

    /// Who and what a session is: the same names in every table, file and view.
    public static let origin: [ResultColumn] = [
        session,
        ResultColumn("subject_index", .integer, "the subject's place in the cohort, from 0"),
        ResultColumn("subject", .text, "the subject's name"),
        ResultColumn("arm_index", .integer, "the arm's place in the study, from 0"),
        ResultColumn("arm", .text, "the arm's name"),
    ]

    /// What the table `steps` and the step log both have of a step.
    package enum Step {
        package static let algorithmTime = ResultColumn(
            "algorithm_time", .integer, "the step's number on the five-minute grid")
        package static let glucose = ResultColumn(
            "cgm_mgdl", .real, isOptional: true, "the fresh reading that the step ran on; empty without one")
        package static let basal = ResultColumn(
            "basal_u", .real, "what the algorithm answered: basal insulin of this step")
        package static let correction = ResultColumn("correction_u", .real, "its correction")
        package static let meal = ResultColumn("meal_u", .real, "its insulin for the meal")
        package static let accepted = ResultColumn("accepted_u", .real, "what the pump accepted")
        package static let failure = ResultColumn(
            "failure", .text, "why it failed; empty where it went well")
    }

    public static func named(_ name: String) -> ResultTable? { all.first { $0.name == name } }

    /// In the order in which rows may be inserted.
    public static let all: [ResultTable] =
        [study, words, sessions, alerts, policyOutcomes] + events + [shadowEffects]

    static let words = ResultTable(
        "words", from: .summary, .shared,
        "what stands as a number in tables `*_coded` and `shadow_logs`: policies, codes, effects, severities, reasons",
        [
            ResultColumn("word_id", .integer, "its number, from 1"),
            ResultColumn("word", .text, "as the views have it"),
        ])

    static let policy = ResultColumn("policy", .text, isWord: true, "the policy's name")

    static let study = ResultTable(
        "study", from: .summary, .study, "what was run",
        [
            ResultColumn("id", .integer, "1"),
            ResultColumn("text", .text, "the resolved study, as YAML"),
            ResultColumn("version", .text, "of the program that made the file"),
            ResultColumn("start", .text, "start of every session, ISO 8601 with the study's offset"),
            ResultColumn("start_unix_s", .integer, "the same in seconds since 1970-01-01T00:00:00Z"),
            ResultColumn("utc_offset_s", .integer, "local time less UTC, in seconds"),
            ResultColumn(
                "wall_seconds", .real, isOptional: true,
                "how long runs have worked on it; NULL where it was merged"),
        ])

    /// Columns of `sessions` that `sessions.csv` leaves out.
    public static let storeOnly: Set<String> = ["events", "checkpoints"]

    /// Its outcomes are columns too, as those of sessions are.
    public static let policyOutcomes = ResultTable(
        "policy_outcomes", from: .summary, .keyed(["in_shadow", "policy"]),
        "one row a session and policy of studies in which policies listen in shadow or sole causes are asked for, the arm's own first; its outcomes are columns",
        [
            policy,
            ResultColumn("in_shadow", .integer, "1 where the policy listened in shadow, 0 for the arm's own"),
        ])

    /// Whether it has columns beside those listed here: outcomes, which are named elsewhere.
    public var hasOutcomes: Bool { rows == .sessions || name == Self.policyOutcomes.name }
}
