// An event as the one line that a terminal prints and the API carries beside the values.
//
// Guarantees: what was refused, may have been done, failed or lapsed says so before it says what was asked for: a line that is cut at its end never reads
// as done.

import IsletAlerts
import IsletDevices
import IsletFiles
package import IsletKernel
import IsletTrials

package struct EventText: Sendable {
    private let story: StoryText

    /// Glucose in mg/dL, as in files.
    package init(_ calendar: SessionCalendar) { story = StoryText(calendar) }

    package func text(_ event: LiveEvent) -> String {
        switch event.what {
        case .input(let number, let said, let outcome):
            guard let refusal = outcome.refusal else { return "input \(number)    \(said)" }
            let isUnsure = event.outcome == .unknown
            return "input \(number)    \(isUnsure ? "NOT SURE" : "REFUSED"): \(refusal.reason); \(said)"
        case .refusal(let refusal): return "refused    \(refusal.reason)"
        case .pace(let pace): return pace == .paused ? "pace       paused" : "pace       \(pace)"
        case .leap: return "leap       nobody lived up to here"
        case .late:
            return
                "algorithm  gave no answer in time: the step fails, and the pump goes on with its programmed basal"
        case .driver(let name):
            return "driver     " + (name.map { "\($0) drives, step by step" } ?? "nobody drives")
        case .exchange(let policy, let algorithm):
            return "exchange   " + LiveFork.Change.words(policy: policy, algorithm: algorithm)
        case .upgrade(let from, let to):
            return
                "upgrade    engine \(to) goes on with what engine \(from) lived: its accounts, alerts and settings with it"
        case .end(let early): return early.map { "ended      early: \($0.reason)" } ?? "ended"
        case .row(let row, let fate): return story.text(row, fate: fate)
        case .values(let values):
            return "reading    "
                + values.map { "\($0.metric.name) \(Self.hundredths($0.value)) \($0.metric.unit)" }
                .joined(separator: ", ")
        case .visit(let visit): return "visit      \(visit.words)"
        case .notice(let text, _): return "pump       \(text)"
        }
    }

    /// What whoever typed an input reads.
    package static func text(_ answer: LiveAnswer) -> String {
        let already = answer.isRepeated ? "already " : ""
        if answer.number == nil, answer.isRepeated, answer.outcome == .taken { return "already taken" }
        let number = answer.number ?? 0
        guard let refusal = answer.outcome.refusal else {
            return already
                + (answer.note.isEmpty
                    ? "taken as input \(number)" : "noted as input \(number), \(answer.note)")
        }
        let isUnsure = LiveEvent.outcome(of: refusal) == .unknown
        return already + (isUnsure ? "not sure whether it was done" : "refused") + ": \(refusal.reason)"
    }

    private static func hundredths(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}

extension KeeperVisit {
    /// Why somebody came, and what they mended.
    package var words: String {
        let why =
            switch reason {
            case .called: "because something rang"
            case .round: "on the daily round"
            case .asked: "as asked"
            }
        let found = mended.map(\.kind).joined(separator: ", ")
        return "\(why): \(found.isEmpty ? "nothing was broken" : "mended \(found)")"
    }
}
