/// A first-in first-out ring of ready jobs. O(1), grows by doubling, never shrinks.
final class JobRing {
    private var slots = UnsafeMutablePointer<UnownedJob>.allocate(capacity: 8)
    private var capacity = 8
    private var head = 0
    private var count = 0

    deinit { slots.deallocate() }

    @inline(__always) var isEmpty: Bool { count == 0 }

    func append(_ job: UnownedJob) {
        if count == capacity { grow() }
        (slots + ((head + count) & (capacity - 1))).initialize(to: job)
        count += 1
    }

    func popFirst() -> UnownedJob? {
        guard count > 0 else { return nil }
        let job = slots[head]
        head = (head + 1) & (capacity - 1)
        count -= 1
        return job
    }

    private func grow() {
        let larger = UnsafeMutablePointer<UnownedJob>.allocate(capacity: capacity * 2)
        for offset in 0..<count { (larger + offset).initialize(to: slots[(head + offset) & (capacity - 1)]) }
        slots.deallocate()
        slots = larger
        capacity *= 2
        head = 0
    }
}
