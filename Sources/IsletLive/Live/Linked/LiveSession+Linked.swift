// A live session with devices outside of it: commands on disk before a driver gets them, and leaps over what nobody lived through.
//
// Guarantees: a command is in the journal, synced, before it is handed over; a replay hands none over and compares each with its journal.

import DeviceLinks
import IsletDevices
import IsletKernel
import IsletTrials

extension LiveSession {
    /// A linked session that is later than this has slept.
    static let sleep = Nanoseconds.minute

    /// The world of linked devices went on while nobody lived, whoever was late and at whatever pace: what was due meanwhile happens once, at
    /// the goal.
    func leapOverSleep(to goal: Instant) {
        let isFirst = !hasBegun && now == .start
        hasBegun = true
        if isFirst { move(to: .start) }
        guard outcome == nil, next < goal, goal.nanoseconds - next.nanoseconds > Self.sleep else { return }
        // The end itself is lived.
        leap(to: min(goal, session.duration.adding(-1)))
    }

    /// Hands over what devices are told: on disk first. A replay keeps it back.
    func post() {
        guard let links = person?.links, outcome == nil else { return }
        let commands = session.executor.inspect { links.pump.here { $0.hasOutbox ? $0.takeOutbox() : [] } }
        for command in commands {
            guard let journal else {
                muted.append(command)
                continue
            }
            do {
                try journal.append(.command(now, command.json), sync: true)
            } catch {
                return fail("\(error)")
            }
            keepState()
            guard phase == .running else { return }
            if let onCommand { onCommand(command) } else { unsent.append(command) }
        }
    }

    /// What a kill kept out of the journal stands in it from now on, or the next replay would miss it. No driver has had it, and none gets it: its
    /// time has passed, and the pump is asked.
    func keepMuted() {
        for command in muted { keep(.command(now, command.json), isSynced: true) }
        muted = []
    }

    /// Commands on disk that no driver has had.
    func takeUnsent() -> [LinkCommand] {
        defer { unsent = [] }
        return unsent
    }
}
