// What one address may do, so that it can't take the server from all others.
//
// Guarantees: so many log-ins a second, so many guesses at a secret, so many open streams; whoever is over it is told when to come back, and no thread waits for them.
// What is kept is bounded, whoever asks. Does not: tell people behind one address apart.

import IsletDevices
import IsletKernel
import Synchronization

package final class Guests: Sendable {
    /// What fills up again with time.
    package struct Rate: Sendable {
        /// At once, after a pause.
        package var burst: Double
        package var perSecond: Double

        /// Questions that anybody may ask and that cost something: log-ins.
        package static let logIns = Rate(burst: 30, perSecond: 2)
        /// Wrong tokens, passwords and secrets.
        package static let guesses = Rate(burst: 20, perSecond: 0.2)
    }

    private struct Bucket {
        var spent = 0.0
        var at: Int64

        mutating func settle(_ rate: Rate, at now: Int64) {
            spent = max(0, spent - Double(now - at) / Double(Nanoseconds.second) * rate.perSecond)
            at = now
        }
    }

    private struct State {
        var logIns: [String: Bucket] = [:]
        var guesses: [String: Bucket] = [:]
        var streams: [String: Int] = [:]
    }

    /// Addresses that are kept; beyond them all others are one.
    private static let addressLimit = 10_000
    private static let others = "others"

    private let streamLimit: Int
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - streamLimit: streams that one address may have open.
    ///   - now: nanoseconds of a clock that nobody sets.
    package init(streamLimit: Int = 400, now: @escaping @Sendable () -> Int64) {
        (self.streamLimit, self.now) = (streamLimit, now)
    }

    /// Whether an address may ask to be logged in.
    /// - Returns: nil for yes; else after how many seconds.
    func logIn(_ address: String) -> Int? {
        state.withLock { Self.take(&$0.logIns, Self.group(address), .logIns, now()) }
    }

    /// Whether what an address shows is looked at.
    /// - Returns: nil for yes; else after how many seconds.
    func mayGuess(_ address: String) -> Int? {
        state.withLock { state in
            let key = Self.group(address)
            guard var bucket = state.guesses[key] ?? state.guesses[Self.others] else { return nil }
            bucket.settle(.guesses, at: now())
            return Self.wait(bucket, .guesses)
        }
    }

    /// What it showed was wrong.
    func guessedWrong(_ address: String) {
        state.withLock { _ = Self.take(&$0.guesses, Self.group(address), .guesses, now()) }
    }

    func hasRoomForStream(_ address: String) -> Bool {
        state.withLock { $0.streams[Self.group(address), default: 0] < streamLimit }
    }

    /// Whether an address may follow one thing more; to be ended where it may.
    func beginStream(_ address: String) -> Bool {
        state.withLock { state in
            let key = Self.group(address)
            guard state.streams[key, default: 0] < streamLimit else { return false }
            state.streams[key, default: 0] += 1
            return true
        }
    }

    func endStream(_ address: String) {
        state.withLock { state in
            let key = Self.group(address)
            let left = (state.streams[key] ?? 1) - 1
            state.streams[key] = left > 0 ? left : nil
        }
    }

    private static func wait(_ bucket: Bucket, _ rate: Rate) -> Int? {
        let over = bucket.spent + 1 - rate.burst
        return over > 0 ? max(1, Int((over / rate.perSecond).rounded(.up))) : nil
    }

    private static func take(
        _ buckets: inout [String: Bucket], _ address: String, _ rate: Rate, _ now: Int64
    ) -> Int? {
        var key = address
        if buckets[key] == nil, buckets.count >= addressLimit {
            buckets = buckets.filter { _, bucket in
                var bucket = bucket
                bucket.settle(rate, at: now)
                return bucket.spent > 0
            }
            if buckets.count >= addressLimit { key = others }
        }
        var bucket = buckets[key] ?? Bucket(at: now)
        bucket.settle(rate, at: now)
        let wait = wait(bucket, rate)
        if wait == nil { bucket.spent += 1 }
        buckets[key] = bucket
        return wait
    }

    /// One network of the newer protocol is one guest: a home has 2⁶⁴ addresses.
    static func group(_ address: String) -> String {
        guard address.contains(":"), !address.contains(".") else { return address }
        let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        var groups = halves[0].split(separator: ":").map(String.init)
        if halves.count > 1, groups.count < 4 { groups += Array(repeating: "0", count: 4 - groups.count) }
        return groups.prefix(4).joined(separator: ":")
    }
}
