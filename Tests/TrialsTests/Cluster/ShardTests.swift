// Who is in which shard, and what is known of them.

import IsletDevices
import IsletKernel
import Testing

@testable import IsletTrials

@Suite("Shards of a study") struct ShardTests {
    @Test("have everybody once, whatever the numbers, in blocks and in strides")
    func everybodyOnce() {
        for all in [1, 2, 3, 7, 100, 1001] {
            for count in [1, 2, 3, 7, 100, 2000] {
                for group in [1, 3, 32] {
                    for dealing in [Shard.Dealing.blocks, .strides] {
                        let dealt = (0..<count).flatMap {
                            Shard(index: $0, count: count, dealing: dealing)
                                .subjects(of: all, group: group).flatMap { Array($0) }
                        }
                        #expect(
                            dealt.sorted() == Array(0..<all), "\(all) in \(count) by \(group), \(dealing)")
                        if dealing == .blocks { #expect(dealt == Array(0..<all)) }
                    }
                }
            }
        }
    }

    @Test("are cut at ⌊IP/N⌋, and never within a group")
    func cuts() {
        let shards = (0..<3).map { Shard(index: $0, count: 3).subjects(of: 10) }
        #expect(shards == [[0..<3], [3..<6], [6..<10]])
        for index in 0..<7 {
            for range in Shard(index: index, count: 7).subjects(of: 100, group: 32) {
                #expect(range.lowerBound % 32 == 0 && (range.upperBound % 32 == 0 || range.upperBound == 100))
            }
        }
        let last = Shard(index: 1_999_999, count: 2_000_000)
        #expect(last.subjects(of: 2_000_000) == [1_999_999..<2_000_000])
    }

    @Test("of before there were blocks are every N-th group of people")
    func strides() {
        #expect(Shard(index: 0, count: 2, dealing: .strides).subjects(of: 3) == [0..<1, 2..<3])
        #expect(Shard(index: 1, count: 2, dealing: .strides).subjects(of: 7, group: 2) == [2..<4, 6..<7])
    }

    @Test("are read as they are written, and joined to what they come to")
    func texts() throws {
        for text in [
            "0/3", "4/3", "1/0", "-1/3", "1/3/4", "a/b", "1", "", "1-2/3", "1,2/3", "01/ 3", "1/2000001",
        ] {
            #expect(Shard(text) == nil, "\(text)")
        }
        let first = try #require(Shard("1/4"))
        let third = try #require(Shard("3/4"))
        let both = try #require(third.joined(with: first))
        #expect(both.description == "1,3/4" && both.lacking == [2...2, 4...4] && !both.isWhole)
        #expect(Shard(recorded: "1,3/4", dealing: .blocks) == both)
        #expect(both.joined(with: first) == nil)
        #expect(first.joined(with: Shard(index: 1, count: 5)) == nil)
        let rest = try #require(Shard(recorded: "2,4/4", dealing: .blocks))
        #expect(both.joined(with: rest)?.isWhole == true)
        #expect(Shard(recorded: "2,1/4", dealing: .blocks) == nil)
        #expect(Shard(recorded: "3-5/4", dealing: .blocks) == nil)
        #expect(IndexRanges.read("1-3,4,7") == [1...4, 7...7])
    }
}

@Suite("Checksums of people") struct CohortSumsTests {
    private func digest(_ index: Int) -> String { String(index, radix: 16) }

    private func sums(_ range: some Sequence<Int>, of count: Int) -> CohortSums {
        var sums = CohortSums(count: count)
        for index in range { sums.add(digest(index), at: index) }
        return sums
    }

    @Test("come to one root, in whatever parts and order people are known")
    func oneRoot() throws {
        let whole = sums(0..<2345, of: 2345)
        let root = try #require(whole.root)
        #expect(sums((0..<2345).reversed(), of: 2345).root == root)
        var joined = CohortSums(count: 2345)
        for part in [1100..<1900, 0..<700, 1900..<2345, 700..<1100] {
            #expect(joined.root == nil)
            let text = Array(sums(part, of: 2345).csv.utf8)
            #expect(joined.add(try CohortSums(text, file: "cohort.csv", count: 2345)).isEmpty)
        }
        #expect(joined.root == root && joined == whole && joined.known == 2345)
        // Of whole blocks nothing else is kept.
        #expect(joined.csv.split(separator: "\n").count == 4)
        // What anybody can compute with `sha256sum`.
        #expect(sums(0..<2, of: 2).csv == "of,index,digest\nblock,0,\(sha("0:0\n1:1\n"))\n")
        #expect(sums(0..<2, of: 2).root == sha("people 2\n0:\(sha("0:0\n1:1\n"))\n"))
    }

    private func sha(_ text: String) -> String { SHA256.digest(of: Array(text.utf8)).description }

    @Test("name whom two parts know differently")
    func differences() {
        var other = sums(0..<1500, of: 2000)
        other.add("another", at: 1700)
        var mine = sums(0..<999, of: 2000)
        mine.add("x", at: 999)
        mine.add(digest(1700), at: 1700)
        #expect(mine.differences(from: other) == ["block 0", "person 1700"])
        #expect(mine.add(other) == ["block 0", "person 1700"])
        #expect(sums(0..<3, of: 2000).differences(from: sums(0..<3, of: 1999)) == ["2000 people and 1999"])
    }

    @Test(arguments: [
        "of,index\n", "of,index,digest\nroom,1,a\n", "of,index,digest\nperson,20,a\n",
        "of,index,digest\nperson,-1,a\n", "of,index,digest\nblock,1,a\n", "of,index,digest\nperson,a,a\n",
    ])
    func filesThatAreNoneAreRefusedWithTheirLine(text: String) throws {
        let problem = #expect(throws: InputError.self) {
            _ = try CohortSums(Array(text.utf8), file: "cohort.csv", count: 20)
        }
        #expect(problem?.line != nil)
    }
}
