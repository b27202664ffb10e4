// The intervals of many columns of differences.
//
// Guarantees: each column's hang on its values, its length and the study's seed, on no other column; columns that are equal are looked at once, as variants often differ from
// their reference in the same way. All columns of as many people share their draws.

import IsletNumerics
import IsletKernel

struct SharedIntervals {
    typealias Drawn = (
        interval: (interval: ConfidenceInterval, method: MeanIntervalMethod)?, signFlipP: Double?
    )

    private let seed: UInt64
    private var draws: [Int: SharedDraws] = [:]
    private var known: [[Double]: Drawn] = [:]

    init(seed: UInt64) { self.seed = seed }

    /// What was drawn for columns that `find` was given; nothing for others.
    subscript(_ differences: [Double]) -> Drawn { known[differences] ?? (nil, nil) }

    mutating func find(_ columns: [[Double]]) {
        var lacking: [Int: [[Double]]] = [:]
        for column in columns
        where column.count >= Statistics.fewestPairs && known[column] == nil
            && column.contains(where: { $0 != 0 })
        {
            known[column] = (nil, nil)
            lacking[column.count, default: []].append(column)
        }
        for count in lacking.keys.sorted() {
            let some = lacking[count] ?? []
            guard let found = try? Statistics.sharedMeans(some, level: 0.95, draws: draws(of: count)) else {
                continue
            }
            for (column, mean) in zip(some, found) { known[column] = (mean.interval, mean.signFlipP) }
        }
    }

    private mutating func draws(of count: Int) -> SharedDraws {
        if let known = draws[count] { return known }
        var stream = RandomStreams(seed: seed, subject: 0).stream("policy bootstrap", index: UInt64(count))
        let fresh = SharedDraws(count: count, resamples: StudySummary.resamples, using: &stream)
        draws[count] = fresh
        return fresh
    }
}
