// `islet-bench ward`: what live sessions cost: a thousand of them at real pace, and 30 days of one from its journal.
//
// Guarantees: measured are the process's own CPU time, its resident memory, and how late each session's steps were by the wall clock; the
// machine's load stands beside them. Says whether the bars hold: 5 % of a core, 300 MiB, 1 s; 0.5 s and 30 MB for 30 days.
// Does not: know what else runs on the machine.

import IsletFiles
import Foundation
import IsletLive
import IsletDevices
import IsletKernel
import Synchronization
import IsletTrials

struct WardBench {
    var sessions: Int
    var seconds: Int

    func run() throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(path: "islet-ward-\(getpid())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let isCheap = try live(in: folder)
        let isSmall = try month(in: folder)
        return isCheap && isSmall
    }

    private func study(_ duration: String) throws -> Study {
        try Study.parse(
            """
            study: ward
            seed: 7
            duration: \(duration)
            cohort: { generate: { model: uva-padova-2008, group: adult, count: 50 } }
            sensor: vettoretti-2019
            pump: omnipod
            scenario: { meals: moderate }
            arms:
              - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: bionicloop }
            """, file: "ward.yaml")
    }

    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func residentMiB() -> Double {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return Double(fields?.dropFirst().first ?? "0").map { $0 * 4096 / 1_048_576 } ?? 0
    }

    private func live(in folder: String) throws -> Bool {
        let host = LiveHost()
        let study = try study("2d")
        let openings = try (0..<50).map { try LiveOpening(study: study, session: $0, studyPath: "ward.yaml") }
        let worst = Mutex((late: 0.0, steps: 0, begun: [String: Double]()))
        func now() -> Double { Double(SystemClocks().continuousNanoseconds()) / 1e9 }
        for index in 0..<sessions {
            let (id, opening) = ("s\(index)", openings[index % 50])
            try host.add(id, pace: .real) { listener in
                let begun = now()
                worst.withLock { $0.begun[id] = begun }
                return try LiveSession(
                    opening, journal: try JournalFile.create("\(folder)/\(id)", opening: opening.json),
                    deadline: 5 * Nanoseconds.second,
                    listener: { event in
                        listener(event)
                        guard event.kind == "step" else { return }
                        let late = now() - begun - Double(event.instant.nanoseconds) / 1e9
                        worst.withLock {
                            $0.steps += 1
                            $0.late = max($0.late, late)
                        }
                    })
            }
        }
        let isOver = Atomic(false)
        let threads = (0..<2).map { _ in Thread { host.run(until: { isOver.load(ordering: .relaxed) }) } }
        threads.forEach { $0.start() }
        // What adding them cost is not the running.
        Thread.sleep(forTimeInterval: 5)
        let (cpu, begun) = (Self.cpuSeconds(), now())
        var memory = 0.0
        while now() - begun < Double(seconds) {
            Thread.sleep(forTimeInterval: 1)
            memory = max(memory, Self.residentMiB())
        }
        let share = (Self.cpuSeconds() - cpu) / (now() - begun) * 100
        isOver.store(true, ordering: .relaxed)
        host.wake()
        while !threads.allSatisfy(\.isFinished) { Thread.sleep(forTimeInterval: 0.01) }
        var load = [0.0, 0.0, 0.0]
        getloadavg(&load, 3)
        let (late, steps) = worst.withLock { ($0.late, $0.steps) }
        print(
            "\(sessions) sessions at pace 1 for \(seconds) s: \(Self.text(share)) % of a core, \(Self.text(memory)) MiB, "
                + "\(steps) steps, the latest \(Self.text(late)) s after its instant; load \(Self.text(load[1]))"
        )
        return share < 5 && memory < 300 && late < 1 && steps > 0
    }

    private func month(in folder: String) throws -> Bool {
        let path = folder + "/month"
        let opening = try LiveOpening(study: try study("30d"), session: 0, studyPath: "ward.yaml")
        let session = try LiveSession(opening, journal: try JournalFile.create(path, opening: opening.json))
        var minute: Int64 = 0
        // As at real pace: advanced at each event, told something now and then.
        while session.phase == .running {
            session.advance(to: max(session.next, .minutes(minute)))
            minute += 1
            if minute % 480 == 0 { _ = session.take(LiveCommand(.target(mgdl: 120)), at: session.now) }
        }
        let megabytes = Double(try JournalContent.read(path).goodBytes) / 1e6
        var best = Double.infinity
        for _ in 0..<3 {
            let begun = SystemClocks().continuousNanoseconds()
            let replay = try LiveReplay(try JournalContent.read(path))
            guard replay.divergence == nil, replay.session.outcome?.digest == session.outcome?.digest else {
                print("the replay of 30 days is another session")
                return false
            }
            best = min(best, Double(SystemClocks().continuousNanoseconds() - begun) / 1e9)
        }
        print("30 days of one session: \(Self.text(megabytes)) MB, replay \(Self.text(best)) s")
        return megabytes <= 30 && best <= 0.5
    }

    private static func text(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }
}
