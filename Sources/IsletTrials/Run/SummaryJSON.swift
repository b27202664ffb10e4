// `summary.json`: a public contract.

package import IsletFiles
import IsletDevices
import IsletNumerics

extension StudySummary {
    /// How fast a run was, all its pieces together.
    package struct Speed: Hashable, Sendable {
        package var wallSeconds: Double
        package var jobs: Int

        package init(wallSeconds: Double, jobs: Int) {
            self.wallSeconds = wallSeconds
            self.jobs = jobs
        }
    }

    /// Keys that tell of one run rather than of the study.
    static let ofThisRunOnly: Set<String> = ["wall_seconds", "patient_days_per_second", "jobs"]

    /// Keys that earlier versions didn't write.
    static let laterKeys: Set<String> = [
        "primary", "family", "mcse", "p_sign_flip", "claims", "selection", "policies", "in_shadow",
        "policy_comparisons",
    ]

    /// The summary as it stands in the file.
    /// - Parameter speed: nil where no run made it: merged shards have run elsewhere.
    package func json(study: Study, speed: Speed?) -> JSONValue {
        .object([
            .init("study", .string(study.name)),
            .init("seed", .unsigned(study.seed)),
            .init("digest", .string(digest)),
            .init("sessions", .integer(Int64(sessions))),
            .init("failed_sessions", .integer(Int64(failures.count))),
            .init("failures", .array(failures.map(\.json))),
            .init("not_finite", .array(notFinite.map(\.json))),
            .init("patient_days", .number(patientDays)),
            .init("wall_seconds", speed.map { .number($0.wallSeconds) } ?? .null),
            .init(
                "patient_days_per_second",
                speed.map { $0.wallSeconds > 0 ? .number(patientDays / $0.wallSeconds) : .null } ?? .null),
            .init("jobs", speed.map { .integer(Int64($0.jobs)) } ?? .null),
            .init("arms", .array(arms.map(\.json))),
            .init("alerts", .array(arms.flatMap(\.alertsJSON))),
            .init("policies", .array(arms.flatMap(\.policiesJSON))),
            .init("primary", .array(study.primary.map { .string($0) })),
            .init("claims", claims?.json ?? .null),
            .init("selection", selection?.json ?? .null),
            .init("comparisons", .array(comparisons.map(\.json))),
            .init("policy_comparisons", .array(policyComparisons.map(\.json))),
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

extension StudySummary.NotFinite {
    var json: JSONValue {
        .object([
            .init("outcome", .string(outcome)), .init("arm", .string(arm)),
            .init("session", session.map { .integer(Int64($0)) } ?? .null),
            .init("subject", subject.map { .string($0) } ?? .null),
        ])
    }
}

extension StudySummary.Arm {
    var json: JSONValue {
        .object([
            .init("name", .string(name)),
            .init("sessions", .integer(Int64(sessions))),
            .init("ended_early", .integer(Int64(endedEarly))),
            .init(
                "outcomes",
                .object(
                    Outcome.everything.compactMap { outcome in
                        outcomes[outcome.name].map { .init(outcome.name, $0.json) }
                    })),
        ])
    }
}

extension StudySummary.Arm {
    /// One object a policy that listened in the arm.
    var alertsJSON: [JSONValue] {
        var objects: [JSONValue] = []
        var begin = 0
        for (place, alert) in alerts.enumerated() {
            let isLast =
                place + 1 == alerts.count || alerts[place + 1].policy != alert.policy
                || alerts[place + 1].isInShadow != alert.isInShadow
            guard isLast else { continue }
            objects.append(
                .object([
                    .init("arm", .string(name)), .init("policy", .string(alert.policy)),
                    .init("in_shadow", .bool(alert.isInShadow)),
                    .init("codes", .object(alerts[begin...place].map { .init($0.code.rawValue, $0.json) })),
                ]))
            begin = place + 1
        }
        return objects
    }

    /// What each policy that listened in the arm came to.
    var policiesJSON: [JSONValue] {
        policies.map { policy in
            .object([
                .init("arm", .string(name)), .init("policy", .string(policy.policy)),
                .init("in_shadow", .bool(policy.isInShadow)),
                .init(
                    "outcomes",
                    .object(
                        PolicyOutcome.all.compactMap { outcome in
                            policy.outcomes[outcome.name].map { .init(outcome.name, $0.json) }
                        })),
            ])
        }
    }
}

extension StudySummary.AlertSummary {
    var json: JSONValue {
        .object([
            .init("sessions", .integer(Int64(sessions))),
            .init("sessions_raised", .integer(Int64(sessionsRaised))),
            .init("raised", .integer(Int64(total.raised))),
            .init("raised_night", .integer(Int64(total.raisedNight))),
            .init("notified", .integer(Int64(total.notified))),
            .init("notified_night", .integer(Int64(total.notifiedNight))),
            .init("heard", total.heard.map { .integer(Int64($0)) } ?? .null),
            .init("minutes_active", .number(total.minutesActive)),
            .init("minutes_annunciating", .number(total.minutesAnnunciating)),
            .init("raised_per_day", raisedPerDay?.json ?? .null),
            .init("notified_per_day", notifiedPerDay?.json ?? .null),
            .init("notified_night_per_day", notifiedNightPerDay?.json ?? .null),
        ])
    }
}

extension StudySummary.Estimate {
    var json: JSONValue {
        .object([
            .init("mean", .number(mean)),
            .init("sd", sd.map { .number($0) } ?? .null),
            .init("ci95", ci95?.json ?? .null),
            .init("mcse", standardError.map { .number($0) } ?? .null),
            .init("n", .integer(Int64(n))),
        ])
    }
}

extension StudySummary.ConfidenceBounds {
    var json: JSONValue { .array([.number(lower), .number(upper)]) }
}

extension StudySummary.PolicyComparison {
    var json: JSONValue {
        .object(
            [
                .init("metric", .string(difference.metric)),
                .init("family", .string(difference.family.rawValue)),
                .init("arm", .string(arm)), .init("policy", .string(difference.arm)),
                .init("reference", .string(difference.reference)),
            ] + difference.numbers)
    }
}

extension StudySummary.Comparison {
    var json: JSONValue {
        .object(
            [
                .init("metric", .string(metric)),
                .init("family", .string(family.rawValue)),
                .init("arm", .string(arm)),
                .init("reference", .string(reference)),
            ] + numbers)
    }

    fileprivate var numbers: [JSONValue.Member] {
        [
            .init("difference", .number(difference)),
            .init("ci95", ci95?.json ?? .null),
            .init("mcse", standardError.map { .number($0) } ?? .null),
            .init("ci95_method", method.map { .string($0.rawValue) } ?? .null),
            .init("p", p.map { .number($0) } ?? .null),
            .init("p_sign_flip", signFlipP.map { .number($0) } ?? .null),
            .init("p_adjusted", pAdjusted.map { .number($0) } ?? .null),
            .init("n", .integer(Int64(n))),
            .init("equal_in_every_pair", .bool(isEqualInEveryPair)),
        ]
    }
}

extension StudyClaims {
    var json: JSONValue {
        .object([
            .init("margin", .object([.init(Self.gate, .number(margin))])),
            .init("refused", refusal.map { .string($0) } ?? .null),
            .init("loss_when_deaf", loss?.json ?? .null),
            .init("findings", .array(claims.map(\.json))),
        ])
    }
}

extension StudyClaims.Loss {
    var json: JSONValue {
        .object([
            .init("deaf_arm", .string(deafArm)), .init("typical_arm", .string(typicalArm)),
            .init("difference", .number(difference)), .init("ci95", ci95?.json ?? .null),
            .init("n", .integer(Int64(n))), .init("widest_margin", .number(widestMargin)),
        ])
    }
}

extension StudyClaims.Claim {
    var json: JSONValue {
        .object([
            .init("arm", .string(arm)), .init("reference", .string(reference)),
            .init("metric", .string(metric)), .init("verdict", .string(verdict.rawValue)),
            .init("upper95", upper95.map { .number($0) } ?? .null),
        ])
    }
}

extension StudySelection {
    var json: JSONValue {
        .object([
            .init("metric", .string(metric)), .init("candidates", .integer(Int64(candidates))),
            .init("arm", arm.map { .string($0) } ?? .null), .init("reference", .string(reference)),
            .init("difference", difference.map { .number($0) } ?? .null),
            .init("confirmed_on_seed", .unsigned(seed)),
        ])
    }
}
