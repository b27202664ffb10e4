// The summary as tables for people: units in every row, as wide as the terminal, 40 to 200 columns.
//
// Guarantees: up to four arms stand side by side where they fit, else below each other; of more arms each is a row; no line is longer than the width.
// A sweep is one table, a row an arm. Comparisons that are equal in every pair are named and left out; where interval and p seem to disagree a note says what
// each tests; what is no number is named. An arm that is a yardstick, and told of as such, has no column: summary.json has it.

package import IsletFiles
import IsletNumerics
import IsletDevices

extension StudySummary {
    /// Every arm's outcomes, mean and 95 % interval, its alerts, then the paired differences.
    /// - Parameter unit: that glucose is shown in.
    /// - Parameter isRecorded: of recorded traces: only what they hold has a row.
    /// - Parameter width: columns of a line, 40 to 200.
    package func table(in unit: GlucoseUnit = .mgdl, isRecorded: Bool = false, width: Int = 100) -> String {
        TextGrid.within(width) { tables(unit, isRecorded: isRecorded) }
    }

    private func tables(_ unit: GlucoseUnit, isRecorded: Bool) -> String {
        var parts: [String] = []
        if let sweep {
            parts = [sweep.text(unit)] + (sweepClaims(unit).map { [$0] } ?? [])
        } else if shownArms.count > Self.mostBeside {
            return manyArms(unit)
        } else {
            parts = [outcomeTable(unit, isRecorded: isRecorded)]
            if let alerts = alertTable() { parts.append(alerts) }
            if let claims = claimsText(unit) { parts.append(claims) }
            parts += shadowTables(isRecorded: isRecorded)
            parts += differenceTables(unit)
        }
        return (parts + remarks(unit)).joined(separator: "\n")
    }

    /// The most arms that stand beside each other; of more, each is a row.
    static let mostBeside = 4

    // MARK: Arms

    /// Without the yardstick: its only use is told with the claims.
    var shownArms: [Arm] {
        let yardstick = claims?.loss?.deafArm
        return arms.filter { $0.name != yardstick || $0.name == comparisons.first?.reference }
    }

    private var armHeads: [String] {
        shownArms.map { arm in
            let early = arm.endedEarly > 0 ? ", \(arm.endedEarly) ended early" : ""
            return "\(Self.short(arm.name)) (n = \(arm.sessions)\(early))"
        }
    }

    private func outcomeTable(_ unit: GlucoseUnit, isRecorded: Bool) -> String {
        let rows = outcomes.filter { outcome in
            outcome.display == .always
                && (!isRecorded || arms.contains { $0.outcomes[outcome.name] != nil })
        }
        return byArm(
            "outcome",
            rows.map { outcome in
                (
                    unit.text(ofName: outcome.name), unit.text(ofUnit: outcome.unitText),
                    shownArms.map { arm in
                        arm.outcomes[outcome.name].map {
                            Self.text(
                                $0.mean, $0.ci95, factor: unit.factor(of: outcome.unit),
                                places: unit.converts(outcome.unit) ? 1 : 2)
                        } ?? "-"
                    }
                )
            })
    }

    /// The codes that were raised or notified of at all; nil where there are none. A policy that lacks a code has a dash.
    private func alertTable() -> String? {
        var codes: [AlertName] = []
        for alert in shownArms.flatMap(\.alerts)
        where !alert.isInShadow && alert.raised + alert.notified > 0 && !codes.contains(alert.code) {
            codes.append(alert.code)
        }
        guard !codes.isEmpty else { return nil }
        return "alerts a person and day: raised / notified / of these at night\n"
            + byArm(
                "alert",
                codes.sorted().map { code in
                    (
                        printable(code.rawValue, limit: 60), "1/day",
                        shownArms.map { arm in
                            arm.alerts.filter { !$0.isInShadow && $0.code == code }.map { alert in
                                [alert.raisedPerDay, alert.notifiedPerDay, alert.notifiedNightPerDay]
                                    .map { $0.map { Self.rounded($0.mean, 2) } ?? "-" }.joined(
                                        separator: " / ")
                            }.first ?? "-"
                        }
                    )
                })
    }

