// Who ended early, and what they count as wherever two groups of sessions are compared (docs/decisions/0195).
//
// Guarantees: of an outcome with a better side who ended early has the worst value that anybody has among all that is compared, their own among them, whatever they
// came to and also where they came to none. An arm of which nobody can have the outcome (no alerts, nobody who listens) is charged nothing: it has no value to be
// compared by. One of which everybody ended early is charged.

import IsletDevices

struct EarlyEnds: Sendable {
    /// By arm: who ended early, and how many sessions there are.
    private(set) var subjects: [Set<Int>]
    private(set) var sessions: [Int]

    init(arms: Int) {
        subjects = Array(repeating: [], count: arms)
        sessions = Array(repeating: 0, count: arms)
    }

    mutating func add(_ session: SessionSummary) {
        add(subject: session.subjectIndex, arm: session.armIndex, session.end)
    }

    mutating func add(subject: Int, arm: Int, _ end: SessionEnd) {
        sessions[arm] += 1
        if end.reason != nil { subjects[arm].insert(subject) }
    }

    func count(_ arm: Int) -> Int { subjects[arm].count }

    /// Of these arms, in this order.
    func of(_ arms: [Int]) -> EarlyEnds {
        var some = self
        some.subjects = arms.map { subjects[$0] }
        some.sessions = arms.map { sessions[$0] }
        return some
    }

    /// The arms of both, this one's first.
    func joined(with other: EarlyEnds) -> EarlyEnds {
        var all = self
        all.subjects += other.subjects
        all.sessions += other.sessions
        return all
    }

    /// - Parameter columns: an outcome's values by arm, of all that is compared.
    /// - Returns: the same, as they are compared.
    func charged(_ columns: [SubjectValues], _ outcome: Outcome) -> [SubjectValues] {
        guard outcome.better != .neither, subjects.contains(where: { !$0.isEmpty }) else { return columns }
        let all = columns.lazy.flatMap { $0.map(\.value) }
        guard let worst = outcome.better == .lower ? all.max() : all.min() else { return columns }
        return columns.indices.map { arm in
            let isCharged =
                !subjects[arm].isEmpty && (!columns[arm].isEmpty || subjects[arm].count == sessions[arm])
            guard isCharged else { return columns[arm] }
            let others = columns[arm].filter { !subjects[arm].contains($0.subject) }
            return (others + subjects[arm].map { ($0, worst) }).sorted { $0.subject < $1.subject }
        }
    }
}
