import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import Testing

/// `truth:` in a policy file: what a rule is judged by, on paper.
@Suite struct TruthClaimTests {
    private func rules(_ text: String) throws -> [AlertRule] {
        try AlertPolicy.parse("policy: p\nrules:\n\(text)\n", file: "p.yaml").rules
    }

    private func problem(_ rule: String) -> String {
        do {
            _ = try AlertPolicy.parse("policy: p\nrules:\n  - \(rule)\n", file: "p.yaml")
            return ""
        } catch { return "\(error)" }
    }

    @Test func leftOutItIsInferredAsBefore() throws {
        let rules = try rules(
            """
              - { code: A, when: glucose < 70 }
              - { code: B, when: glucose < 55 }
              - { code: C, when: glucoseIn20m > 250 }
              - { code: D, when: forecastGlucose < 70 }
              - { code: E, when: readingAge > 20 }
              - { code: F, when: glucoseRate < -2 }
              - { code: ALERT-PUMP-SIGNAL-LOSS }
            """)
        #expect(
            rules.map(\.truth) == [.low70, .low54, .high250, .low70, .sensorGap, nil, .signalLoss])
        #expect(rules.allSatisfy { $0.claim == .usual })
    }

    @Test func aRuleSaysWhatItIsAbout() throws {
        let rules = try rules(
            """
              - { code: A, when: glucose < 80, truth: low54 }
              - { code: F, when: glucoseRate < -2, truth: low70 }
              - { code: G, when: glucose > 180, truth: none }
              - { code: H, when: glucose > 200, truth: podFailure }
              - { code: ALERT-PUMP-FAULT, truth: noPod }
            """)
        #expect(rules.map(\.truth) == [.low54, .low70, nil, .podFailure, .noPod])
    }

    @Test func itReadsBackAndChangesNoAlert() throws {
        let text = "policy: p\nthresholds: [{ metric: glucose, min: 70, truth: low54 }]\n"
        let policy = try AlertPolicy.parse(text, file: "p.yaml")
        #expect(policy.rules[0].truth == .low54)
        let again = try AlertPolicy.parse(policy.json.prettyText, file: "json")
        #expect(again == policy)
        let plain = try AlertPolicy.parse(
            "policy: p\nthresholds: [{ metric: glucose, min: 70 }]\n", file: "p.yaml")
        #expect(plain != policy && plain.fingerprint == policy.fingerprint)
        #expect(!plain.json.prettyText.contains("truth"))
    }

    @Test func whatIsNoTruthIsRefusedWithTheNearestName() {
        let misspelt = problem("{ code: A, when: glucose < 70, truth: low-70 }")
        #expect(misspelt.hasPrefix("p.yaml:3: found `low-70` at rules[0].truth"))
        #expect(misspelt.contains("(nearest: `low70`)"))
        #expect(misspelt.contains("signalLoss") && misspelt.contains("none"))
        // Turned round: metrics would call all that it does false.
        let turned = problem("{ code: A, when: glucoseIn20m < 70, truth: high250 }")
        #expect(
            turned
                == "p.yaml:3: found `high250` for A, which rings for low glucose at rules[0].truth, expected low70 or low54, a truth about a device, or none"
        )
        #expect(problem("{ code: F, when: glucoseRate < -2, truth: high250 }").isEmpty)
        #expect(problem("{ code: A, when: glucose < 70, truth: sensorGap }").isEmpty)
    }

    /// A fall of 2 mg/dL/min and more is told at 110 and at 500; the plasma is below 70 from 120 to 150 and below 54 from 130 to 150.
    private func paper(_ claim: String) throws -> AlertMetrics {
        let policy = try AlertPolicy.parse(
            "policy: p\nrules: [{ code: FALLING, when: glucoseRate < -2\(claim) }]\n", file: "p.yaml")
        return PaperSession(
            name: claim, plasma: [(120, 150, 60), (130, 150, 50)], rules: policy.rules,
            events: [
                (110, 0, .raise), (110, 0, .notify), (125, 0, .clear), (500, 0, .raise), (500, 0, .notify),
                (510, 0, .clear),
            ]
        ).metrics
    }

    @Test func metricsFollowTheClaim() throws {
        // Nobody judges a rate by itself; its notifications count as burden.
        let usual = try paper("")
        #expect(usual[.ppv] == nil && usual[.missed] == nil && usual[.notifications] == 2)
        // Of level 1: one episode from 120, alerted 10 min before; the alert of 500 is false.
        let low = try paper(", truth: low70")
        #expect(low[.sensitivityG0] == 1 && low[.lead] == 10 && low[.ppv] == 0.5)
        #expect(low[.falsePerDay] == 1 && low[.missed] == 0)
        // Annunciating from 110 to 125: silent from there to 150.
        #expect(low[.suppressed] == 25)
        // Of level 2: from 130 on, so that it came 20 min before and 20 min are silent; 110 is more than 15 min away.
        let deep = try paper(", truth: low54")
        #expect(deep[.sensitivityG0] == 1 && deep[.lead] == 20 && deep[.suppressed] == 20)
        #expect(deep[.ppv] == 0 && deep[.ppv30] == 0.5)
        // About a pump that nobody has watched: not judged.
        #expect(try paper(", truth: podFailure")[.ppv] == nil)
        #expect(try paper(", truth: none")[.ppv] == nil)
    }
}