    /// Arms side by side where they fit, else below each other.
    private func byArm(
        _ head: String, _ rows: [(name: String, unit: String, cells: [String])]
    ) -> String {
        let side = [[head, "unit"] + armHeads] + rows.map { [$0.name, $0.unit] + $0.cells }
        let text = TextGrid.aligned(side)
        if TextGrid.fits(text) { return text }
        var lines = [[head, ""]]
        for row in rows {
            lines.append(["\(row.name), \(row.unit)", ""])
            for (arm, cell) in zip(armHeads, row.cells) { lines.append(["  \(arm)", cell]) }
        }
        return TextGrid.aligned(lines, left: 1)
    }

    // MARK: Differences

    private func differenceTables(_ unit: GlucoseUnit) -> [String] {
        let present = Set(arms.flatMap { $0.outcomes.filter { $0.value.mean != 0 }.map(\.key) })
        let wanted = comparisons.filter { comparison in
            guard let outcome = Outcome.named(comparison.metric) else { return false }
            return comparison.family == .primary || outcome.display == .always
                || outcome.display == .differing && present.contains(outcome.name)
        }
        var parts: [String] = []
        var disagreements: Set<Disagreement> = []
        for arm in shownArms.map(\.name) {
            let all = wanted.filter { $0.arm == arm }
            let differing = all.filter { !$0.isEqualInEveryPair }
            guard let reference = all.first?.reference else { continue }
            let pair = "\(Self.short(arm)) - \(Self.short(reference))"
            var text = "paired difference, \(pair)\n"
            for (isExploratory, head) in [(false, "p (Holm)"), (true, "p, as it is")] {
                let part = differing.filter { ($0.family == .exploratory) == isExploratory }
                guard !part.isEmpty else { continue }
                if isExploratory { text += "exploratory, not adjusted\n" }
                var lines = [["outcome", "unit", "mean [95 % CI]", "MCSE", head, "n", ""]]
                for comparison in part {
                    let disagreement = comparison.disagreement
                    if let disagreement { disagreements.insert(disagreement) }
                    let itsUnit = Outcome.named(comparison.metric)?.unitText ?? "-"
                    // Two decimals in any unit: a difference that is shown must not be printed as none.
                    let factor = unit.factor(of: itsUnit)
                    lines.append([
                        unit.text(ofName: comparison.metric), unit.text(ofUnit: itsUnit),
                        Self.text(comparison.difference, comparison.ci95, factor: factor),
                        comparison.standardError.map { Self.rounded($0 * factor, 2) } ?? "-",
                        (isExploratory ? comparison.p : comparison.pAdjusted).map {
                            $0 < 0.001 ? "< 0.001" : Self.rounded($0, 3)
                        } ?? "-",
                        "\(comparison.n)", disagreement?.mark ?? "",
                    ])
                }
                text += TextGrid.aligned(lines)
            }
            let equal = all.filter(\.isEqualInEveryPair).map { unit.text(ofName: $0.metric) }
            if !equal.isEmpty {
                text += TextGrid.wrapped("equal in every pair, left out: ", equal)
            }
            parts.append(text)
        }
        let notes =
            Disagreement.allCases.filter { disagreements.contains($0) }.map(\.note)
            + (wanted.contains { $0.method == nil && !$0.isEqualInEveryPair }
                ? ["Below 6 pairs there is no claim: no interval, no p.\n"] : [])
            + (wanted.contains { $0.method == .studentHall }
                ? [
                    """
                    Intervals of fewer than 40 pairs are Student's t on the paired differences, widened for skewness
                    (Hall); from 40 on they are BCa bootstraps, no narrower than Student's t.

                    """
                ] : [])
        if !notes.isEmpty { parts.append(notes.joined()) }
        return parts
    }

    /// How interval and p seem to contradict each other.
    enum Disagreement: CaseIterable {
        /// The rank test itself comes to another verdict than the interval.
        case test
        /// Only the adjustment for the number of comparisons makes the difference.
        case adjustment

        var mark: String { self == .test ? "*" : "+" }

