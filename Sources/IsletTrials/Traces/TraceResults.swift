// What recorded traces come to under some policies: the same summary, table and numbers as a study's.
//
// Guarantees: the unit is the person, which is a trace, or a block of days in a row where a sweep is asked of fewer than six people; a difference has an
// interval and a p from six of them on. Whatever is judged against the truth
// is judged against the trace itself, smoothed, and each output says so.

package import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel
import IsletNumerics

package struct TraceResults: Sendable {
    package let replay: TraceReplay
    /// By person; by block of days where one person's days are what is compared.
    package let traces: [ReplayedTrace]
    /// Whose traces were cut into blocks; empty where the unit is the person.
    package let whole: [RecordedTrace]
    package let summary: StudySummary
    package let columns: SubjectColumns

    /// What stands for the hidden truth, in words.
    package static let truthNote =
        "Nobody knows the glucose behind a sensor. What is judged against the truth is judged against the trace itself, smoothed (a quarter of each neighbour and half of its own, every 5 min); in a gap of more than 20 min it is unknown, and nothing is judged there."

    /// - Parameter outcomes: what `columns` holds.
    /// - Parameter whole: the traces of which `traces` are blocks; none where they are people.
    package init(
        _ replay: TraceReplay, _ traces: [ReplayedTrace], outcomes: [String], whole: [RecordedTrace] = []
    ) throws {
        (self.replay, self.traces, self.whole) = (replay, traces, whole)
        let store = MemoryStore(of: replay.study)
        store.write(traces.map(\.record))
        summary = try StudySummary(of: replay.study, store: store)
        columns = try SubjectColumns(outcomes, store: store)
    }

    /// Whether traces are cut into blocks: one person's days say what other days would give, and only where there are people enough is the unit the person.
    package static func usesBlocks(people: Int, isSweep: Bool) -> Bool {
        isSweep && people < Statistics.fewestPairs
    }

    // MARK: For people

    /// Everything that is printed.
    package func text(in unit: GlucoseUnit) -> String {
        let people = whole.isEmpty ? traces.count : whole.count
        var text =
            "recorded traces: \(people) \(people == 1 ? "person" : "people"), \(Self.decimal(summary.patientDays)) days listened to, \(replay.study.shadowPolicies.count) polic\(replay.study.shadowPolicies.count == 1 ? "y" : "ies")\n\n"
        if whole.isEmpty {
            for trace in traces { text += Self.described(trace) }
        } else {
            for trace in whole {
                text += TextGrid.wrapped(
                    "\(printable(trace.name, limit: 40)): ",
                    [
                        "\(trace.format.rawValue), \(trace.unit.rawValue)",
                        "\(trace.readings.count) readings",
                        "\(Self.decimal(Double(trace.span.upperBound - trace.span.lowerBound) / 86_400_000)) days",
                    ] + trace.counts.words)
            }
            text += TextGrid.wrapped("", words: blockNote)
        }
        text += "\n" + TextGrid.wrapped("", words: Self.truthNote)
        for (policy, codes) in replay.leftOut {
            text += TextGrid.wrapped(
                "\(printable(policy, limit: 40)): not judged, a trace says nothing of it: ",
                codes.map { printable($0.rawValue, limit: 60) })
        }
        return text + "\n" + summary.table(in: unit, isRecorded: true)
    }

    /// What intervals are over, where they are over blocks.
    package var blockNote: String {
        let days = summary.patientDays / Double(max(1, traces.count))
        return
            "Intervals are over \(traces.count) blocks of \(Self.decimal(days)) days in a row of \(whole.count == 1 ? "one person" : "\(whole.count) people"), to each of which an app newly set up listens: "
            + "they say what other weeks of the same \(whole.count == 1 ? "person" : "people") would give, and nothing of other people."
    }

    private static func described(_ replayed: ReplayedTrace) -> String {
        TextGrid.wrapped("\(printable(replayed.trace.name, limit: 40)): ", words(of: replayed))
    }

    /// What a trace is, and what was done with its rows.
    package static func words(of replayed: ReplayedTrace) -> [String] {
        let trace = replayed.trace
        var words = [
            "\(trace.format.rawValue), \(trace.unit.rawValue)", "\(trace.readings.count) readings",
            "\(decimal(replayed.days)) days from \(replayed.calendar.iso8601(at: .start)) in \(printable(trace.zone.name, limit: 40))",
            "\(replayed.gaps) gap\(replayed.gaps == 1 ? "" : "s") of more than 20 min",
        ]
        if replayed.stretches > 1 {
            words.append("\(replayed.stretches) stretches, the time between left out")
        }
        return words + trace.counts.words
    }

    static func decimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    // MARK: Files

    /// `summary.json`: a study's, and what was recorded.
    package var json: JSONValue {
        var members: [JSONValue.Member] = []
        if case .object(let study) = summary.json(study: replay.study, speed: nil) { members = study }
        members.append(
            .init(
                "recorded",
                [
                    "truth": .string(Self.truthNote),
                    "blocks": whole.isEmpty ? .null : .string(blockNote),
                    "traces": .array(traces.map(Self.json)),
                    "not_judged": .object(
                        replay.leftOut.map { one in
                            .init(one.policy, .array(one.codes.map { .string($0.rawValue) }))
                        }),
                ]))
        return .object(members)
    }

    private static func json(_ replayed: ReplayedTrace) -> JSONValue {
        let trace = replayed.trace
        return [
            "subject": .string(trace.name), "file": .string(trace.file),
            "format": .string(trace.format.rawValue), "unit": .string(trace.unit.rawValue),
            "zone": .string(trace.zone.name),
            "from": .string(replayed.calendar.iso8601(at: .start)),
            "to": .string(replayed.calendar.iso8601(at: replayed.reached)),
            "days": .number(replayed.days), "readings": .integer(Int64(trace.readings.count)),
            "gaps": .integer(Int64(replayed.gaps)),
            "stretches": .integer(Int64(replayed.stretches)),
            "rows": .integer(Int64(trace.counts.rows)),
            "skipped": .integer(Int64(trace.counts.skipped)),
            "notes": .array(trace.counts.words.map { .string($0) }),
        ]
    }

    /// `alerts.csv`: one row a person, policy and code.
    package var alertsCSV: String {
        var text =
            "subject_index,subject,policy,code,raised,notified,notified_night,minutes_active,minutes_annunciating,raised_night\n"
        for (index, trace) in traces.enumerated() {
            for tally in trace.tallies.flatMap(\.self) {
                text +=
                    "\(index),\(csvField(trace.trace.name)),\(csvField(tally.policy)),\(csvField(tally.code.rawValue)),\(tally.raised),\(tally.notified),\(tally.notifiedNight),\(tally.minutesActive),\(tally.minutesAnnunciating),\(tally.raisedNight)\n"
            }
        }
        return text
    }

    /// The header of `effects.csv`.
    package static let effectsHeader = "subject_index,subject,policy,time,effect,code,severity,reason\n"

    /// Its rows of one person and policy: each decision, in local time.
    package func effectsCSV(_ index: Int, policy place: Int) -> String {
        let trace = traces[index]
        let policy = replay.study.shadowPolicies[place]
        let origin = "\(index),\(csvField(trace.trace.name)),\(csvField(policy.name)),"
        var text = ""
        for row in trace.rows(of: policy, at: place) {
            text +=
                origin
                + "\(trace.calendar.iso8601(at: row.instant)),\(row.effect),\(csvField(row.code.rawValue)),\(row.severity),\(row.reason)\n"
        }
        return text
    }
}
