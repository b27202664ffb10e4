// The one exchange that a sync client needs, and the clock that it waits by: tests bring their own.

/// A POST, as it goes out.
public struct SyncRequest: Hashable, Sendable {
    public var idempotencyKey: String
    /// JSON.
    public var body: String
}

/// What came back.
public struct SyncResponse: Hashable, Sendable {
    public var status: Int
    /// As sent; nil without the header.
    public var retryAfter: String?
    /// Where a redirect points.
    public var location: String?
    /// The beginning of the answer.
    public var body: String

    public init(status: Int, retryAfter: String? = nil, location: String? = nil, body: String = "") {
        self.status = status
        self.retryAfter = retryAfter
        self.location = location
        self.body = body
    }
}

/// Why there is no answer. Whether the endpoint has the steps is not known then.
public struct NoAnswer: Error, Hashable, Sendable {
    public var reason: String

    public init(reason: String) { self.reason = reason }
}

/// Posts to one endpoint.
public protocol SyncTransport: Sendable {
    /// What people may be shown of the endpoint: nothing secret.
    var endpoint: String { get }
    /// - Throws: `NoAnswer`; `CancellationError` where the task was cancelled.
    func post(_ request: SyncRequest) async throws -> SyncResponse
}

/// The clock that waits are measured by.
public protocol SyncClock: Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    var epochSeconds: Double { get }
    /// - Throws: `CancellationError` where the task was cancelled.
    func sleep(seconds: Double) async throws
}
