// `islet replay JOURNAL --until T --fork policy=FILE|algorithm=NAME`: a live session as it was and as it would have been.
//
// Guarantees: what is said of the two is of the same span; inputs that the fork did not take are listed before anything is compared.

import IsletAlerts
import IsletLoop
import IsletCommands
import IsletFiles
import IsletDevices
import IsletLive
import IsletModels
import IsletKernel
import IsletTrials

struct ForkReport {
    var path: String
    /// What a cohort table's path is relative to; nil for the journal.
    var study: String?
    var until: String
    var words: ForkWords

    func tell() throws {
        let at = Instant(nanoseconds: TimeSpan(until)?.nanoseconds ?? 0)
        let content = try JournalContent.read(path)
        let kind = try LiveOpening(content, studyPath: study).study.subject.kind
        let policy = try words.policy.map {
            try AlertPolicy.inStudies($0, option: "--fork policy", of: kind)
        }
        let change = LiveFork.Change(policy: policy, algorithm: words.algorithm)
        let fork: LiveFork
        do {
            fork = try LiveFork(content, studyPath: study, at: at, change: change)
        } catch let found as LiveSession.Divergence {
            throw CheckFailure(
                message:
                    "\(path):\(found.line): the journal has \(found.journal), it comes to \(found.here) here")
        }
        let opening = fork.opening
        var lines = [
            "session \(opening.session): \(opening.subject.name) in \(opening.arm.name), \(opening.study.name), "
                + "seed \(opening.study.seed)"
        ]
        if let policy {
            lines.append(
                "from \(time(fork, at)) on alerts by \(words.policy ?? policy.name) in place of \(opening.arm.alerts.name)"
            )
        }
        if let algorithm = words.algorithm {
            lines.append(
                "from \(time(fork, at)) on dosing by \(algorithm.kind.id) in place of \(opening.arm.algorithm.kind.id)"
            )
        }
        lines.append("both up to \(time(fork, fork.end)), where the journal stands")
        for (name, side) in [("the original", fork.original), ("the fork", fork.fork)] {
            if case .endedEarly(let reason) = side.outcome.end {
                lines.append("\(name) ended early, at \(time(fork, side.endedAt)): \(reason)")
            }
        }
        lines.append(
            "inputs after the fork: \(fork.inputCount), of which the fork left out \(fork.leftOut.count)")
        lines += fork.leftOut.map {
            "  \(time(fork, $0.instant))  left out: \($0.reason); input \($0.number) \($0.text)"
        }
        for line in lines { try StandardStream.output.writeLine(printable(line, limit: 4096)) }
        for table in [course(fork), alerts(fork), outcomes(fork)] {
            try StandardStream.output.writeLine("")
            try StandardStream.output.write(TextTable.aligned(table))
        }
        try StandardStream.output.writeLine("")
        try StandardStream.output.writeLine(
            fork.original.digest == fork.fork.digest
                ? "digest \(fork.original.digest): the same, to the bit"
                : "digest \(fork.original.digest), of the fork \(fork.fork.digest)")
    }

    private func time(_ fork: LiveFork, _ instant: Instant) -> String {
        SessionStory.time(instant, fork.opening.study.start.calendar)
    }

    private func number(_ value: Double?, places: Int) -> String {
        value.map { ChartNumber.text($0, places: places) } ?? "-"
    }

    /// Glucose at each mark, insulin and alerts since the one before.
    private func course(_ fork: LiveFork) -> [[String]] {
        guard fork.opening.subject.person != nil else { return alertCourse(fork) }
        var rows = [
            ["", "glucose, mg/dL", "fork", "bolus, U", "fork", "basal, U", "fork", "alerts raised", "fork"]
        ]
        for index in fork.marks.indices {
            let mark = fork.marks[index]
            var cells = [time(fork, mark)]
            let sides = [fork.original, fork.fork]
            // A fed session's own body is nobody's.
            cells += sides.map { number(fork.opening.isFed ? nil : $0.plasma(at: mark), places: 0) }
            guard index > 0 else {
                rows.append(cells + Array(repeating: "", count: 6))
                continue
            }
            let since = fork.marks[index - 1]
            cells += sides.map { number($0.insulin[index].bolus - $0.insulin[index - 1].bolus, places: 2) }
            cells += sides.map { number($0.insulin[index].basal - $0.insulin[index - 1].basal, places: 2) }
            cells += sides.map { raised($0, since, mark) }
            rows.append(cells)
        }
        return rows
    }

    /// Alerts since the mark before: all that a subject without glucose and insulin has in common with every other.
    private func alertCourse(_ fork: LiveFork) -> [[String]] {
        [["", "alerts raised", "fork"]]
            + fork.marks.indices.map { index in
                guard index > 0 else { return [time(fork, fork.marks[index]), "", ""] }
                let (since, mark) = (fork.marks[index - 1], fork.marks[index])
                return [time(fork, mark)] + [fork.original, fork.fork].map { raised($0, since, mark) }
            }
    }

    private func raised(_ side: LiveFork.Side, _ since: Instant, _ mark: Instant) -> String {
        "\(side.alerts.count { $0.effect == "raise" && $0.instant > since && $0.instant <= mark })"
    }

    private func alerts(_ fork: LiveFork) -> [[String]] {
        let (first, second) = (LiveFork.counts(fork.original.alerts), LiveFork.counts(fork.fork.alerts))
        var rows = [["alerts after the fork", "raised", "fork", "rang", "fork"]]
        for code in Array(first.keys + second.keys.filter { first[$0] == nil }).sorted() {
            let (a, b) = (first[code] ?? (0, 0), second[code] ?? (0, 0))
            rows.append([code.rawValue, "\(a.raised)", "\(b.raised)", "\(a.rang)", "\(b.rang)"])
        }
        return rows
    }

    /// Outcomes over the whole of both lives, what they have in common included.
    private func outcomes(_ fork: LiveFork) -> [[String]] {
        var rows = [["from the start on", "", "original", "fork"]]
        for outcome in fork.opening.study.outcomes where !fork.opening.isFed || outcome.kind == .sensor {
            let (a, b) = (
                fork.original.outcome.outcomes[outcome.name], fork.fork.outcome.outcomes[outcome.name]
            )
            guard a != nil || b != nil else { continue }
            func text(_ value: Double?) -> String { value.map { JSONValue.number($0).compactText } ?? "-" }
            rows.append([outcome.name, outcome.unit, text(a), text(b)])
        }
        return rows
    }
}
