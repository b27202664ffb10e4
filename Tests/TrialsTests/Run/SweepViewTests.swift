// A sweep as a decision: rows, joins, the front, the first sentence, and what the terminal and the files have of it.

import IsletAlerts
import IsletDevices
import IsletFiles
import Testing

@testable import IsletTrials

@Suite("A sweep's decision view")
struct SweepViewTests {
    /// Debounce spares rings and costs time below 54; a cooldown of 30 min spares rings and costs nothing; repeats do nothing.
    private func study(_ more: String = "margin: { tbr_54_percent: 0.3 }") throws -> Study {
        try SweepJoinTests.study(
            """
            sweep:
              of: dexcom-g7
              mode: closed
              grid:
                "rules[LOW,HIGH].debounce": [0s, 5m, 15m, 60m]
                "rules[LOW,HIGH].cooldown": [0s, 60s, 5m, 30m]
                "rules[LOW,HIGH].repeatEvery": [null, 15m, 30m]
            primary: [tbr_54_percent, alerts_notifications_per_day]
            """, more, count: 40)
    }

    private func summary(_ study: Study, costOf60: Double = 1) throws -> StudySummary {
        try StudySummary(
            of: study,
            store: MadeStore(study, subjects: 40) { subject, arm in
                let noise = Double(subject * subject * 7 % 11) / 20
                var (rings, low) = (9 + 2 * noise, 1 + noise)
                let jitter = 0.02 * Double(subject * 13 % 5 - 2)
                for (text, fewer, cost) in [
                    ("debounce=5m", 1.0, 0.0), ("debounce=15m", 3, 0.08), ("debounce=60m", 6, costOf60),
                ] where arm.contains(text) {
                    rings -= fewer
                    low += cost + (cost > 0 ? jitter : 0)
                }
                if arm.contains("cooldown=30m") { rings -= 1 + 0.1 * noise }
                if arm == "deaf" { low += 2 }
                return ["tbr_54_percent": low, "alerts_notifications_per_day": rings]
            })
    }

