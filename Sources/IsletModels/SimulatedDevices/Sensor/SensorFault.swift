// One kind of sensor fault, as its file writes it.

import IsletDevices
import IsletKernel

/// What a sensor fault is made of. No row and no key: it is the place of one subject's sensor, with its streams and its log, for which a fault begins.
struct SensorFaultSetting {
    /// nil where none comes by chance.
    var rate: Double?
    var device: SensorDevice
    var streams: RandomStreams
    /// Nanoseconds between local midnight and the session's start.
    var startOfDay: Int64
    var log: FaultLog
    /// The session's start.
    var now: Instant
}

/// One kind of fault of a subject's sensors. Belongs to the session's thread.
protocol SensorFault: AnyObject {
    /// A fault that the study put here.
    func begin(_ fault: ScheduledFault)
    /// Brings everything up to `now`.
    func advance(to now: Instant)
    /// After every kind has advanced: what ends with nobody's help.
    func settle(at now: Instant)
    /// Nothing begins or ends before.
    func nextChange(after now: Instant) -> Instant
    /// A new sensor is in place.
    func sensorChanged(at instant: Instant)

    /// What it takes off a reading, mg/dL.
    func reduction(at now: Instant) -> Double
    /// Whether readings don't arrive.
    var holdsReadingsBack: Bool { get }
    /// What the sensor's algorithm says for it; nil where it has nothing to say.
    var state: SensorState? { get }
}

extension SensorFault {
    func settle(at now: Instant) {}
    func sensorChanged(at instant: Instant) {}
    func reduction(at now: Instant) -> Double { 0 }
    var holdsReadingsBack: Bool { false }
    var state: SensorState? { nil }
}
