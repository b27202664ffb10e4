// Differences of very many people, as those of blocks of people.
//
// Why: a bootstrap of 2000 resamples draws 2000 times as many numbers as there are people, and the jackknife of n people within it adds n² of them: a minute
// at 20 000, an hour at a million. The mean of n independent differences and the mean of their block means are one number, and so are the variances of the
// two; from 1000 blocks of 20 people and more on, resampling blocks gives the same interval as resampling people, but for what is drawn.

extension Statistics {
    /// Up to so many differences are taken as they are.
    public static let mostForResampling = 20_000
    /// Blocks of the others.
    public static let resampledBlocks = 1000

    /// The means of blocks of people in a row, with the mean of all; the differences themselves up to `mostForResampling`.
    ///
    /// Blocks differ by one person at most; what their unequal sizes do to the mean is taken off.
    public static func blockMeans(_ differences: [Double]) -> [Double] {
        let count = differences.count
        guard count > mostForResampling else { return differences }
        var means: [Double] = []
        means.reserveCapacity(resampledBlocks)
        var total = 0.0
        for block in 0..<resampledBlocks {
            let range = block * count / resampledBlocks..<(block + 1) * count / resampledBlocks
            var sum = 0.0
            for value in differences[range] { sum += value }
            total += sum
            means.append(sum / Double(range.count))
        }
        var sum = 0.0
        for mean in means { sum += mean }
        let shift = total / Double(count) - sum / Double(resampledBlocks)
        return means.map { $0 + shift }
    }
}
