// Whether a results folder is what a run of its study left.
//
// Guarantees: reads only; every finding is one line that names the file and what is off; what can't be checked is a finding too, never a
// silence. Checked are: the manifest's state and hashes, that the store, sessions.csv and summary.json say the same, which sessions
// there are, and, by running sessions again, digests, outcomes and recorded rows.
// Does not: tell who changed what. Whoever rewrites every file and the manifest consistently, and runs no session, is found by the sessions
// that are run again, and only by those.

package import IsletFiles
import Foundation
import IsletModels
package import IsletDevices
import IsletKernel

package struct FolderVerification {
    /// Which sessions are run again.
    package enum Choice: Hashable, Sendable {
        case all
        /// This many, spread evenly.
        case sample(Int)
        case one(Int)
        case none
    }

    let folder: ResultFolder
    /// Where a cohort's table is; nil for the folder.
    let studyPath: String?
    let jobs: Int
    /// This program's.
    let engine: Int
    let isInterrupted: @Sendable () -> Bool
    /// Whether programs that arms name may be started.
    let allowsAlgorithms: Bool

    package init(
        folder: ResultFolder, studyPath: String?, jobs: Int, engine: Int = BuildFacts.engine,
        allowsAlgorithms: Bool = false,
        isInterrupted: @escaping @Sendable () -> Bool
    ) {
        self.engine = engine
        self.allowsAlgorithms = allowsAlgorithms
        self.folder = folder
        self.studyPath = studyPath
        self.jobs = jobs
        self.isInterrupted = isInterrupted
    }

    /// What the manifest says, and the files that it hashes.
    /// - Throws: `InputError` for a manifest that can't be read.
    package func files() throws -> [String] {
        guard try isThere(folder.manifestPath) else {
            return ["manifest.json: is not there: the run never began or was killed; incomplete"]
        }
        let root = try folder.manifest()
        var findings: [String] = []
        let state = try root["state"]?.text() ?? "nothing"
        if state != "complete" {
            findings.append("manifest.json: state is \(printable(state, limit: 40)): incomplete")
        }
        // An analysis or a report is hashed where there is one.
        let isOptional = { (name: String) in
            ResultFolder.addedNames.contains(name) && root["files"]?[name] == nil
                // Who everybody is stands in a file, whatever the list says.
                && (name != CohortSums.fileName || root["cohort_root"] == nil)
        }
        let unlisted = try ResultFolder.addedNames.filter {
            try root["files"]?[$0] == nil && isThere(folder.file($0))
        }
        if state == "complete" {
            findings += unlisted.map { "\($0): manifest.json has no hash of it" }
        }
        let hashed = ResultFolder.resultNames.filter { !isOptional($0) }
        for name in hashed {
            let path = folder.file(name)
            guard try isThere(path) else {
                if state == "complete" || name == "study.sqlite" { findings.append("\(name): is not there") }
                continue
            }
            guard let recorded = try root["files"]?[name]?.text() else {
                if state == "complete" { findings.append("\(name): manifest.json has no hash of it") }
                continue
            }
            let found: String
            do {
                found = "sha256:" + (try folder.hash(of: path))
            } catch let problem as InputError where problem.kind != .temporary {
                findings.append("\(name): is \(problem.found), expected \(problem.expected)")
                continue
            }
            if found != recorded {
                findings.append("\(name): \(found), manifest.json says \(printable(recorded, limit: 100))")
            }
        }
        findings += try table()
        for name in ["study.sqlite-wal", "study.sqlite-journal"] where state == "complete" {
            guard try isThere(folder.file(name)) else { continue }
            findings.append("\(name): is there beside a complete run")
        }
        return findings
    }

    /// Whether the table that the manifest has in the store around the folder is there, and the one that people were read from.
    private func table() throws -> [String] {
        // A manifest that doesn't say who the people are is found elsewhere.
        guard let identity = try? RunIdentity(of: folder), identity.isTableInStore,
            let path = try folder.tablePath()
        else { return [] }
        do throws(InputError) {
            try ResultFolder.check(table: path, sha256: identity.table)
        } catch {
            return ["\(ShardStore.tableFromTry): found \(error.found), expected \(error.expected)"]
        }
        return []
    }

    /// Whether manifest, store, sessions.csv and summary.json agree, and which sessions are lacking.
    package func agreement(_ store: any ResultStore) throws -> [String] {
        var findings: [String] = []
        let study = try Study.parse(try store.studyText(), file: folder.storePath, hasRun: true)
        var shard = Shard.whole
        var isComplete = false
        var subjects = study.cohort.subjectCount
        if try isThere(folder.manifestPath) {
            let root = try folder.manifest()
            isComplete = try root["state"]?.text() == "complete"
            if let told = root["study"] {
                if try Study.decode(told.node, hasRun: true) != study {
                    findings.append("manifest.json: study is not the one in study.sqlite")
                }
            } else {
                findings.append("manifest.json: has no study")
            }
            if let seed = root["seed"], try seed.wholeNumber() != study.seed {
                findings.append("manifest.json: seed is not \(study.seed), as in study.sqlite")
            }
            if root["shard"] != nil {
                do throws(InputError) {
                    shard = try Shard(recordedIn: root)
                } catch {
                    findings.append("manifest.json: \(error.found)")
                }
            }
            if let told = root["subjects"] {
                let count = Int(try told.wholeNumber(in: 1...UInt64(Study.maximumSessions)))
                if let subjects, subjects != count {
                    findings.append("manifest.json: subjects is \(count), the study has \(subjects)")
                }
                subjects = subjects ?? count
            }
        }
        findings += try sessions(store, study, shard, subjects)
        guard isComplete else { return findings }
        findings += try ResultTables(
            folder: folder, start: study.start.calendar.iso8601(at: .start), outcomes: study.outcomes,
            hasShadows: study.record >= .events
        )
        .differences(store)
        let summary = try StudySummary(of: study, store: store)
        findings += try differences(of: summary, study)
        findings += try inputs(study)
        findings += try facts(store, study)
        return findings
    }

    /// The study that has to stand in the folder's `confirm`, by what is stored here; nil where nothing is confirmed.
    package func confirmation(_ store: any ResultStore) throws -> Study? {
        let study = try Study.parse(try store.studyText(), file: folder.storePath, hasRun: true)
        // A shard selects nothing.
        guard study.confirmSeed != nil, try RunIdentity(of: folder).shard.isWhole,
            let selection = try StudySummary(of: study, store: store).selection, !selection.arms.isEmpty
        else { return nil }
        return study.confirmation(of: selection.arms, seed: selection.seed)
    }

    private func sessions(
        _ store: any ResultStore, _ study: Study, _ shard: Shard, _ subjects: Int?
    ) throws -> [String] {
        var (findings, missing): ([String], [Int]) = ([], [])
        let there = try store.finishedSessions()
        let arms = study.arms.count
        let own = subjects.map { shard.subjects(of: $0, group: study.block) } ?? []
        for range in own {
            missing += (range.lowerBound * arms..<range.upperBound * arms).filter { !there.contains($0) }
        }
        // Sessions come by rising index, and so do the shard's people.
        var rest = own[...]
        if let first = missing.first {
            let others = missing.count > 1 ? " and \(missing.count - 1) more" : ""
            findings.append("study.sqlite: session \(first)\(others) lacking")
        }
        try store.forEachSummary { session in
            let place = "study.sqlite: session \(session.session)"
            guard study.arms.indices.contains(session.armIndex),
                (0..<Study.maximumSessions).contains(session.subjectIndex),
                session.session == session.subjectIndex * study.arms.count + session.armIndex
            else {
                findings.append("\(place): is not subject × arms + arm")
                return
            }
            if session.arm != study.arms[session.armIndex].name {
                findings.append("\(place): arm is \(printable(session.arm, limit: 100))")
            }
            if let subjects, session.subjectIndex >= subjects {
                findings.append("\(place): subject_index is \(session.subjectIndex) of \(subjects)")
            } else if subjects != nil {
                while let first = rest.first, first.upperBound <= session.subjectIndex { rest.removeFirst() }
                guard rest.first?.contains(session.subjectIndex) != true else { return }
                findings.append("\(place): is not of shard \(shard)")
            }
        }
        return findings
    }

    private func differences(of summary: StudySummary, _ study: Study) throws -> [String] {
        var findings: [String] = []
        let table = folder.file(ResultFolder.sweep)
        if try isThere(table) {
            let found = try readInput(table, limitBytes: 1 << 30, onlyRegular: true)
            if found != Array((summary.sweep?.csv ?? "").utf8) {
                findings.append("\(ResultFolder.sweep): is not what study.sqlite comes to")
            }
        } else if summary.sweep != nil, try folder.manifest()["plan"] != nil {
            findings.append("\(ResultFolder.sweep): is not there")
        }
        return try findings + summaryFile(summary, study)
    }

    private func summaryFile(_ summary: StudySummary, _ study: Study) throws -> [String] {
        let path = folder.file("summary.json")
        guard try isThere(path) else { return [] }
        let text = try readInput(path, limitBytes: 1 << 30, onlyRegular: true)
        let found: Any
        do {
            found = try JSONSerialization.jsonObject(with: Data(text), options: [.fragmentsAllowed])
        } catch {
            return ["summary.json: is no JSON"]
        }
        let expected = summary.json(study: study, speed: nil)
        return JSONDifference.between(
            Self.known(of: found), expected, leaving: StudySummary.ofThisRunOnly,
            optional: StudySummary.laterKeys
        ).map { "summary.json: \($0)" }
    }

    /// A summary without the outcomes that another version knew: they were computed there.
    private static func known(of summary: Any) -> Any {
        guard var summary = summary as? [String: Any] else { return summary }
        if let arms = summary["arms"] as? [[String: Any]] {
            summary["arms"] = arms.map { arm in
                var arm = arm
                if let outcomes = arm["outcomes"] as? [String: Any] {
                    arm["outcomes"] = outcomes.filter { Outcome.named($0.key) != nil }
                }
                return arm
            }
        }
        if let comparisons = summary["comparisons"] as? [[String: Any]] {
            summary["comparisons"] = comparisons.filter {
                ($0["metric"] as? String).map { Outcome.named($0) != nil } ?? true
            }
        }
        return summary
    }

    /// Why none of the folder's sessions is run again here; nil where they are.
    package func otherEngine() throws -> String? {
        guard try isThere(folder.manifestPath) else { return nil }
        let stored = try RunIdentity(of: folder)
        guard stored.engine != engine else { return nil }
        return
            "sessions: lived by engine \(stored.engine); this program is engine \(engine), and runs none of them "
            + "again: Islet \(printable(stored.version, limit: 40)), or another of engine \(stored.engine), does"
    }

    /// Runs sessions again, where this engine lived them.
    /// - Parameters:
    ///   - count: rises with each session that was lived again.
    ///   - compare: what of the stored session isn't as in the record; asked twice of one that was lived again with its group.
    ///   - progress: told of each session once it is compared.
    ///   - tell: called with each finding.
    /// - Throws: `CancellationError` after an interruption.
    package func rerun(
        _ choice: Choice, _ store: any ResultStore, count: inout Int,
        compare: (SessionRecord) throws -> [String],
        progress: (_ sessions: Int) -> ProgressLine, tell: (String) throws -> Void
    ) throws {
        let there = try store.finishedSessions().sorted()
        // What nothing can be made of has no arms to look after; it is told where the study is read.
        let all = try? Study.parse(store.studyText(), file: folder.storePath, hasRun: true)
        let sessions = try chosen(choice, of: there, arms: all?.arms.count ?? 1)
        guard !sessions.isEmpty, try otherEngine() == nil else { return }
        if try isThere(folder.manifestPath) {
            let stored = try RunIdentity(of: folder)
            guard stored.fingerprint == NumericFingerprint.here else {
                return try tell(
                    "sessions: numeric fingerprint here is \(NumericFingerprint.here), that of the results "
                        + "\(printable(stored.fingerprint, limit: 40)): no session can be run again with the same bits"
                )
            }
        }
        var study = try Study.parse(try store.studyText(), file: folder.storePath, hasRun: true)
        if allowsAlgorithms { try study.startAlgorithms(studyPath: studyPath ?? folder.path) }
        if let here = study.algorithmFacts, let stored = try folder.recordedAlgorithms(), here != stored {
            try tell(
                "manifest.json: the algorithms here are \(printable(here.compactText, limit: 500)), those of the results were \(printable(stored.compactText, limit: 500))"
            )
        }
        // Of one session one person is needed: of a table, their row alone is judged.
        let cohort = try study.cohort(studyPath: studyPath ?? folder.path, isChecked: choice == .all)
        let hasManifest = try isThere(folder.manifestPath)
        let stored: RunIdentity? = hasManifest ? try RunIdentity(of: folder) : nil
        if let stored, cohort.count != stored.subjects {
            try tell("manifest.json: subjects is \(stored.subjects), the study has \(cohort.count)")
        }
        if choice == .all, let checksum = stored?.checksum,
            try checksum
                != RunIdentity.checksum(of: cohort, jobs: jobs, isInterrupted: isInterrupted)
        {
            try tell("manifest.json: cohort_checksum is not that of the study's people")
        }
        let runner = TrialRunner(study: study, cohort: cohort, jobs: jobs, words: store.words)
        try compareAll(sessions, runner, progress(sessions.count), &count, compare, tell)
        let arms = study.arms.count
        let lived = Set(sessions.map { $0 / arms }.filter { $0 < cohort.count }).sorted()
        let sums = try cohort.sums(of: lived.map { $0..<$0 + 1 }, jobs: jobs)
        for finding in try people(sums, stored, group: study.block) { try tell(finding) }
        let own = (stored?.shard ?? .whole).subjects(of: cohort.count, group: study.block)
        for finding in try people(study, cohort, own: own, lived, isAll: choice == .all) {
            try tell(finding)
        }
    }

    /// Lives sessions again, and compares each.
    private func compareAll(
        _ sessions: [Int], _ runner: TrialRunner, _ line: ProgressLine, _ count: inout Int,
        _ compare: (SessionRecord) throws -> [String], _ tell: (String) throws -> Void
    ) throws {
        let all = 0..<runner.cohort.count * runner.study.arms.count
        let records = try InOrder(count: sessions.count, jobs: jobs) {
            [isInterrupted] index -> SessionRecord? in
            if isInterrupted() { throw CancellationError() }
            return all.contains(sessions[index]) ? try runner.run(sessions[index]) : nil
        }
        defer { records.cancel() }
        // The last one that was lived together, since one of it may have ended with its program.
        var group: [SessionRecord] = []
        for session in sessions {
            guard let next = try records.next() else { break }
            guard let record = next else {
                try tell("study.sqlite: session \(session): the study has no such session")
                continue
            }
            count += 1
            var findings = try compare(record)
            if !findings.isEmpty {
                if !group.contains(where: { $0.session == session }) {
                    group = try runner.runWithItsGroup(session) ?? []
                }
                if let again = group.first(where: { $0.session == session }) {
                    findings = try compare(again)
                }
            }
            if !findings.isEmpty { line.clear() }
            for finding in findings { try tell(finding) }
            line.add(patientDays: Double(record.endedAt.nanoseconds) / Double(Nanoseconds.day))
        }
        line.clear()
    }

    /// Who of the people that were drawn isn't who the folder says.
    private func people(_ drawn: CohortSums, _ stored: RunIdentity?, group: Int) throws -> [String] {
        guard let stored, let sums = try folder.sums(count: stored.subjects) else { return [] }
        var findings = sums.differences(from: drawn).map {
            "\(CohortSums.fileName): \($0) is not the study's"
        }
        let own = stored.shard.subjects(of: stored.subjects, group: group).reduce(0) { $0 + $1.count }
        if sums.known != own {
            findings.append("\(CohortSums.fileName): \(sums.known) people, expected \(own)")
        }
        if let root = stored.root, sums.root != root {
            findings.append("manifest.json: cohort_root is not that of \(CohortSums.fileName)")
        }
        return findings
    }

    /// So many sessions, evenly over the people, each arm as often as another: every so manieth session alone would be of one arm for ever.
    /// - Parameters:
    ///   - there: rising.
    ///   - arms: of the study; a session is its subject times them, and its arm.
    static func spread(_ count: Int, of there: [Int], arms: Int) -> [Int] {
        let byArm = (0..<max(1, arms)).map { arm in there.filter { $0 % max(1, arms) == arm } }.filter {
            !$0.isEmpty
        }
        var chosen: Set<Int> = []
        for turn in 0..<count {
            let own = byArm[turn % byArm.count]
            // Of this arm's turns the how manieth, of how many.
            let turns = (count - turn % byArm.count + byArm.count - 1) / byArm.count
            chosen.insert(own[min(own.count - 1, (turn / byArm.count) * own.count / max(1, turns))])
        }
        // An arm that has fewer than its turns leaves them to the others.
        for session in there where chosen.count < count { chosen.insert(session) }
        return chosen.sorted()
    }

    private func chosen(_ choice: Choice, of there: [Int], arms: Int) throws -> [Int] {
        switch choice {
        case .all: return there
        case .none: return []
        case .sample(let count):
            guard count < there.count else { return there }
            return Self.spread(count, of: there, arms: arms)
        case .one(let session):
            guard there.contains(session) else {
                throw InputError(
                    file: folder.path, found: "no session \(session)", expected: "a session that has been run"
                )
            }
            return [session]
        }
    }
}
