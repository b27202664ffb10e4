// The subjects of a study, whatever they are, and one session of one of them.
//
// Guarantees: whoever runs, repeats or checks sessions goes through these two, once a session: nothing within a session does.

package import IsletAlerts
package import IsletModels
package import IsletDevices
package import IsletKernel

/// All subjects of a study.
package protocol StudyCohort: Sendable {
    var count: Int { get }
    /// SHA-256 of the table that subjects are rows of; nil where they are drawn.
    var table: String? { get }
    /// As results call it.
    func name(_ index: Int) throws -> String
    /// What makes the subject what it is: two cohorts of one checksum are the same subjects.
    func absorb(_ index: Int, into digest: inout Digest128) throws
    /// Finds subjects before they are needed, as many as are remembered: what can't be had is known then.
    /// - Parameter isInterrupted: asked before each subject.
    /// - Throws: `InputError`, `CohortError`, `CancellationError` after an interruption.
    func draw(
        _ subjects: [Range<Int>], jobs: Int, isInterrupted: @escaping @Sendable () -> Bool) throws
    /// Who was found so far.
    var drawn: CohortSums { get }
    /// Assembles a session. Nothing runs yet.
    /// - Parameters:
    ///   - shadows: who listens in shadow; changes nothing else.
    ///   - scoring: who listens in shadow and is scored at the end; in place of `shadows`.
    func session(
        _ study: Study, index: Int, arm: Study.Arm, shadows: ShadowPlan?, scoring: PolicyScoring?
    ) throws -> any StudySession
}

extension StudyCohort {
    package var table: String? { nil }
    package var drawn: CohortSums { CohortSums(count: count) }
    package func draw(
        _ subjects: [Range<Int>], jobs: Int, isInterrupted: @escaping @Sendable () -> Bool
    ) throws {}

    /// A subject's checksum, as journals have it.
    package func digest(_ index: Int) throws -> String {
        var digest = Digest128()
        try absorb(index, into: &digest)
        return digest.description
    }

    /// The checksums of some subjects, those who were not found so far among them.
    package func sums(of subjects: [Range<Int>], jobs: Int) throws -> CohortSums {
        var sums = drawn
        let lacking = subjects.joined().filter { !sums.has($0) }
        let digests = try Workers.map(count: lacking.count, jobs: jobs) { try digest(lacking[$0]) }
        for (index, digest) in zip(lacking, digests) { sums.add(digest, at: index) }
        return sums
    }

    package func session(_ study: Study, index: Int, arm: Study.Arm, shadows: ShadowPlan? = nil) throws
        -> any StudySession
    {
        try session(study, index: index, arm: arm, shadows: shadows, scoring: nil)
    }
}

/// One subject in one arm, start to end.
package protocol StudySession: AnyObject {
    var executor: SessionExecutor { get }
    var recorder: SessionRecorder { get }
    var duration: Instant { get }
    /// nil where nobody listens in shadow.
    var shadows: ShadowPolicies? { get }
    /// Evaluations of the body's right-hand side so far.
    var evaluations: Int { get }
    /// Runs to the end at full speed, or up to `until`, and sums up.
    func run(until: Instant?) -> SessionOutcome

    // MARK: What a session in real time needs beside

    var alerts: AlertCenter { get }
    /// False while the app is dead: what is said to it then is lost.
    var isAppAlive: Bool { get }
    /// Opens a dead app.
    func reopenApp()
    /// Alerts go on under another policy, whose rules begin with those of the one before.
    func follow(_ policy: AlertPolicy)
    /// Lets the session's tasks run out. Safe to call twice.
    func end()
}

extension StudySession {
    /// What each policy in shadow decided so far, in the plan's order; empty for `record: summary`.
    package var shadowEffects: [[ShadowEffect]] {
        guard let shadows else { return [] }
        return executor.inspect { shadows.here { $0.effects() } }
    }

    /// The effects of policies in shadow as text, as a store keeps them.
    func shadowTexts(_ numbers: ShadowNumbers) -> [[UInt8]] {
        guard let shadows else { return [] }
        return executor.inspect { shadows.here { $0.texts(numbers) } }
    }

    /// What each code of each policy in shadow came to so far, in the plan's order.
    package var shadowTallies: [[AlertTally]] {
        guard let shadows else { return [] }
        return executor.inspect { shadows.here { $0.tallies() } }
    }

    /// How often policies in shadow were judged so far, part by part.
    var shadowJudgements: Int {
        guard let shadows else { return 0 }
        return executor.inspect { shadows.here { $0.judgements() } }
    }
}

extension Session: StudySession {}

/// One person of a cohort, at their place in it.
package struct OnePerson: StudyCohort {
    private let person: VirtualSubject
    package let count: Int

    package init(_ person: VirtualSubject, index: Int) { (self.person, count) = (person, index + 1) }

    package func name(_ index: Int) -> String { person.name }
    package func absorb(_ index: Int, into digest: inout Digest128) throws {
        PeopleCohort.absorb(person, into: &digest)
    }
    package func session(
        _ study: Study, index: Int, arm: Study.Arm, shadows: ShadowPlan?, scoring: PolicyScoring?
    ) throws -> any StudySession {
        try Session(
            study: study, subject: person, index: index, arm: arm, shadows: shadows, scoring: scoring)
    }
}
