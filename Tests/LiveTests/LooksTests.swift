// Whoever only looks is not kept waiting by a thread that has come to a stop.

import Dispatch
import Glibc
import IsletFiles
import Synchronization
import Testing

@testable import IsletLive

@Suite("Looks") struct LooksTests {
    /// Harm: one thread that stands still amid its work, and nobody sees any session of the ward, or that one is frozen.
    @Test func whoLooksWaitsForWorkAndNotForAStop() throws {
        let held = Locked()
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
        let board = Board()
        let (hangs, idle, later) = (board.slot("hangs"), board.slot("idle"), board.slot("later"))
        for slot in [hangs, idle, later] { roll.slots[slot.id] = slot }
        board.schedule(hangs, at: 1)
        #expect(board.takeDue(at: 1).slot === hangs)
        #expect(roll.underWay.map(\.id) == ["hangs"])
        #expect(roll.remove("hangs") === hangs && roll.remove("hangs") == nil)
        #expect(roll.remove("idle") === idle)
        #expect(roll.underWay.map(\.id) == ["hangs"] && Array(roll.slots.keys) == ["later"])
        board.finish(hangs, due: nil)
        #expect(roll.underWay.isEmpty)
    }

    @Test func whatIsUnderWayIsScheduledWhenItIsBackAndWhatWasLetGoNeverIs() {
        let board = Board()
        let (one, two) = (board.slot("one"), board.slot("two"))
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
        // Moved: the last word counts.
        board.schedule(one, at: 60)
        board.schedule(one, at: 70)
        #expect(board.takeDue(at: 65).next == 70)
        one.isRemoved.store(true, ordering: .relaxed)
        board.schedule(one, at: 80)
        #expect(board.takeDue(at: 1000) == (nil, nil))
    }

    /// Harm: a session that has years to catch up on, or that lives as fast as it can, is always due, and everybody else comes late.
    @Test func whoIsAlwaysDueStarvesNobody() {
        let board = Board()
        let (hasty, steady) = (board.slot("hasty"), board.slot("steady"))
        var (due, waits) = (Int64(5), [Int64]())
        board.schedule(hasty, at: 0)
        board.schedule(steady, at: due)
        for now in Int64(5)..<50 {
            guard let slot = board.takeDue(at: now).slot else { continue }
            slot.place.advancedAt = now
            if slot === steady {
                waits.append(now - due)
                due = now + 5
            }
            board.finish(slot, due: slot === hasty ? 0 : due)
        }
        // Those who were there first go first.
        #expect(waits.count == 7 && waits.allSatisfy { $0 <= 2 }, "\(waits)")
    }

    /// Eight threads take what is due, and others ask for more at any moment: each wish is heard, and nobody has a session that another has.
    @Test func noWishIsLostAndNobodySharesASession() throws {
        let board = Board()
        // On more than one page.
        let slots = (0..<Board.Page.places + 100).map { board.slot("\($0)") }
        let wishes = 200
        let over = Over()
        let holders = slots.map { _ in Held() }
        let workers = try (0..<4).map { _ in
            try SystemThread {
                while !over.isSo.load(ordering: .relaxed) {
                    guard let slot = board.takeDue(at: 1).slot, let number = Int(slot.id) else { continue }
                    // What stands there has another at work with it.
                    holders[number].works.wrappingAdd(1, ordering: .relaxed)
                    if holders[number].works.load(ordering: .relaxed) != 1 {
                        holders[number].isShared.store(true, ordering: .relaxed)
                    }
                    holders[number].heard.store(
                        holders[number].wished.load(ordering: .sequentiallyConsistent), ordering: .relaxed)
                    holders[number].works.wrappingSubtract(1, ordering: .relaxed)
                    board.finish(slot, due: nil)
                }
            }
        }
        let askers = try (0..<4).map { asker in
            try SystemThread {
                for wish in 0..<wishes {
                    for number in stride(from: asker, to: slots.count, by: 97) {
                        holders[number].wished.store(wish + 1, ordering: .sequentiallyConsistent)
                        board.schedule(slots[number], at: 1)
                    }
                }
            }
        }
        for thread in askers { thread.join() }
        func unheard() -> Int {
            holders.count { $0.heard.load(ordering: .relaxed) != $0.wished.load(ordering: .relaxed) }
        }
        // A wish that was lost is heard of never: patience, and no bound.
        let clock = ContinuousClock()
        let end = clock.now + .seconds(120)
        while unheard() > 0, clock.now < end { usleep(100) }
        #expect(unheard() == 0)
        over.isSo.store(true, ordering: .relaxed)
        for thread in workers { thread.join() }
        #expect(!holders.contains { $0.isShared.load(ordering: .relaxed) })
        #expect(holders.contains { $0.heard.load(ordering: .relaxed) == wishes })
    }

    private final class Held: Sendable {
        let wished = Atomic(0)
        let heard = Atomic(0)
        let works = Atomic(0)
        let isShared = Atomic(false)
    }

    private final class Over: Sendable { let isSo = Atomic(false) }

    private final class Locked: Sendable {
        let state = Mutex(1)
    }
}

private func == (found: (slot: Slot?, next: Int64?), expected: (Slot?, Int64?)) -> Bool {
    found.slot === expected.0 && found.next == expected.1
}

extension Board {
    fileprivate func slot(_ id: String) -> Slot {
        let slot = Slot(id: id, place())
        list(slot)
        return slot
    }
}
