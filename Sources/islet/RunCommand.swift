// `islet run STUDY.yaml --out DIR`: the study's sessions, and what they come to.

import IsletFiles
import ArgumentParser
import IsletCommands
import Foundation
import IsletResults
import IsletModels
import IsletDevices
import IsletTrials

/// `islet run`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a study.",
        discussion: """
            Writes manifest.json, summary.json, sessions.csv, alerts.csv, study.sqlite and report.html to DIR, beside them what repeats the study
            (people.csv, policies.json, plan.json, cohort.csv), and prints a table. A study with
            `confirm` selects its best arm, and compares that one on other people; their results stand in DIR/confirm. With
            --sensitivity the study is run again with what is assumed about its people otherwise (one setting at a time, low and
            high, and all together), and sensitivity.json and sensitivity.csv say whether the ranking of arms by `primary` holds.

            Examples:
              islet run Cohorts/quickstart.yaml --out results/quickstart
              islet run Cohorts/quickstart.yaml --out results/small --set cohort.generate.count=10 --set duration=1d
              islet run Cohorts/quickstart.yaml --out shard1 --shard 1/3
              islet run Cohorts/quickstart.yaml --into results/store --shard 1/3
              islet run Cohorts/quickstart.yaml --out results/quickstart --resume
            """)

    @OptionGroup var arguments: StudyArguments

    @Option(help: "The directory for the results: absent or empty, unless --resume is given.")
    var out: String?

    @Option(help: "The seed of every random draw, in place of the study's.")
    var seed: UInt64?

    @OptionGroup var threads: ThreadCount

    @Option(help: ArgumentHelp("Run only part I of N; `islet merge` joins the parts.", valueName: "I/N"))
    var shard: String?

    @Option(
        help: ArgumentHelp(
            "Put the finished shard into a store that many machines share (docs/clusters.md), in place of --out. A shard that is done already is left alone.",
            valueName: "STORE"))
    var into: String?

    @Option(
        help: ArgumentHelp(
            "With --into: where this machine keeps the shard while it runs; TMPDIR or /tmp when left out.",
            valueName: "DIR"))
    var scratch: String?

    @Flag(
        help: "Go on with the run in DIR after an interruption, from its beginning where there is none yet.")
    var resume = false

    @Option(
        help: ArgumentHelp(
            "The plan that was registered for this study (default: STUDY.plan.json, where it is there).",
            valueName: "FILE.json"))
    var plan: String?

    @Option(help: ArgumentHelp("Seal the results with this key when they are done.", valueName: "KEYFILE"))
    var seal: String?

    @Flag(help: "Ask whether the ranking of arms holds when what is assumed about people is otherwise.")
    var sensitivity = false

    @Flag(
        inversion: .prefixedNo,
        help: "Write report.html, the results as one page; `islet report` writes it later, too.")
    var report = true

    @Flag(help: "Print what would be run, with estimates, and stop.")
    var dryRun = false

    @Flag(help: "No progress and no table.")
    var quiet = false

    @OptionGroup var units: GlucoseUnits

    @OptionGroup var algorithms: AlgorithmPermission

    func validate() throws {
        if let shard, Shard(shard) == nil {
            throw ValidationError("--shard takes I/N with I from 1 to N, as in 2/3.")
        }
        if sensitivity, shard != nil {
            throw ValidationError("--sensitivity takes a whole study: join its shards first, then --resume.")
        }
        if into != nil {
            guard shard != nil else { throw ValidationError("--into takes --shard I/N.") }
            guard out == nil, !resume, !sensitivity else {
                throw ValidationError("--into takes no --out, --resume or --sensitivity.")
            }
            guard into != "", scratch != "" else {
                throw ValidationError("--into and --scratch take a directory.")
            }
        } else if scratch != nil {
            throw ValidationError("--scratch goes with --into.")
        }
        if out == nil, into == nil, !dryRun {
            throw ValidationError("Missing expected argument '--out <out>'")
        }
        if seal != nil, shard != nil {
            throw ValidationError("--seal takes a whole study: join its shards, then `islet seal`.")
        }
        if let out, out.isEmpty { throw ValidationError("--out takes a directory.") }
    }

    func run() throws {
        var study = try arguments.read()
        if let seed { study.seed = seed }
        let shard = shard.flatMap { Shard($0) } ?? .whole
        let jobs = threads.count
        if let into, !dryRun, try isDone(shard, of: study, in: into) { return }
        if algorithms.isGiven { try study.startAlgorithms(studyPath: arguments.study) }
        try study.checkAlgorithms()
        let key = try seal.map { try SealKey(file: $0) }
        let registration = try RegisterCommand.registered(for: study, plan: plan, studyPath: arguments.study)
        let plan = try sensitivity ? SensitivityPlan(study, file: arguments.study) : nil
        if dryRun {
            try DryRun(
                study: study, studyPath: arguments.study, jobs: jobs, shard: shard,
                variants: plan?.variants.count ?? 0
            ).print()
            return
        }
        let interrupt = Interrupt()
        try study.checkConfirmation(file: arguments.study)
        try study.checkWritten(file: arguments.study)
        if let into { return try run(study, shard: shard, jobs: jobs, interrupt, into: into) }
        guard let out else { return }
        let folder = ResultFolder(path: out)
        let subjects = try people(of: study, shard: shard, in: folder, jobs: jobs, interrupt)
        // Where nobody can be told, all is made all the same, and that is said at the end.
        var unsaid: (any Error)?
        func say(_ body: () throws -> Void) {
            guard !quiet, unsaid == nil else { return }
            do { try body() } catch { unsaid = error }
        }
        try stage(
            study, subjects, in: folder, shard: shard, jobs: jobs, interrupt, registration: registration
        ) { summary in
            say { try ResultReport(summary, study: study, folder: folder, unit: units.unit).print() }
            if let plan { try analyse(plan, in: folder, jobs: jobs, interrupt, out: out, say) }
            try confirm(summary, of: study, in: folder, shard: shard, jobs: jobs, interrupt, say)
            // Last of all: the page tells of the confirmation, and whoever stops it has all results.
            try writeReport(summary, subjects, in: folder, jobs: jobs, interrupt, say)
            if let key {
                try FolderSeal(folder, key: key).write()
                say { try StandardStream.output.writeLine("sealed   \(folder.file(FolderSeal.name))") }
            }
        }
        if let unsaid { throw unsaid }
    }

    /// Runs what was selected on other people, where the study asks for it.
    private func confirm(
        _ summary: StudySummary, of study: Study, in folder: ResultFolder, shard: Shard, jobs: Int,
        _ interrupt: Interrupt, _ say: (() throws -> Void) -> Void
    ) throws {
        guard let selection = summary.selection, !selection.arms.isEmpty else { return }
        guard shard.isWhole else {
            return StandardStream.error.writeLineIgnoringFailure(
                "nothing is confirmed yet: join the shards, then go on with "
                    + resumeCommand("MERGED", shard: nil))
        }
        let confirmation = study.confirmation(of: selection.arms, seed: selection.seed)
        let other = ResultFolder(path: folder.confirmationPath)
        let subjects = try people(of: confirmation, shard: .whole, in: other, jobs: jobs, interrupt)
        try stage(
            confirmation, subjects, in: other, shard: .whole, jobs: jobs, interrupt, hasPlan: false
        ) { summary in
            say {
                try StandardStream.output.write(
                    "\nconfirmation on other people, seed \(selection.seed), of what was selected on seed \(study.seed)\n"
                )
                try ResultReport(summary, study: confirmation, folder: other, unit: units.unit)
                    .print()
            }
            try writeReport(summary, subjects, in: other, jobs: jobs, interrupt, say)
        }
    }

    private func writeReport(
        _ summary: StudySummary, _ subjects: any StudyCohort, in folder: ResultFolder, jobs: Int,
        _ interrupt: Interrupt, _ say: (() throws -> Void) -> Void
    ) throws {
        // A shard may have got nobody.
        guard report, summary.sessions > 0 else { return }
        let page: StudyReport
        do {
            page = try FolderReport(
                folder, store: StudyStore(readingAt: folder.storePath), summary: summary,
                cohort: subjects,
                studyPath: arguments.study, jobs: jobs, unit: units.unit,
                allowsAlgorithms: algorithms.isGiven, isInterrupted: { interrupt.isRaised }
            ).page
        } catch let problem as OutputError where problem.kind == .temporary {
            throw OutputError(
                .temporary, path: problem.path,
                message: problem.message
                    + "; the results are whole: `islet report \(folder.path)` writes it, --resume goes on with what is left"
            )
        }
        try folder.add(report: page.html, by: RunningProgram().facts)
        say { try StandardStream.output.writeLine("report   \(folder.reportPath)") }
    }

    /// The people of a study, those of the shard drawn: nothing is written before the whole input has been read.
    /// - Parameter isChecked: whether every row of a table is judged, or the shard's own alone.
    func people(
        of study: Study, shard: Shard, in folder: ResultFolder, jobs: Int, _ interrupt: Interrupt,
        isChecked: Bool = true
    ) throws -> any StudyCohort {
        do {
            let subjects = try study.cohort(studyPath: arguments.study, isChecked: isChecked)
            let own = try dealt(shard, in: folder).subjects(of: subjects.count, group: study.block)
            try subjects.draw(own, jobs: jobs, isInterrupted: { interrupt.isRaised })
            return subjects
        } catch is CancellationError {
            throw OutputError(
                .temporary, path: into ?? folder.path,
                message:
                    "interrupted before the first session; begin again with \(resumeCommand(out, shard: self.shard))"
            )
        }
    }

    /// The shard as the folder has it: one of before there were blocks goes on as it was dealt.
    private func dealt(_ shard: Shard, in folder: ResultFolder) throws -> Shard {
        guard resume, try isThere(folder.manifestPath) else { return shard }
        let found = try RunIdentity(of: folder).shard
        return found.single == shard.single && found.count == shard.count ? found : shard
    }

    /// Runs one seed's sessions, and calls `done` with what they come to while the folder is still locked.
    func stage(
        _ study: Study, _ subjects: any StudyCohort, in folder: ResultFolder, shard: Shard, jobs: Int,
        _ interrupt: Interrupt, registration: Registration? = nil, hasPlan: Bool = true,
        done: (StudySummary) throws -> Void
    ) throws {
        let began = ProgressLine.monotonicSeconds()
        try folder.prepare(resume: resume)
        let lock = try folder.lock()
        defer { lock.release() }
        // Once more: another may have made the folder, or run in it, since it was looked at.
        try folder.prepare(resume: resume)
        folder.removeLeftovers()
        let wasSealed = try isThere(folder.file(FolderSeal.name))
        let summary: StudySummary
        do {
            summary = try run(
                study, subjects: subjects, shard: dealt(shard, in: folder), jobs: jobs, in: folder, interrupt,
                began: began, registration: registration, hasPlan: hasPlan)
        } catch is CancellationError {
            throw stopped(folder, "interrupted")
        } catch let problem as OutputError where problem.kind == .temporary {
            throw stopped(ResultFolder(path: problem.path), problem.message)
        }
        if wasSealed, seal == nil {
            StandardStream.error.writeLineIgnoringFailure(
                "warning: \(printable(folder.path, limit: 4096)): its seal was of the files before, and is gone: `islet seal` makes another"
            )
        }
        try done(summary)
    }

    /// What is there after a stop, and how to go on.
    private func stopped(_ folder: ResultFolder, _ message: String) -> OutputError {
        let advice =
            into == nil
            ? "what is stored is good: go on with"
            : "nothing of this shard is in the store: run it again with"
        return OutputError(
            .temporary, path: folder.path,
            message: "\(message); \(advice) \(resumeCommand(out, shard: shard))")
    }

    private func run(
        _ study: Study, subjects: any StudyCohort, shard: Shard, jobs: Int, in folder: ResultFolder,
        _ interrupt: Interrupt, began: Double, registration: Registration?, hasPlan: Bool
    ) throws -> StudySummary {
        let text = study.yaml
        let keys = study.outcomes.map(\.name)
        var identity = RunIdentity(version: Islet.version, shard: shard, cohort: subjects)
        identity.isTableInStore = into != nil && subjects.table != nil
        if try isThere(folder.manifestPath) {
            try take(folder, of: study, subjects, &identity, jobs: jobs, interrupt)
        }
        let store = try StudyStore(
            path: folder.storePath, studyText: text, version: Islet.version,
            calendar: study.start.calendar, outcomeKeys: keys, policyKeys: PolicyOutcome.storedNames,
            words: study.resultWords)
        try check(store, isOf: text, folder)
        try folder.keep(
            inputsOf: study, subjects: subjects, studyPath: arguments.study, registration: registration,
            sessions: store.finishedSessions().count,
            own: shard.subjects(of: subjects.count, group: study.block), keepsTable: into == nil,
            hasPlan: hasPlan)
        let before = try ProgramFacts.recorded(in: folder)
        try folder.writeManifest(study, identity: identity, state: .running, programs: [.init()] + before)
        // What can't be written now is written at the end; a run that is killed before is its program's if it got as far as this.
        let program = RunningProgram { [identity] facts in
            try? folder.writeManifest(
                study, identity: identity, state: .running, programs: [facts] + before)
        }
        defer { _ = program.facts }
        let earlier = try store.wallSeconds()
        let wallSeconds = { earlier + ProgressLine.monotonicSeconds() - began }
        store.clock = wallSeconds
        let runner = TrialRunner(
            study: study, cohort: subjects, shard: shard, jobs: jobs, words: store.words)
        let finished = try store.finishedSessions()
        let progress = ProgressLine(
            sessions: runner.sessions.count, alreadyDone: finished.count, style: .standardError(quiet: quiet))
        let isDone: Bool
        let failures = PluginFailures()
        do {
            isDone = try runner.run(
                into: store, isInterrupted: { interrupt.isRaised }, progress: progress, failures: failures)
        } catch {
            // The line that says why stands on its own.
            progress.clear()
            throw error
        }
        progress.finish()
        tellFailedSteps(of: study)
        guard isDone else {
            try store.close()
            if !interrupt.isRaised { try tell(failures.all, of: runner.sessions.count, study.tolerate ?? 0) }
            throw OutputError(
                .temporary, path: folder.path,
                message: "interrupted")
        }
        tellTolerated(failures, of: runner.sessions.count)
        return try folder.finish(
            study, store: store, identity: identity,
            speed: StudySummary.Speed(wallSeconds: wallSeconds(), jobs: jobs),
            programs: [program.facts] + before, sums: subjects.sums(of: runner.subjects, jobs: jobs))
    }

    /// Refuses what another study, another machine or another shard has left in the folder; what goes on is no longer complete.
    private func take(
        _ folder: ResultFolder, of study: Study, _ subjects: any StudyCohort, _ identity: inout RunIdentity,
        jobs: Int, _ interrupt: Interrupt
    ) throws {
        guard try folder.state() != .merging else {
            throw InputError(
                file: folder.path, found: "a merge that was not finished",
                expected: "a run to resume: repeat the merge")
        }
        let found = try RunIdentity(of: folder)
        try found.check(against: identity, folder: folder)
        guard found.shard == identity.shard else {
            throw InputError(
                file: folder.manifestPath, found: "shard \(found.shard)",
                expected: "shard \(identity.shard)")
        }
        if found.checksum != nil {
            // Results of before there were roots: the same people, by everybody's checksum.
            identity.checksum = try RunIdentity.checksum(
                of: subjects, jobs: jobs, isInterrupted: { interrupt.isRaised })
            try found.check(against: identity, folder: folder)
        }
        try folder.checkStoreHash()
        // Read only: a refused folder stays as its manifest says, to the byte.
        try check(StudyStore(readingAt: folder.storePath), isOf: study.yaml, folder)
        // Of another program nothing goes on.
        _ = try AlgorithmFacts.joined(
            folder.recordedAlgorithms(), study.algorithmFacts, file: folder.manifestPath)
        // Opening the store changes its bytes: a folder that says that it is complete has to say otherwise before.
        if try folder.isComplete() {
            try folder.writeManifest(
                study, identity: found, state: .running, programs: try ProgramFacts.recorded(in: folder))
        }
    }

    /// Steps of programs that came to nothing: of a listener's the numbers were absent, by an algorithm's nobody got insulin. Why the first one did stands
    /// nowhere else; how many of an algorithm's, in the results.
    private func tellFailedSteps(of study: Study) {
        func tell(_ whose: String, _ so: String, _ host: (Study.Arm) -> PluginHost?) {
            // Arms that differ in their alerts alone ask one program, which counts for all of them.
            var told: [ObjectIdentifier] = []
            for found in study.arms.compactMap(host) where !told.contains(ObjectIdentifier(found)) {
                told.append(ObjectIdentifier(found))
                let (count, first) = found.failedSteps
                guard count > 0 else { continue }
                let arms = study.arms.filter { host($0) === found }.map(\.name).joined(separator: ", ")
                StandardStream.error.writeLineIgnoringFailure(
                    printable(
                        "\(arms): its \(whose) failed in \(count) \(count == 1 ? "step" : "steps"), \(so); the first: \(first)",
                        limit: 1500))
            }
        }
        tell("listener", "whose numbers are absent") { $0.listener?.host }
        tell("algorithm", "which gave nothing") { $0.plugin?.host }
    }

    /// Sessions whose algorithm is a program that failed: no table is made without them.
    private func tell(
        _ failures: [(sessions: [Int], failure: PluginFailure)], of all: Int, _ tolerated: UInt64
    ) throws {
        guard !failures.isEmpty else { return }
        tell(failures)
        let count = failures.reduce(0) { $0 + $1.sessions.count }
        throw CheckFailure(
            message:
                "\(count) of \(all) sessions failed with their algorithm\(tolerated > 0 ? ", more than `tolerate: \(tolerated)`" : ""), so there is no table; --resume runs them again"
        )
    }

    private func tell(_ failures: [(sessions: [Int], failure: PluginFailure)]) {
        for (_, failure) in failures.prefix(20) {
            for line in failure.whole.split(separator: "\n") {
                StandardStream.error.writeLineIgnoringFailure(printable(String(line), limit: 1500))
            }
        }
    }

    /// Those that the study tolerates: the table counts them among who ended early.
    private func tellTolerated(_ failures: PluginFailures, of all: Int) {
        guard failures.count > 0 else { return }
        tell(failures.all)
        StandardStream.error.writeLineIgnoringFailure(
            "\(failures.count) of \(all) sessions failed with their algorithm, and count as ended early")
    }

    /// Runs the variants of a study whose own results stand in the folder, and adds what comes of it.
    private func analyse(
        _ plan: SensitivityPlan, in folder: ResultFolder, jobs: Int, _ interrupt: Interrupt, out: String,
        _ say: (() throws -> Void) -> Void
    ) throws {
        let study = plan.study
        let interrupted = OutputError(
            .temporary, path: folder.path,
            message:
                "interrupted in the sensitivity analysis; the study itself is whole: begin the analysis again with "
                + resumeCommand(out, shard: nil))
        let subjects: any StudyCohort
        do {
            subjects = try study.makeCohort(
                studyPath: arguments.study, jobs: jobs, isInterrupted: { interrupt.isRaised })
        } catch is CancellationError {
            throw interrupted
        }
        var analysis = try Sensitivity(of: study, store: StudyStore(readingAt: folder.storePath))
        let progress = ProgressLine(
            sessions: plan.variants.count * subjects.count * study.arms.count, alreadyDone: 0,
            style: .standardError(quiet: quiet))
        do {
            for variant in plan.variants {
                let store = MemoryStore(of: variant.study)
                let runner = TrialRunner(study: variant.study, cohort: subjects, jobs: jobs)
                guard
                    try runner.run(
                        into: store, isInterrupted: { interrupt.isRaised }, progress: progress)
                else { throw interrupted }
                try analysis.add(variant, store: store)
            }
        } catch {
            progress.clear()
            throw error
        }
        progress.finish()
        try folder.add(analysis)
        say { try StandardStream.output.write("\n" + analysis.table(in: units.unit)) }
    }

    private func check(_ store: StudyStore, isOf text: String, _ folder: ResultFolder) throws {
        guard try store.studyText() == text else {
            throw InputError(
                file: folder.path, found: "results of another study or seed",
                expected: "results of \(arguments.study)")
        }
    }

    private func resumeCommand(_ out: String?, shard: String?) -> String {
        var words = ["islet", "run", arguments.study]
        if let into { words += ["--into", into] }
        if let out { words += ["--out", out, "--resume"] }
        for override in arguments.set { words += ["--set", override] }
        if let seed { words += ["--seed", "\(seed)"] }
        if let shard { words += ["--shard", shard] }
        if let plan { words += ["--plan", plan] }
        if let seal { words += ["--seal", seal] }
        if let scratch { words += ["--scratch", scratch] }
        if sensitivity { words.append("--sensitivity") }
        if algorithms.isGiven { words.append("--allow-algorithm") }
        return words.map(shellWord).joined(separator: " ")
    }
}
