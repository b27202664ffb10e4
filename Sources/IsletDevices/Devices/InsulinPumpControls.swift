// What a pump does beside boluses and one basal rate.

/// One segment of a basal programme: this rate from this time of day on.
public struct BasalSegment: Hashable, Sendable {
    /// Nanoseconds after local midnight.
    public var startOfDay: Int64
    public var rate: InsulinRate

    public init(startOfDay: Int64, rate: InsulinRate) {
        self.startOfDay = startOfDay
        self.rate = rate
    }
}

/// A basal programme that no pump takes.
public struct BasalScheduleError: Error, Hashable, Sendable {
    public var reason: String

    public init(reason: String) { self.reason = reason }
}

public protocol InsulinPumpControls: InsulinPumpPort {
    /// Segments by rising time of day, the first at midnight: at most 24, each at least 30 min.
    /// - Throws: `BasalScheduleError`, `PumpError`.
    func setBasalSchedule(_ segments: [BasalSegment]) throws
    /// Stops all delivery. When `nanoseconds` have passed the pump reminds the person; only `resume` ends it.
    func suspend(nanoseconds: Int64?) throws
    func resume() throws
    /// Cuts the running bolus short.
    /// - Returns: what the pump had delivered of it; nil where none runs.
    func cancelBolus() throws -> BolusStatus?
    /// Silences an alert at the pump.
    func acknowledge(_ issue: PumpIssue) throws
}
