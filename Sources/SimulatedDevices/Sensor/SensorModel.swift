// A glucose sensor as a study names it: how it errs, by publication, and how it lasts, by make.
//
// Guarantees: a model is advanced once a sample, every five minutes, and draws from its own streams only; the
// same sensor index gives the same sensor whatever else the session does.
// Does not: clip to the sensor's range or decide whether a reading is shown. The sensor does.

public import Devices
public import SimulationKernel

/// The error of one sensor, from insertion to removal.
public protocol SensorErrorModel {
    /// Turns the interstitial glucose of the next sample into what the sensor says, both in mg/dL.
    /// - Parameter daysSinceInsertion: the age of the sensor at this sample.
    mutating func sample(interstitial: Double, daysSinceInsertion: Double) -> Double
}

/// One sensor: a row, written in the file of its error model.
public struct SensorModel: ListedByID {
    /// Makes the sensor with this index of a subject's life. Throws where no acceptable sensor comes up.
    public typealias Maker =
        @Sendable (_ streams: RandomStreams, _ index: UInt64) throws -> any SensorErrorModel

    public static let noun = "a sensor"

    public let id: String
    public let summary: String
    /// Where its errors come from.
    public let source: String
    /// How it lasts, unless told otherwise.
    public let device: SensorDevice
    let makeErrors: Maker

    public init(
        id: String, summary: String, source: String, device: SensorDevice = .dexcomG6,
        makeErrors: @escaping Maker
    ) {
        self.id = id
        self.summary = summary
        self.source = source
        self.device = device
        self.makeErrors = makeErrors
    }

    /// The sensors that a study can name.
    public static let all: [SensorModel] = [
        .ideal, .breton2008, .vettoretti2019, .dexcomG6, .dexcomG7,
    ]
}
