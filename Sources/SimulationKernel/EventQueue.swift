// The total order of a session's events.
//
// Guarantees: events leave in the order (instant, phase, sequence); two events never compare equal. Push and pop
// are O(log n), entries are plain bits, nothing is allocated once the heap has its size.
// Does not: cancel. A wake-up that was moved leaves its old entry behind; its generation says that it is stale.

/// What happens first among events of one instant.
public enum Phase: UInt8, Sendable, CaseIterable, Comparable {
    /// Input from outside the session, through the door.
    case input
    case physiology
    case sensor
    case pump
    case loop
    case alerts
    case person

    @inlinable public static func < (a: Phase, b: Phase) -> Bool { a.rawValue < b.rawValue }
}

final class EventQueue {
    /// A task that waits on the clock.
    final class Sleeper: Sendable {
        let continuation: UnsafeContinuation<Void, Never>
        let waiter: StaticString

        init(_ continuation: UnsafeContinuation<Void, Never>, waiter: StaticString) {
            self.continuation = continuation
            self.waiter = waiter
        }
    }

    /// Small on purpose: entries are moved about.
    enum Target {
        /// Resumed once.
        case sleeper(Unmanaged<Sleeper>)
        /// A wake-up that may have been moved since; it fires when the generation still matches.
        case wakeup(Unmanaged<Wakeup>, generation: UInt32)
        /// The input with this index in the journal.
        case input(Int)
    }

    struct Entry {
        var instant: Int64
        /// Phase in the top byte, sequence below: one comparison decides ties.
        var order: UInt64
        var target: Target

        /// Who waits for it; nil for a stale entry.
        var waiter: String? {
            switch target {
            case .sleeper(let reference): reference._withUnsafeGuaranteedRef { "\($0.waiter)" }
            case .wakeup(let reference, let generation):
                reference._withUnsafeGuaranteedRef { $0.generation == generation ? "\($0.waiter)" : nil }
            case .input: "input"
            }
        }

        @inline(__always)
        static func precedes(_ a: Entry, _ b: Entry) -> Bool {
            a.instant != b.instant ? a.instant < b.instant : a.order < b.order
        }
    }

    private var heap = UnsafeMutablePointer<Entry>.allocate(capacity: 16)
    private var capacity = 16
    private var count = 0
    /// Below it are the inputs' places: their indices, the same in a live run and in its replay.
    private var sequence: UInt64 = 1 << 32

    deinit {
        for index in 0..<count {
            switch heap[index].target {
            case .wakeup(let reference, _): reference.release()
            case .sleeper(let reference): reference.release()
            case .input: break
            }
        }
        heap.deallocate()
    }

    var isEmpty: Bool { count == 0 }
    var firstInstant: Int64? { count == 0 ? nil : heap[0].instant }

    func push(at instant: Int64, phase: Phase, _ target: Target) {
        sequence &+= 1
        insert(Entry(instant: instant, order: UInt64(phase.rawValue) << 56 | sequence, target: target))
    }

    /// Inputs come first at their instant, in the order of their indices.
    func pushInput(at instant: Int64, index: Int) {
        insert(Entry(instant: instant, order: UInt64(index), target: .input(index)))
    }

    private func insert(_ entry: Entry) {
        if count == capacity { grow() }
        var child = count
        count += 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard Entry.precedes(entry, heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = entry
    }

    /// Removes the first entry. The queue must not be empty.
    func pop() -> Entry {
        precondition(count > 0)
        let top = heap[0]
        count -= 1
        let last = heap[count]
        var hole = 0
        while true {
            var child = 2 * hole + 1
            guard child < count else { break }
            if child + 1 < count, Entry.precedes(heap[child + 1], heap[child]) { child += 1 }
            guard Entry.precedes(heap[child], last) else { break }
            heap[hole] = heap[child]
            hole = child
        }
        heap[hole] = last
        return top
    }

    /// Who is due at `instant`, sorted: for messages.
    func waiters(at instant: Int64) -> [String] {
        (0..<count).compactMap { heap[$0].instant == instant ? heap[$0].waiter : nil }.sorted()
    }

    private func grow() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: heap, count: count)
        heap.deallocate()
        heap = larger
        capacity *= 2
    }

    /// Gives every entry of the earliest instant a fresh place among its equals, drawn from `generator`.
    /// Used by tie-shuffle mode only; the phase is shuffled away too.
    func shuffleTies(using generator: inout some RandomNumberGenerator) {
        guard let instant = firstInstant else { return }
        var ties: [Entry] = []
        while firstInstant == instant { ties.append(pop()) }
        let orders = ties.map(\.order)
        ties.shuffle(using: &generator)
        for (order, var tie) in zip(orders, ties) {
            tie.order = order
            insert(tie)
        }
    }
}
