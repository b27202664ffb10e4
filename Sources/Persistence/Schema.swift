// The tables of a study's results. Times are nanoseconds since the session's start.

import GRDB

enum Schema {
    /// In the order in which rows may be inserted.
    static let tables = [
        "sessions", "person_events", "alert_effects", "faults", "steps", "readings", "deliveries",
    ]

    /// The columns of `sessions` that are no outcomes.
    static let sessionColumns: Set<String> = [
        "session", "subject_index", "subject", "arm_index", "arm", "ended_early", "lived_days", "digest",
        "events",
        "checkpoints",
    ]

    static func create(_ db: Database, outcomeKeys: [String]) throws {
        try db.execute(
            sql: """
                CREATE TABLE study (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    text TEXT NOT NULL,
                    version TEXT NOT NULL
                )
                """)
        let outcomes = outcomeKeys.map { "\"\($0)\" REAL" }.joined(separator: ",\n    ")
        try db.execute(
            sql: """
                CREATE TABLE sessions (
                    session INTEGER PRIMARY KEY,
                    subject_index INTEGER NOT NULL,
                    subject TEXT NOT NULL,
                    arm_index INTEGER NOT NULL,
                    arm TEXT NOT NULL,
                    ended_early TEXT,
                    lived_days REAL NOT NULL,
                    digest TEXT NOT NULL,
                    events INTEGER NOT NULL,
                    checkpoints TEXT NOT NULL,
                    \(outcomes)
                )
                """)
        try db.execute(sql: "CREATE INDEX sessions_by_arm ON sessions (arm_index, subject_index)")
        try create(db, "person_events", "kind TEXT NOT NULL, amount REAL NOT NULL")
        try create(
            db, "alert_effects",
            "effect TEXT NOT NULL, code TEXT NOT NULL, severity TEXT NOT NULL, reason TEXT NOT NULL")
        try db.execute(sql: "CREATE INDEX alert_effects_by_code ON alert_effects (code, effect)")
        try create(db, "faults", "end_ns INTEGER NOT NULL, kind TEXT NOT NULL")
        try create(
            db, "steps",
            """
            algorithm_time INTEGER NOT NULL, cgm_mgdl REAL, pump_available INTEGER NOT NULL, basal_u REAL NOT NULL,
            correction_u REAL NOT NULL, meal_u REAL NOT NULL, accepted_u REAL NOT NULL, failure TEXT NOT NULL
            """)
        try create(db, "readings", "glucose_mgdl REAL NOT NULL, backfilled_ns INTEGER")
        try create(db, "deliveries", "request_id INTEGER NOT NULL, delivered_u REAL NOT NULL")
        try db.execute(sql: "PRAGMA user_version = \(StudyStore.schemaVersion)")
    }

    private static func create(_ db: Database, _ table: String, _ columns: String) throws {
        try db.execute(
            sql: """
                CREATE TABLE \(table) (
                    session INTEGER NOT NULL REFERENCES sessions (session),
                    seq INTEGER NOT NULL,
                    time_ns INTEGER NOT NULL,
                    \(columns),
                    PRIMARY KEY (session, seq)
                ) WITHOUT ROWID
                """)
    }
}
