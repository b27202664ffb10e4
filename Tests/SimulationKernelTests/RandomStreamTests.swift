import IsletKernel
import Testing

@Suite struct RandomStreamTests {
    /// Known answers of Random123 for philox4x32-10.
    @Test func philoxGivesTheKnownAnswersOfItsAuthors() {
        func words(_ key: UInt64, _ low: UInt64, _ high: UInt64) -> [UInt32] {
            let block = Philox.block(key: key, counterLow: low, counterHigh: high)
            return [block.low, block.low >> 32, block.high, block.high >> 32].map {
                UInt32(truncatingIfNeeded: $0)
            }
        }
        #expect(words(0, 0, 0) == [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8])
        #expect(words(.max, .max, .max) == [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd])
        #expect(
            words(0x299f_31d0_a409_3822, 0x85a3_08d3_243f_6a88, 0x0370_7344_1319_8a2e)
                == [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1])
    }

    @Test func aStreamDependsOnSeedSubjectNameAndIndexAndOnNothingElse() {
        let streams = RandomStreams(seed: 3, subject: 5)
        func first(_ stream: RandomStream) -> [UInt64] {
            var stream = stream
            return (0..<4).map { _ in stream.next() }
        }
        #expect(first(streams.stream("meals")) == first(RandomStreams(seed: 3, subject: 5).stream("meals")))
        let others = [
            RandomStreams(seed: 4, subject: 5).stream("meals"),
            RandomStreams(seed: 3, subject: 6).stream("meals"), streams.stream("meal"),
            streams.stream("meals", index: 1), RandomStreams(seed: 5, subject: 3).stream("meals"),
        ]
        for other in others { #expect(first(other) != first(streams.stream("meals"))) }
    }

    @Test func aDrawInOneStreamShiftsNoOther() {
        let streams = RandomStreams(seed: 3, subject: 5)
        var quiet = streams.stream("sensor")
        let expected = (0..<10).map { _ in quiet.next() }
        var sensor = streams.stream("sensor")
        var meals = streams.stream("meals")
        let interleaved = (0..<10).map { _ in
            _ = meals.next()
            return sensor.next()
        }
        #expect(interleaved == expected)
    }

    @Test func everyWordOfABlockIsGivenOnceAndInOrder() {
        var stream = RandomStream(key: 9, index: 2)
        for block in UInt64(0)..<5 {
            let expected = Philox.block(key: 9, counterLow: block, counterHigh: 2)
            #expect(stream.next() == expected.low)
            #expect(stream.next() == expected.high)
        }
    }

    @Test func bitsAreFairAndNeighbouringStreamsUncorrelated() {
        let count = 20_000
        var streams = [0, 1].map { RandomStreams(seed: 1, subject: $0).stream("fair") }
        streams.append(RandomStreams(seed: 1, subject: 0).stream("fair", index: 1))
        let words = streams.indices.map { stream in (0..<count).map { _ in streams[stream].next() } }
        // Each count is binomial(n, 1/2); 5 standard deviations over 64 · 6 counts.
        let bound = 5 * (Double(count) / 4).squareRoot()
        func expectHalf(_ words: [UInt64], _ what: String) {
            for bit in 0..<64 {
                let ones = words.count { $0 >> UInt64(bit) & 1 == 1 }
                #expect(abs(Double(ones) - Double(count) / 2) < bound, "\(what), bit \(bit)")
            }
        }
        for index in words.indices {
            expectHalf(words[index], "stream \(index)")
            expectHalf(
                zip(words[index], words[(index + 1) % 3]).map { $0 ^ $1 }, "\(index) against the next")
        }
        // Chi-squared over 256 buckets of the top byte: mean 255, SD 22.6.
        var buckets = [Int](repeating: 0, count: 256)
        for word in words[0] { buckets[Int(word >> 56)] += 1 }
        let expected = Double(count) / 256
        let chi = buckets.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        #expect((150.0...370).contains(chi))
    }
}
