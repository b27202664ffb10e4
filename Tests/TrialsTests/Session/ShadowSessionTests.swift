// Policies in shadow: each decides what it decides alone with a deaf person, and nobody notices that it is there.

import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("Policies that listen in shadow")
struct ShadowSessionTests {
    /// Whatever a policy can do: repeats, escalation, off-delay, hysteresis, latching, quiet hours, inhibition, joined
    /// comparisons, ages, the reservoir, limits of its own, stale values, the literal sketch.
    static let own = [
        """
        policy: everything
        quietHours: { from: "22:00", to: "07:00" }
        rules:
          - { code: LOW, when: glucose < 80, clearAt: 90, debounce: 10m, keepFiringFor: 15m, repeatEvery: 7m, cooldown: 20m }
          - { code: HIGH, when: glucose > 150, repeatEvery: 30m, escalate: [{ after: 1h, to: safetyCritical }], inhibits: [RISING] }
          - { code: RISING, when: glucose > 130 and glucoseRate > 1, cooldown: 0s, repeatEvery: 5m }
          - { code: FALLING, when: glucoseRate < -1, keepFiringFor: 6m, acknowledge: reviews }
          - { code: SILENCE, when: readingAge > 7, clearAt: 6, debounce: 3m, repeatEvery: 4m }
          - { code: EMPTY, when: reservoir < 190, clearAt: 195, debounce: 1h }
          - { code: KEPT, when: glucose > 180, latching: true, acknowledge: closes, repeatEvery: 1h }
          - { code: ALERT-PUMP-SIGNAL-LOSS, debounce: 2m, repeatEvery: 3m, keepFiringFor: 10m }
          - { code: ALERT-ALGORITHM-STEPPING-INTERRUPTED, debounce: 1m, repeatEvery: 10m, inhibits: [ALERT-PUMP-SIGNAL-LOSS, SILENCE] }
          - { code: ALERT-PUMP-FAULT, repeatEvery: 15m }
          - { code: ALERT-CGM-UNAVAILABLE, severity: actionable, notify: true, debounce: 4m, keepFiringFor: 5m }
        """,
        """
        policy: careful
        extends: bionicloop
        notifyWhenStale: false
        notifyInForeground: true
        limits: { freshness: 8m, stepping: 11m, podExpiring: 30m, cooldown: { actionable: 2m } }
        rules:
          - { code: LOW, when: glucose < 75, repeatEvery: 5m, cooldown: 0s }
          - { code: SOON, when: glucose < 100 and readingAge > 3 and glucoseRate < -0.5, debounce: 1m }
          - { code: EMPTY, when: reservoir < 150 }
        """,
        """
        policy: sketch
        evaluation: literal
        notifyWhenStale: false
        thresholds:
          - { metric: glucose, min: 80, max: 140, sensitivity: 15m, cooldown: 30m }
          - { metric: glucoseRate, min: -1, sensitivity: immediate }
        rules:
          - { code: ALERT-PUMP-SIGNAL-LOSS }
        quietHours: { from: "23:00", to: "06:30" }
        """,
        """
        policy: foretold
        rules:
          - { code: SOON, when: glucoseIn20m < 90, acknowledge: reviews, repeatEvery: 5m, cooldown: 0s, inhibits: [LOW-AND-FALLING] }
          - { code: SOON-HIGH, when: glucoseIn20m > 160, clearAt: 150, debounce: 6m, keepFiringFor: 10m }
          - { code: LOW-AND-FALLING, when: glucose < 110 and glucoseIn20m < 80 and glucoseRate < -0.5, debounce: 1m }
          - { code: KEPT, when: glucoseIn20m < 100, latching: true, acknowledge: closes }
          - { code: FORECAST, when: forecastGlucose < 100, repeatEvery: 15m }
          - { code: FORECAST-HIGH, when: forecastGlucose > 170 and glucose > 150 }
        """,
        """
        policy: foretold-elsewhere
        limits: { freshness: 8m }
        rules: [{ code: SOON, when: glucoseIn20m < 100 }, { code: SILENCE, when: readingAge > 7 and glucoseIn20m < 120 }]
        """,
        """
        policy: night-long
        extends: dexcom-g7
        quietHours: { from: "21:00", to: "08:00" }
        limits: { stepping: 30m }
        """,
        """
        policy: claiming
        rules:
          - { code: FALLING, when: glucoseRate < -1, truth: low70 }
          - { code: DEEP, when: glucose < 80, truth: low54 }
          - { code: LOW, when: glucose < 80 }
          - { code: UNJUDGED, when: glucose > 180, truth: none }
          - { code: HIGH, when: glucose > 180 }
        """,
    ]

