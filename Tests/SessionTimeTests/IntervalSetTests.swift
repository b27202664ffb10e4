import IsletKernel
import Testing

@Suite struct IntervalSetTests {
    private func set(_ spans: [(Int64, Int64)]) -> IntervalSet {
        IntervalSet(spans.map { Interval(.minutes($0.0), .minutes($0.1)) })
    }

    @Test func aSetIsSortedAndItsIntervalsNeitherTouchNorOverlap() {
        #expect(set([(20, 30), (0, 10), (10, 15), (12, 18), (40, 40)]) == set([(0, 18), (20, 30)]))
        #expect(set([(0, 18), (20, 30)]).minutes == 28)
        #expect(set([(5, 3)]).isEmpty)
    }

    @Test func anIntervalHoldsItsStartAndNotItsEnd() {
        let some = set([(0, 10), (20, 30)])
        #expect(some.contains(.minutes(0)) && some.contains(.minutes(9)) && some.contains(.minutes(20)))
        #expect(!some.contains(.minutes(10)) && !some.contains(.minutes(15)) && !some.contains(.minutes(30)))
        #expect(!some.contains(.minutes(-1)) && !IntervalSet().contains(.start))
        #expect(some.touches(.minutes(15), .minutes(20)) && some.touches(.minutes(5), .minutes(6)))
        #expect(!some.touches(.minutes(10), .minutes(19)) && !some.touches(.minutes(30), .minutes(99)))
    }

    /// On a grid of minutes every operation is the one of booleans.
    @Test func operationsAgreeWithBooleansMinuteByMinute() {
        var luck: UInt64 = 7
        func next(_ below: UInt64) -> Int64 {
            luck = luck &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64((luck >> 33) % below)
        }
        for _ in 0..<200 {
            let a = set((0..<next(6)).map { _ in (next(60), next(60)) })
            let b = set((0..<next(6)).map { _ in (next(60), next(60)) })
            let (union, common, rest) = (a.union(b), a.intersection(b), a.subtracting(b))
            for minute in Int64(0)..<61 {
                let (inA, inB) = (a.contains(.minutes(minute)), b.contains(.minutes(minute)))
                #expect(union.contains(.minutes(minute)) == (inA || inB))
                #expect(common.contains(.minutes(minute)) == (inA && inB))
                #expect(rest.contains(.minutes(minute)) == (inA && !inB))
            }
            #expect(union == IntervalSet(union.intervals) && rest == IntervalSet(rest.intervals))
            #expect(common == IntervalSet(common.intervals))
            #expect(rest.nanoseconds + common.nanoseconds == a.nanoseconds)
        }
    }
}
