// What recorded traces come to under some policies: the same summary, table and numbers as a study's.
//
// Guarantees: the unit is the person, which is a trace; a difference has an interval and a p from six people on. Whatever is judged against the truth
// is judged against the trace itself, smoothed, and each output says so.

package import IsletFiles
import IsletAlerts
import IsletDevices
import IsletKernel

package struct TraceResults: Sendable {
    package let replay: TraceReplay
    /// By person.
    package let traces: [ReplayedTrace]
    package let summary: StudySummary
    package let columns: SubjectColumns

    /// What stands for the hidden truth, in words.
    package static let truthNote =
        "Nobody knows the glucose behind a sensor. What is judged against the truth is judged against the trace itself, smoothed (a quarter of each neighbour and half of its own, every 5 min); in a gap of more than 20 min it is unknown, and nothing is judged there."

    /// - Parameter outcomes: what `columns` holds.
    package init(_ replay: TraceReplay, _ traces: [ReplayedTrace], outcomes: [String]) throws {
        (self.replay, self.traces) = (replay, traces)
        let store = MemoryStore(of: replay.study)
        store.write(traces.map(\.record))
        summary = try StudySummary(of: replay.study, store: store)
        columns = try SubjectColumns(outcomes, store: store)
    }

    // MARK: For people

    /// Everything that is printed.
    package func text(in unit: GlucoseUnit) -> String {
        var text =
            "recorded traces: \(traces.count) \(traces.count == 1 ? "person" : "people"), \(Self.decimal(summary.patientDays)) days listened to, \(replay.study.policies.count) polic\(replay.study.policies.count == 1 ? "y" : "ies")\n\n"
        for trace in traces { text += Self.described(trace) }
        text += "\n" + TextGrid.wrapped("", words: Self.truthNote)
        for (policy, codes) in replay.leftOut {
            text += TextGrid.wrapped(
                "\(printable(policy, limit: 40)): not judged, a trace says nothing of it: ",
                codes.map { printable($0.rawValue, limit: 60) })
        }
        return text + "\n" + summary.table(in: unit, isRecorded: true)
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
        let policy = replay.study.policies[place]
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
