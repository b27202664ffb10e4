// `islet plan STUDY`: how many shards a study should have, what they cost, and the script that runs them on many machines.
//
// Guarantees: chooses only the number of shards; who is in which follows from that number alone, whatever was measured and wherever. A script has at most 40
// lines, asks a scheduler for what it has of its own (retries, requeues) and calls `islet run --into`, which may be called twice.
// Does not: start anything.

import ArgumentParser
import Foundation
import IsletCommands
import IsletDevices
import IsletFiles
import IsletTrials

/// `islet plan`
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "How many shards for many machines, and a script that runs them.",
        discussion: """
            Lives a few of the study's sessions on this machine, one thread, and says into how many shards of about --minutes it
            should be parted, with hours and bytes. With --for it prints a script for a scheduler in place of that: an array job of Slurm,
            an indexed Job of Kubernetes, a submit file of HTCondor, a Snakefile, or a shell script (docs/clusters.md).

            Examples:
              islet plan Cohorts/quickstart.yaml --minutes 1
              islet plan Cohorts/quickstart.yaml --shards 20 --for shell --store results/store
              islet plan Cohorts/quickstart.yaml --shards 50 --for slurm --store /shared/store --out run.sbatch
            """)

    @OptionGroup var arguments: StudyArguments

    @Option(help: "About how long a shard should take on one thread of this machine, min.")
    var minutes = 10.0

    @Option(help: "The number of shards; nothing is measured then.")
    var shards: Int?

    @Option(
        name: .customLong("for"),
        help: "Print a script: \(PlanScript.allCases.map(\.rawValue).joined(separator: ", ")).")
    var scheduler: PlanScript?

    @Option(help: "The store that the script names; every machine sees it under this path.")
    var store = "store"

    @Option(help: "Where the plan or the script goes; - is standard output.")
    var out = "-"

    @OptionGroup var algorithms: AlgorithmPermission

    func validate() throws {
        guard minutes > 0, minutes.isFinite else {
            throw ValidationError("--minutes takes a number above 0.")
        }
        if let shards, !(1...Study.maximumSessions).contains(shards) {
            throw ValidationError("--shards takes a number from 1 to \(Study.maximumSessions).")
        }
        guard !store.isEmpty, !out.isEmpty else { throw ValidationError("--store and --out take a path.") }
    }

    func run() throws {
        var study = try arguments.read()
        if algorithms.isGiven { try study.startAlgorithms(studyPath: arguments.study) }
        try study.checkAlgorithms()
        let people = try study.cohortSize(studyPath: arguments.study)
        let groups = (people + study.block - 1) / study.block
        if let shards, let scheduler {
            guard shards <= groups else { throw tooMany(shards, groups) }
            return try Output.write(script(scheduler, shards: shards), to: out)
        }
        let measured = try Measurement(of: study, studyPath: arguments.study, people: people)
        let wanted = Int((measured.seconds / (60 * minutes)).rounded(.up))
        let count = shards ?? max(1, min(groups, wanted))
        guard count <= groups else { throw tooMany(count, groups) }
        if let scheduler { return try Output.write(script(scheduler, shards: count), to: out) }
        func short(_ value: Double) -> String { SummaryText.decimal(value) }
        try Output.write(
            """
            \(study.name): \(people) people × \(study.arms.count) arms × \(short(Double(study.duration.seconds) / 86_400)) days
            shards       \(count), of \(people / count)\(people % count == 0 ? "" : " or \(people / count + 1)") people
            a shard      \(short(measured.seconds / Double(count) / 60)) min on one thread here, \(short(measured.bytes / Double(count) / 1e6)) MB
            all of them  \(short(measured.seconds / 3600)) core hours (\(short(measured.peopleSeconds / 3600)) of them to draw people), \(short(measured.bytes / 1e9)) GB (record: \(study.record.rawValue))
            measured     \(measured.sessions) sessions of \(short(measured.days)) days each, \(short(1e3 * measured.secondsPerDay)) ms a patient-day, \(short(1e3 * measured.secondsPerPerson)) ms a person

            """, to: out)
    }

    private func tooMany(_ shards: Int, _ groups: Int) -> InputError {
        InputError(
            file: "--shards", found: "\(shards)",
            expected: "at most \(groups): a shard without people would be done at once")
    }

    private func script(_ scheduler: PlanScript, shards: Int) -> String {
        var words = ["islet", "run", arguments.study]
        for override in arguments.set { words += ["--set", override] }
        if algorithms.isGiven { words.append("--allow-algorithm") }
        return scheduler.text(run: words, shards: shards, store: store)
    }

    /// What some of a study's sessions took here.
    struct Measurement {
        /// How long the whole study takes, s on one thread.
        let seconds: Double
        let peopleSeconds: Double
        let bytes: Double
        let sessions: Int
        let days: Double
        let secondsPerDay: Double
        let secondsPerPerson: Double

        init(of study: Study, studyPath: String, people: Int) throws {
            let clock = ProgressLine.monotonicSeconds
            let few = min(people, 8)
            let began = clock()
            let cohort = try study.cohort(studyPath: studyPath, isChecked: false)
            try cohort.draw([0..<few], jobs: 1, isInterrupted: { false })
            let drawn = clock()
            let cost = try RunCost(of: study, studyPath: studyPath, subjects: people, cohort: cohort)
            let lived = clock()
            let all = people * study.arms.count
            sessions = cost.sample.sessions
            secondsPerPerson = (drawn - began) / Double(few)
            secondsPerDay = cost.sample.patientDays > 0 ? (lived - drawn) / cost.sample.patientDays : 0
            days = cost.sample.patientDays / Double(max(1, sessions))
            peopleSeconds = secondsPerPerson * Double(people)
            seconds = peopleSeconds + secondsPerDay * cost.work(sessions: all).patientDays
            bytes = cost.bytes(sessions: all)
        }
    }
}
