// One watched session of the swarm, and its verdict.
//
// Guarantees: the same study gives the same verdict; the watched session has the digest of the one that `islet run` runs.

package import IsletTrials
import IsletDevices
package import IsletModels
import IsletKernel

package struct SwarmVerdict: Sendable {
    package var seed: UInt64
    /// By time.
    package var violations: [Violation]
    /// Faults that truly struck.
    package var faults: Int
    package var steps: Int
    package var livedDays: Double
    /// The body left its range: the session was judged up to there.
    package var leftRange: Bool
    package var digest: String

    /// What to tell of first: the gravest invariant's first breach, in the order of `SwarmInvariants.all`.
    package var worst: Violation? {
        for invariant in SwarmInvariants.all {
            if let found = violations.first(where: { $0.invariant == invariant.name }) { return found }
        }
        return nil
    }
}

package struct SwarmTrial: Sendable {
    package var study: Study
    package var subject: VirtualSubject
    package var index: Int
    package var armIndex: Int
    /// Stands between the loop and its pump; for tests of the swarm itself.
    let wrapPump: @Sendable (any InsulinPumpPort) -> any InsulinPumpPort

    package init(study: Study, subject: VirtualSubject, index: Int = 0, armIndex: Int = 0) {
        self.init(study: study, subject: subject, index: index, armIndex: armIndex, wrapPump: { $0 })
    }

    init(
        study: Study, subject: VirtualSubject, index: Int = 0, armIndex: Int = 0,
        wrapPump: @escaping @Sendable (any InsulinPumpPort) -> any InsulinPumpPort
    ) {
        self.study = study
        self.study.record = max(study.record, .events)
        self.subject = subject
        self.index = index
        self.armIndex = armIndex
        self.wrapPump = wrapPump
    }

    package func run() throws -> SwarmVerdict {
        let (evidence, digest) = try watch()
        return SwarmVerdict(
            seed: study.seed, violations: SwarmInvariants.violations(in: evidence),
            faults: evidence.faults.count, steps: evidence.steps.count,
            livedDays: Double(evidence.endedAt.nanoseconds) / Double(Nanoseconds.day),
            leftRange: evidence.leftRange, digest: digest)
    }

    func watch() throws -> (SwarmEvidence, digest: String) {
        let witness = SwarmWitness()
        let session = try Session(
            study: study, subject: subject, index: index, arm: study.arms[armIndex],
            seams: witness.seams(wrapPump: wrapPump))
        session.executor.journal.observer = { witness.see($0) }
        let outcome = session.run()
        // The witness holds the session's pump: without this they would hold each other.
        session.executor.journal.observer = nil
        return (witness.finish(session, outcome), outcome.digest.description)
    }

    /// With other faults.
    func with(_ faults: Study.Faults) -> SwarmTrial {
        var trial = self
        trial.study.faults = faults
        return trial
    }
}
