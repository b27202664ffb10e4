// How far a remote endpoint has the step logs of a study, and the store that remembers it.
//
// Guarantees: a cursor never runs ahead of the endpoint: it is written after an acknowledgement, never before. It may lag behind by what
// was acknowledged last, which is then sent again under the same ids.

/// How far an endpoint has one session.
public struct SyncCursor: Hashable, Sendable {
    /// What the session's steps are called by; another key is another session, whatever its index.
    public var key: String
    /// The endpoint has so many of its steps, from the first on.
    public var acknowledged: Int
    /// The endpoint has all of them.
    public var isDone: Bool

    public init(key: String, acknowledged: Int, isDone: Bool) {
        self.key = key
        self.acknowledged = acknowledged
        self.isDone = isDone
    }
}

/// Remembers cursors across the deaths of the process. Used by one client at a time.
public protocol SyncCursorStore {
    /// nil for a session of which nothing has been acknowledged.
    func cursor(ofSession session: Int) throws -> SyncCursor?
    /// After this returns, neither a kill nor a power cut forgets it.
    func save(_ cursor: SyncCursor, ofSession session: Int) throws
}
