import SessionTime
import Testing

/// What makes an episode, in minutes: a quarter of an hour begins and ends one.
@Suite struct EpisodesTests {
    /// Each character a sample: `x` is beyond the bound, `-` is not, a space is missing.
    private func episodes(
        _ samples: String, every interval: Int64 = 5, longestGap: Int64 = 30, end: Int64 = .max / 2
    ) -> [[Int64]] {
        let present = samples.enumerated().filter { $0.element != " " }.map {
            (at: Int64($0.offset) * interval, isBeyond: $0.element == "x")
        }
        var found: [[Int64]] = []
        EpisodeRule(shortest: 15, standsFor: interval, longestGap: longestGap, end: end).forEachEpisode(
            of: present.count, at: { present[$0].at }, isBeyond: { present[$0].isBeyond }
        ) { found.append([$0, $1]) }
        return found
    }

    @Test func aQuarterOfAnHourBeginsOneAndEndsOne() {
        #expect(episodes("--xx--").isEmpty)
        #expect(episodes("--xxx---") == [[10, 25]])
        #expect(episodes("xxx--xxx---") == [[0, 40]])
        #expect(episodes("xxx---xxx---") == [[0, 15], [30, 45]])
        // A short return to beyond belongs to it as long as it is not over.
        #expect(episodes("xxx--x---xxx") == [[0, 30], [45, 60]])
        #expect(episodes("xxx--x") == [[0, 30]])
    }

    @Test func timeDecidesAndNotTheNumberOfSamples() {
        #expect(episodes("xxxxxxxxxxxxxx-", every: 1).isEmpty)
        #expect(episodes("xxxxxxxxxxxxxxx-", every: 1) == [[0, 15]])
        #expect(episodes("-x-", every: 15) == [[15, 30]])
    }

    @Test func aGapCountsAsTimeUnlessItIsTooLong() {
        #expect(episodes("x x---") == [[0, 15]])
        #expect(episodes("xxx     -") == [[0, 40]])
        // 35 min between two samples: the episode is over with its last one, and what comes begins anew.
        #expect(episodes("xxx      xx") == [[0, 15]])
        #expect(episodes("xxx      xxx") == [[0, 15], [45, 60]])
        #expect(episodes("xxx      ---") == [[0, 15]])
        #expect(episodes("xxx      xx", longestGap: .max) == [[0, 55]])
    }

    @Test func nothingLastsBeyondTheEnd() {
        #expect(episodes("---xxx", end: 30) == [[15, 30]])
        #expect(episodes("---xxx", end: 29).isEmpty)
        #expect(episodes("xxxxxx", end: 27) == [[0, 27]])
        #expect(episodes("").isEmpty)
    }
}
