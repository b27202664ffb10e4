// The outcomes of a study's subjects, by arm, while a summary is made of them.

import IsletDevices

/// One column an arm and outcome; memory doesn't grow with subjects.
struct ArmColumns {
    let spool = ColumnSpool()
    /// By arm, by outcome: the column, and how many values it has.
    private var places: [[String: Int]]
    private var counts: [Int]

    init(_ study: Study) {
        let spool = spool
        places = study.arms.map { _ in
            Dictionary(uniqueKeysWithValues: study.outcomes.map { ($0.name, spool.add()) })
        }
        counts = Array(repeating: 0, count: study.arms.count * study.outcomes.count)
    }

    mutating func append(_ value: Double, of session: SessionSummary, _ outcome: String) throws(OutputError) {
        guard let column = places[session.armIndex][outcome] else { return }
        counts[column] += 1
        try spool.append(value, of: session.subjectIndex, to: column)
    }

    func count(_ arm: Int, _ outcome: String) -> Int { places[arm][outcome].map { counts[$0] } ?? 0 }

    /// By rising subject; empty where nobody has the outcome.
    private func values(_ arm: Int, _ outcome: String) throws(OutputError) -> SubjectValues {
        guard let column = places[arm][outcome] else { return [] }
        return try spool.values(column)
    }

    func estimates(
        ofArm arm: Int, _ outcomes: [Outcome]
    ) throws(OutputError) -> [String: StudySummary.Estimate] {
        var found: [String: StudySummary.Estimate] = [:]
        for outcome in outcomes {
            guard let column = places[arm][outcome.name], counts[column] > 0 else { continue }
            found[outcome.name] = StudySummary.estimate(
                try spool.values(column).map(\.value), within: outcome.possible)
        }
        return found
    }

    /// The values of an outcome by arm, as they are compared.
    func compared(_ outcome: Outcome, _ ended: EarlyEnds) throws(OutputError) -> [SubjectValues] {
        var columns: [SubjectValues] = []
        for arm in places.indices { columns.append(try values(arm, outcome.name)) }
        return ended.charged(columns, outcome)
    }
}
