// How far a run is, for a person or for a log.
//
// Guarantees: safe to update from any worker, cheap enough for every session; writes at most ten times a second on a
// terminal and once in `logIntervalSeconds` elsewhere; a failing write is ignored, progress is not a result.
// Does not: read a clock of its own. It is handed one, so that tests own time.

import Synchronization

/// A progress bar on a terminal, JSON lines elsewhere, nothing when silenced.
package final class ProgressLine: Sendable {
    package enum Style: Sendable {
        /// Redrawn in place; the width is asked for at each drawing.
        case bar(columns: @Sendable () -> Int, color: Bool)
        /// One JSON object a line.
        case lines
        case silent

        /// What standard error calls for.
        package static func standardError(quiet: Bool) -> Style {
            if quiet { return .silent }
            let stream = StandardStream.error
            guard stream.isTerminal else { return .lines }
            return .bar(columns: { stream.terminalColumns ?? 80 }, color: stream.allowsColor)
        }
    }

    /// Where a run stands.
    package struct Snapshot: Hashable, Sendable {
        /// Earlier runs' sessions included.
        package var sessionsDone: Int
        package var sessions: Int
        package var patientDaysPerSecond: Double
        /// nil before the first session is done.
        package var secondsLeft: Double?
    }

    package static let logIntervalSeconds = 5.0
    static let barIntervalSeconds = 0.1

    private struct State {
        var done: Int
        var patientDays = 0.0
        var lastWritten: Double
        var drew = false
    }

    private let sessions: Int
    private let before: Int
    private let style: Style
    private let started: Double
    private let now: @Sendable () -> Double
    private let write: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - sessions: how many there are in all.
    ///   - alreadyDone: how many of them an earlier run did; they count as done but not for the speed.
    ///   - now: seconds on a clock that only goes forward.
    package init(
        sessions: Int, alreadyDone: Int = 0, style: Style,
        now: @escaping @Sendable () -> Double = ProgressLine.monotonicSeconds,
        write: @escaping @Sendable (String) -> Void = { try? StandardStream.error.write($0) }
    ) {
        self.sessions = sessions
        before = alreadyDone
        self.style = style
        self.now = now
        self.write = write
        started = now()
        state = Mutex(State(done: alreadyDone, lastWritten: started))
    }

    /// Seconds since the first use, on the continuous clock.
    package static let monotonicSeconds: @Sendable () -> Double = {
        let origin = ContinuousClock.now
        return { Double((ContinuousClock.now - origin) / .milliseconds(1)) / 1000 }
    }()

    /// Counts sessions that have just been done, and the days that they simulated.
    package func add(sessions count: Int = 1, patientDays: Double) {
        if case .silent = style { return }
        let time = now()
        state.withLock { state in
            state.done += count
            state.patientDays += patientDays
            let interval =
                if case .bar = style { Self.barIntervalSeconds } else { Self.logIntervalSeconds }
            guard time - state.lastWritten >= interval else { return }
            state.lastWritten = time
            emit(&state, time)
        }
    }

    /// Writes the last state and leaves the line.
    package func finish() {
        if case .silent = style { return }
        state.withLock { state in
            emit(&state, now())
            if case .bar = style { write("\n") }
        }
    }

    /// Wipes the bar, so that something else can be said; the next update draws it again.
    package func clear() {
        guard case .bar(let columns, _) = style else { return }
        state.withLock { state in
            if state.drew { write("\r" + String(repeating: " ", count: max(0, columns() - 1)) + "\r") }
            state.drew = false
        }
    }

    private func emit(_ state: inout State, _ time: Double) {
        let snapshot = snapshot(state, time)
        switch style {
        case .bar(let columns, let color):
            write("\r" + snapshot.bar(columns: columns(), color: color))
            state.drew = true
        case .lines: write(snapshot.json.compactText + "\n")
        case .silent: break
        }
    }

    private func snapshot(_ state: State, _ time: Double) -> Snapshot {
        let elapsed = max(time - started, 1e-9)
        let doneHere = state.done - before
        let left = doneHere > 0 ? elapsed / Double(doneHere) * Double(max(0, sessions - state.done)) : nil
        return Snapshot(
            sessionsDone: state.done, sessions: sessions, patientDaysPerSecond: state.patientDays / elapsed,
            secondsLeft: left)
    }
}

extension ProgressLine.Snapshot {
    /// One line for a log.
    package var json: JSONValue {
        [
            "sessions_done": .integer(Int64(sessionsDone)),
            "sessions": .integer(Int64(sessions)),
            "patient_days_per_second": .number((patientDaysPerSecond * 10).rounded() / 10),
            "seconds_left": secondsLeft.map { .number(($0 * 10).rounded() / 10) } ?? .null,
        ]
    }

    /// One line for a terminal, padded to overwrite the one before; the last column stays free, so that nothing wraps.
    package func bar(columns: Int, color: Bool) -> String {
        let room = max(0, columns - 1)
        let share = sessions > 0 ? min(1, Double(sessionsDone) / Double(sessions)) : 1
        let percent = "\(Int(share * 100))%"
        let count = "\(sessionsDone)/\(sessions) sessions"
        let speed = "\(Int(min(patientDaysPerSecond.rounded(), 1e15))) patient-days/s"
        let left = secondsLeft.map { spokenSeconds($0) + " left" } ?? "-"
        // From the most telling to the shortest that fits.
        let texts = [
            [percent, count, speed, left].joined(separator: "  "),
            [percent, count, left].joined(separator: "  "),
            [percent, left].joined(separator: "  "), percent,
        ]
        let text = texts.first { $0.count <= room } ?? ""
        let width = min(40, room - text.count - 3)
        guard width >= 8 else { return text + String(repeating: " ", count: max(0, room - text.count)) }
        let filled = Int(share * Double(width))
        let full = String(repeating: "#", count: filled)
        let rest = String(repeating: "-", count: width - filled)
        let padding = String(repeating: " ", count: room - text.count - width - 3)
        return "[" + (color ? "\u{1B}[32m\(full)\u{1B}[0m" : full) + rest + "] " + text + padding
    }
}

/// `9 s`, `2 min 03 s`, `1 h 02 min`, `3 d 4 h`.
func spokenSeconds(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e12 else { return "long" }
    let whole = Int(seconds.rounded(.up))
    func two(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \(two(whole % 60)) s" }
    if whole < 86_400 { return "\(whole / 3600) h \(two(whole % 3600 / 60)) min" }
    return "\(whole / 86_400) d \(whole % 86_400 / 3600) h"
}
