// What a report of recorded traces says in place of a study's people, claims and assumptions.
//
// Guarantees: says first that no truth is known but the traces themselves, smoothed; nothing is claimed: comparisons are exploratory, and stand with an
// interval from six people on.

import IsletFiles
import IsletTrials

struct RecordedSections {
    private let input: ReportInput
    private let recorded: ReportInput.Recorded
    private var words: OutcomeWords { input.words }

    init(_ input: ReportInput) {
        self.input = input
        recorded = input.recorded ?? ReportInput.Recorded(truth: "", traces: [], notJudged: [])
    }

    private var people: HTML { "\(input.people) \(input.people == 1 ? "person" : "people")" }
    private var policies: HTML {
        "\(input.policyCount) alert polic\(input.policyCount == 1 ? "y" : "ies")"
    }

    var head: HTML {
        """
        <header>
        <p class="kind">Alert report · recorded glucose</p>
        <h1>What \(policies) would have told \(people)</h1>
        <p class="facts">\(input.study.name) · \(words.number(input.summary.patientDays, "patient_days", places: 1)) days listened to · \(policies) · glucose in \(input.unit.rawValue)</p>
        </header>

        """
    }

    // MARK: Answer

    var answer: HTML {
        let listeners = input.summary.arms.flatMap(\.policies)
        var text: HTML =
            "<p class=\"question\">What would \(policies) have told \(people), whose sensors' glucose was recorded?</p>\n"
        var lines: HTML = ""
        for (index, policy) in listeners.enumerated().prefix(8) { lines += line(policy, index) }
        if listeners.count > 8 { lines += "<p>\(listeners.count - 8) more stand in the table below.</p>\n" }
        text +=
            "<div class=\"verdict\"><p><b>Nothing is claimed:</b> nobody heard these alerts, so nobody can say what they would have changed. What follows describes.</p>\n\(lines)</div>\n"
        return text
            + "<p><b>\(recorded.truth)</b> Intervals are of 95 %, over people; a comparison of fewer than 6 has none.</p>\n"
    }

    private func line(_ policy: StudySummary.PolicySummary, _ index: Int) -> HTML {
        let shown: [(name: String, words: String, unit: String)] = [
            ("alerts_notifications_per_day", "rings a day", ""),
            ("alerts_notifications_night_per_day", "of them at night", ""),
            ("alerts_sensitivity_g15", "of the trace's episodes told of within 15 min", "\u{a0}%"),
            ("alerts_false_per_day", "false alerts a day", ""),
        ]
        let parts = shown.compactMap { one -> HTML? in
            guard let found = policy.outcomes[one.name] else { return nil }
            return
                "\(words.number(found.mean, "policies.\(index).outcomes.\(one.name).mean", Outcome.named(one.name), found.ci95))\(one.unit) \(one.words)"
        }
        return "<p><b>\(policy.policy)</b>: \(parts.isEmpty ? "nothing" : parts.joined("; ")).</p>\n"
    }

    // MARK: Traces

    var traces: HTML {
        let rows = recorded.traces.map { trace -> HTML in
            "<tr><th scope=\"row\" class=\"name\">\(trace.name)</th><td>\(trace.words.joined(separator: "; "))</td></tr>\n"
        }
        return TableSections.frame(
            "The traces",
            "<table><caption>Each file, and what was done with its rows</caption><thead><tr><th scope=\"col\">person</th><th scope=\"col\">trace</th></tr></thead><tbody>\n\(rows)</tbody></table>"
        )
    }

    // MARK: Assumptions

    var assumptions: HTML {
        var lines: [HTML] = [
            "\(recorded.truth)",
            "A trace holds what was filled in after a loss of signal: a policy hears it here as if it had come at once, unless the file says when it came.",
            "A gap of more than a day counts as no sensor: it is in no day, and nothing rings in it.",
            "The app is in the background, nobody hears, acknowledges or snoozes, and no loop runs.",
        ]
        for (policy, codes) in recorded.notJudged {
            lines.append(
                "<b>\(policy)</b>: left out, since a trace says nothing of it: \(codes.joined(separator: ", "))"
            )
        }
        return
            "<ul>\(lines.map { "<li>\($0)</li>" as HTML })</ul>\n<p class=\"facts\">digest of the readings <code>\(input.summary.digest)</code></p>\n"
    }
}
