// Differences between two arms, person by person.
//
// Guarantees: one difference for each person who has the value on both sides, in the order of the people; nobody is guessed.

/// The values of one outcome, by rising subject.
package typealias SubjectValues = [(subject: Int, value: Double)]

package enum PairedColumns {
    /// Value − reference of everybody whom both have.
    package static func differences(_ values: SubjectValues, _ references: SubjectValues) -> [Double] {
        var differences: [Double] = []
        var other = references.makeIterator()
        var candidate = other.next()
        for (subject, value) in values {
            while let c = candidate, c.subject < subject { candidate = other.next() }
            if let c = candidate, c.subject == subject { differences.append(value - c.value) }
        }
        return differences
    }
}
