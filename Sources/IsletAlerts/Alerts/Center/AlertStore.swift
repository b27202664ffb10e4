// Where the app's memory lives between launches.
//
// Guarantees asked of a store: `commit` is one transaction: after a crash at any moment the document is the old one or
// the new one. What `load` gives is what was committed last.

/// Keeps one app's memory.
public protocol AlertStore: Sendable {
    func load() throws -> AlertMemory
    mutating func commit(_ document: AlertMemory.Document) throws
}

/// Keeps it in memory, for virtual runs.
public struct MemoryAlertStore: AlertStore {
    public private(set) var memory = AlertMemory()
    /// Writes so far.
    public private(set) var writes = 0
    /// The app dies instead of making this write (counted from now); nil for never.
    public var diesAtWrite: Int?

    public init() {}

    public func load() -> AlertMemory { memory }

    public mutating func commit(_ document: AlertMemory.Document) throws {
        if let left = diesAtWrite {
            guard left > 0 else { throw AppDied() }
            diesAtWrite = left - 1
        }
        writes += 1
        memory.replace(document)
    }
}

/// The app was killed.
public struct AppDied: Error {}
