// Whom a live session is about: a person, or a subject that is watched.
//
// Guarantees: drawn or read as its study does; nobody else of the cohort is.

package import IsletAlerts
import IsletDevices
package import IsletModels
import IsletTrials

package struct LiveSubject: Sendable {
    /// As results call it.
    package let name: String
    /// nil for what is no person.
    package let person: VirtualSubject?
    /// Of its life, for recommended ranges, where it doesn't change: a person's.
    package var stage: String { person.map { $0.group == .adult ? "adult" : "child" } ?? "" }
    /// Two of one checksum are the same.
    package let checksum: String

    /// - Throws: `InputError` where the study has no such subject; what `CohortLoader` throws.
    init(_ index: Int, of study: Study, studyPath: String) throws {
        if study.subject.kind.isPerson {
            let person = try CohortLoader.subject(index, of: study, studyPath: studyPath)
            (self.person, name) = (person, person.name)
            checksum = try OnePerson(person, index: index).digest(index)
            return
        }
        let cohort = try study.cohort(studyPath: studyPath)
        guard (0..<cohort.count).contains(index) else {
            throw InputError(
                file: studyPath, found: "subject \(index)", expected: "0 to \(cohort.count - 1)")
        }
        (person, name) = (nil, try cohort.name(index))
        checksum = try cohort.digest(index)
    }
}

extension AlertPolicy {
    /// Alerts of metrics say whose they are, where they say nothing yet. It changes nothing but their words and links.
    package func about(_ subject: String) -> AlertPolicy {
        var policy = self
        for place in policy.rules.indices where policy.rules[place].subject.isEmpty {
            if !policy.rules[place].tests.isEmpty { policy.rules[place].subject = subject }
        }
        return policy
    }
}
