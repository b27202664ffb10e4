// What the server rings for by itself, as the session can't: that it is frozen, that it has failed, or that its algorithm gives no answer.
//
// Guarantees: it rings when that has been so for a second, and again every half minute until somebody has seen it or it is over. What was seen stays silent until it is
// over, and a failed session that is tried again is not over before it is back; what comes again within the half minute waits for its end. Each ring has a number of its own, whoever looks and however many. It needs nothing of the session,
// and stands in no journal.
// Does not: judge. `LiveHost` says who is frozen, who has failed and who has no answer, the ward who could not go on at its start. What is late for a moment, as after a sleep of the machine, rings nobody.

package import IsletAlerts
package import IsletDevices
import IsletKernel
import Synchronization

package final class WardSiren: Sendable {
    package enum Cause: Hashable, Sendable {
        case frozen
        /// Nothing of it goes on: its journal could not be written, or it could not be lived again.
        case failed
        /// The session goes on without its algorithm.
        case noAnswer
    }

    package struct Ring: Hashable, Sendable {
        /// From 1; of this server's siren.
        package var number: Int
        package var session: String
        package var cause: Cause
        /// It rang for the same before.
        package var isAgain: Bool
    }

    /// The sessions that the host has not got.
    package struct Absent: Sendable {
        /// Those that could not go on.
        package var failed: [String] = []
        /// Those that are being lived again.
        package var returning: [String] = []

        package init() {}
    }

    /// What is so of one session.
    fileprivate struct Stall {
        var cause: Cause
        /// By the host's clock, ns, as `rangAt` and `lookedAt`.
        var since: Int64
        /// The newest ring's number, and how many there were.
        var ring = 0
        var count = 0
        var isSeen = false
    }

    fileprivate struct Voice: Hashable {
        var session: String
        var cause: Cause
    }

    fileprivate struct State {
        var newest = 0
        var stalls: [String: Stall] = [:]
        var rangAt: [Voice: Int64] = [:]
        var lookedAt = Int64.min
    }

    /// From one ring to the next.
    package static let every = 30 * Nanoseconds.second
    package static let patience = Nanoseconds.second
    /// Looks that are nearer to each other are one.
    private static let pause = Nanoseconds.second / 4

    private let state = Mutex(State())

    package init() {}

    package var newest: Int { state.withLock { $0.newest } }

    /// Looks at all sessions, and rings where it is time.
    /// - Returns: of each session the newest ring, where it came after this one; the oldest first.
    @discardableResult
    package func look(
        at host: LiveHost, and absent: () -> Absent = { Absent() }, after number: Int = .max
    ) -> [Ring] {
        state.withLock { state in
            let now = host.continuousNanoseconds
            if state.lookedAt == .min || now - state.lookedAt >= Self.pause {
                state.follow(host, absent(), at: now)
            }
            return state.stalls.filter { $0.value.ring > number }.map {
                Ring(
                    number: $0.value.ring, session: $0.key, cause: $0.value.cause, isAgain: $0.value.count > 1
                )
            }.sorted { $0.number < $1.number }
        }
    }

    /// Somebody has seen it: nothing rings for it before it is over.
    /// - Returns: whether there was anything to see.
    package func see(_ id: String, at host: LiveHost, and absent: () -> Absent = { Absent() }) -> Bool {
        state.withLock { state in
            state.follow(host, absent(), at: host.continuousNanoseconds)
            guard state.stalls[id] != nil else { return false }
            state.stalls[id]?.isSeen = true
            return true
        }
    }

    /// Whether somebody has seen what is so of a session.
    package func isSeen(_ id: String) -> Bool { state.withLock { $0.stalls[id]?.isSeen ?? false } }

    fileprivate static func stalled(_ host: LiveHost, _ absent: Absent) -> [String: Cause] {
        var found: [String: Cause] = [:]
        for id in host.degraded() where host.status(of: id)?.snapshot.phase == .running {
            found[id] = .noAnswer
        }
        for id in host.watch() { found[id] = .frozen }
        for id in host.failed() + absent.failed { found[id] = .failed }
        return found
    }
}

extension WardSiren.State {
    fileprivate mutating func follow(_ host: LiveHost, _ absent: WardSiren.Absent, at now: Int64) {
        lookedAt = now
        let found = WardSiren.stalled(host, absent)
        stalls = stalls.filter { id, stall in
            found[id] == stall.cause || (stall.cause == .failed && absent.returning.contains(id))
        }
        rangAt = rangAt.filter { now - $0.value < WardSiren.every }
        for (id, cause) in found.sorted(by: { $0.key < $1.key }) {
            var stall = stalls[id] ?? WardSiren.Stall(cause: cause, since: now)
            let voice = WardSiren.Voice(session: id, cause: cause)
            if !stall.isSeen, rangAt[voice] == nil, now - stall.since >= WardSiren.patience {
                newest += 1
                stall.ring = newest
                stall.count += 1
                rangAt[voice] = now
            }
            stalls[id] = stall
        }
    }
}

extension WardSiren.Cause {
    package var code: AlertName {
        switch self {
        case .frozen: "SESSION-FROZEN"
        case .failed: "SESSION-FAILED"
        case .noAnswer: "ALGORITHM-NO-ANSWER"
        }
    }

    package var severity: AlertSeverity {
        switch self {
        case .frozen, .failed: .safetyCritical
        case .noAnswer: .actionable
        }
    }

    package var message: ValueText {
        switch self {
        case .frozen: "The session is frozen: nothing that is shown of it is sure."
        case .failed: "The session has failed: it does not go on, and nothing of it rings."
        case .noAnswer: "The algorithm gives no answer: the pump's own basal runs."
        }
    }

    package var action: String {
        switch self {
        case .frozen: "Nothing reaches it: look for yourself."
        case .failed: "Look for yourself; its page says why it failed, and how it goes on."
        case .noAnswer: "Look after glucose yourself until it does."
        }
    }
}

extension Ward {
    /// What the siren has rung since a ring of it: of each session the newest, the oldest first.
    @discardableResult
    package func rung(after number: Int = .max) -> [WardSiren.Ring] {
        siren.look(at: host, and: { absent }, after: number)
    }

    private var absent: WardSiren.Absent {
        var absent = WardSiren.Absent()
        for id in ids {
            guard let entry = entry(id) else { continue }
            if entry.couldNotGoOn { absent.failed.append(id) }
            if entry.returning != nil { absent.returning.append(id) }
        }
        return absent
    }

    /// Somebody has seen that a session is frozen, has failed, or goes on without its algorithm: nothing rings for that before it is over.
    package func see(_ id: String) throws {
        guard has(id) else { throw Refusal.unknown }
        guard siren.see(id, at: host, and: { absent }) else {
            throw Refusal.conflict(
                "nothing rings: the session is not frozen and has not failed, and its algorithm answers")
        }
        host.wake()
    }

    /// Whether the siren rings for it, as nobody has seen it.
    func isSounding(_ id: String, _ status: LiveHost.Status) -> Bool {
        let snapshot = status.snapshot
        var isStalled = status.isFrozen || (snapshot.isDegraded && snapshot.phase == .running)
        if case .failed = snapshot.phase { isStalled = true }
        return isStalled && !siren.isSeen(id)
    }
}
