// Steps to send, a clock that doesn't wait, stores that forget nothing, and deaths.

import DeviceLinks
import FaultyServer
import IsletDevices
import Synchronization

/// SplitMix64: the same draws from the same seed.
struct Draws: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Sessions of so many steps each.
struct Feed: StepFeed {
    let counts: [Int]
    var name = "k"

    var sessions: [SyncSession] {
        counts.indices.map { SyncSession(session: $0 * 2, key: "\(name)\($0)") }
    }

    func steps(of session: SyncSession) -> any StepSequence { Steps(list(of: session)) }

    func list(of session: SyncSession) -> [SyncStep] {
        (0..<counts[session.session / 2]).map { time in
            let id = "\(session.key)-\(session.session)-\(time)"
            return SyncStep(
                id: id,
                json: #"{"step_id":"\#(id)","algorithm_time":\#(time),"cgm_mgdl":null,"arm":"a \"b\""}"#)
        }
    }

    /// What an endpoint has to have in the end.
    var ids: [String] { sessions.flatMap { list(of: $0).map(\.id) } }
}

final class Steps: StepSequence {
    let count: Int
    private var rest: ArraySlice<SyncStep>

    init(_ steps: [SyncStep]) {
        count = steps.count
        rest = steps[...]
    }

    func next() -> SyncStep? { rest.popFirst() }
}

final class FakeClock: SyncClock {
    private let state = Mutex<(now: Double, waits: [Double])>((1_800_000_000, []))
    var epochSeconds: Double { state.withLock { $0.now } }
    var waits: [Double] { state.withLock { $0.waits } }

    func sleep(seconds: Double) async throws {
        try Task.checkCancellation()
        state.withLock {
            $0.now += seconds
            $0.waits.append(seconds)
        }
    }
}

final class MemoryCursors: SyncCursorStore {
    var cursors: [Int: SyncCursor] = [:]
    func cursor(ofSession session: Int) -> SyncCursor? { cursors[session] }
    func save(_ cursor: SyncCursor, ofSession session: Int) { cursors[session] = cursor }
}

/// The process is gone.
struct Death: Error {}

/// Lets so many effects through; the process dies right after the last of them.
final class Power: Sendable {
    private let left: Mutex<Int>
    private let spent = Mutex(0)
    init(_ effects: Int) { left = Mutex(effects) }
    var effects: Int { spent.withLock { $0 } }

    func spend() throws {
        try left.withLock { left in
            guard left > 0 else { throw Death() }
            left -= 1
        }
        spent.withLock { $0 += 1 }
    }
}

final class MortalCursors: SyncCursorStore {
    let inner: any SyncCursorStore
    let power: Power
    init(_ inner: any SyncCursorStore, _ power: Power) {
        self.inner = inner
        self.power = power
    }
    func cursor(ofSession session: Int) throws -> SyncCursor? { try inner.cursor(ofSession: session) }
    func save(_ cursor: SyncCursor, ofSession session: Int) throws {
        try power.spend()
        try inner.save(cursor, ofSession: session)
    }
}

struct MortalTransport: SyncTransport {
    let inner: any SyncTransport
    let power: Power
    var endpoint: String { inner.endpoint }
    func post(_ request: SyncRequest) async throws -> SyncResponse {
        try power.spend()
        return try await inner.post(request)
    }
}

/// Sends a feed to a server. The clock doesn't wait.
@discardableResult
func sync(
    _ feed: Feed, to server: FaultyServer, cursors: any SyncCursorStore = MemoryCursors(), batch: Int = 5,
    attempts: Int = 8, clock: any SyncClock = FakeClock(), seed: UInt64 = 1, timeout: Double = 120,
    token: String? = nil, power: Power? = nil
) async throws -> SyncProgress {
    guard let real = HTTPTransport(url: server.url, token: token, timeoutSeconds: timeout) else {
        throw NoAnswer(reason: "no URL")
    }
    let transport: any SyncTransport = power.map { MortalTransport(inner: real, power: $0) } ?? real
    let store = power.map { MortalCursors(cursors, $0) } ?? cursors
    var client = SyncClient(
        feed: feed, cursors: store, transport: transport, clock: clock,
        policy: RetryPolicy(attempts: attempts), batchSize: batch, random: Draws(seed: seed))
    return try await client.run()
}
