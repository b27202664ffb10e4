// What a session in real time needs beside `advance`: inputs that are on disk before they count, and leaps over time that nobody lived.
//
// Guarantees: an input takes effect only after its caller has kept it; a leap moves no event to its own past, and both replay.
// Does not: know a clock. Who calls says how far time has come.

extension SessionExecutor {
    /// Stamps an input just after this instant, lets `keep` write it down, and queues it. Where `keep` throws nothing has happened.
    ///
    /// The session must have been advanced as far as it is to be when the input enters.
    /// - Returns: the instant at which it will take effect.
    @discardableResult
    public func accept(_ input: ExternalInput, keep: (StampedInput) throws -> Void) rethrows -> Instant {
        try occupy {
            let stamped = StampedInput(instant: max(now, lastStamp).adding(1), input: input)
            try keep(stamped)
            queueInput(stamped)
            return stamped.instant
        }
    }

    /// Moves time to `instant` over a stretch that nobody lived through: what was due in it fires once, now, in its order.
    ///
    /// For sessions whose body and devices are real, and went on by themselves. A simulated world is advanced instead.
    /// - Returns: as `advance`. Nothing happens where `instant` has come already.
    @discardableResult
    public func leap(to instant: Instant) throws -> Instant? {
        occupy {
            guard instant > now, instant != .distantFuture else { return }
            journal.record(.leap, at: instant, UInt64(bitPattern: now.nanoseconds))
            now = instant
        }
        return try advance(to: instant)
    }
}

extension EventKind {
    /// Time that nobody lived through. Words: from when.
    public static let leap = EventKind(2, "leap")
}
