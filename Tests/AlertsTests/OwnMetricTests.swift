import IsletAlerts
import IsletDevices
import IsletFiles
import IsletKernel
import Testing

/// Numbers of somebody's own as metrics of policies: their names, and what becomes of an alert when no number comes any more.
@Suite struct OwnMetricTests {
    private func policy(_ rules: String, _ rest: String = "") throws -> AlertPolicy {
        try AlertPolicy.parse("policy: own\nrules:\n\(rules)\n\(rest)", file: "own.yaml")
    }

    private func metric(_ name: String) throws -> AlertMetric { try #require(AlertMetric(ownNumber: name)) }

    @Test func aNameIsOneMetricAndNoRowHasIt() throws {
        let own = try metric("lowSoon")
        let (again, other) = (try metric("lowSoon"), try metric("low_soon"))
        #expect(own == again && own != other)
        #expect(own.isOwn && own.isPrediction && !own.isGlucose && own.unit.isEmpty)
        #expect(own.rawValue == "own.lowSoon" && own.name == "own.lowSoon" && own.codeName == "OWN-LOW-SOON")
        #expect(AlertMetric(inPolicy: "own.lowSoon") == own)
        #expect(AlertMetric(inPolicy: "glucose") == .glucose && AlertMetric(rawValue: "own.lowSoon") == nil)
        #expect(!AlertMetric.allCases.contains(own) && !AlertMetric.inStudies.contains(own))
        for wrong in ["", "1st", "low soon", "low-soon", "löw", String(repeating: "a", count: 41), "own.x"] {
            #expect(AlertMetric(ownNumber: wrong) == nil, "\(wrong)")
        }
    }

    @Test func aPolicyIsReadBackAsItWasWritten() throws {
        let read = try policy(
            "  - { code: SOON, when: own.lowSoon > 0.5 and glucose < 120, truth: low70 }",
            "thresholds:\n  - { metric: own.pressure, min: 2, max: 7 }")
        #expect(try AlertPolicy.parse(read.json.compactText, file: "again") == read)
        #expect(
            read.rules.map(\.code.rawValue)
                == ["SOON", "THRESHOLD-OWN-PRESSURE-LOW", "THRESHOLD-OWN-PRESSURE-HIGH"])
        #expect(read.ownMetrics.map(\.rawValue) == ["own.lowSoon", "own.pressure"])
        // Somebody acts on what the rule says that it is about; of its own a number is about nothing.
        #expect(read.rules.map(\.topic) == [.low, .app, .app])
        #expect(read.rules.map(\.truth) == [.low70, nil, nil])
    }

    @Test(arguments: ["own.low-soon > 1", "own. > 1", "owl.lowSoon > 1", "own.1 > 1", "own.lowSoon >= 1"])
    func anythingElseIsRefusedWithItsLine(_ when: String) throws {
        do {
            _ = try policy("  - { code: SOON, when: \(when) }")
            Issue.record("it was read")
        } catch let problem as InputError {
            #expect(problem.line == 3 && "\(problem)".contains("own.NAME"), "\(problem)")
        }
    }

    private func run(_ policy: AlertPolicy, _ values: [(minute: Int64, metric: AlertMetric, value: Double)])
        throws -> [String]
    {
        let tape = AlertTape(
            values.map {
                (.minutes($0.minute), .metric($0.metric, $0.value, sampledAt: .minutes($0.minute)))
            },
            wallClock: WallClock(startEpochSeconds: 0, zone: .utc))
        return try tape.run(policy, until: .minutes(60)).effects.filter {
            [.raise, .clear].contains($0.kind)
        }
        .map { "\($0.instant.minutes) \($0.kind.rawValue) \($0.code.rawValue) \($0.reason.rawValue)" }
    }

    /// The listener says 1 at 5 and 10 min, and nothing any more: the alert ends a quarter of an hour later, and says why. What others measure rings as ever.
    @Test func whereNoNumberComesTheAlertOfItEndsAndNoOther() throws {
        let own = try metric("lowSoon")
        let policy = try policy(
            "  - { code: SOON, when: own.lowSoon > 0.5, cooldown: 0s }\n  - { code: LOW, when: glucose < 70 }"
        )
        let found = try run(policy, [(5, own, 1), (10, own, 1), (20, .glucose, 65)])
        #expect(
            found == [
                "5.0 raise SOON conditionHeld", "20.0 raise LOW conditionHeld", "25.0 clear SOON stale",
            ])
    }

    @Test func itsWordsHaveNoUnit() throws {
        let rule = try policy("  - { code: SOON, when: own.lowSoon > 0.5 }").rules[0]
        #expect(rule.conditionText(in: .mgdl) == "own.lowSoon > 0.5")
    }

    /// It is back after a silence: what it says then is news.
    @Test func afterASilenceItIsNews() throws {
        let own = try metric("lowSoon")
        let policy = try policy("  - { code: SOON, when: own.lowSoon > 0.5, cooldown: 0s }")
        let found = try run(policy, [(5, own, 1), (30, own, 1), (35, own, 0.2)])
        #expect(
            found.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                == ["5.0 raise", "20.0 clear", "30.0 raise", "35.0 clear"])
    }

    @Test func aRuleOfTheSilenceItselfRings() throws {
        let silence = try metric(OwnNumber.silence)
        let policy = try policy("  - { code: DETECTOR-SILENT, when: own.silentMinutes > 14 }")
        let found = try run(policy, (0...6).map { (5 * $0, silence, Double(5 * $0)) })
        #expect(found.first == "15.0 raise DETECTOR-SILENT conditionHeld")
    }

    /// A number that no rule names is heard by nobody, and breaks nothing.
    @Test func aPolicyWithoutTheNumberDoesNotHearIt() throws {
        _ = try metric("a")
        let other = try metric("b")
        let policy = try policy("  - { code: LOW, when: glucose < 70 }")
        #expect(try run(policy, [(5, other, 1), (10, .glucose, 65)]) == ["10.0 raise LOW conditionHeld"])
    }
}
