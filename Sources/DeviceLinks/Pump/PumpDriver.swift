// What a driver of a pump is.
//
// Guarantees: none; a driver gives them. `PumpDriverContract` tests them.

/// Carries commands to one pump, outside of any session.
///
/// Called with one command at a time. A driver may take as long as it likes, hang, or fail: who calls has a timeout, and cancels. What it says is
/// looked at before it is believed.
public protocol PumpDriver: Sendable {
    /// Carries one command out, and answers with what the pump said.
    /// - Throws: `PumpDriverError.notSent` only where the command surely never left; anything else means that it may have been carried out.
    func perform(_ command: LinkCommand) async throws -> PumpReport
}

public enum PumpDriverError: Error, Hashable, Sendable {
    /// The command never left: it may be sent again.
    case notSent(String)
    /// It left, and no answer came.
    case noAnswer(String)

    public var reason: String {
        switch self {
        case .notSent(let reason), .noAnswer(let reason): reason
        }
    }
}
