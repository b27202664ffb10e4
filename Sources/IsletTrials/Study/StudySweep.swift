// Who listens in shadow, and the sweep: `policies` and `sweep` of a study.
//
// Guarantees: names of those who listen differ; a closed sweep becomes arms (`SweepJoins`), and the resolved study says which arm stands for which
// of its points; a shadow sweep is written out variant by variant.

import IsletLoop
package import IsletDevices
import IsletFiles
import IsletAlerts

extension Study {
    /// The most arms of one study.
    static let maximumArms = 100

    static let policiesCodec: Codec<[AlertPolicy]> = {
        let list = Codec<[AlertPolicy]>.list(of: AlertPolicy.studyCodec, count: 1...100)
        return Codec(list.shape) { reader throws(InputError) in
            let policies = try list.decode(reader)
            for (place, item) in reader.items.enumerated() {
                let name = policies[place].name
                guard policies.prefix(place).contains(where: { $0.name == name }) else { continue }
                throw item.problem(
                    found: "the policy \(quotedForMessage(name)) twice",
                    expected: "policies with different names")
            }
            return policies
        } encode: {
            list.encode($0)
        }
    }()

    private static let modes = Shape.choice(
        noun: "a mode", PolicySweep.Mode.allCases.map { Shape.Choice($0.rawValue, $0.summary) })

    static let sweepShape = MappingShape(
        summary:
            "Variants of one policy. A path addresses the whole policy, what it takes from a preset included: `rules[LOW].debounce`, `rules[LOW,HIGH].cooldown`, `rules[*].cooldown`, `thresholds[glucose].min`, `limits.freshness`, `quietHours`. A value is whatever a policy file may say there; `null` leaves the key out.",
        keys: [
            KeyShape("of", AlertPolicy.studyCodec.shape, "What they are variants of.", isRequired: true),
            KeyShape(
                "mode", modes, "How they are tried.", defaultValue: .string(PolicySweep.Mode.shadow.rawValue)),
            KeyShape(
                "grid", .open(expectation: "paths of the policy, each with a list of values"),
                "Every combination of these values.", leftOut: "none"),
            KeyShape(
                "points",
                .list(
                    .open(expectation: "paths of the policy, each with one value"),
                    count: 1...PolicySweep.maximumVariants), "Single combinations.", leftOut: "none"),
            sweepArmsShape,
        ])

    static let sweepRow = KeyRow<Study>(
        KeyShape("sweep", .mapping(sweepShape), "Variants of one alert policy.", leftOut: "none")
    ) { reader, study throws(InputError) in
        guard let of = reader["of"] else { return }
        let mode = PolicySweep.Mode(rawValue: try reader["mode"]?.text() ?? "") ?? .shadow
        var policy = try AlertPolicy.studyCodec.decode(of)
        try study.fit(&policy, of)
        let sweep = try PolicySweep(reader, of: policy, mode: mode)
        for variant in sweep.variants { try study.checkMeasured(variant, reader) }
        switch mode {
        case .shadow:
            for variant in sweep.variants where study.policies.contains(where: { $0.name == variant.name }) {
                throw reader.problem(
                    found: "the policy \(quotedForMessage(variant.name)) in `policies` and in `sweep`",
                    expected: "policies with different names")
            }
            study.sweep = sweep
            guard let arms = reader["arms"] else { return }
            throw arms.problem(
                found: "arms of a sweep in shadow", expected: "no `arms`: a closed sweep alone makes some")
        case .closed:
            if let arms = reader["arms"] {
                try study.takeArms(sweep, arms)
            } else {
                try study.addArms(sweep, reader)
            }
        }
    } encode: { study in
        study.sweep.map {
            $0.json(
                of: AlertPolicy.studyCodec.encode($0.of),
                arms: $0.mode == .closed ? study.sweepArmsJSON : nil)
        }
    }

    static let referencePolicyRow = KeyRow<Study>(
        KeyShape(
            "referencePolicy", .text(.name), "Which policy in shadow the others are compared with.",
            leftOut: "the first")
    ) { reader, study throws(InputError) in
        let name = try reader.text()
        let names = study.shadowPolicies.map(\.name)
        guard names.contains(name) else {
            let meant = nearest(to: name, among: names).map { " (nearest: `\($0)`)" } ?? ""
            throw reader.problem(
                expected: names.isEmpty
                    ? "`policies` or `sweep`, one of which it names"
                    : "the name of a policy in shadow: "
                        + printable(names.joined(separator: ", "), limit: 400) + meant)
        }
        study.referencePolicy = name
    } encode: { study in
        study.referencePolicy.map { .string($0) }
    }

