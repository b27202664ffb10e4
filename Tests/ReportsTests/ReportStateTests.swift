// What a report says in every state of a study: of sessions that were made up, so that each state is there.

import Foundation
import IsletFiles
import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials
@testable import IsletResults

/// A store of summaries that were made up.
private final class MadeUpStore: ResultStore {
    let summaries: [SessionSummary]
    init(_ summaries: [SessionSummary]) { self.summaries = summaries }
    func studyText() -> String { "" }
    func finishedSessions() -> Set<Int> { Set(summaries.map(\.session)) }
    func write(_ records: [SessionRecord]) {}
    func forEachSummary(_ body: (SessionSummary) throws -> Void) rethrows {
        for summary in summaries { try body(summary) }
    }
    func absorb(storeAt path: String) {}
    func close() {}
}

/// What a session came to; nothing rang where `rings` is 0.
private struct Lived {
    var below70 = 3.0
    var below54 = 0.5
    var above180 = 20.0
    var rings = 2.0

    var outcomes: OutcomeValues {
        [
            "tbr_70_percent": below70, "tbr_54_percent": below54, "tar_180_percent": above180,
            "tar_250_percent": above180 / 4, "tir_70_180_percent": 100 - below70 - above180, "mean_mgdl": 150,
            "alerts_notifications_per_day": rings, "alerts_notifications_night_per_day": rings / 4,
            "alerts_nuisance_fraction": 0.4,
        ]
    }
}

private struct MadeUp {
    var study: Study
    var input: ReportInput

    var page: String { StudyReport(input).html }

    /// - Parameters:
    ///   - text: a study of generated people.
    ///   - leaving: sessions that ended early.
    ///   - lived: of a person, from 0, in an arm.
    init(
        _ text: String, people: Int = 12, leaving: Set<Int> = [], unit: GlucoseUnit = .mgdl,
        lived: (_ person: Int, _ arm: Int) -> Lived
    ) throws {
        let study = try Study.parse(text, file: "made-up.yaml")
        let sessions = (0..<people * study.arms.count).map { session -> SessionSummary in
            let (person, arm) = (session / study.arms.count, session % study.arms.count)
            let own = lived(person, arm)
            var low = AlertTally(policy: "made-up", code: "LOW")
            low.raised = Int(own.rings)
            low.notified = Int(own.rings)
            return SessionSummary(
                session: session, subjectIndex: person, subject: "adult#\(person + 1)", armIndex: arm,
                arm: study.arms[arm].name,
                end: leaving.contains(session) ? .endedEarly(reason: "left") : .completed, days: 1,
                digest: "d\(session)", events: 1, outcomes: own.outcomes, alerts: own.rings > 0 ? [low] : [])
        }
        let store = MadeUpStore(sessions)
        self.study = study
        input = ReportInput(
            study: study, summary: try StudySummary(of: study, store: store),
            columns: try SubjectColumns(ExampleChoice.outcomes(study), store: store),
            origin: ReportInput.Origin(
                version: "1", fingerprint: nil, commit: nil, shard: nil, isComplete: true,
                confirmation: .notRun),
            unit: unit, again: ReportInput.Again())
    }

    /// What a reader sees: without code, and without what figures tell those who can't see them.
    static func visible(_ page: String) -> String {
        var text = page
        for element in ["style", "title", "desc", "code", "pre"] {
            text = text.replacingOccurrences(
                of: "<\(element)[^>]*>[\\s\\S]*?</\(element)>", with: "", options: .regularExpression)
        }
        return text.replacingOccurrences(of: "<[^>]*>", with: "", options: .regularExpression)
    }

    static func headline(_ page: String) -> String {
        let inner = page.components(separatedBy: "<h1>").last?.components(separatedBy: "</h1>").first ?? ""
        return visible(inner)
    }
}

private let two = """
    question: Should it wait?
    cohort: { generate: { count: 12 } }
    duration: 1d
    arms: [{ name: at-once }, { name: later }]
    compare: { reference: at-once }
    primary: [tbr_70_percent, alerts_notifications_per_day]

    """

