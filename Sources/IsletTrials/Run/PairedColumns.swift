// Differences between two arms, person by person.
//
// Guarantees: one difference for each person who has the value on both sides, in the order of the people; nobody is guessed. Differences lie on the grid
// of `Statistics.onGrid`, relative to the largest value on either side: whatever judges them (mean, interval, ranks, flipped signs, gate) sees the same
// zeros and ties.

import IsletNumerics

/// The values of one outcome, by rising subject.
package typealias SubjectValues = [(subject: Int, value: Double)]

package enum PairedColumns {
    /// Value − reference of everybody whom both have.
    package static func differences(_ values: SubjectValues, _ references: SubjectValues) -> [Double] {
        let pairs = pairs(values, references)
        let scale = pairs.reduce(0) { max($0, abs($1.value), abs($1.reference)) }
        return Statistics.onGrid(pairs.map { $0.value - $0.reference }, scale: scale)
    }

    /// Both values of everybody whom both have.
    package static func pairs(
        _ values: SubjectValues, _ references: SubjectValues
    ) -> [(value: Double, reference: Double)] {
        var pairs: [(value: Double, reference: Double)] = []
        var other = references.makeIterator()
        var candidate = other.next()
        for (subject, value) in values {
            while let c = candidate, c.subject < subject { candidate = other.next() }
            if let c = candidate, c.subject == subject { pairs.append((value, c.value)) }
        }
        return pairs
    }
}
