// What a sync client sends: sessions of steps, in order.

/// One step as the endpoint gets it.
public struct SyncStep: Hashable, Sendable {
    /// The same for the same step in every process; letters, digits and hyphens.
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
    /// The same for the same steps in every process, different for any other steps.
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
    /// All steps of a session, in their order: the same ones whenever it is asked.
    func steps(of session: SyncSession) throws -> [SyncStep]
}