    @Test(
        "every point stands in one row; what did not differ is joined, with the reason; no two rows are equal"
    )
    func rows() throws {
        let view = try #require(try summary(study()).sweep)
        #expect(view.factors.map(\.head) == ["debounce", "cooldown", "repeatEvery"])
        #expect(view.variants == 48 && view.unvaried == ["deaf"])
        // Repeats do nothing here: 4 debounces × 2 cooldowns.
        #expect(view.rows.count == 8)
        #expect(view.rows.flatMap(\.points).count == 48)
        #expect(Set(view.rows.flatMap(\.points)).count == 48)
        let reference = try #require(view.rows.first)
        #expect(reference.isReference && reference.name == "usual" && reference.points.count == 9)
        #expect(reference.label == "0s / 0s, 60s, 5m / –, 15m, 30m")
        #expect(view.rows[1].label == "0s / 30m / –, 15m, 30m")
        let joins = view.rows.flatMap(\.joins)
        // The arm as it is and the 24 that were lived beside it: their first points are what rows are called by.
        #expect(
            joins.count { $0.reason == .cannotDiffer } + joins.count { $0.reason == .didNotDiffer } == 48 - 7)
        #expect(joins.contains { $0.reason == .cannotDiffer && $0.values == ["0s", "60s", "–"] })
        #expect(joins.contains { $0.reason == .didNotDiffer && $0.values == ["0s", "30m", "15m"] })
    }

    @Test("the front has what no other row beats, and each factor's own effect")
    func front() throws {
        let view = try #require(try summary(study()).sweep)
        #expect(view.gain == "alerts_notifications_per_day" && view.cost == "tbr_54_percent")
        #expect(
            view.front.map(\.label) == [
                "60m / 30m / –, 15m, 30m", "15m / 30m / –, 15m, 30m", "5m / 30m / –, 15m, 30m",
            ])
        let debounce = try #require(view.effects.first)
        #expect(debounce.factor == "debounce" && debounce.levels.map(\.value) == ["0s", "5m", "15m", "60m"])
        #expect(abs(try #require(debounce.gainChange) + 6) < 1e-9)
        #expect(abs(try #require(debounce.costChange) - 1) < 0.05)
        let repeats = try #require(view.effects.last)
        #expect(abs(try #require(repeats.gainChange)) < 1e-9 && repeats.levels.count == 2)
    }

    @Test(
        "a factor is told no effect of another one: of points listed one by one, only those that differ in it alone count"
    )
    func listed() throws {
        func points(_ points: (debounce: String, cooldown: String)...) throws -> SweepView {
            let path = "rules[LOW,HIGH]"
            let lines = points.map { "    - { \"\(path).debounce\": \($0), \"\(path).cooldown\": \($1) }" }
            let study = try SweepJoinTests.study(
                """
                sweep:
                  of: dexcom-g7
                  mode: closed
                  points:
                \(lines.joined(separator: "\n"))
                primary: [tbr_54_percent, alerts_notifications_per_day]
                """, "margin: { tbr_54_percent: 0.3 }", count: 40)
            return try #require(try summary(study).sweep)
        }
        let view = try points(("0s", "0s"), ("60m", "0s"), ("60m", "5m"), ("60m", "30m"))
        let debounce = try #require(view.effects.first)
        let cooldown = try #require(view.effects.last)
        let gain = try #require(debounce.gainChange)
        #expect(debounce.factor == "debounce" && abs(gain + 6) < 1e-9)
        // From 0 s to 30 min beside an hour's debounce alone; a mean over all with 0 s would have half of the debounce in it.
        #expect(cooldown.factor == "cooldown" && cooldown.levels.map(\.value) == ["0s", "5m", "30m"])
        let change = try #require(cooldown.gainChange)
        #expect(change < -1 && change > -1.1)
        // Where no two differ in it alone nothing is said of it.
        #expect(try points(("5m", "0s"), ("60m", "30m")).effects.allSatisfy { $0.gainChange == nil })
    }

    @Test(
        "a variant is judged by what its rule was about before: a bound that moves past 60 or 250 asks no other question"
    )
    func truths() throws {
        let policy = try AlertPolicy.parse(
            "policy: p\nrules:\n  - { code: LOW, when: glucose < 70 }\n  - { code: HIGH, when: glucose > 200 }\n",
            file: "p.yaml")
        let reader = YAMLReader(
            try YAMLDocument.parse(
                """
                grid:
                  "rules[LOW].when": [glucose < 65, glucose < 59]
                  "rules[HIGH].when": [glucose > 240, glucose > 260]
                """, file: "s.yaml"))
        let sweep = try PolicySweep(reader, of: policy, mode: .shadow)
        #expect(sweep.variants.count == 4 && sweep.variants.allSatisfy { $0.truths == policy.truths })
        #expect(policy.truths == [.low70, .high180])
    }

    @Test("the first sentence says what an arm costs where that is shown, within the margin all the same")
    func cost() throws {
        let found = try summary(study())
        let view = try #require(found.sweep)
        // 60 min is out, by the margin; 15 min costs 0.08 points, shown, and passes.
        let claims = try #require(found.claims)
        #expect(claims.refusal == nil)
        #expect(view.headline.text.hasPrefix("15m / 30m / –, 15m, 30m: 4."), "\(view.headline)")
        #expect(view.headline.text.contains("fewer rings a day ["))
        #expect(
            view.headline.text.contains("it COSTS 1.2 more minutes a day below 54 mg/dL ["),
            "\(view.headline)")
        #expect(GlucoseUnit.mmolL.text(view.headline).contains(" minutes a day below 3.0 mmol/L ["))
        #expect(view.headline.text.contains("shown (p < 0.001), though within the margin of 0.30 points"))
        let gate = try #require(claims.gates.first { $0.arm.contains("debounce=15m") })
        #expect(gate.verdict == .nonInferior && gate.isShownWorse)
        let free = try #require(claims.gates.first { $0.arm.contains("debounce=5m") })
        #expect(!free.isShownWorse)
        #expect(
            try #require(GateSentence(gate, margin: 0.3)).text.hasSuffix("and that there is a rise is shown"))
        // In mmol/L too.
        #expect(unfolded(found.table(in: .mmolL)).contains("below 3.0 mmol/L"))
    }

    @Test("without a margin nothing is recommended, and the front is described with its costs")
    func noMargin() throws {
        let view = try #require(try summary(study("")).sweep)
        #expect(view.headline.text.hasPrefix("No variant is recommended: the study has no `margin`"))
        #expect(view.headline.text.contains("on the front 60m / 30m"))
        #expect(view.headline.text.contains("COSTS"))
    }

    @Test("the terminal has a row an arm, declared outcomes alone, and two screens at most")
    func terminal() throws {
        let text = try summary(study()).table()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 48, "\(lines.count)")
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(text)")
        #expect(text.contains("debounce  cooldown     repeatEvery"))
        #expect(!text.contains("dexcom-g7 LOW+HIGH"), "\(text)")
        #expect(unfolded(text).contains("not varied, as no alert reaches its person: deaf"))
        let rows = lines.filter { $0.contains("◆") || $0.contains("reference") }
        #expect(Set(rows).count == rows.count)
        // None is joined where all differ: rows beyond a screen stand in the CSV.
        let study = try study()
        var number = 0.0
        let all = try StudySummary(
            of: study,
            store: MadeStore(study, subjects: 8) { subject, _ in
                number += 1
                return [
                    "tbr_54_percent": number.truncatingRemainder(dividingBy: 7),
                    "alerts_notifications_per_day": number,
                ]
            })
        #expect(all.sweep?.rows.count == 24)
        #expect(all.table().split(separator: "\n", omittingEmptySubsequences: false).count <= 48)
    }

    @Test("summary.json and sweep.csv have factors as columns, a row a point, and the same numbers")
    func files() throws {
        let view = try #require(try summary(study()).sweep)
        let lines = view.csv.split(separator: "\n")
        #expect(lines.count == 49)
        #expect(
            lines[0].hasPrefix(
                "debounce,cooldown,repeatEvery,in,row,lived_as,joined,reference,on_front,tbr_54_percent,"))
        #expect(lines.dropFirst().contains { $0.hasPrefix("60m,5m,30m,usual,") })
        let json = view.json
        guard case .array(let rows)? = json["rows"], case .array(let points)? = rows[1]["points"] else {
            Issue.record("no rows")
            return
        }
        #expect(points[0]["debounce"] == .string("0s") && points[0]["cooldown"] == .string("30m"))
        #expect(json["headline"] == .string(view.headline.text))
    }

    @Test("a sweep in shadow is told by what each factor does")
    func shadow() throws {
        let study = try Study.parse(
            """
            duration: 3d
            cohort: { generate: { count: 6 } }
            scenario: { preset: life }
            arms: [{ name: usual, algorithm: basal-bolus, alerts: none }]
            sweep:
              of: dexcom-g7
              grid:
                "rules[LOW,HIGH].debounce": [0s, 30m]
                "rules[LOW,HIGH].cooldown": [0s, 60s, 5m]
            """, file: "shadow.yaml")
        let store = MemoryStore(of: study)
        let people = try CohortLoader.subjects(of: study, studyPath: "", jobs: 2)
        let runner = TrialRunner(study: study, subjects: people, jobs: 1)
        store.write(try runner.sessions.map { try runner.run($0) })
        let view = try #require(try StudySummary(of: study, store: store).sweep)
        #expect(view.rows.count == 2 && view.rows.flatMap(\.points).count == 6)
        #expect(view.rows[0].label == "0s / 0s, 60s, 5m" && view.rows[0].isReference)
        #expect(view.headline.text.hasPrefix("Nobody heard them. debounce 0s to 30m: "))
        #expect(view.headline.text.hasSuffix("cooldown: nothing."), "\(view.headline)")
    }
}
