// Where somebody can stand between the actors of a session.
//
// Guarantees: seams that pass everything on leave the session as it is, to the digest.
// Does not: belong to studies. Whoever watches a session, or changes it in a test, passes them in.

public import IsletDevices
public import IsletModels
package import IsletKernel

/// Who stands between the actors: nobody, in ordinary runs.
///
///     var seams = SessionSeams()
///     seams.algorithm = { _ in HalfBolus() }
///     let outcome = try Session(study: study, subject: subject, index: 0, arm: arm, seams: seams).run()
public struct SessionSeams {
    /// Between loop and pump.
    public var pump: (SimulatedPump) -> any InsulinPumpPort = { $0 }
    /// Between pump and body.
    public var body: (any InsulinReceiver) -> any InsulinReceiver = { $0 }
    /// Between loop and algorithm.
    public var algorithm: (any DosingAlgorithm) -> any DosingAlgorithm = { $0 }
    /// The time by which an algorithm's deadline passes in a live session, ns; the machine's where there is none.
    package var algorithmTime: (@Sendable () -> Int64)?
    /// Hear sensor and pump before loop and alert center do.
    public var observers: [any DeviceObserver] = []
    /// Makes the pump and the sensor that are outside of the session, and so is the person: the study's body, sensor, pump and meals are not lived.
    /// nil where pump and sensor are the study's.
    package var outside: ((Study, SessionExecutor, SessionRecorder) -> any OutsideDevices)?

    /// Glucose comes from outside (`Session.feed`): the sensor measures nothing of the body, and the loop suggests only.
    public var isFed = false

    public init() {}
}
