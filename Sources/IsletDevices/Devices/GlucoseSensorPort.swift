// The session's side of a continuous glucose monitor.
//
// Guarantees: values only; asking costs nothing and never waits. A driver of a real sensor keeps the last reading
// here and brings new ones in through the session's input queue, or fetches them when it is read; the simulated sensor answers in
// place.

public import IsletKernel

/// One reading.
public struct GlucoseReading: Hashable, Sendable, Codable {
    /// When the sensor measured it.
    public var instant: Instant
    public var glucose: GlucoseConcentration
    /// False where the sensor itself doubts it.
    public var isReliable: Bool
    /// True where it arrived late, after a loss of signal: history, never news.
    public var isBackfilled: Bool

    public init(
        instant: Instant, glucose: GlucoseConcentration, isReliable: Bool = true, isBackfilled: Bool = false
    ) {
        self.instant = instant
        self.glucose = glucose
        self.isReliable = isReliable
        self.isBackfilled = isBackfilled
    }
}

/// What the sensor's algorithm says of itself.
public enum SensorState: UInt8, Sendable, Codable, CaseIterable {
    case ok
    case warmup
    case temporaryError
    case noReliableGlucose
    case failed
    case expired
}

public protocol GlucoseSensorPort: AnyObject, Sendable {
    /// The newest reading that arrived in its own time; nil before the first. Never a backfilled one.
    var latestReading: GlucoseReading? { get }
    var state: SensorState { get }
    /// Whether news come only where `read` fetches them; a sensor that tells its observers by itself is not asked.
    var isPolled: Bool { get }
    /// Fetches what is new: `latestReading` and `state` say it afterwards.
    /// - Throws: anything; nothing has changed then, and it may be tried again.
    func read() throws
}

extension GlucoseSensorPort {
    public var isPolled: Bool { false }
    public func read() {}
}

/// Somebody who is told at once when a device's state changes. Called on the session's thread, within the device's own
/// phase: note what changed, act in your own phase.
public protocol DeviceObserver: AnyObject, Sendable {
    /// A new reading arrived, or the sensor's state changed.
    func sensorDidUpdate(reading: GlucoseReading?, state: SensorState)
    /// Readings that a loss of signal held back, oldest first, with the instants at which they were measured. They
    /// fill the record; no decision hangs on them.
    func sensorDidBackfill(_ readings: [GlucoseReading])
    /// The pump's connection or condition changed.
    func pumpDidUpdate(status: PumpStatus)
}

extension DeviceObserver {
    public func sensorDidBackfill(_ readings: [GlucoseReading]) {}
}
