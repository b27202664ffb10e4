@testable import IsletKernel
import Testing

@Suite struct EventQueueTests {
    @Test(arguments: UInt64(0)..<20)
    func randomPushesAndPopsAgreeWithASortedList(_ seed: UInt64) {
        var random = RandomStreams(seed: seed, subject: 0).stream("queue")
        let queue = EventQueue()
        var reference: [(instant: Int64, phase: UInt8, number: Int)] = []
        var number = 0
        for _ in 0..<4000 {
            // Few instants and phases, so that ties abound; more pushes than pops in waves.
            let pushes = Int.random(in: 0..<100, using: &random) < (number / 500 % 2 == 0 ? 70 : 35)
            if pushes || reference.isEmpty {
                let instant = Int64.random(in: -3...6, using: &random)
                let phase = Phase.allCases.randomElement(using: &random) ?? .loop
                queue.push(at: instant, phase: phase, .input(number))
                let place =
                    reference.firstIndex { ($0.instant, $0.phase) > (instant, phase.rawValue) }
                    ?? reference.count
                reference.insert((instant, phase.rawValue, number), at: place)
                number += 1
            } else {
                let expected = reference.removeFirst()
                #expect(queue.firstInstant == expected.instant)
                let entry = queue.pop()
                guard case .input(let popped) = entry.target else {
                    Issue.record("another target")
                    return
                }
                #expect(popped == expected.number)
                #expect(entry.instant == expected.instant)
            }
            #expect(queue.isEmpty == reference.isEmpty)
        }
    }

    @Test func inputsComeFirstInTheOrderOfTheirIndicesWhenverTheyWereQueued() {
        let queue = EventQueue()
        queue.push(at: 5, phase: .input, .input(100))
        queue.pushInput(at: 5, index: 1)
        queue.pushInput(at: 5, index: 0)
        queue.pushInput(at: 4, index: 2)
        var order: [Int] = []
        while !queue.isEmpty { if case .input(let index) = queue.pop().target { order.append(index) } }
        #expect(order == [2, 0, 1, 100])
    }

    @Test func aRingOfJobsIsFirstInFirstOutAcrossItsGrowth() throws {
        try withSession { session in
            let log = Log()
            for number in 0..<100 { session.start("\(number)") { log.note("\(number)") } }
            try session.advance(to: .start)
            for number in 100..<333 { session.start("\(number)") { log.note("\(number)") } }
            try session.advance(to: .start)
            #expect(log.lines == (0..<333).map(String.init))
        }
    }
}
