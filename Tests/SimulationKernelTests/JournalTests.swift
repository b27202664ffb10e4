import IsletKernel
import Testing

@Suite struct JournalTests {
    private func journal(_ events: Int, changing changed: Int? = nil, bit: UInt64 = 1) -> Journal {
        let journal = Journal()
        for event in 0..<events {
            let word = UInt64(event) &* 0x9e37_79b9 ^ (event == changed ? bit : 0)
            journal.record(.sample, at: .minutes(Int64(event)), word, 7)
        }
        return journal
    }

    @Test func equalRunsHaveEqualDigests() {
        #expect(journal(5000).digest == journal(5000).digest)
        #expect(journal(5000).checkpoints == journal(5000).checkpoints)
    }

    @Test(arguments: [0, 1, 31, 32, 63])
    func oneChangedBitAnywhereChangesTheDigest(_ bit: UInt64) {
        let plain = journal(2000).digest
        for event in stride(from: 0, to: 2000, by: 97) {
            #expect(journal(2000, changing: event, bit: 1 << bit).digest != plain)
        }
    }

    @Test func instantKindNumberOfWordsAndOrderEnterTheDigest() {
        func digest(_ body: (Journal) -> Void) -> Digest128 {
            let journal = Journal()
            body(journal)
            return journal.digest
        }
        let all = [
            digest { $0.record(.sample, at: .start, 1) },
            digest { $0.record(.answer, at: .start, 1) },
            digest { $0.record(.sample, at: Instant(nanoseconds: 1), 1) },
            digest { $0.record(.sample, at: .start, 1, 0) },
            digest { $0.record(.sample, at: .start, words: [1, 0, 0]) },
            digest { $0.record(.sample, at: .start, words: []) },
            digest {
                $0.record(.sample, at: .start, 1)
                $0.record(.answer, at: .start, 2)
            },
            digest {
                $0.record(.answer, at: .start, 2)
                $0.record(.sample, at: .start, 1)
            },
            // The words of two events in one.
            digest { $0.record(.sample, at: .start, words: [1, 0, 0xF01, 2]) },
            Journal().digest,
        ]
        #expect(Set(all).count == all.count)
    }

    @Test func aWordListAndItsShortFormAreOneEvent() {
        let (short, long) = (Journal(), Journal())
        short.record(.sample, at: .minutes(1), 1, 2, 3, 4)
        long.record(.sample, at: .minutes(1), words: [1, 2, 3, 4])
        #expect(short.digest == long.digest)
    }

    @Test func checkpointsStandEvery1024EventsAndFindTheFirstDifference() throws {
        let plain = journal(10_000)
        let other = journal(10_000, changing: 5003)
        #expect(plain.checkpoints.map(\.count) == (1...9).map { $0 * 1024 })
        #expect(plain.checkpoints.first?.digest == journal(1024).digest)
        // Once the digests part, they stay apart: bisecting finds the block.
        let agree = zip(plain.checkpoints, other.checkpoints).map { $0 == $1 }
        #expect(agree == (1...9).map { $0 * 1024 <= 5003 })
        // A second run with an observer tells the event.
        func events(changing changed: Int?) -> [JournalEvent] {
            let journal = Journal()
            var seen: [JournalEvent] = []
            journal.observer = { seen.append($0) }
            for event in 0..<10_000 {
                let word = UInt64(event) &* 0x9e37_79b9 ^ (event == changed ? 1 : 0)
                journal.record(.sample, at: .minutes(Int64(event)), word, 7)
            }
            return seen
        }
        let first = zip(events(changing: nil), events(changing: 5003)).enumerated().first { $1.0 != $1.1 }
        #expect(first?.offset == 5003)
        #expect(first?.element.0.instant == .minutes(5003))
        #expect(first?.element.0.words.last == 7)
    }

    @Test func canonicalWordsTellBytesApart() {
        #expect(Journal.words(of: []) == [0])
        #expect(Journal.words(of: [1]) == [1, 1])
        #expect(Journal.words(of: [1, 2, 3, 4, 5, 6, 7, 8]) == [8, 0x0807_0605_0403_0201])
        #expect(Journal.words(of: [0, 0, 0, 0, 0, 0, 0, 0, 9]) == [9, 0, 9])
        #expect(Journal.words(of: [0]) != Journal.words(of: [0, 0]))
    }

    @Test func aDigestReadsAs32Digits() {
        #expect(Digest128().description == "243f6a8885a308d313198a2e03707344")
        for count in 0..<300 { #expect(journal(count).digest.description.count == 32) }
    }
}
