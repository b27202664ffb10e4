// The measurements, their table and their JSON.

import IsletFiles
import Foundation
import IsletModels
import IsletTrials

struct BenchTable {
    private struct Row {
        var key: String
        var what: String
        var value: Double
        var unit: String
    }

    private var rows: [Row] = []

    private mutating func add(_ key: String, _ what: String, _ value: Double, _ unit: String) {
        rows.append(Row(key: key, what: what, value: value, unit: unit))
    }

    /// The ratio that decides, alone: half a minute.
    mutating func measureRatio() throws { _ = try measureSessions(Workload()) }

    mutating func measure() throws {
        let workload = try Workload()
        let full = try measureSessions(workload)
        try measureKernel()
        try measureParallel()
        try measureLiveSessions()
        try measureRecordLevels()
        try measureExport()
        measureSimglucose(secondsPerDay: full)
    }

    /// Answers with the seconds of a closed-loop patient-day on one core.
    private mutating func measureSessions(_ workload: Workload) throws -> Double {
        let days = Int(workload.days)
        var (smooth, pulsed, full) = (0.0, 0.0, 0.0)
        var (smoothEvaluations, pulsedEvaluations, evaluations, events, jobs) = (0, 0, 0, 0, 0)
        for (index, subject) in workload.subjects.enumerated() {
            // Each at its best for each subject, one after the other: what disturbs a round disturbs a few milliseconds.
            var best = (smooth: Double.infinity, pulsed: Double.infinity, full: Double.infinity)
            for round in 0..<7 {
                best.smooth = try min(
                    best.smooth,
                    seconds {
                        let count = try BareLoop.smooth(subject, days: days)
                        if round == 0 { smoothEvaluations += count }
                    })
                best.pulsed = try min(
                    best.pulsed,
                    seconds {
                        let count = try BareLoop.pulsed(subject, days: days)
                        if round == 0 { pulsedEvaluations += count }
                    })
                best.full = try min(
                    best.full,
                    seconds {
                        let session = try workload.session(index)
                        let outcome = session.run()
                        guard round == 0 else { return }
                        events += outcome.events
                        jobs += outcome.jobs
                        evaluations += session.evaluations
                    })
            }
            smooth += best.smooth
            pulsed += best.pulsed
            full += best.full
        }
        let perDay = 1 / workload.patientDays
        add(
            "bare_smooth_us", "bare GSL loop, rate edges every 5 min", smooth * perDay * 1e6, "µs/patient-day"
        )
        add(
            "bare_pulsed_us", "bare GSL loop, pump pulses every 5 min", pulsed * perDay * 1e6,
            "µs/patient-day")
        add("full_us", "full closed loop, 1 worker", full * perDay * 1e6, "µs/patient-day")
        add("full_over_bare_smooth", "full over bare, rate edges", full / smooth, "×")
        add("full_over_bare_pulsed", "full over bare, pump pulses", full / pulsed, "×")
        add(
            "evaluations_smooth", "evaluations, bare, rate edges", Double(smoothEvaluations) * perDay,
            "1/patient-day")
        add(
            "evaluations_pulsed", "evaluations, bare, pump pulses", Double(pulsedEvaluations) * perDay,
            "1/patient-day")
        add(
            "evaluations_full", "evaluations, full closed loop", Double(evaluations) * perDay, "1/patient-day"
        )
        add("events", "events", Double(events) * perDay, "1/patient-day")
        add("jobs", "jobs", Double(jobs) * perDay, "1/patient-day")
        return full * perDay
    }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let began = Stopwatch.threadSeconds()
        try body()
        return Stopwatch.threadSeconds() - began
    }

    private mutating func measureKernel() throws {
        let tick = try KernelCosts.tick()
        let wake = try KernelCosts.taskWake(calls: 0)
        let wakeAndCalls = try KernelCosts.taskWake(calls: 4)
        let call = try KernelCosts.call()
        add("tick_ns", "handler wake-up with a journaled event", tick.seconds * 1e9, "ns")
        add("tick_jobs", "jobs a handler wake-up", tick.jobs, "jobs")
        add("wake_ns", "task wake-up", wake.seconds * 1e9, "ns")
        add("wake_jobs", "jobs a task wake-up", wake.jobs, "jobs")
        add("await_ns", "awaited call between actors", (wakeAndCalls.seconds - wake.seconds) / 4 * 1e9, "ns")
        add("await_jobs", "jobs four awaited calls add", wakeAndCalls.jobs - wake.jobs, "jobs")
        add("here_ns", "synchronous call between actors", call.seconds * 1e9, "ns")
    }

    private mutating func measureParallel() throws {
        let rounds = 6
        let workload = try Workload()
        let work = workload.patientDays * Double(rounds)
        var two = Double.infinity
        var twins = Double.infinity
        for _ in 0..<3 {
            two = try min(two, workload.wallSeconds(rounds: 2 * rounds, jobs: 2))
            let began = Stopwatch.wallSeconds()
            let processes = try (0..<2).map { _ in try Twin(["sessions", "\(rounds)", "1"]) }
            let inner = try processes.map { try $0.number() }.max() ?? 0
            // The sessions' own time, without starting the process and drawing the cohort.
            twins = min(twins, min(inner, Stopwatch.wallSeconds() - began))
        }
        add("two_workers", "2 workers in one process", 2 * work / two, "patient-days/s")
        add("two_processes", "two 1-worker processes side by side", 2 * work / twins, "patient-days/s")
        add("two_workers_over_processes", "2 workers over two processes", twins / two, "×")
    }

    private mutating func measureLiveSessions() throws {
        let count = 10_000
        let bytes = try Twin(["live", "\(count)"]).number()
        add("live_bytes", "a live session, of \(count)", bytes / Double(count), "bytes")
        add("live_total_mib", "\(count) live sessions", bytes / 1_048_576, "MiB")
    }

    private mutating func measureRecordLevels() throws {
        for level in ["summary", "events", "full"] {
            let workload = try Workload(overrides: ["record=\(level)"])
            let seconds = try best(of: 3) {
                try self.seconds {
                    for index in workload.subjects.indices { _ = try workload.session(index).run() }
                }
            }
            add(
                "record_\(level)_us", "closed loop at record: \(level), without writing",
                seconds / workload.patientDays * 1e6, "µs/patient-day")
        }
    }

    /// The steps of 200 people, 28 days, 2 arms, beside the run that they are of.
    mutating func measureExport() throws {
        let bench = try ExportBench(people: 200, days: 28, rounds: 3)
        add("export_run_s", "run of 200 people, 28 days, 2 arms", bench.run, "s")
        add("export_s", "export of its steps", bench.export, "s")
        add("export_over_run", "export over run", bench.export / bench.run, "×")
        add("export_mb_per_s", "steps as CSV", bench.bytes / bench.export / 1e6, "MB/s")
        add("export_step_us", "a step, run again and written", bench.export / bench.steps * 1e6, "µs")
    }

    private mutating func measureSimglucose(secondsPerDay: Double) {
        guard let seconds = Simglucose.secondsPerPatientDay() else {
            add("simglucose_s", "simglucose 0.2.11 (could not be fetched)", .nan, "s/patient-day")
            return
        }
        add("simglucose_s", "simglucose 0.2.11, basal-bolus, processor time", seconds, "s/patient-day")
        add("over_simglucose", "closed loop over simglucose, a core", seconds / secondsPerDay, "×")
    }

    var text: String {
        let width = rows.map(\.what.count).max() ?? 0
        return rows.map { row in
            row.what + String(repeating: " ", count: width - row.what.count + 2)
                + (row.value.isFinite ? String(format: "%14.2f", row.value) : "             -") + "  "
                + row.unit
        }.joined(separator: "\n")
    }

    var json: JSONValue {
        .object(
            rows.map {
                .init($0.key, .object([.init("value", .number($0.value)), .init("unit", .string($0.unit))]))
            })
    }
}
