// A thread that hands a feed's readings to a session when their time has come.
//
// Guarantees: each row once, in the file's order, also where the session is frozen when its time has come; what is refused or can't be read is told with its line, and the rest goes on.

import Glibc
import IsletLive
import IsletKernel
import Synchronization

final class Feeder: SessionFeeder {
    private let feed: Mutex<Feed>
    /// How far ahead of session time a stamp may be handed in, ns.
    private let slack: Int64

    init(feed: Feed, slack: Int64) {
        self.feed = Mutex(feed)
        self.slack = slack
    }

    func run(_ host: LiveHost, _ id: String, until isOver: () -> Bool, say: (String) -> Void) {
        var feed = feed.withLock { $0 }
        var pending = feed.file.readings
        var known = 0
        var lastProblem = ""
        var isTold = false
        while !isOver() {
            for reading in pending {
                guard wait(host, id, for: Instant(nanoseconds: feed.stamp(reading)), isOver) else { return }
                var answer = host.take(feed.command(reading), for: id)
                while answer.isFrozen {
                    guard !isOver() else { return }
                    usleep(200_000)
                    answer = host.take(feed.command(reading), for: id)
                }
                if answer.isRepeated { known += 1 }
                if !answer.isRepeated, let refusal = answer.outcome.refusal {
                    say("\(feed.file.path):\(reading.line): left out: \(refusal.reason)")
                }
            }
            if known > 0 { say("\(known) readings of the feed were known before") }
            known = 0
            if pending.isEmpty, !isTold {
                isTold = true
                say("the feed has no more readings up to now")
            }
            usleep(500_000)
            do {
                let news = try feed.file.poll()
                for problem in news.dropped { say("left out: \(problem)") }
                pending = news.readings
                if !pending.isEmpty { isTold = false }
                lastProblem = ""
            } catch {
                pending = []
                if "\(error)" != lastProblem { say("the feed can't be read: \(error)") }
                lastProblem = "\(error)"
            }
        }
    }

    /// Until session time has come to an instant. Says false where it is over before.
    private func wait(_ host: LiveHost, _ id: String, for stamp: Instant, _ isOver: () -> Bool) -> Bool {
        let goal = stamp.adding(-slack)
        while !isOver() {
            guard host.status(of: id)?.snapshot.phase == .running else { return false }
            if let left = host.nanoseconds(until: goal, of: id) {
                if left == 0 { return true }
                usleep(UInt32(min(left / 1000 + 1, 200_000)))
            } else {
                // Paused.
                usleep(200_000)
            }
        }
        return false
    }
}
