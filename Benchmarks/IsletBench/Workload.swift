// The sessions of Cohorts/speed.yaml, as work to be timed.

import IsletFiles
import Foundation
import IsletModels
import IsletDevices
import Synchronization
import IsletTrials

struct Workload: Sendable {
    let study: Study
    let subjects: [VirtualSubject]
    let days: Double

    /// - Parameter overrides: as `islet run --set`.
    init(overrides: [String] = []) throws {
        let path = "Cohorts/speed.yaml"
        study = try Study.read(path: path, overrides: overrides.map { try SetOverride($0) })
        subjects = try CohortLoader.subjects(of: study, studyPath: path, jobs: 2)
        days = Double(study.duration.seconds) / 86_400
    }

    var patientDays: Double { Double(subjects.count) * days }

    func session(_ index: Int) throws -> Session {
        try Session(study: study, subject: subjects[index], index: index, arm: study.arms[0])
    }

    /// Wall seconds of `rounds` passes over all sessions on `jobs` threads.
    func wallSeconds(rounds: Int, jobs: Int) throws -> Double {
        let next = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
        let total = rounds * subjects.count
        let group = DispatchGroup()
        let began = Stopwatch.wallSeconds()
        for _ in 0..<jobs {
            group.enter()
            Thread {
                while true {
                    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                    guard index < total else { break }
                    do {
                        _ = try session(index % subjects.count).run()
                    } catch {
                        failure.withLock { $0 = error }
                    }
                }
                group.leave()
            }.start()
        }
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
        return Stopwatch.wallSeconds() - began
    }
}

enum Stopwatch {
    /// Processor seconds that this thread has used.
    static func threadSeconds() -> Double { seconds(CLOCK_THREAD_CPUTIME_ID) }
    static func wallSeconds() -> Double { seconds(CLOCK_MONOTONIC) }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The best of several rounds of a body that answers with seconds.
func best(of rounds: Int, _ body: () throws -> Double) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<rounds { least = min(least, try body()) }
    return least
}
