// What a session asks of a pump and a sensor that are outside of it.
//
// Guarantees: nothing here knows how a device outside is reached; a session whose seams name none has its study's devices, to the digest.

package import IsletAlerts
package import IsletDevices
package import IsletLoop

/// The pump and the sensor outside of one session.
package protocol OutsideDevices: Sendable {
    /// The pump, as the loop commands it.
    var pumpPort: any InsulinPumpPort { get }
    /// The pump, as the person commands it.
    var pumpControls: any InsulinPumpControls { get }
    /// The sensor that the loop hears.
    var sensorPort: any GlucoseSensorPort { get }

    /// Begins with the session: devices, alert center and loop, in the order that its digest has.
    func begin(alerts: AlertCenter, loop: LoopController, watchers: [any DeviceObserver]) async throws

    /// Lets go of whoever hears the devices.
    func dismissObservers()
}

extension Session {
    /// The pump that the loop and the person command.
    package var controls: any InsulinPumpControls { outside?.pumpControls ?? pump }
    /// The sensor that the loop hears.
    package var readings: any GlucoseSensorPort { outside?.sensorPort ?? sensor }
}
