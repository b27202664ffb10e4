// What reaches a session from devices outside of it.

import IsletDevices
import IsletKernel

/// One thing that a driver has to say. Instants are nanoseconds of the session's time.
public enum LinkInput: Hashable, Sendable, Codable {
    /// - Parameter at: when the pump said it.
    case report(PumpReport, at: Int64)
    /// The driver has no answer to a command.
    case failed(number: Int64, wasSent: Bool, reason: String)
    /// - Parameter at: when it was taken.
    case reading(mgdl: Double, at: Int64, isReliable: Bool)
    /// The process died and lives again: what it had sent may have been carried out.
    case relaunched
}

/// The devices outside of one session.
public struct SessionLinks: Sendable {
    public let pump: LinkedPump
    public let sensor: LinkedSensor

    public init(pump: LinkedPump, sensor: LinkedSensor) {
        self.pump = pump
        self.sensor = sensor
    }

    /// Called on the session's thread.
    /// - Returns: why a report was no answer; nil where it was one, and for all else.
    @discardableResult
    public func hear(_ input: LinkInput) -> LinkRefusal? {
        switch input {
        case .report(let report, let at):
            return pump.here((report, Instant(nanoseconds: at))) { $0.hear($1.0, saidAt: $1.1) }
        case .failed(let number, let wasSent, _):
            pump.here((number, wasSent)) { $0.fail(number: $1.0, wasSent: $1.1) }
        case .reading(let mgdl, let at, let isReliable):
            let glucose = GlucoseConcentration(milligramsPerDecilitre: mgdl)
            sensor.here((glucose, Instant(nanoseconds: at), isReliable)) {
                $0.hear($1.0, at: $1.1, isReliable: $1.2)
            }
        case .relaunched: pump.here { $0.relaunched() }
        }
        return nil
    }
}
