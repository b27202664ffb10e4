// Posts the step logs of sessions to a remote endpoint.
//
// Guarantees
// - Steps arrive in order: a session's by step, sessions by their order in the feed; a batch is sent only when all before it were acknowledged.
// - None is lost: the cursor is saved after the acknowledgement, so a death at any moment leaves it at or before what the endpoint has.
// - None is doubled at an endpoint that knows a step by its id: what is sent again, after a lost answer or a death, bears the same
//   ids, and within one batch size the same `Idempotency-Key`.
// - What may pass (no answer, 408, 429, 5xx) is tried again with growing, jittered waits, or when the endpoint says; any other answer ends
//   the client with one line.
// Does not: follow redirects (they could carry steps and token elsewhere), or send two batches at a time.

public import IsletDevices

/// How far a client is.
public struct SyncProgress: Hashable, Sendable {
    public var sessionsDone: Int
    public var sessions: Int
    /// Sent and acknowledged by this client.
    public var steps: Int
    /// Requests that had to be sent again.
    public var retries: Int
}

public struct SyncClient<Random: RandomNumberGenerator> {
    private let feed: any StepFeed
    private let cursors: any SyncCursorStore
    private let transport: any SyncTransport
    private let clock: any SyncClock
    private let policy: RetryPolicy
    private let batchSize: Int
    private var random: Random
    private let tell: (SyncProgress) -> Void
    private var progress: SyncProgress

    /// - Parameters:
    ///   - batchSize: steps that are sent at once, at least 1; a batch is of one session.
    ///   - random: where jitter is drawn from.
    ///   - tell: called after each acknowledgement and each retry.
    public init(
        feed: any StepFeed, cursors: any SyncCursorStore, transport: any SyncTransport, clock: any SyncClock,
        policy: RetryPolicy = RetryPolicy(), batchSize: Int, random: Random,
        tell: @escaping (SyncProgress) -> Void = { _ in }
    ) {
        self.feed = feed
        self.cursors = cursors
        self.transport = transport
        self.clock = clock
        self.policy = policy
        self.batchSize = max(1, batchSize)
        self.random = random
        self.tell = tell
        progress = SyncProgress(sessionsDone: 0, sessions: feed.sessions.count, steps: 0, retries: 0)
    }

    /// Sends what the endpoint lacks.
    /// - Throws: `InputError` for an answer that won't change; `OutputError` (temporary) when patience is over;
    ///   `CancellationError`; what feed and cursors throw.
    @discardableResult
    public mutating func run() async throws -> SyncProgress {
        var wanted: [(session: SyncSession, cursor: SyncCursor)] = []
        for session in feed.sessions {
            let cursor = try cursor(of: session)
            if cursor.isDone { progress.sessionsDone += 1 } else { wanted.append((session, cursor)) }
        }
        try feed.expect(wanted.map(\.session))
        for (session, cursor) in wanted {
            try Task.checkCancellation()
            try await send(session, from: cursor)
            progress.sessionsDone += 1
            tell(progress)
        }
        return progress
    }

    private func cursor(of session: SyncSession) throws -> SyncCursor {
        let known = try cursors.cursor(ofSession: session.session)
        if let known, known.key == session.key { return known }
        return SyncCursor(key: session.key, acknowledged: 0, isDone: false)
    }

    private mutating func send(_ session: SyncSession, from start: SyncCursor) async throws {
        var cursor = start
        let steps = try feed.steps(of: session)
        for _ in 0..<cursor.acknowledged { _ = try steps.next() }
        while cursor.acknowledged < steps.count {
            var batch: [SyncStep] = []
            while batch.count < batchSize, let step = try steps.next() { batch.append(step) }
            guard !batch.isEmpty else { break }
            try await send(batch)
            cursor.acknowledged += batch.count
            cursor.isDone = cursor.acknowledged == steps.count
            try cursors.save(cursor, ofSession: session.session)
            progress.steps += batch.count
            tell(progress)
        }
        // A session that has no step to acknowledge.
        if !cursor.isDone {
            cursor.isDone = true
            try cursors.save(cursor, ofSession: session.session)
        }
    }

    /// Returns when the endpoint has acknowledged the batch.
    private mutating func send(_ batch: [SyncStep]) async throws {
        guard let first = batch.first, let last = batch.last else { return }
        let key = "\(first.id)..\(last.id)"
        let request = SyncRequest(
            idempotencyKey: key,
            body: "{\"batch\":\"\(key)\",\"steps\":[\n" + batch.map(\.json).joined(separator: ",\n")
                + "\n]}\n")
        var failures = 0
        while true {
            var asked: Double?
            let reason: String
            do {
                let response = try await transport.post(request)
                if (200...299).contains(response.status) { return }
                try refuse(response)
                asked = response.retryAfter.flatMap {
                    retryAfterSeconds($0, nowEpochSeconds: clock.epochSeconds)
                }
                reason = "HTTP \(response.status)" + said(response)
            } catch let failure as NoAnswer {
                reason = failure.reason
            }
            failures += 1
            if let asked, asked > policy.longestRetryAfterSeconds {
                throw giveUp("\(reason); it asks to be left alone for \(Int(min(asked, 1e9).rounded(.up))) s")
            }
            guard failures < policy.attempts else {
                throw giveUp("\(reason), \(failures) time\(failures == 1 ? "" : "s") in a row")
            }
            progress.retries += 1
            tell(progress)
            // Jitter on top of what was asked for: others were asked the same.
            let wait = policy.wait(afterFailures: failures, using: &random)
            try await clock.sleep(seconds: asked.map { $0 + min(wait, 1) } ?? wait)
        }
    }

    private func refuse(_ response: SyncResponse) throws {
        guard !RetryPolicy.isTemporary(response.status) else { return }
        if (300...399).contains(response.status) {
            let target = response.location.map { " to " + printable(withoutSecrets($0), limit: 200) } ?? ""
            throw InputError(
                file: transport.endpoint, found: "HTTP \(response.status), a redirect\(target)",
                expected: "the endpoint itself: redirects are not followed")
        }
        throw InputError(
            file: transport.endpoint, found: "HTTP \(response.status)" + said(response),
            expected: "an endpoint that takes these steps")
    }

    private func said(_ response: SyncResponse) -> String {
        let text = response.body.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return text.isEmpty ? "" : " (" + printable(text, limit: 200) + ")"
    }

    private func giveUp(_ message: String) -> OutputError {
        OutputError(.temporary, path: transport.endpoint, message: message)
    }
}

/// A URL without what may be secret in it: user, password, query and fragment.
public func withoutSecrets(_ url: String) -> String {
    var text = String(url.prefix { $0 != "?" && $0 != "#" })
    if let scheme = text.firstRange(of: "://") {
        let authority = text[scheme.upperBound...].prefix { $0 != "/" }
        if let at = authority.lastIndex(of: "@") { text.removeSubrange(scheme.upperBound...at) }
    }
    return text
}
