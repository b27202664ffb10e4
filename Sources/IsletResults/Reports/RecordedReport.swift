// The report of recorded traces: a study's page, made from what policies made of them.
//
// Guarantees: examples are picked by the rules by which a study's are, and the rule stands beside them.

import IsletAlerts
package import IsletFiles
import IsletDevices
import IsletKernel
package import IsletTrials

extension ReportInput {
    /// - Parameter version: of the program.
    package init(_ results: TraceResults, version: String, unit: GlucoseUnit) {
        var again = Again()
        var profile = GlucoseProfile()
        for trace in results.traces {
            profile.add(trace.truth.map(Double.init), every: 5 * Nanoseconds.minute, calendar: trace.calendar)
        }
        again.days = [0: ArmDays(profile: profile)]
        again.examples = RecordedExamples(results, unit).examples
        self.init(
            study: results.replay.study, summary: results.summary, columns: results.columns,
            origin: Origin(
                version: version, fingerprint: nil, commit: nil, shard: nil, isComplete: true,
                confirmation: .notRun),
            unit: unit, again: again,
            recorded: Recorded(
                truth: TraceResults.truthNote,
                traces: results.traces.map { ($0.name, TraceResults.words(of: $0)) },
                notJudged: results.replay.leftOut.map { ($0.policy, $0.codes.map(\.rawValue)) }))
    }
}

private struct RecordedExamples {
    let results: TraceResults
    private let words: OutcomeWords

    init(_ results: TraceResults, _ unit: GlucoseUnit) {
        self.results = results
        words = OutcomeWords(unit)
    }

    private var policies: [AlertPolicy] { results.replay.study.shadowPolicies }

    private func told(_ row: SubjectColumns.Row, _ place: Int) -> ToldSession {
        let trace = results.traces[row.subjectIndex]
        let truth = trace.truth.enumerated().filter { !$0.element.isNaN }.map {
            TruthRow(
                instant: .minutes(Int64($0.offset) * 5), plasmaMgdl: Double($0.element), sensorMgdl: nil,
                isBackfilled: false)
        }
        return ToldSession(
            row: row, endedAt: trace.reached, truth: truth, readings: trace.readingRows,
            alerts: trace.rows(of: policies[place], at: place), policy: policies[place].name,
            isInShadow: true,
            calendar: trace.calendar)
    }

    var examples: [ExampleSession] {
        let ranked = results.columns.rows.map { ($0, results.columns.value("tbr_54_percent", $0) ?? 0) }
            .sorted { ($0.1, $0.0.session) < ($1.1, $1.0.session) }
        guard let worst = ranked.last else { return [] }
        var found: [ExampleSession] = []
        if ranked.count > 1 {
            let median = told(ranked[(ranked.count - 1) / 2].0, 0)
            found.append(
                ExampleSession(
                    kind: "The median one",
                    rule:
                        "Of the \(ranked.count) traces, the middle one by \(words.name("tbr_54_percent")); the day around its lowest glucose.",
                    told: [median], window: ExampleChoice.day(around: median.lowest, median)))
        }
        let last = told(worst.0, 0)
        found.append(
            ExampleSession(
                kind: ranked.count > 1 ? "The worst one" : "The lowest day",
                rule:
                    ranked.count > 1
                    ? "Of all traces the one with the highest \(words.name("tbr_54_percent")); the day around its lowest glucose."
                    : "The day around the trace's lowest glucose.",
                told: [last], window: ExampleChoice.day(around: last.lowest, last)))
        if let parting { found.append(parting) }
        return found
    }

    /// The first policy, and the other that differs most from it.
    private var parting: ExampleSession? {
        var most: (row: SubjectColumns.Row, place: Int, difference: Double)?
        for row in results.columns.rows {
            func notified(_ place: Int) -> Double? {
                row.policies.first { $0.name == policies[place].name }?.notifiedPerDay
            }
            guard let own = notified(0) else { continue }
            for place in policies.indices.dropFirst() {
                let difference = abs((notified(place) ?? own) - own)
                if difference > most?.difference ?? 0 { most = (row, place, difference) }
            }
        }
        guard let most else { return nil }
        let pair = [told(most.row, 0), told(most.row, most.place)]
        return ExampleSession(
            kind: "One in which two policies part",
            rule:
                "The trace in which the notifications a day of \(policies[0].name) and of another policy differ most (\(policies[most.place].name)); the day around the first notification that one gave and not the other.",
            told: pair,
            window: ExampleChoice.day(around: ExampleChoice.parting(pair[0], pair[1]), pair[0]))
    }
}
