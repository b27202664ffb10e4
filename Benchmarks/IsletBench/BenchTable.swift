import Physiology
import Records
import SessionTime
import SimulationKernel
import Trials

struct BenchTable {
    static func measureAll(_ arguments: [String]) throws -> String {
        let study = try Study.read(path: "Cohorts/speed.yaml", overrides: [])
        let subjects = try CohortLoader.subjects(of: study, studyPath: "Cohorts/speed.yaml", jobs: 2)
        let days = 7
        var lines: [String] = []
        // Interleave so that drifts of the machine hit both.
        var bare: [Double] = [], full: [Double] = []
        var events = 0, jobs = 0
        for _ in 0..<5 {
            var t = threadSeconds()
            for subject in subjects { _ = try BareLoop.run(subject, days: days) }
            bare.append((threadSeconds() - t) / Double(subjects.count * days))
            t = threadSeconds()
            events = 0
            for (index, subject) in subjects.enumerated() {
                let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0])
                let outcome = session.run()
                events += outcome.events
                jobs += outcome.jobs
            }
            full.append((threadSeconds() - t) / Double(subjects.count * days))
        }
        var ev = 0, bev = 0
        for (index, subject) in subjects.enumerated() {
            let session = try Session(study: study, subject: subject, index: index, arm: study.arms[0])
            _ = session.run(); ev += session.evaluations; bev += try BareLoop.evals(subject, days: days)
        }
        lines.append("evals/day full \(ev / 700) bare \(bev / 700)")
        let b = bare.min() ?? 0
        let f = full.min() ?? 0
        lines.append("bare \(b * 1e6) us/day, full \(f * 1e6) us/day, ratio \(f / b), events/day \(events / subjects.count / days) jobs \(jobs)")
        return lines.joined(separator: "\n")
    }
}
