// What a study can be about: one row a kind of subject.
//
// Guarantees: reader, cohort, runner, outcomes, report and messages know a kind by its row alone: who its subjects are, how one of their sessions is lived, what
// of it is measured, which keys of a study mean something for it. A new kind is a folder with its body and its row, and the row's name in `all`.
// Does not: know what is lived. A step of a session never looks here.

package import IsletAlerts
package import IsletDevices

package struct SubjectKind: ListedByID, Tunable {
    package static let noun = "a kind of subject"

    package let id: String
    package let summary: String
    /// What its subjects are called, one and many.
    package let words: (one: String, many: String)
    /// What thresholds can watch.
    package let metrics: [AlertMetric]
    /// What a study may set of it.
    package let parameters: [TunableParameter]
    /// Keys of a study without a meaning here, as paths: `arms.sensor`.
    let foreignKeys: [String]
    /// In the order of the files.
    package let outcomes: [Outcome]
    /// Whether its sessions have a glucose, meals and a loop: profiles, steps and margins are of these.
    package let isPerson: Bool
    let makeCohort: CohortMaker

    /// The subjects of a study, each found when it is needed.
    /// `isChecked` says whether a table is read through before: else a row is judged when somebody asks for it.
    typealias CohortMaker =
        @Sendable (_ study: Study, _ studyPath: String, _ isChecked: Bool) throws -> any StudyCohort

    init(
        id: String, summary: String, words: (one: String, many: String), metrics: [AlertMetric],
        parameters: [TunableParameter], foreignKeys: [String], outcomes: [Outcome], isPerson: Bool,
        makeCohort: @escaping CohortMaker
    ) {
        (self.id, self.summary, self.words, self.metrics) = (id, summary, words, metrics)
        (self.parameters, self.foreignKeys, self.outcomes) = (parameters, foreignKeys, outcomes)
        (self.isPerson, self.makeCohort) = (isPerson, makeCohort)
    }

    /// The kinds that a study can name.
    package static let all: [SubjectKind] = [.person, .growRoom]

    /// Somebody with diabetes: a body of a glucose model, sensor, pump, loop, meals, and who listens.
    package static let person = SubjectKind(
        id: "person", summary: "somebody with diabetes, on a pump and a glucose sensor",
        words: ("person", "people"), metrics: AlertMetric.inStudies, parameters: [],
        foreignKeys: ["keeper", "arms.keeper"], outcomes: Outcome.all, isPerson: true
    ) { study, studyPath, isChecked in
        try CohortLoader.cohort(of: study, studyPath: studyPath, isChecked: isChecked)
    }
}

package typealias TunedSubject = Tuned<SubjectKind>

extension Study {
    /// Who it is about, in the order of their indices, each found when somebody needs them.
    /// - Parameters:
    ///   - studyPath: what a table's path is relative to.
    ///   - isChecked: whether a table is read through before.
    /// - Throws: `InputError`.
    package func cohort(studyPath: String, isChecked: Bool = true) throws -> any StudyCohort {
        try subject.kind.makeCohort(self, studyPath, isChecked)
    }

    /// The same, found now, as many as are remembered.
    /// - Parameters:
    ///   - jobs: threads to find them on.
    ///   - isInterrupted: asked before each.
    /// - Throws: `InputError`; `CancellationError` after an interruption.
    package func makeCohort(
        studyPath: String, jobs: Int, isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) throws -> any StudyCohort {
        let cohort = try cohort(studyPath: studyPath)
        try cohort.draw([0..<cohort.count], jobs: jobs, isInterrupted: isInterrupted)
        return cohort
    }

    /// What a session of the study comes to, in the order of the files.
    package var outcomes: [Outcome] { subject.kind.outcomes }
}
