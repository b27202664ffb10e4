// A session of somebody's own glucose, by the wall clock.
//
// Guarantees: that its time is the wall clock's from its study's start on is in the journal before anything is lived, so that whatever ends its beginning (a kill, a
// full disk), the session that goes on comes to now. What its file has of the past is lived then, before the clock takes over.

import IsletFiles
import IsletKernel
import IsletTrials

extension LiveSession {
    /// The wall clock at the session's start, ns since 1970.
    private var startUTC: Int64 { opening.study.start.unixSeconds * Nanoseconds.second }

    /// Its journal says first that session time is the wall clock's. Nothing where it says already how they belong together.
    package func keepToWallClock() {
        guard anchor == nil else { return }
        note(LiveAnchor(instant: now, pace: .real, utcNanoseconds: startUTC + now.nanoseconds))
    }

    /// Lives what a file that somebody writes has of the time up to now, at its own instants; of a session whose beginning was interrupted, the rest of it. One
    /// that has come to now once is left to its host, which leaps over what nobody lived.
    package func catchUp(on feed: Feed, utcNanoseconds: Int64) {
        guard isBeginning else { return }
        let goal = min(Instant(nanoseconds: max(0, utcNanoseconds - startUTC)), duration)
        liveUntold {
            for reading in feed.file.readings {
                let stamp = Instant(nanoseconds: feed.stamp(reading))
                if stamp <= goal { _ = take(feed.command(reading), at: max(stamp, now)) }
            }
            advance(to: goal)
        }
    }

    /// No host has had it yet: the newest anchor is that of `keepToWallClock`, exact to the nanosecond.
    private var isBeginning: Bool {
        anchor.map {
            $0.boot == nil && $0.pace == .real && $0.utcNanoseconds &- $0.instant.nanoseconds == startUTC
        } ?? true
    }
}
