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
        "policy_comparisons", "sweep", "gate", "relative_percent", "shown_worse", "selected",
    ]

    /// The summary as it stands in the file.
    /// - Parameter speed: nil where no run made it: merged shards have run elsewhere.
    package func json(study: Study, speed: Speed?) -> JSONValue {
        [
            "study": .string(study.name),
            "seed": .unsigned(study.seed),
            "digest": .string(digest),
            "sessions": .integer(Int64(sessions)),
            "failed_sessions": .integer(Int64(failures.count)),
            "failures": .array(failures.map(\.json)),
            "not_finite": .array(notFinite.map(\.json)),
            "patient_days": .number(patientDays),
            "wall_seconds": speed.map { .number($0.wallSeconds) } ?? .null,
            "patient_days_per_second": speed.map {
                $0.wallSeconds > 0 ? .number(patientDays / $0.wallSeconds) : .null
            } ?? .null,
            "jobs": speed.map { .integer(Int64($0.jobs)) } ?? .null,
            "arms": .array(arms.map(\.json)),
            "alerts": .array(arms.flatMap(\.alertsJSON)),
            "policies": .array(arms.flatMap(\.policiesJSON)),
            "primary": .array(study.primary.map { .string($0) }),
            "claims": claims?.json ?? .null,
            "selection": selection?.json ?? .null,
            "sweep": sweep?.json ?? .null,
            "comparisons": .array(comparisons.map(\.json)),
            "policy_comparisons": .array(policyComparisons.map(\.json)),
        ]
    }
}

extension StudySummary.Failure {
    var json: JSONValue {
        [
            "session": .integer(Int64(session)), "subject": .string(subject),
            "arm": .string(arm), "days": .number(days), "reason": .string(reason),
        ]
    }
}

extension StudySummary.NotFinite {
    var json: JSONValue {
        [
            "outcome": .string(outcome), "arm": .string(arm),
            "session": session.map { .integer(Int64($0)) } ?? .null,
            "subject": subject.map { .string($0) } ?? .null,
        ]
    }
}

extension StudySummary.Arm {
    var json: JSONValue {
        [
            "name": .string(name),
            "sessions": .integer(Int64(sessions)),
            "ended_early": .integer(Int64(endedEarly)),
            "outcomes": .object(
                Outcome.everything.compactMap { outcome in
                    outcomes[outcome.name].map { .init(outcome.name, $0.json) }
                }),
        ]
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
                [
                    "arm": .string(name), "policy": .string(alert.policy),
                    "in_shadow": .bool(alert.isInShadow),
                    "codes": .object(alerts[begin...place].map { .init($0.code.rawValue, $0.json) }),
                ])
            begin = place + 1
        }
        return objects
    }

    /// What each policy that listened in the arm came to.
    var policiesJSON: [JSONValue] {
        policies.map { policy in
            [
                "arm": .string(name), "policy": .string(policy.policy),
                "in_shadow": .bool(policy.isInShadow),
                "outcomes": .object(
                    PolicyOutcome.all.compactMap { outcome in
                        policy.outcomes[outcome.name].map { .init(outcome.name, $0.json) }
                    }),
            ]
        }
    }
}

extension StudySummary.AlertSummary {
    var json: JSONValue {
        [
            "sessions": .integer(Int64(sessions)),
            "sessions_raised": .integer(Int64(sessionsRaised)),
            "raised": .integer(Int64(total.raised)),
            "raised_night": .integer(Int64(total.raisedNight)),
            "notified": .integer(Int64(total.notified)),
            "notified_night": .integer(Int64(total.notifiedNight)),
            "heard": total.heard.map { .integer(Int64($0)) } ?? .null,
            "minutes_active": .number(total.minutesActive),
            "minutes_annunciating": .number(total.minutesAnnunciating),
            "raised_per_day": raisedPerDay?.json ?? .null,
            "notified_per_day": notifiedPerDay?.json ?? .null,
            "notified_night_per_day": notifiedNightPerDay?.json ?? .null,
        ]
    }
}

extension StudySummary.Estimate {
    var json: JSONValue {
        [
            "mean": .number(mean),
            "sd": sd.map { .number($0) } ?? .null,
            "ci95": ci95?.json ?? .null,
            "mcse": standardError.map { .number($0) } ?? .null,
            "n": .integer(Int64(n)),
        ]
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
        [
            "margin": .object([.init(gate, .number(margin))]), "gate": .string(gate),
            "relative_percent": relative.map { .number($0) } ?? .null,
            "gate_alpha": .number(Self.gateAlpha),
            "refused": refusal.map { .string($0) } ?? .null,
            "loss_when_deaf": loss?.json ?? .null,
            "findings": .array(claims.map { $0.json(isGate: $0.metric == gate) }),
        ]
    }
}

extension StudyClaims.Loss {
    var json: JSONValue {
        [
            "deaf_arm": .string(deafArm), "typical_arm": .string(typicalArm),
            "difference": .number(difference), "ci95": ci95?.json ?? .null,
            "n": .integer(Int64(n)), "widest_margin": .number(widestMargin),
        ]
    }
}

extension StudyClaims.Claim {
    func json(isGate: Bool) -> JSONValue {
        [
            "arm": .string(arm), "reference": .string(reference),
            "metric": .string(metric), "verdict": .string(verdict.rawValue),
            "upper": upper.map { .number($0) } ?? .null,
            "estimate": estimate.map { .number($0) } ?? .null,
            "shown_worse": isGate ? .bool(isShownWorse) : .null,
        ]
    }
}

extension StudySelection {
    var json: JSONValue {
        [
            "metric": .string(metric), "candidates": .integer(Int64(candidates)),
            "arm": arm.map { .string($0) } ?? .null,
            "selected": .array(arms.map { .string($0) }), "reference": .string(reference),
            "difference": difference.map { .number($0) } ?? .null,
            "confirmed_on_seed": .unsigned(seed),
        ]
    }
}
