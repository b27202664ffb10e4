import IsletKernel
import IsletLive
import Synchronization

/// A clock that a test moves.
final class Clock: LiveClocks {
    private let time = Mutex(Nanoseconds.day)
    func continuousNanoseconds() -> Int64 { time.withLock { $0 } }
    func utcNanoseconds() -> Int64 { time.withLock { $0 } + Int64(1_700_000_000) * Nanoseconds.second }
    func move(by nanoseconds: Int64) { time.withLock { $0 += nanoseconds } }
}
