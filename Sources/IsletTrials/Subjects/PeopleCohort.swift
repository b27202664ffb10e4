// People of a study, drawn or of a table, each when somebody needs them.
//
// Guarantees: whoever asks for subject k gets the same person, whoever else was drawn before; a person is drawn once for as many others as are remembered,
// however many threads ask; memory does not grow with the cohort. A cohort for whom a few are needed draws these few.
// Does not: remember more than `remembered` people: in a study of more, a person may be drawn again.

package import IsletAlerts
package import IsletModels
package import IsletKernel
import Synchronization

package final class PeopleCohort: StudyCohort {
    /// As many people are remembered; a prime, so that people at even distances don't fall on one place.
    static let remembered = 16_381

    package let count: Int
    package let table: String?
    private let find: @Sendable (Int) throws -> VirtualSubject
    private let places: [Place]
    private let sums: Mutex<CohortSums>

    /// Who was asked for last, of those who share a place.
    private final class Place: Sendable {
        let held = Mutex<(index: Int, subject: VirtualSubject)?>(nil)
    }

    /// - Parameters:
    ///   - table: SHA-256 of the table that people are rows of.
    ///   - find: subject k, always the same.
    init(
        count: Int, table: String? = nil, _ find: @escaping @Sendable (Int) throws -> VirtualSubject
    ) {
        (self.count, self.table, self.find) = (count, table, find)
        places = (0..<min(count, Self.remembered)).map { _ in Place() }
        sums = Mutex(CohortSums(count: count))
    }

    convenience init(_ members: [VirtualSubject]) {
        self.init(count: members.count) { members[$0] }
    }

    /// - Throws: what `CohortLoader.subject` throws.
    package func member(_ index: Int) throws -> VirtualSubject {
        return try places[index % places.count].held.withLock { held in
            if let held, held.index == index { return held.subject }
            let subject = try find(index)
            held = (index, subject)
            let digest = Self.digest(of: subject)
            sums.withLock { $0.add(digest, at: index) }
            return subject
        }
    }

    /// All of them who are in some ranges, in order; nil where the cohort has more than are remembered.
    package func everybody(in own: [Range<Int>]) throws -> [VirtualSubject]? {
        guard count <= Self.remembered else { return nil }
        return try own.joined().map { try member($0) }
    }

    package func name(_ index: Int) throws -> String { try member(index).name }

    package func digest(_ index: Int) throws -> String { Self.digest(of: try member(index)) }

    package var drawn: CohortSums { sums.withLock { $0 } }

    package func draw(
        _ subjects: [Range<Int>], jobs: Int, isInterrupted: @escaping @Sendable () -> Bool
    ) throws {
        // More would push each other out.
        let wanted = Array(subjects.joined().prefix(Self.remembered))
        _ = try Workers.map(count: wanted.count, jobs: jobs, isInterrupted: isInterrupted) {
            _ = try self.member(wanted[$0])
        }
    }

    package func absorb(_ index: Int, into digest: inout Digest128) throws {
        Self.absorb(try member(index), into: &digest)
    }

    private static func digest(of subject: VirtualSubject) -> String {
        var digest = Digest128()
        absorb(subject, into: &digest)
        return digest.description
    }

    static func absorb(_ subject: VirtualSubject, into digest: inout Digest128) {
        for word in Journal.words(of: Array(subject.name.utf8)) { digest.absorb(word) }
        let values = subject.parameters.values + (subject.initialState ?? [])
        for value in values + [subject.carbohydrateRatio, subject.correctionFactor] {
            digest.absorb(value.bitPattern)
        }
    }

    package func session(
        _ study: Study, index: Int, arm: Study.Arm, shadows: ShadowPlan?, scoring: PolicyScoring?
    ) throws -> any StudySession {
        try Session(
            study: study, subject: member(index), index: index, arm: arm, shadows: shadows, scoring: scoring)
    }
}
