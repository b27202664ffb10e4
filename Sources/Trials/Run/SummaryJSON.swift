// `summary.json`: a public contract.

extension StudySummary {
    /// The summary as it stands in the file.
    public func json(study: Study, jobs: Int, wallSeconds: Double) -> JSONValue {
        .object([
            .init("study", .string(study.name)),
            .init("seed", .unsigned(study.seed)),
            .init("digest", .string(digest)),
            .init("sessions", .integer(Int64(sessions))),
            .init("failed_sessions", .integer(Int64(failures.count))),
            .init("failures", .array(failures.map(\.json))),
            .init("patient_days", .number(patientDays)),
            .init("wall_seconds", .number(wallSeconds)),
            .init("patient_days_per_second", .number(wallSeconds > 0 ? patientDays / wallSeconds : 0)),
            .init("jobs", .integer(Int64(jobs))),
            .init("arms", .array(arms.map(\.json))),
            .init("comparisons", .array(comparisons.map(\.json))),
        ])
    }
}

extension StudySummary.Failure {
    var json: JSONValue {
        .object([
            .init("session", .integer(Int64(session))), .init("subject", .string(subject)),
            .init("arm", .string(arm)), .init("days", .number(days)), .init("reason", .string(reason)),
        ])
    }
}

extension StudySummary.Arm {
    var json: JSONValue {
        .object([
            .init("name", .string(name)),
            .init("sessions", .integer(Int64(sessions))),
            .init(
                "outcomes",
                .object(
                    Outcome.all.compactMap { outcome in
                        outcomes[outcome.name].map { .init(outcome.name, $0.json) }
                    })),
        ])
    }
}

extension StudySummary.Estimate {
    var json: JSONValue {
        .object([
            .init("mean", .number(mean)),
            .init("sd", sd.map { .number($0) } ?? .null),
            .init("ci95", ci95?.json ?? .null),
            .init("n", .integer(Int64(n))),
        ])
    }
}

extension StudySummary.ConfidenceBounds {
    var json: JSONValue { .array([.number(lower), .number(upper)]) }
}

extension StudySummary.Comparison {
    var json: JSONValue {
        .object([
            .init("metric", .string(metric)),
            .init("arm", .string(arm)),
            .init("reference", .string(reference)),
            .init("difference", .number(difference)),
            .init("ci95", ci95?.json ?? .null),
            .init("p", p.map { .number($0) } ?? .null),
            .init("p_adjusted", pAdjusted.map { .number($0) } ?? .null),
            .init("n", .integer(Int64(n))),
        ])
    }
}
