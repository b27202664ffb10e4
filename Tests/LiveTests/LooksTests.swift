// Whoever only looks is not kept waiting by a thread that has come to a stop.

import Dispatch
import IsletFiles
import Synchronization
import Testing

@testable import IsletLive

@Suite("Looks") struct LooksTests {
    /// Harm: one thread that stands still amid its work, and nobody sees any session of the ward, or that one is frozen.
    @Test func whoLooksWaitsForWorkAndNotForAStop() throws {
        let held = Held()
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = try SystemThread(named: "held") {
            held.state.withLock { state in
                state = 2
                begun.signal()
                goOn.wait()
            }
        }
        begun.wait()
        var asked = 0
        let seen = held.state.look(until: {
            asked += 1
            return asked == 3
        }) { $0 }
        #expect(seen == nil && asked == 3)
        goOn.signal()
        thread.join()
        #expect(held.state.look(until: { true }) { $0 } == 2)
    }

    /// A session that was let go while its thread hangs is a thread fewer, until it comes back.
    @Test func whatWasLetGoIsUnderWayUntilItsThreadIsBack() {
        var roll = Roll()
        let (hangs, idle, later) = (Slot(id: "hangs"), Slot(id: "idle"), Slot(id: "later"))
        for slot in [hangs, idle, later] { roll.slots[slot.id] = slot }
        hangs.isUnderWay.store(true, ordering: .relaxed)
        #expect(roll.underWay.map(\.id) == ["hangs"])
        #expect(roll.remove("hangs") === hangs && roll.remove("hangs") == nil)
        #expect(roll.remove("idle") === idle)
        #expect(roll.underWay.map(\.id) == ["hangs"] && Array(roll.slots.keys) == ["later"])
        hangs.isUnderWay.store(false, ordering: .relaxed)
        #expect(roll.underWay.isEmpty)
    }

    @Test func whatIsUnderWayIsScheduledWhenItIsBackAndWhatWasLetGoNeverIs() {
        var board = Board()
        let (one, two) = (Slot(id: "one"), Slot(id: "two"))
        board.schedule(one, at: 10)
        board.schedule(two, at: 20)
        #expect(board.takeDue(at: 5).next == 10)
        #expect(board.takeDue(at: 10).slot === one)
        // Asked for twice meanwhile: the earlier one counts, and its own wish beside it.
        board.schedule(one, at: 40)
        board.schedule(one, at: 30)
        board.schedule(one, at: nil)
        #expect(board.takeDue(at: 100).slot === two)
        #expect(board.takeDue(at: 100).slot == nil)
        board.finish(one, due: 50)
        board.finish(two, due: nil)
        #expect(board.takeDue(at: 29).next == 30)
        #expect(board.takeDue(at: 30).slot === one)
        board.finish(one, due: nil)
        #expect(board.takeDue(at: 1000) == (nil, nil))
        // Moved: the old entry is dropped.
        board.schedule(one, at: 60)
        board.schedule(one, at: 70)
        #expect(board.takeDue(at: 65).next == 70)
        one.isRemoved.store(true, ordering: .relaxed)
        board.schedule(one, at: 80)
        #expect(board.takeDue(at: 1000) == (nil, nil))
    }

    private final class Held: Sendable {
        let state = Mutex(1)
    }
}

private func == (found: (slot: Slot?, next: Int64?), expected: (Slot?, Int64?)) -> Bool {
    found.slot === expected.0 && found.next == expected.1
}
