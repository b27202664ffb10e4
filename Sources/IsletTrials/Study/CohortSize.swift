// How many people a study has.

public import IsletDevices

extension Study {
    /// The number of subjects, within the limit of sessions. Reads and checks the whole of the cohort's table, if it
    /// has one: what runs later finds no surprise in it.
    public func cohortSize(studyPath: String) throws(InputError) -> Int {
        switch cohort {
        case .generate(let people): people.count
        case .table(let table): try CohortLoader.checkedCount(of: table, of: self, studyPath: studyPath)
        }
    }
}
