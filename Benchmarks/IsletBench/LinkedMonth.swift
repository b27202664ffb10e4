// `islet-bench linked [DAYS]`: how long a session of linked devices takes to be lived again from its journal.
//
// Guarantees: the journal is written by a session whose commands a simulated pump answers a second later; what is measured is reading it, and living it
// again to the same digest. The bar is 0.5 s for 30 days.
// Does not: write to a disk that answers fast, or slowly: what is measured reads a file that the system still has.

import DeviceLinks
import Foundation
import IsletDevices
import IsletKernel
import IsletLive
import IsletTrials

struct LinkedMonth {
    var days: Int

    func run() throws -> Bool {
        let path = FileManager.default.temporaryDirectory.appending(path: "islet-linked-\(getpid())").path()
        defer {
            for left in [path, path + ".kept.json"] { try? FileManager.default.removeItem(atPath: left) }
        }
        let digest = try live(path)
        var (bestRead, best, lines) = (Double.infinity, Double.infinity, 0)
        for _ in 0..<3 {
            let began = Stopwatch.threadSeconds()
            let content = try JournalContent.read(path)
            let read = Stopwatch.threadSeconds() - began
            let replay = try LiveReplay(content)
            guard replay.divergence == nil, replay.session.digest == digest else {
                print("the replay is another session")
                return false
            }
            bestRead = min(bestRead, read)
            best = min(best, Stopwatch.threadSeconds() - began)
            lines = content.lines.count
        }
        func text(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000)" }
        print(
            "\(days) days of linked devices: \(lines) lines, read in \(text(bestRead)) s, lived again in \(text(best)) s"
        )
        return best <= 0.5
    }

    /// - Returns: the digest that it came to.
    private func live(_ path: String) throws -> Digest128 {
        let study = try Study.parse(
            """
            study: linked
            seed: 7
            duration: \(days)d
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
            pump: omnipod
            arms:
              - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }
            """, file: "linked.yaml")
        var opening = try LiveOpening(study: study, session: 0, studyPath: "linked.yaml")
        opening.isLinked = true
        let session = try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
        let start: Int64 = 1_700_000_000 * Nanoseconds.second
        let pump = try PumpSimulator(startUTC: start, basal: InsulinRate(unitsPerHour: 1))
        var waiting: [LinkCommand] = []
        session.onCommand = { waiting.append($0) }
        let end = Instant.minutes(Int64(days) * 1440 - 5)
        var reading = Instant.start
        while session.now < end, session.phase == .running {
            let now = session.now
            if waiting.isEmpty {
                if reading <= now {
                    let mgdl = (150 + 40 * sin(Double(reading.minutes) / 90)).rounded()
                    _ = session.take(
                        LiveCommand(.device(.reading(mgdl: mgdl, at: reading.nanoseconds, isReliable: true))),
                        at: now)
                    reading = reading.adding(5 * Nanoseconds.minute)
                }
                session.advance(to: min(end, reading, max(session.next, now.adding(1))))
            } else {
                let report = try pump.perform(waiting.removeFirst(), at: now)
                _ = session.take(
                    LiveCommand(.device(.report(report, at: report.utcNanoseconds - start))),
                    at: now.adding(Nanoseconds.second))
            }
        }
        return session.digest
    }
}
