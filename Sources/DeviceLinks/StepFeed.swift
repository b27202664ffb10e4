// What a sync client sends: sessions of steps, in order.

/// One step as the endpoint gets it.
public struct SyncStep: Hashable, Sendable {
    /// Names the step; every process gives the same step the same ID. Letters, digits and hyphens.
    public var id: String
    /// One JSON object, which holds the id too.
    public var json: String

    public init(id: String, json: String) {
        self.id = id
        self.json = json
    }
}

/// One session of steps.
public struct SyncSession: Hashable, Sendable {
    public var session: Int
    /// Names this set of steps: equal in every process for equal steps, different for any others.
    public var key: String

    public init(session: Int, key: String) {
        self.session = session
        self.key = key
    }
}

/// Where steps come from. Used by one client at a time.
public protocol StepFeed {
    /// In the order in which they are sent.
    var sessions: [SyncSession] { get }
    /// The steps of a session: the same ones whenever it is asked. A client asks in the order of `sessions`, and leaves out those that
    /// the endpoint has.
    func steps(of session: SyncSession) throws -> any StepSequence
    /// Said once, before the first session is asked for: these will be, in this order.
    func expect(_ sessions: [SyncSession]) throws
}

extension StepFeed {
    public func expect(_ sessions: [SyncSession]) {}
}

/// The steps of one session, in their order, one after the other, so that a session need not fit into memory.
public protocol StepSequence: AnyObject {
    var count: Int { get }
    /// nil after the last one.
    func next() throws -> SyncStep?
}