    static func policies() throws -> [AlertPolicy] {
        try AlertPreset.allCases.map { try $0.policy() }
            + own.map { try AlertPolicy.parse($0, file: "own.yaml") }
    }

    private func study(_ faults: String, days: Int, group: String = "adult") throws -> Study {
        try Study.parse(
            """
            study: shadow
            seed: 20261122
            duration: \(days)d
            cohort: { generate: { model: uva-padova-2008, group: \(group), count: 3 } }
            scenario: { meals: hard }
            faults: \(faults)
            person: deaf
            arms: [{ algorithm: pid-insulin-feedback, alerts: none }]
            """, file: "shadow.yaml")
    }

    private struct Row: Equatable, CustomStringConvertible {
        var instant: Instant
        var text: String
        var description: String { "\(instant.minutes) min \(text)" }
    }

    private func rows(_ effects: [ShadowEffect], _ policy: AlertPolicy) -> [Row] {
        effects.map {
            Row(
                instant: $0.instant,
                text:
                    "\($0.kind.rawValue) \(policy.rules[$0.rule].code) \($0.severity.name) \($0.reason.rawValue)"
            )
        }
    }

    private func alone(_ session: Session) -> [Row] {
        session.recorder.alerts.map {
            Row(instant: $0.instant, text: "\($0.effect) \($0.code) \($0.severity) \($0.reason)")
        }
    }

