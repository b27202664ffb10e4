// The total order of a session's events.
//
// Guarantees: events leave in the order (instant, phase, sequence); two events never compare equal. Push and pop
// are O(log n), entries are plain bits, nothing is allocated once the heap has its size.
// Does not: cancel. A wake-up that was moved leaves its old entry behind; its generation says that it is stale.

/// What happens first among events of one instant.
public enum Phase: UInt8, Sendable, CaseIterable, Comparable {
    /// Input from outside the session, from the input queue.
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

    enum Target {
        /// Resumed once.
        case sleeper(Unmanaged<Sleeper>)
        /// A wake-up that may have been moved since; it fires when the generation still matches.
        case wakeup(Unmanaged<Wakeup>, generation: UInt32)
        /// The input with this index in the journal.
        case input(Int)
    }

    /// Four words of plain bits: entries are moved about.
    struct Entry {
        var instant: Int64
        /// Phase in the top byte, sequence below: one comparison decides ties.
        var order: UInt64
        /// The target's reference or index.
        private let bits: UInt
        /// Its kind, and a wake-up's generation below.
        private let mark: UInt64

        private static let sleeper: UInt64 = 1 << 32
        private static let input: UInt64 = 2 << 32

        @inline(__always)
        init(instant: Int64, order: UInt64, target: Target) {
            self.instant = instant
            self.order = order
            switch target {
            case .wakeup(let reference, let generation):
                bits = UInt(bitPattern: reference.toOpaque())
                mark = UInt64(generation)
            case .sleeper(let reference):
                bits = UInt(bitPattern: reference.toOpaque())
                mark = Self.sleeper
            case .input(let index):
                bits = UInt(bitPattern: index)
                mark = Self.input
            }
        }

        var target: Target {
            @inline(__always) get {
                guard mark != Self.input, let pointer = UnsafeRawPointer(bitPattern: bits) else {
                    return .input(Int(bitPattern: bits))
                }
                return mark == Self.sleeper
                    ? .sleeper(.fromOpaque(pointer))
                    : .wakeup(.fromOpaque(pointer), generation: UInt32(truncatingIfNeeded: mark))
            }
        }

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
            a.instant < b.instant || a.instant == b.instant && a.order < b.order
        }
    }

    /// The soonest entries, latest first: the next one stands at the end. Each precedes all of the heap. Most sessions have
    /// no more than these few, and never touch the heap.
    private let front = UnsafeMutablePointer<Entry>.allocate(capacity: frontLimit)
    private var frontCount = 0
    private static let frontLimit = 16
    private var heap = UnsafeMutablePointer<Entry>.allocate(capacity: 16)
    private var capacity = 16
    private var count = 0
    /// Below it are the inputs' places: their indices, the same in a live run and in its replay.
    private var sequence: UInt64 = 1 << 32

    deinit {
        for entry in entries {
            switch entry.target {
            case .wakeup(let reference, _): reference.release()
            case .sleeper(let reference): reference.release()
            case .input: break
            }
        }
        front.deallocate()
        heap.deallocate()
    }

    private var entries: [Entry] { (0..<frontCount).map { front[$0] } + (0..<count).map { heap[$0] } }

    /// The front is empty only when all is.
    var isEmpty: Bool { frontCount == 0 }
    var firstInstant: Int64? { frontCount == 0 ? nil : front[frontCount - 1].instant }

    @inline(__always)
    func push(at instant: Int64, phase: Phase, _ target: Target) {
        sequence &+= 1
        insert(Entry(instant: instant, order: UInt64(phase.rawValue) << 56 | sequence, target: target))
    }

    /// Inputs come first at their instant, in the order of their indices.
    func pushInput(at instant: Int64, index: Int) {
        insert(Entry(instant: instant, order: UInt64(index), target: .input(index)))
    }

    @inline(__always)
    private func insert(_ entry: Entry) {
        if count == 0, frontCount < Self.frontLimit { insertIntoFront(entry) } else { insertAmongMany(entry) }
    }

    private func insertAmongMany(_ entry: Entry) {
        // What is the latest of the front, once half of it is shed, may be sooner than the entry.
        if frontCount == Self.frontLimit, count == 0 || Entry.precedes(entry, heap[0]) { shedFront() }
        if count > 0, !Entry.precedes(entry, heap[0]) { return insertIntoHeap(entry) }
        insertIntoFront(entry)
    }

    @inline(__always)
    private func insertIntoFront(_ entry: Entry) {
        var place = frontCount
        while place > 0, Entry.precedes(front[place - 1], entry) {
            front[place] = front[place - 1]
            place -= 1
        }
        front[place] = entry
        frontCount += 1
    }

    /// Removes the first entry. The queue must not be empty.
    func pop() -> Entry {
        precondition(frontCount > 0)
        frontCount -= 1
        let first = front[frontCount]
        if frontCount == 0, count > 0 { fillFront() }
        return first
    }

    /// Who is due at `instant`, sorted: for messages.
    func waiters(at instant: Int64) -> [String] {
        entries.compactMap { $0.instant == instant ? $0.waiter : nil }.sorted()
    }

    /// Moves the later half of the front into the heap.
    private func shedFront() {
        let half = frontCount / 2
        for index in 0..<half { insertIntoHeap(front[index]) }
        front.update(from: front + half, count: frontCount - half)
        frontCount -= half
    }

    private func fillFront() {
        let moved = min(count, Self.frontLimit / 2)
        for index in 0..<moved { front[moved - 1 - index] = popHeap() }
        frontCount = moved
    }

    // MARK: Heap

    private func insertIntoHeap(_ entry: Entry) {
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

    private func popHeap() -> Entry {
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