/// Waiting spares rings and costs minutes, a little more in some people than in others.
private func trade(_ person: Int, _ arm: Int) -> Lived {
    var lived = Lived()
    lived.below70 += 0.1 * Double(person)
    lived.rings = 4 + 0.25 * Double(person)
    if arm == 1 {
        lived.below70 += 0.26 + 0.002 * Double(person)
        lived.rings -= 1 + 0.01 * Double(person % 5)
    }
    return lived
}

@Suite("A report, whatever its study is") struct ReportStateTests {
    @Test func `its first line is the trade, in a week, with its places`() throws {
        let made = try MadeUp(two, lived: trade)
        let page = made.page
        let line = MadeUp.headline(page)
        // 0.271 points are 27 min of a week's 10 080; 1.02 rings a day are 7.1 a week.
        #expect(line.hasPrefix("later spares 7.1"), "\(line)")
        #expect(
            line.contains("rings a week and costs 27") && line.hasSuffix("minutes a week below 70 mg/dL"),
            "\(line)")
        #expect(page.contains("<p class=\"question\">Should it wait?</p>"))
        #expect(page.contains("data-factor=\"-7.0\"") && page.contains("data-factor=\"100.8\""))
        #expect(page.components(separatedBy: "<li class=\"card ").count == 4, "three cards")
        #expect(page.contains("Fewer rings") && page.contains("More time below 70 mg/dL"))
    }

    @Test func `in mmol/L no visible text speaks of mg/dL, and no text of columns`() throws {
        for unit in [GlucoseUnit.mgdl, .mmolL] {
            let text = MadeUp.visible(try MadeUp(two, unit: unit, lived: trade).page)
            #expect(text.contains("below \(unit == .mgdl ? "70 mg/dL" : "3.9 mmol/L")"))
            if unit == .mmolL { #expect(!text.contains("mg/dL")) }
            let names = text.matches(of: #/\b[a-z]+_[a-z_]+/#).map { String($0.output) }
            #expect(names.isEmpty, "\(names)")
        }
    }

    @Test func `what nobody can tell apart is not called a change`() throws {
        let made = try MadeUp(two) { person, arm in
            var lived = trade(person, 0)
            if arm == 1 { lived.below70 += person % 2 == 0 ? 0.2 : -0.2 }
            if arm == 1 { lived.rings += person % 2 == 0 ? 1 : -1 }
            return lived
        }
        let line = MadeUp.headline(made.page)
        #expect(line == "later isn’t shown to change rings or time below 70 mg/dL")
        #expect(made.page.contains("Rings: no difference shown"))
    }

    @Test
    func `a harm that is shown is told before one that isn't, and a refused claim beside the first line`()
        throws
    {
        let made = try MadeUp(two + "margin: { tbr_54_percent: 0.2 }\n") { person, arm in
            var lived = trade(person, arm)
            if arm == 1 {
                lived.below70 = trade(person, 0).below70 + (person % 2 == 0 ? 0.2 : -0.2)
                lived.below54 += 0.1 + 0.001 * Double(person)
            }
            return lived
        }
        let line = MadeUp.headline(made.page)
        #expect(line.hasPrefix("later spares") && line.contains(" and costs "), "\(line)")
        #expect(line.hasSuffix("minutes a week below 54 mg/dL"), "\(line)")
        #expect(made.page.contains("no claim: margin not justified"))
        #expect(made.page.contains("Below 54 mg/dL: no claim"))
        // Without a margin there is none to refuse, and none of it is a claim either.
        #expect(try MadeUp(two, lived: trade).page.contains("no claim: no margin"))
    }

    /// Rings are spared, and of lows nothing is shown: some have more, some less. Who hears nothing has many more.
    private func spares(_ person: Int, _ arm: Int) -> Lived {
        var lived = trade(person, 0)
        let sign = person % 2 == 0 ? 1.0 : -1
        if arm == 1 {
            lived.rings -= 1 + 0.01 * Double(person % 5)
            lived.below70 += 0.2 * sign
            lived.below54 += 0.05 * sign
        } else if arm == 2 {
            lived.below54 += 2 + 0.1 * sign
        }
        return lived
    }

    /// Of people enough to judge lows, with what justifies a margin: who hears nothing.
    private func justified(_ margin: String) throws -> MadeUp {
        let arms = ["at-once, person: typical", "later, person: typical", "nobody, person: deaf"]
        let text = two.replacing(
            "arms: [{ name: at-once }, { name: later }]",
            with: "arms: [\(arms.map { "{ name: \($0) }" }.joined(separator: ", "))]"
        ).replacing("count: 12", with: "count: 30")
        return try MadeUp(text + "margin: { \(margin) }\n", people: 30) { self.spares($0, $1) }
    }

    /// Harm: whoever reads the first line alone takes fewer rings for free where safety was not shown.
    @Test func `a gate that was not passed stands in the first line, and its diamond at the gate alone`()
        throws
    {
        let unjudged = MadeUp.headline(try MadeUp(two, lived: { self.spares($0, $1) }).page)
        #expect(
            unjudged.hasSuffix(" rings a week and isn’t shown to change time below 70 mg/dL"), "\(unjudged)")
        // Too narrow to be shown, wide enough to be, and more than the reference arm has.
        for (margin, isRefused, isShown) in [
            ("0.01", false, false), ("0.2", false, true), ("0.6", true, false),
        ] {
            let made = try justified("tbr_54_percent: \(margin)")
            #expect((made.input.summary.claims?.refusal != nil) == isRefused, "\(margin)")
            let line = MadeUp.headline(made.page)
            #expect(line.hasPrefix("later spares 7"), "\(line)")
            #expect(
                line.hasSuffix(
                    isShown
                        ? " rings a week and isn’t shown to change time below 70 mg/dL"
                        : " rings a week and isn’t shown harmless below 54 mg/dL"), "\(margin): \(line)")
            // The gate is drawn, whatever the primary outcomes are, and is a diamond where it is refused.
            let visible = MadeUp.visible(made.page)
            #expect(visible.contains("the margin = "), "\(margin)")
            #expect(visible.contains("no claim: margin not justified") == isRefused, "\(margin)")
            #expect(visible.contains("\nclaim refused\n") == isRefused, "\(margin)")
            #expect(visible.contains("\nexploratory\n") == isRefused, "\(margin)")
        }
    }

    @Test func `a margin that is a share is drawn as what it comes to, and any gate has one`() throws {
        let share = try justified("tbr_54_percent: 20%")
        #expect(share.input.study.isMarginRelative)
        // A fifth of 0.5 points.
        #expect(MadeUp.visible(share.page).contains("the margin = 0.10 points"))
        let other = try justified("tbr_70_percent: 0.02")
        #expect(MadeUp.visible(other.page).contains("the margin = 0.02 points"))
        #expect(MadeUp.headline(other.page).hasSuffix("isn’t shown harmless below 70 mg/dL"))
    }

    @Test func `a label of time in ranges is what its goal is about`() throws {
        let made = try MadeUp(two) { _, _ in Lived() }
        let visible = MadeUp.visible(made.page)
        // Above 180 is 20 %, of which 5 are above 250: the segment of 15 has no label.
        #expect(visible.contains("20\u{a0}%") && visible.contains("5.0\u{a0}%"))
        #expect(!visible.contains("15\u{a0}%"))
        #expect(visible.contains("3.0\u{a0}%") && !visible.contains("2.5\u{a0}%"))
    }

    @Test func `a difference that would read as nothing has one digit more`() throws {
        let words = OutcomeWords(.mgdl)
        let sample = try #require(MadeUp(two, lived: trade).input.summary.comparisons.first)
        func text(_ difference: Double, _ half: Double) -> String {
            let bounds = StudySummary.ConfidenceBounds(lower: difference - half, upper: difference + half)
            var found = sample
            (found.difference, found.ci95) = (difference, bounds)
            return words.text(found, Outcome.named("tbr_70_percent"))
        }
        #expect(text(0.04, 0.14) == "+0.04 [−0.10, 0.18]")
        #expect(text(-0.04, 0.14) == "−0.04 [−0.18, 0.10]")
        #expect(text(0.26, 0.14) == "+0.3 [0.1, 0.4]")
        #expect(text(0, 0.14) == "0.0 [−0.1, 0.1]")
        #expect(text(0.004, 0.14) == "0.0 [−0.1, 0.1]")
    }

    @Test func `arms that are equal in every pair are identical, a hundred of them too`() throws {
        let arms = (0..<100).map { "{ name: a\($0) }" }.joined(separator: ", ")
        let text =
            "duration: 1d\ncohort: { generate: { count: 6 } }\narms: [\(arms)]\ncompare: { reference: a0 }\n"
        let made = try MadeUp(text, people: 6) { person, _ in trade(person, 0) }
        let page = made.page
        #expect(MadeUp.headline(page) == "99 arms are identical to a0 in every pair")
        #expect(!MadeUp.visible(page).contains("each of 0"))
        #expect(MadeUp.visible(page).contains("Each arm is identical to a0 in every pair."))
        #expect(page.components(separatedBy: "data-range=\"4\"").count == 3, "one bar, wide and narrow")
        // The terminal has them on one screen.
        let table = made.input.summary.table()
        #expect(table.split(separator: "\n").count < 30, "\(table)")
        #expect(table.contains("a0, a1 and 98 more"))
    }

    @Test func `one arm has goals and no comparison`() throws {
        let made = try MadeUp(
            "duration: 1d\ncohort: { generate: { count: 3 } }\narms: [{ name: alone }]\n", people: 3
        ) {
            _, _ in Lived(below70: 5)
        }
        let page = made.page
        #expect(MadeUp.headline(page).hasPrefix("One arm, described: "))
        #expect(
            page.contains("goal &gt;\u{a0}70\u{a0}%") && page.contains("card bad")
                && page.contains("card good"))
        #expect(!page.contains("figure-trade") && !page.contains(">Comparisons<"))
        #expect(!MadeUp.visible(page).contains("1 arms"))
    }

    @Test func `nothing that rang is said, and has no section`() throws {
        let page = try MadeUp(two) { person, arm in
            var lived = trade(person, arm)
            lived.rings = 0
            return lived
        }.page
        #expect(page.contains("Nothing rang.") && !page.contains("id=\"alerts\""))
    }

    @Test func `sessions that ended early stand in the strip, red where they are many`() throws {
        let one = try MadeUp(two, leaving: [3], lived: trade).page
        #expect(one.contains("class=\"grave\"") && one.contains("id=\"early\""))
        #expect(!(try MadeUp(two, lived: trade).page.contains("class=\"grave\"")))
    }

    @Test func `better lies left of zero, whichever way an outcome counts`() throws {
        let text = two.replacing("tbr_70_percent, alerts", with: "tir_70_180_percent, tbr_70_percent, alerts")
        let made = try MadeUp(text, lived: trade)
        let figure = try #require(TradeFigure(made.input).figures.first)
        let drawing = figure.chart.svg(id: "f")
        let zeros = drawing.matches(of: #/class="l-k zero" x1="([\d.]+)"/#).compactMap { Double($0.output.1) }
        let zero = try #require(zeros.first)
        #expect(zeros.count == 1)
        func place(_ outcome: String) throws -> Double? {
            drawing.firstMatch(of: try Regex("x=\"([0-9.]+)\"[^>]*data-outcome=\"\(outcome)\""))
                .flatMap { $0.output[1].substring.flatMap { Double($0) } }
        }
        // Less time in range, and more below, are worse; fewer rings are better.
        #expect(try #require(try place("tir-70-180-percent")) > zero)
        #expect(try #require(try place("tbr-70-percent")) > zero)
        #expect(try #require(try place("alerts-notifications-per-day")) < zero)
    }

    @Test func `the bar of time in ranges is the whole day`() throws {
        let made = try MadeUp(two, lived: trade)
        let drawing = try #require(RangesFigure(made.input).figures.first).chart.svg(id: "f")
        let parts = drawing.matches(of: #/data-range="(\d)" data-percent="([\d.]+)"/#).compactMap {
            Double($0.output.2)
        }
        #expect(parts.count == 10)
        #expect(abs(parts.reduce(0, +) - 200) < 0.4, "\(parts)")
    }

    @Test func `one page is the first sheet, and nothing behind it`() throws {
        let report = StudyReport(try MadeUp(two, lived: trade).input)
        #expect(report.onePage.contains("figure-trade") && report.onePage.contains("<h1>"))
        #expect(!report.onePage.contains("id=\"numbers\"") && !report.onePage.contains("<nav"))
        #expect(report.html.contains("id=\"numbers\"") && report.html.contains("<nav"))
    }

    /// Harm: "no two arms differ" is read where too few people were asked to tell.
    @Test func `too few pairs are not called the same`() throws {
        let text =
            "duration: 1d\ncohort: { generate: { count: 4 } }\narms: [{ name: a }, { name: b }]\ncompare: { reference: a }\n"
        let made = try MadeUp(text, people: 4) { person, arm in trade(person, arm) }
        let visible = MadeUp.visible(made.page)
        #expect(visible.contains("There are fewer than 6 pairs."))
        #expect(!visible.contains("identical to a in every pair"))
    }

    // MARK: Sweeps

    private static let sweep = """
        duration: 1d
        cohort: { generate: { count: 6 } }
        person: typical
        arms: [{ name: g7, algorithm: basal-bolus, alerts: dexcom-g7 }]
        compare: { reference: g7 }
        sweep:
          of: dexcom-g7
          mode: closed
          grid:
            "rules[LOW,HIGH].debounce": [0s, 15m, 60m]
            "rules[LOW,HIGH].cooldown": [60s, 30m, 2h]

        """

    /// Rings fall with the debounce; a cooldown does something from 2 h on.
    private static func lived(_ person: Int, _ name: String) -> Lived {
        var lived = trade(person, 0)
        let wait = name.contains("=60m") ? 2.0 : name.contains("=15m") ? 1 : 0
        lived.rings -= wait + (name.contains("=2h") ? 0.5 : 0)
        lived.below70 += 0.2 * wait
        return lived
    }

    @Test func `a sweep has its factors as columns, and joins what came to the same`() throws {
        let study = try Study.parse(Self.sweep, file: "sweep.yaml")
        let made = try MadeUp(Self.sweep, people: 6) { Self.lived($0, study.arms[$1].name) }
        let model = try #require(SweepModel(made.input))
        #expect(model.factors.map(\.name) == ["debounce", "cooldown"], "\(model.factors)")
        #expect(model.factors[0].levels == ["0\u{a0}s", "15\u{a0}min", "60\u{a0}min"])
        // The plain arm stands for the point of the preset's own values, and a level that cannot differ for another.
        #expect(model.points.count == 9 && model.isFull)
        #expect(model.groups(of: 1).contains { $0.count > 1 }, "60 s and 30 min are one")
        let rows = model.rows
        // The page marks what the summary, and so the terminal, has on the front.
        let view = try #require(made.input.summary.sweep)
        let front = view.rows.filter(\.isOnFront).flatMap(\.points)
        #expect(!front.isEmpty)
        let marked = rows.filter { model.isOnFront($0, among: rows) }.map(\.point.name)
        #expect(Set(marked).isSubset(of: view.rows.filter(\.isOnFront).map(\.name)) && !marked.isEmpty)
        #expect(rows.count < model.points.count)
        #expect(rows.contains { model.words($0.levels[1], of: 1).contains("60\u{a0}s, 30\u{a0}min") })
        let effect = try #require(model.effect(of: 0))
        #expect(model.factors[0].levels[effect.to] == "60\u{a0}min")
        #expect(abs(effect.differences.last.flatMap { $0 } ?? 0) > 0)
        let page = made.page
        #expect(page.contains("<table class=\"sweep\">") && page.contains("data-cell=\"arms."))
        #expect(page.contains("<th scope=\"col\">debounce</th><th scope=\"col\">cooldown</th>"))
    }

    @Test func `a sweep's first line says only what is shown`() throws {
        for (people, isShown) in [(6, false), (24, true)] {
            let text = Self.sweep.replacing("count: 6", with: "count: \(people)")
            let study = try Study.parse(text, file: "sweep.yaml")
            let made = try MadeUp(text, people: people) { Self.lived($0, study.arms[$1].name) }
            let line = MadeUp.headline(made.page)
            #expect(line.contains("spares") == isShown, "\(line)")
            #expect(line.contains("isn’t shown to change rings") != isShown, "\(line)")
        }
    }

    @Test func `levels are told as people say them, in the order of their values`() {
        #expect(
            FactorWords.level(.string("0s")) == "0\u{a0}s"
                && FactorWords.level(.string("15m")) == "15\u{a0}min")
        #expect(FactorWords.level(.string("2h")) == "2\u{a0}h" && FactorWords.level(.null) == "default")
        #expect(
            FactorWords.sorted([.string("1h"), .string("5m"), .string("0s")]) == [
                .string("0s"), .string("5m"), .string("1h"),
            ])
        let words = FactorWords([
            "rules[LOW,HIGH].debounce", "rules[SIGNAL-LOSS].debounce", "rules[*].cooldown",
        ])
        #expect(words[0].name == "debounce" && words[0].detail == "Low, High")
        #expect(words[1].detail == "Signal loss" && words[2].name == "cooldown" && words[2].detail.isEmpty)
    }

    // MARK: Words and numbers

    /// A column's name in a page is a word that nobody said.
    @Test func `every outcome has words, and none is a name of a column`() {
        for outcome in Outcome.everything {
            #expect(
                !outcome.words.isEmpty && !outcome.words.text.contains("_"),
                "\(outcome.name): \(outcome.words)")
            #expect(OutcomeWords(.mmolL).name(outcome.name).contains("mg/dL") == false, "\(outcome.name)")
        }
        for outcome in PolicyOutcome.all {
            #expect(
                !outcome.words.isEmpty && !outcome.words.text.contains("_"),
                "\(outcome.name): \(outcome.words)")
        }
        let shares = [
            "alerts_nuisance_fraction", "alerts_sensitivity_g15", "keeper_heard_fraction",
            "hypo_rebound_fraction",
        ]
        for name in shares { #expect(Outcome.named(name)?.isShare == true, "\(name)") }
        for name in ["lbgi", "sensor_hbgi", "tbr_54_percent"] {
            #expect(Outcome.named(name)?.isShare == false, "\(name)")
        }
    }

    @Test func `a number ends where its interval begins to doubt it`() throws {
        let low = try #require(Outcome.named("tbr_70_percent"))
        let words = OutcomeWords(.mgdl)
        func text(_ value: Double, _ lower: Double, _ upper: Double) -> String {
            words.text(value, low, StudySummary.ConfidenceBounds(lower: lower, upper: upper))
        }
        #expect(text(0.2611, 0.211, 0.311) == "0.26" && text(26.11, 20.9, 31.2) == "26")
        #expect(text(4.913, 4.51, 5.32) == "4.9" && text(0.00123, 0.0011, 0.0014) == "0.0012")
        let share = try #require(Outcome.named("alerts_nuisance_fraction"))
        #expect(
            words.text(0.549, share) == "55" && words.unitText(share) == "%"
                && words.differenceUnit(share) == "points")
    }
}