    static let soleCausesCodec = Codec<Bool>(.flag) { reader throws(InputError) in
        try reader.flag()
    } encode: {
        .bool($0)
    }

    /// Up to how many policies in shadow sole causes are looked for unasked: each costs about as much as eight policies more.
    static let soleCausePolicies = 10

    /// Whether what each mechanism alone keeps silent is looked for.
    var findsSoleCauses: Bool {
        soleCauses ?? (1...Self.soleCausePolicies).contains(shadowPolicies.count)
    }

    /// What a store of the study keeps as numbers: names of policies, their codes, and all that an alert center may say, each by name.
    package var resultWords: StringTable {
        let policies = arms.map(\.alerts) + shadowPolicies
        return StringTable(
            Set(policies.map(\.name)).sorted()
                + Set(policies.flatMap { $0.rules.map(\.code.rawValue) }).sorted()
                + AlertEffect.Kind.allCases.map(\.rawValue) + AlertSeverity.allCases.map(\.name)
                + AlertEffect.Reason.allCases.map(\.rawValue))
    }

    /// A variant may be of a metric that the policy wasn't of.
    private func checkMeasured(_ variant: AlertPolicy, _ reader: YAMLReader) throws(InputError) {
        let metrics = variant.rules.flatMap(\.tests).map(\.metric)
        let measured = subject.kind.metrics
        if let unknown = metrics.first(where: {
            !measured.contains($0) && !($0.isOwn && subject.kind.isPerson)
        }) {
            throw reader.problem(
                found: "a threshold of \(unknown.rawValue) in the variant \(quotedForMessage(variant.name))",
                expected: "what a study measures: "
                    + measured.map(\.rawValue).joined(separator: ", "))
        }
    }

    /// Refuses a rule about forecasts beside an algorithm that makes none: it could never ring, and would look like a quiet one.
    func checkForecasts(_ root: YAMLReader) throws(InputError) {
        for (place, arm) in arms.enumerated() where arm.algorithm.algorithm.forecastMinutes == nil {
            let own = root["arms"]?.items.dropFirst(place).first
            let listed: [(policies: [AlertPolicy], reader: YAMLReader?)] = [
                ([arm.alerts], own?["alerts"] ?? own ?? root["sweep"]), (policies, root["policies"]),
                (sweep?.variants ?? [], root["sweep"]),
            ]
            for (policies, reader) in listed {
                guard let asking = policies.first(where: \.asksForForecasts) else { continue }
                throw (reader ?? root).problem(
                    found:
                        "forecastGlucose in the policy \(quotedForMessage(asking.name)), beside the arm \(quotedForMessage(arm.name))",
                    expected:
                        "an algorithm that forecasts (\(Self.forecasting)), or `glucoseIn20m`: \(arm.algorithm.kind.id) makes no forecast"
                )
            }
        }
    }

    /// Refuses a rule about a number that nobody answers: it could never ring, and would look like a quiet one.
    func checkOwnNumbers(_ root: YAMLReader) throws(InputError) {
        for (place, arm) in arms.enumerated() where arm.plugin == nil && arm.listener == nil {
            let own = root["arms"]?.items.dropFirst(place).first
            let listed: [(policies: [AlertPolicy], reader: YAMLReader?)] = [
                ([arm.alerts], own?["alerts"] ?? own ?? root["sweep"]), (policies, root["policies"]),
                (sweep?.variants ?? [], root["sweep"]),
            ]
            for (policies, reader) in listed {
                for policy in policies {
                    guard let metric = policy.ownMetrics.first else { continue }
                    throw (reader ?? root).problem(
                        found:
                            "\(metric.rawValue) in the policy \(quotedForMessage(policy.name)), beside the arm \(quotedForMessage(arm.name))",
                        expected:
                            "an arm with a program that answers it: `listener:`, or an algorithm of one's own (docs/algorithms.md)"
                    )
                }
            }
        }
    }

    private static let forecasting = AlgorithmKind.all.filter {
        TunedAlgorithm($0).algorithm.forecastMinutes != nil
    }.map(\.id).joined(separator: ", ")
}

extension AlertPolicy {
    var asksForForecasts: Bool {
        rules.contains { $0.tests.contains { $0.metric == .forecastGlucose } }
    }
}
