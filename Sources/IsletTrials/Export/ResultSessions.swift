// The finished sessions of a results folder, and their step logs.
//
// Guarantees: what is handed out is of the stored session: the session is run again, and its digest compared with the stored
// one, before the first row is handed out. So every folder has all tables, whatever its study recorded. Of a session a day is held at
// a time, however long it is; a person is drawn when a session of theirs is asked for.
// Does not: find out where a digest went astray. `Replay` does.

import IsletFiles
package import IsletAlerts
import IsletKernel
import IsletLoop
package import IsletDevices
package import IsletModels

/// A session that isn't what the folder says it is.
package struct DigestMismatch: Error, Hashable, Sendable, CustomStringConvertible {
    package var session: Int
    package var stored: String
    package var here: String

    package var description: String {
        "session \(session): digest \(here) differs from the stored \(stored), so these are not its steps; "
            + "`islet replay` tells where they part"
    }
}

package final class ResultSessions {
    /// A session as the folder has it.
    package struct Entry: Hashable, Sendable {
        package var session: Int
        package var subjectIndex: Int
        package var subject: String
        package var armIndex: Int
        package var arm: String
        package var digest: String
    }

    package let study: Study
    /// By session index.
    package let entries: [Entry]
    /// What the study says of its sessions: how much it records changes nothing about them.
    private let identityBytes: [UInt8]
    private let directory: String
    private let studyPath: String
    private let jobs: Int
    private let isInterrupted: @Sendable () -> Bool
    private var people: PeopleCohort?

    /// - Parameters:
    ///   - directory: as the user named it.
    ///   - studyPath: what a cohort table's path is relative to; nil for the directory.
    ///   - jobs: threads to run sessions on.
    ///   - allowsAlgorithms: whether programs that arms name may be started.
    ///   - isInterrupted: asked while rows are made.
    package init(
        _ store: any ResultStore, directory: String, studyPath: String? = nil, jobs: Int,
        allowsAlgorithms: Bool = false,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws {
        self.directory = directory
        self.studyPath = studyPath ?? directory
        self.jobs = jobs
        self.isInterrupted = isInterrupted
        var study = try Study.parse(try store.studyText(), file: directory, hasRun: true)
        if allowsAlgorithms { try study.startAlgorithms(studyPath: studyPath ?? directory) }
        self.study = study
        var same = study
        same.record = .events
        // Which comparisons a study is about changes no step.
        same.primary = []
        same.margin = nil
        same.isMarginRelative = false
        same.gate = StudyClaims.gate
        same.question = nil
        same.selects = .best
        same.confirmSeed = nil
        // Nor does who listens in shadow.
        same.policies = []
        same.sweep = nil
        same.sweepArms = []
        identityBytes = Array((same.yaml + "\n").utf8)
        var entries: [Entry] = []
        try store.forEachOrigin {
            entries.append(
                Entry(
                    session: $0.session, subjectIndex: $0.subjectIndex, subject: $0.subject,
                    armIndex: $0.armIndex, arm: $0.arm, digest: $0.digest))
        }
        self.entries = entries
    }

    /// The sessions that are wanted.
    /// - Throws: `InputError` where there is no such session or arm.
    package func entries(session: Int?, arm: String?) throws(InputError) -> [Entry] {
        if let arm, !study.arms.contains(where: { $0.name == arm }) {
            let names = study.arms.map(\.name).joined(separator: ", ")
            throw InputError(
                file: directory, found: "no arm \(printable(arm, limit: 100))", expected: "one of \(names)")
        }
        let found = entries.filter { (session ?? $0.session) == $0.session && (arm ?? $0.arm) == $0.arm }
        if let session, found.isEmpty {
            throw InputError(
                file: directory, found: "no session \(session)" + (arm.map { " in arm \($0)" } ?? ""),
                expected: "a session that has been run")
        }
        return found
    }

    /// The policy that listened in shadow under this name; nil for an arm's own.
    /// - Throws: `InputError` for one that no arm has and that didn't listen.
    @discardableResult
    package func policy(_ policy: String) throws(InputError) -> AlertPolicy? {
        if let listener = study.shadowPolicies.first(where: { $0.name == policy }) { return listener }
        let names = study.arms.map(\.alerts.name) + study.shadowPolicies.map(\.name)
        guard !names.contains(policy) else { return nil }
        throw InputError(
            file: directory, found: "no policy \(quotedForMessage(policy))",
            expected: oneOf(names, meant: policy))
    }

    /// The same for a session of `arm`, in which another arm's policy was heard by nobody.
    /// - Throws: as `policy`; `InputError` where it is another arm's.
    package func policy(_ policy: String, in arm: Study.Arm) throws(InputError) -> AlertPolicy? {
        if let listener = try self.policy(policy) { return listener }
        guard arm.alerts.name == policy else {
            throw InputError(
                file: directory, found: "policy \(quotedForMessage(policy)) of another arm",
                expected:
                    "\(quotedForMessage(arm.alerts.name)), which the session's arm \(printable(arm.name, limit: 100)) has"
                    + (study.shadowPolicies.isEmpty ? "" : ", or one in shadow"))
        }
        return nil
    }

    /// Who and what a session is run with.
    /// - Throws: what `CohortLoader` throws; `InputError` where the cohort isn't that of the folder.
    package func subjectAndArm(of entry: Entry) throws -> (subject: VirtualSubject, arm: Study.Arm) {
        guard study.subject.kind.isPerson else {
            throw InputError(
                file: directory, found: "a study of \(study.subject.kind.words.many)",
                expected: "a study of people: there are no steps and no glucose")
        }
        let people =
            try self.people ?? CohortLoader.cohort(of: study, studyPath: studyPath, isChecked: false)
        self.people = people
        return (try people.member(entry.subjectIndex, directory), try arm(of: entry))
    }

    /// All subjects, and the arm, of a session of any kind.
    /// - Throws: as `subjectAndArm`.
    package func cohort(of entry: Entry) throws -> (cohort: any StudyCohort, arm: Study.Arm) {
        let cohort = try study.cohort(studyPath: studyPath, isChecked: false)
        try cohort.check(entry.subjectIndex, directory)
        return (cohort, try arm(of: entry))
    }

    private func arm(of entry: Entry) throws(InputError) -> Study.Arm {
        guard study.arms.indices.contains(entry.armIndex) else {
            throw InputError(
                file: directory, found: "arm \(entry.armIndex) of \(study.arms.count)",
                expected: "the arms that the study was run with")
        }
        return study.arms[entry.armIndex]
    }

    /// What a session's steps are called by: the same for the same session of the same study, wherever it was run.
    package func key(of entry: Entry) -> String {
        var hash = SHA256()
        hash.update(identityBytes)
        hash.update(Array(entry.digest.utf8))
        return String(hash.finished().description.prefix(32))
    }

    /// The steps of a session, in their order.
    /// - Throws: `DigestMismatch`; what `subjectAndArm` throws.
    package func steps(of entry: Entry) throws -> [LoggedStep] {
        var steps: [LoggedStep] = []
        try rerun(of: entry).steps { steps.append($0) }
        return steps
    }

    /// A session to be run again, on any thread.
    /// - Throws: what `subjectAndArm` throws.
    package func rerun(of entry: Entry, policy: String? = nil) throws -> SessionRerun {
        let (subject, arm) = try subjectAndArm(of: entry)
        return SessionRerun(
            study: study, subject: subject, arm: arm,
            origin: LoggedStep.Origin(
                study: study.name, key: key(of: entry), session: entry, calendar: study.start.calendar),
            policy: policy)
    }

    /// Rows of one table of each of `entries`, as text, in their order; made on all the threads that this was given.
    /// - Throws: what `subjectAndArm` throws; `OutputError` where the system grants no thread.
    /// - Parameter policy: whose alerts alone are wanted.
    package func texts(
        of entries: [Entry], table: ExportTable, format: StepFormat, policy: String? = nil
    ) throws -> SessionTexts {
        SessionTexts(
            entries,
            try InOrder(
                count: entries.count, jobs: jobs,
                make: {
                    [isInterrupted, reruns = try entries.map { try rerun(of: $0, policy: policy) }] index in
                    let (text, days) = try reruns[index].text(table, format, isInterrupted: isInterrupted)
                    return SessionTexts.Made(text: text, days: days)
                }))
    }
}

extension StudyCohort {
    /// Refuses a subject that the cohort doesn't have: a folder's table may be another by now.
    func check(_ index: Int, _ file: String) throws(InputError) {
        guard (0..<count).contains(index) else {
            throw InputError(
                file: file, found: "subject \(index) of \(count)",
                expected: "the cohort that the study was run with")
        }
    }
}

extension PeopleCohort {
    func member(_ index: Int, _ file: String) throws -> VirtualSubject {
        try check(index, file)
        return try member(index)
    }
}

/// Texts of sessions, one after the other. They are no longer made once this is let go.
package final class SessionTexts {
    struct Made: Sendable {
        var text: SpooledText
        var days: Double
    }

    private let entries: [ResultSessions.Entry]
    private let made: InOrder<Made>
    private var position = 0

    init(_ entries: [ResultSessions.Entry], _ made: InOrder<Made>) {
        self.entries = entries
        self.made = made
    }

    deinit { made.cancel() }

    /// The next session's text, and the days that it lived; nil after the last one.
    /// - Throws: `DigestMismatch`; `CancellationError` after an interruption; `OutputError`.
    package func next() throws -> (entry: ResultSessions.Entry, text: SpooledText, days: Double)? {
        guard let next = try made.next() else { return nil }
        defer { position += 1 }
        return (entries[position], next.text, next.days)
    }
}
