import Trials
if CommandLine.arguments.count > 1, CommandLine.arguments[1] == "full" {
    let study = try Study.read(path: "Cohorts/speed.yaml", overrides: [])
    let subjects = try CohortLoader.subjects(of: study, studyPath: "Cohorts/speed.yaml", jobs: 2)
    let t = threadSeconds()
    for _ in 0..<5 {
        for (index, subject) in subjects.enumerated() {
            _ = try Session(study: study, subject: subject, index: index, arm: study.arms[0]).run()
        }
    }
    print((threadSeconds() - t) / 3500 * 1e6)
} else {
    print(CommandLine.arguments.count > 1 ? try Accuracy.report() : try BenchTable.measureAll(CommandLine.arguments))
}
