// What a pump does beside boluses and one basal rate.

/// A basal rate, or a length of one, that no pump takes.
public struct BasalScheduleError: Error, Hashable, Sendable {
    public var reason: String

    public init(reason: String) { self.reason = reason }
}

public protocol InsulinPumpControls: InsulinPumpPort {
    /// Stops all delivery. When `nanoseconds` have passed the pump reminds the person; only `resume` ends it.
    func suspend(nanoseconds: Int64?) throws
    func resume() throws
    /// Cuts the running bolus short.
    /// - Returns: what the pump had delivered of it; nil where none runs.
    func cancelBolus() throws -> BolusStatus?
    /// Silences an alert at the pump.
    func acknowledge(_ issue: PumpIssue) throws
}