    @Test(
        "each decides, effect by effect, what it decides alone with a deaf person; the session is the same to the digest",
        arguments: [
            ("none", 5, 0), ("all", 6, 1), ("{ app-quit: { rate: 3 }, signal-loss: true }", 4, 0),
            ("{ sensor-failure: { rate: 0.3 }, occlusion: true, pump-outage: { rate: 2 } }", 4, 2),
        ])
    func asAlone(faults: String, days: Int, subject: Int) throws {
        let policies = try Self.policies()
        let study = try study(faults, days: days)
        let subjects = try CohortLoader.subjects(of: study, studyPath: "shadow.yaml", jobs: 1)
        func session(_ arm: Study.Arm, _ scoring: PolicyScoring?) throws -> Session {
            try Session(
                study: study, subject: subjects[subject], index: subject, arm: arm, scoring: scoring)
        }
        var listening = study
        listening.policies = policies
        let scoring = try #require(PolicyScoring(listening, arm: study.arms[0]))
        let shadowed = try session(study.arms[0], scoring)
        let outcome = shadowed.run()
        let effects = shadowed.shadowEffects
        let plain = try session(study.arms[0], nil).run()
        #expect(outcome.digest == plain.digest)
        var sum = 0
        var judged = 0
        for (number, policy) in policies.enumerated() {
            var arm = study.arms[0]
            arm.alerts = policy
            let single = try session(arm, nil)
            let ended = single.run()
            let tallies = ended.alerts
            // Every key, to the bit.
            let scores = outcome.policies[number]
            #expect(scores.policy == policy.name && scores.isInShadow)
            for (row, value) in zip(PolicyOutcome.stored, scores.values) {
                guard Outcome.named(row.name) != nil else { continue }
                if let value, value != 0 { judged += 1 }
                #expect(
                    value == ended.outcomes[row.name],
                    "\(policy.name), \(faults): \(row.name)")
            }
            let (found, expected) = (rows(effects[number], policy), alone(single))
            sum += expected.count
            let place = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset
            if found.count != expected.count || place != nil {
                let at = place ?? min(found.count, expected.count)
                Issue.record(
                    """
                    \(policy.name), \(faults): \(found.count) effects in shadow, \(expected.count) alone; from \(at):
                    shadow \(found.dropFirst(max(0, at - 2)).prefix(6))
                    alone  \(expected.dropFirst(max(0, at - 2)).prefix(6))
                    """)
            }
            let counted = shadowed.shadowTallies[number]
            #expect(
                counted.map {
                    "\($0.code) \($0.raised) \($0.notified) \($0.notifiedNight) \($0.minutesActive)"
                }
                    == tallies.map {
                        "\($0.code) \($0.raised) \($0.notified) \($0.notifiedNight) \($0.minutesActive)"
                    })
        }
        #expect(sum > 300, "a comparison of nothing says nothing")
        #expect(judged > 100, "nor does a score of nothing")
    }

    @Test(
        "what a mechanism alone keeps silent is the policy without it, run alone with a deaf person, beside the policy as it is"
    )
    func soleCauses() throws {
        var study = try study(
            "{ signal-loss: { rate: 6 }, pump-outage: { rate: 2 }, app-quit: { rate: 1 } }", days: 3)
        // Its bounds are those of the truths, so that whatever it holds back is silence.
        let mute = """
            policy: mute
            quietHours: { from: "20:00", to: "08:00" }
            rules:
              - { code: LOW, when: glucose < 100, clearAt: 110, debounce: 10m, cooldown: 2h, acknowledge: reviews }
              - { code: HIGH, when: glucose > 140, clearAt: 120, debounce: 30m, keepFiringFor: 40m, cooldown: 90m }
              - { code: VERY-HIGH, when: glucose > 250, inhibits: [HIGH], cooldown: 4h }
              - { code: ALERT-PUMP-SIGNAL-LOSS, debounce: 5m, cooldown: 1h }
              - { code: SILENCE, when: readingAge > 10, debounce: 3m, inhibits: [ALERT-PUMP-SIGNAL-LOSS] }
            """
        let policies = [
            try AlertPolicy.parse(mute, file: "mute.yaml"),
            try AlertPolicy.parse(Self.own[0], file: "own.yaml"),
        ]
        study.policies = policies
        study.arms[0].alerts = policies[0]
        let subjects = try CohortLoader.subjects(of: study, studyPath: "shadow.yaml", jobs: 1)
        func outcome(_ policy: AlertPolicy, _ scoring: PolicyScoring? = nil) throws -> SessionOutcome {
            var arm = study.arms[0]
            arm.alerts = policy
            return try Session(
                study: study, subject: subjects[0], index: 0, arm: arm, scoring: scoring
            ).run()
        }
        let scoring = try #require(PolicyScoring(study, arm: study.arms[0]))
        let shadowed = try outcome(policies[0], scoring)
        #expect(shadowed.policies.map(\.isInShadow) == [false, true, true])
        let places = Dictionary(PolicyOutcome.storedNames.enumerated().map { ($1, $0) }) { first, _ in first }
        func cause(_ row: Int, _ mechanism: AlertMechanism) throws -> Double? {
            shadowed.policies[row].values[
                try #require(places["alerts_sole_cause_\(mechanism.key)_min"])]
        }
        let key = "alerts_suppressed_while_true_min"
        var found: [Double] = []
        for (row, policy) in policies.enumerated() {
            let with = try #require(try outcome(policy).outcomes[key])
            for mechanism in AlertMechanism.allCases where mechanism != .snooze {
                let minutes = try cause(1 + row, mechanism)
                guard mechanism != .acknowledgement, policy.uses(mechanism) else {
                    #expect(minutes == nil, "\(policy.name) \(mechanism)")
                    continue
                }
                let without = try #require(try outcome(policy.without(mechanism)).outcomes[key])
                #expect(minutes == with - without, "\(policy.name) \(mechanism)")
                found.append(with - without)
                // The arm's own policy is the first of those in shadow, and nobody acknowledges.
                if row == 0 { #expect(try cause(0, mechanism) == minutes) }
            }
        }
        #expect(try cause(0, .acknowledgement) == 0)
        #expect(found.count >= 9 && found.count { $0 != 0 } >= 4, "\(found)")
    }
}
