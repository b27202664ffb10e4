// One virtual person of a study, ready to be simulated any number of times.

public import Devices
public import Physiology

/// Guarantees: every model it makes starts in the same state; safe to share between workers.
public struct SessionSubject: Sendable {
    /// Its place in the cohort: the key of its random streams.
    public var index: Int
    /// As the cohort names it: `adult#001`.
    public var name: String
    public var therapy: TherapySettings
    /// A body in its initial state.
    public var makeModel: @Sendable () -> sending any GlucoseModel

    public init(
        index: Int, name: String, therapy: TherapySettings,
        makeModel: @escaping @Sendable () -> sending any GlucoseModel
    ) {
        self.index = index
        self.name = name
        self.therapy = therapy
        self.makeModel = makeModel
    }
}
