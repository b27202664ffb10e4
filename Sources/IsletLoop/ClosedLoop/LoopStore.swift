// Where a loop's memory and its step log survive the app.
//
// Guarantees: each call is one transaction; what throws has written nothing.
// Does not: promise to succeed. A loop whose store can't write sends no bolus, and goes on when it writes again.

public import IsletDevices
public import IsletKernel

public protocol LoopStore: AnyObject, Sendable {
    /// nil where nothing was ever written.
    func load() throws -> LoopMemory?
    func save(_ memory: LoopMemory) throws
    /// A step: its record and the memory after it, together.
    func append(_ step: StepRecord, _ memory: LoopMemory) throws
    /// The outcome of a request, in the row of the step that asked for it, and the memory that knows of it, together.
    /// - Parameters:
    ///   - requestID: the row's `StepRecord.requestID`.
    ///   - accepted: nil where the request was sent and no answer came.
    ///   - pumpError: why the pump took nothing; empty where it did, and where that is not known.
    func settle(_ requestID: Int64, accepted: InsulinAmount?, pumpError: String, _ memory: LoopMemory) throws
    /// Steps since `instant`, oldest first.
    func steps(since instant: Instant) throws -> [StepRecord]
}

/// A store in memory: it survives the actors of a session, not the process.
public final class MemoryLoopStore: LoopStore, @unchecked Sendable {
    public private(set) var memory: LoopMemory?
    public private(set) var log: [StepRecord] = []

    public init() {}

    public func load() -> LoopMemory? { memory }
    public func save(_ memory: LoopMemory) { self.memory = memory }

    public func append(_ step: StepRecord, _ memory: LoopMemory) {
        log.append(step)
        self.memory = memory
    }

    public func settle(
        _ requestID: Int64, accepted: InsulinAmount?, pumpError: String, _ memory: LoopMemory
    ) {
        if let index = log.lastIndex(where: { $0.requestID == requestID }) {
            log[index].accepted = accepted
            log[index].wasUncertain = log[index].wasUncertain || accepted == nil
            log[index].pumpError = pumpError
        }
        self.memory = memory
    }

    public func steps(since instant: Instant) -> [StepRecord] { log.filter { $0.instant >= instant } }
}
