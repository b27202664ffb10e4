// Which of a host's sessions is due when.
//
// Guarantees: nobody holds a lock here for longer than one reference is read or put, so that a thread that stands still keeps no session from its time but the one that it
// has taken. One thread at a time takes a session; who wants it advanced meanwhile has it scheduled when it is back. Of those that are due the one comes first that has waited for
// longest since it was due, or was last advanced: one that has years to catch up on starves no other.
// Does not: know what time it is.

import Synchronization

final class Board: Sendable {
    /// In place of a time.
    fileprivate static let never = Int64.max
    fileprivate static let taken = Int64.max - 1

    /// Times of sessions, side by side, which never move. A place is a session's for as long as anybody holds its slot.
    final class Page: @unchecked Sendable {
        static let places = 1024
        fileprivate let dues = UnsafeMutablePointer<Atomic<Int64>>.allocate(capacity: places)
        fileprivate let advances = UnsafeMutablePointer<Atomic<Int64>>.allocate(capacity: places)
        private let areUsed = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: places)

        fileprivate init() {
            for place in 0..<Self.places {
                (dues + place).initialize(to: Atomic(never))
                (advances + place).initialize(to: Atomic(0))
                (areUsed + place).initialize(to: Atomic(false))
            }
        }

        deinit {
            dues.deinitialize(count: Self.places)
            advances.deinitialize(count: Self.places)
            areUsed.deinitialize(count: Self.places)
            dues.deallocate()
            advances.deallocate()
            areUsed.deallocate()
        }

        /// nil where all are used.
        fileprivate func take() -> Int? {
            (0..<Self.places).first {
                areUsed[$0].compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
            }
        }

        fileprivate func free(_ place: Int) {
            dues[place].store(never, ordering: .relaxed)
            advances[place].store(0, ordering: .relaxed)
            areUsed[place].store(false, ordering: .releasing)
        }
    }

    /// Where a session's time stands.
    final class Place: Sendable {
        fileprivate let page: Page
        fileprivate let number: Int
        /// While a thread has the session: when somebody wants it advanced again.
        fileprivate let wantedAgain = Atomic(never)

        fileprivate init(_ page: Page, _ number: Int) { (self.page, self.number) = (page, number) }
        deinit { page.free(number) }

        fileprivate var due: UnsafeMutablePointer<Atomic<Int64>> { page.dues + number }
        /// When the session was last advanced, by the continuous clock.
        var advancedAt: Int64 {
            get { page.advances[number].load(ordering: .relaxed) }
            set { page.advances[number].store(newValue, ordering: .relaxed) }
        }
        /// Whether a thread has it: nobody else waits for it.
        var isTaken: Bool { due.pointee.load(ordering: .acquiring) == taken }
    }

    private struct Sheet {
        var page: Page
        /// By place.
        var slots: [Slot?] = []
    }
    private final class Sheets: Sendable {
        let all: [Sheet]
        init(_ all: [Sheet]) { self.all = all }
    }
    private let sheets = Shown(Sheets([]))
    /// Of whoever adds and removes sessions, which no thread does on which they live.
    private let editing = Mutex(())

    private func edit<Result>(_ body: (inout [Sheet]) -> Result) -> Result {
        editing.withLock { _ in
            var all = sheets.now.all
            defer { sheets.now = Sheets(all) }
            return body(&all)
        }
    }

    /// A place for a session that is not yet listed.
    func place() -> Place {
        edit { all in
            for sheet in all {
                if let number = sheet.page.take() { return Place(sheet.page, number) }
            }
            let page = Page()
            all.append(Sheet(page: page))
            return Place(page, page.take() ?? 0)
        }
    }

    /// From now on it is taken when it is due.
    func list(_ slot: Slot) { put(slot, at: slot.place) }
    /// Nobody takes it any more.
    func unlist(_ slot: Slot) { put(nil, at: slot.place) }

    private func put(_ slot: Slot?, at place: Place) {
        edit { all in
            guard let sheet = all.firstIndex(where: { $0.page === place.page }) else { return }
            while all[sheet].slots.count <= place.number { all[sheet].slots.append(nil) }
            all[sheet].slots[place.number] = slot
        }
    }

    /// - Parameter due: when it wants to be advanced next; nil for never. While a thread has it, that is earlier than what was asked before, or nothing new.
    func schedule(_ slot: Slot, at due: Int64?) {
        let (place, wanted) = (
            slot.place, slot.isRemoved.load(ordering: .acquiring) ? Self.never : due ?? Self.never
        )
        while true {
            let known = place.due.pointee.load(ordering: .sequentiallyConsistent)
            if known == Self.taken {
                place.wantedAgain.min(wanted, ordering: .sequentiallyConsistent)
                // Who has it looks again after it has let go.
                if place.isTaken { return }
                settle(slot)
                return
            }
            if place.due.pointee.compareExchange(
                expected: known, desired: wanted, ordering: .sequentiallyConsistent
            ).exchanged {
                return
            }
        }
    }

    /// A thread has advanced the session, which wants to be advanced next at `due`.
    func finish(_ slot: Slot, due: Int64?) {
        let again = slot.place.wantedAgain.exchange(Self.never, ordering: .sequentiallyConsistent)
        let isGone = slot.isRemoved.load(ordering: .acquiring)
        slot.place.due.pointee.store(
            isGone ? Self.never : min(due ?? Self.never, again), ordering: .sequentiallyConsistent)
        settle(slot)
    }

    /// What was wanted of one that was let go at that moment.
    private func settle(_ slot: Slot) {
        let again = slot.place.wantedAgain.exchange(Self.never, ordering: .sequentiallyConsistent)
        guard again != Self.never else { return }
        while true {
            let known = slot.place.due.pointee.load(ordering: .sequentiallyConsistent)
            if known <= again { return }
            if known == Self.taken { return schedule(slot, at: again) }
            if slot.place.due.pointee.compareExchange(
                expected: known, desired: again, ordering: .sequentiallyConsistent
            ).exchanged {
                return
            }
        }
    }

    /// The session that has waited for longest of those that are due by now; it is nobody else's until it is finished. Else when the first is due.
    func takeDue(at now: Int64) -> (slot: Slot?, next: Int64?) {
        let all = sheets.now.all
        while true {
            var next = Self.taken
            var first: (sheet: Int, place: Int, due: Int64)?
            var since = Self.never
            for sheet in all.indices {
                let (page, places) = (all[sheet].page, all[sheet].slots.count)
                for place in 0..<places {
                    let due = page.dues[place].load(ordering: .acquiring)
                    if due > now {
                        if due < next, all[sheet].slots[place] != nil { next = due }
                        continue
                    }
                    let waits = max(due, page.advances[place].load(ordering: .relaxed))
                    if waits < since, all[sheet].slots[place] != nil {
                        (first, since) = ((sheet, place, due), waits)
                    }
                }
            }
            guard let first, let slot = all[first.sheet].slots[first.place] else {
                return (nil, next == Self.taken ? nil : next)
            }
            if slot.place.due.pointee.compareExchange(
                expected: first.due, desired: Self.taken, ordering: .sequentiallyConsistent
            ).exchanged {
                return (slot, nil)
            }
        }
    }
}
