import IsletKernel
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

    /// As the rule says it, sample by sample: without the strides that pass over what is not beyond the bound.
    private func plainly(_ samples: [(at: Int64, isBeyond: Bool)], longestGap: Int64, end: Int64) -> [[Int64]]
    {
        var found: [[Int64]] = []
        var runs: [(isBeyond: Bool, from: Int64, to: Int64, isAfterGap: Bool)] = []
        for (place, sample) in samples.enumerated() {
            let isAfterGap = place > 0 && sample.at - samples[place - 1].at > longestGap
            if let last = runs.last, last.isBeyond == sample.isBeyond, !isAfterGap {
                runs[runs.count - 1].to = sample.at
            } else {
                runs.append((sample.isBeyond, sample.at, sample.at, isAfterGap))
            }
        }
        var onset: Int64?
        var reach: Int64 = 0
        for (place, run) in runs.enumerated() {
            if run.isAfterGap, let began = onset {
                found.append([began, reach])
                onset = nil
            }
            let until = min(end, run.to + 5)
            let isFollowed = place + 1 < runs.count && !runs[place + 1].isAfterGap
            if run.isBeyond {
                if onset != nil || until - run.from >= 15 { onset = onset ?? run.from }
                // It lasts until what follows it begins.
                reach = isFollowed ? min(end, runs[place + 1].from) : until
            } else if let began = onset, until - run.from >= 15 {
                found.append([began, reach])
                onset = nil
            }
        }
        if let began = onset { found.append([began, reach]) }
        return found
    }

    @Test func whatPassesOverTheRestFindsWhatALookAtEverySampleFinds() {
        var seed: UInt64 = 1
        func random(below bound: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % bound
        }
        var episodesSeen = 0
        for _ in 0..<2000 {
            let isMissing = random(below: 3) == 0
            var (at, isBeyond) = (Int64(0), false)
            let samples = (0..<60).map { _ in
                at += isMissing && random(below: 5) == 0 ? 5 * Int64(1 + random(below: 9)) : 5
                if random(below: 3) == 0 { isBeyond.toggle() }
                return (at: at, isBeyond: isBeyond)
            }
            let end = random(below: 4) == 0 ? at - 7 : .max / 2
            var found: [[Int64]] = []
            EpisodeRule(shortest: 15, standsFor: 5, longestGap: 30, end: end).forEachEpisode(
                of: samples.count, at: { samples[$0].at }, isBeyond: { samples[$0].isBeyond }
            ) { found.append([$0, $1]) }
            #expect(found == plainly(samples, longestGap: 30, end: end))
            episodesSeen += found.count
        }
        #expect(episodesSeen > 5000)
    }
}