        var note: String {
            switch self {
            case .test:
                """
                * Interval and p disagree because they test different things: the interval is of the mean
                  difference, which a few people can move; p (Wilcoxon's signed ranks) asks whether as much
                  of the ranking lies above zero as below, whatever the distance.

                """
            case .adjustment:
                """
                + The interval stands for one comparison alone and leaves out zero; p is adjusted (Holm) for all
                  comparisons of its family and does not reach 0.05.

                """
            }
        }
    }

    // MARK: What is missing

    /// Below all tables: what is in none of them, and what their means rest on.
    func remarks(_ unit: GlucoseUnit) -> [String] {
        [
            notFinite.isEmpty ? nil : notFiniteText(unit), failedStepsText(),
            failures.isEmpty ? nil : failureText(), unit.note.map { TextGrid.wrapped("", words: $0) },
        ].compactMap(\.self)
    }

    private func notFiniteText(_ unit: GlucoseUnit) -> String {
        var text = "\(notFinite.count) value\(notFinite.count == 1 ? "" : "s") not finite, left out:\n"
        for value in notFinite.prefix(10) {
            let whose =
                value.subject.map { "\(printable($0, limit: 30)) in " } ?? "the mean over subjects in "
            text += "  \(unit.text(ofName: value.outcome)) of \(whose)\(Self.short(value.arm))\n"
        }
        if notFinite.count > 10 { text += "  ... all of them stand in summary.json\n" }
        return text
    }

    /// A mean that rests on steps without an answer says so; nil where there are none.
    private func failedStepsText() -> String? {
        let failing = armsWithFailedSteps
        guard !failing.isEmpty else { return nil }
        let shown = failing.prefix(10).map { arm, percent, places in
            "\(Self.rounded(percent, places)) % of steps of \(Self.short(arms[arm].name))"
        }
        let more = failing.count > 10 ? ", ... all of them stand in summary.json" : ""
        return TextGrid.wrapped(
            "the algorithm failed, and gave nothing, in ", words: shown.joined(separator: ", ") + more)
    }

    private func failureText() -> String {
        var text = "\(failures.count) of \(sessions) sessions ended early:\n"
        for failure in failures.prefix(10) {
            text += TextGrid.wrapped(
                "  \(printable(failure.subject, limit: 30)) in \(Self.short(failure.arm)): ",
                words: printable(failure.reason, limit: 300))
        }
        if failures.count > 10 { text += "  ... all of them stand in summary.json\n" }
        return text + "  In comparisons each has the worst value that anybody has.\n"
    }

    // MARK: Words and numbers

    /// A name with its beginning and its end: arms often differ in either.
    static func short(_ name: String) -> String {
        let name = printable(name, limit: 1000)
        return name.count <= 36 ? name : "\(name.prefix(20))…\(name.suffix(15))"
    }

    static func text(
        _ value: Double, _ interval: ConfidenceBounds?, factor: Double = 1, places: Int = 2
    ) -> String {
        func number(_ value: Double) -> String { rounded(value * factor, places) }
        guard let interval else { return number(value) }
        return "\(number(value)) [\(number(interval.lower)), \(number(interval.upper))]"
    }

    /// Decimal notation with this many places.
    static func rounded(_ value: Double, _ places: Int) -> String {
        guard abs(value) < 1e12 else { return "\(value)" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let units = Int64((abs(value) * scale).rounded())
        let sign = value < 0 && units != 0 ? "-" : ""
        let whole = "\(units / Int64(scale))"
        guard places > 0 else { return sign + whole }
        let part = "\(units % Int64(scale))"
        return sign + whole + "." + String(repeating: "0", count: places - part.count) + part
    }
}

extension StudySummary.Comparison {
    /// nil where interval and p say the same, or either is absent.
    var disagreement: StudySummary.Disagreement? {
        guard let ci95, let p else { return nil }
        let excludesZero = ci95.lower > 0 || ci95.upper < 0
        if excludesZero != (p < 0.05) || excludesZero && side == 0 { return .test }
        guard let pAdjusted else { return nil }
        return excludesZero && pAdjusted >= 0.05 ? .adjustment : nil
    }
}
