// From a study's cohort to virtual subjects.
//
// Guarantees: subject k of a generated cohort is the same whatever the count, the shard or the number of workers.

public import Physiology
import Records
import SimulationKernel

public enum CohortLoader {
    /// The most bytes that a parameter table may have.
    public static let tableByteLimit = 64 << 20

    /// The subjects of a study, in the order of their indices.
    ///
    /// - Parameters:
    ///   - studyPath: what a table's path is relative to.
    ///   - jobs: threads to find therapies on.
    /// - Throws: `InputProblem`, `CohortError`, `ModelRunError`.
    public static func subjects(of study: Study, studyPath: String, jobs: Int) throws -> [VirtualSubject] {
        switch study.cohort {
        case .generate(_, let group, let count):
            try study.checkSessions(subjects: count, file: studyPath)
            let generator = CohortGenerator(group: group.ageGroup)
            return try Workers.map(count: count, jobs: jobs) { index in
                var stream = RandomStreams(seed: study.seed, subject: UInt64(index)).stream("cohort")
                return try generator.subject(index, using: &stream)
            }
        case .table(_, let model, let names):
            let path = study.tablePath(studyPath: studyPath) ?? ""
            let bytes = try readInput(path, limitBytes: tableByteLimit)
            let table = try ParameterTable(bytes, file: path, model: model.kind)
            let entries = try names.map { try $0.map { try table.entry(named: $0) } } ?? table.entries
            try study.checkSessions(subjects: entries.count, file: path)
            return try Workers.map(count: entries.count, jobs: jobs) { try VirtualSubject(entries[$0]) }
        }
    }
}

extension GroupID {
    /// What the name stands for.
    var ageGroup: AgeGroup {
        switch self {
        case .adult: .adult
        case .adolescent: .adolescent
        case .child: .child
        }
    }
}

extension ModelID {
    /// What the name stands for.
    var kind: ModelKind {
        switch self {
        case .uvaPadova2008: .uvaPadova2008
        }
    }
}
