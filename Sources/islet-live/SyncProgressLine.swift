// How far a sync is, on standard error.

import IsletFiles
import DeviceLinks
import IsletDevices
import Synchronization
import IsletTrials

/// One line, redrawn, on a terminal; a JSON line every few seconds elsewhere.
final class SyncProgressLine: Sendable {
    private let isQuiet: Bool
    private let isTerminal = StandardStream.error.isTerminal
    private let lastWritten = Mutex(ProgressLine.monotonicSeconds())

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func tell(_ progress: SyncProgress) {
        guard !isQuiet else { return }
        let now = ProgressLine.monotonicSeconds()
        let isDue = lastWritten.withLock { last in
            guard now - last >= (isTerminal ? 0.1 : ProgressLine.logIntervalSeconds) else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        if isTerminal {
            let text =
                "\(progress.sessionsDone)/\(progress.sessions) sessions  \(progress.steps) steps"
                + (progress.retries > 0 ? "  \(progress.retries) repeated" : "")
            try? StandardStream.error.write("\r" + text + "\u{1B}[K")
        } else {
            let line = JSONValue.object([
                .init("sessions_done", .integer(Int64(progress.sessionsDone))),
                .init("sessions", .integer(Int64(progress.sessions))),
                .init("steps_sent", .integer(Int64(progress.steps))),
                .init("requests_repeated", .integer(Int64(progress.retries))),
            ])
            StandardStream.error.writeLineIgnoringFailure(line.compactText)
        }
    }

    /// Leaves the line free for what comes next.
    func clear() {
        if isTerminal, !isQuiet { try? StandardStream.error.write("\r\u{1B}[K") }
    }
}
