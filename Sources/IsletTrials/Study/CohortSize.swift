// How many people a study has.

public import IsletDevices

extension Study {
    /// The number of subjects, within the limit of sessions. Reads and checks the whole of the cohort's table, if it
    /// has one: what runs later finds no surprise in it.
    public func cohortSize(studyPath: String) throws(InputError) -> Int {
        if case .generate(let people) = cohort { return people.count }
        return try CohortLoader.entries(of: self, studyPath: studyPath).count
    }
}
