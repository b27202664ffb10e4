// How many people a study has, its table counted where the study leaves that to the table.

public import Records

extension Study {
    /// The largest cohort table read: 64 MiB.
    public static let maximumTableBytes = 64 << 20

    /// The number of subjects, within the limit of sessions. Opens the cohort's table, if it has one.
    ///
    /// A table's rows are counted as its lines after the first that aren't blank; what stands in them is the matter
    /// of whoever reads the model's parameters.
    public func cohortSize(studyPath: String) throws(InputProblem) -> Int {
        guard let path = tablePath(studyPath: studyPath) else { return cohort.subjectCount ?? 0 }
        let table = try readTextInput(path, limitBytes: Self.maximumTableBytes)
        let rows = table.utf8.split(whereSeparator: { $0 == 10 || $0 == 13 })
            .count { !$0.allSatisfy { $0 == 32 || $0 == 9 } }
        guard rows > 1 else {
            throw InputProblem(
                file: path, found: rows == 0 ? "an empty table" : "a header without rows",
                expected: "a header and a row for each subject")
        }
        let count = cohort.subjectCount ?? rows - 1
        guard count <= rows - 1 else {
            throw InputProblem(
                file: path, found: rows == 2 ? "1 subject" : "\(rows - 1) subjects",
                expected: "the \(count) that the study lists")
        }
        try checkSessions(subjects: count, file: path)
        return count
    }
}
