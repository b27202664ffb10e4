// A glucose sensor as a study names it: how it errs, by publication, and how it lasts, by make.
//
// Guarantees: a model is advanced once a sample, every five minutes, and draws from its own streams only; the
// same sensor index gives the same sensor whatever else the session does.
// Does not: clip to the sensor's range or decide whether a reading is shown. The sensor does.

public import IsletDevices
public import IsletKernel

/// The error of one sensor, from insertion to removal.
public protocol SensorErrorModel {
    /// Turns the interstitial glucose of the next sample into what the sensor says, both in mg/dL.
    /// - Parameter daysSinceInsertion: the age of the sensor at this sample.
    mutating func sample(interstitial: Double, daysSinceInsertion: Double) -> Double
    /// By how many minutes it follows plasma, where that is its own matter: `interstitial` is then plasma glucose behind a compartment with this
    /// time constant. Nil for the body's own interstitium.
    var ownLag: Double? { get }
}

extension SensorErrorModel {
    public var ownLag: Double? { nil }
}

/// One sensor: a row, written in the file of its error model.
public struct SensorModel: ListedByID, Tunable {
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
    public let parameters: [TunableParameter]
    private let maker: @Sendable ([Double]) -> Maker
    /// Makes one with the values of this row.
    let makeErrors: Maker

    /// A sensor of which a study may set numbers.
    /// - Parameters:
    ///   - settings: where a study sets nothing.
    ///   - fields: what a study may set, and where it lives in `settings`.
    public init<Settings: Sendable>(
        id: String, summary: String, source: String, device: SensorDevice = .dexcomG6,
        settings: Settings, parameters fields: [NumberRow<Settings, Void>],
        makeErrors:
            @escaping @Sendable (
                _ streams: RandomStreams, _ index: UInt64, _ settings: Settings
            ) throws -> any SensorErrorModel
    ) {
        self.id = id
        self.summary = summary
        self.source = source
        self.device = device
        parameters = TunableParameter.list(fields, of: settings)
        maker = { values in
            let tuned = TunableParameter.set(values, fields, of: settings)
            return { try makeErrors($0, $1, tuned) }
        }
        self.makeErrors = { try makeErrors($0, $1, settings) }
    }

    /// A sensor of which there is nothing to set.
    public init(
        id: String, summary: String, source: String, device: SensorDevice = .dexcomG6,
        makeErrors: @escaping Maker
    ) {
        self.init(
            id: id, summary: summary, source: source, device: device, settings: (), parameters: []
        ) { streams, index, _ in try makeErrors(streams, index) }
    }

    private init(_ row: SensorModel, values: [Double]) {
        id = row.id
        summary = row.summary
        source = row.source
        device = row.device
        parameters = row.parameters
        maker = row.maker
        makeErrors = row.maker(values)
    }

    /// The sensor with these values, in the order of `parameters`.
    fileprivate func with(_ values: [Double]) -> SensorModel { SensorModel(self, values: values) }

    /// The sensors that a study can name.
    public static let all: [SensorModel] = [
        .ideal, .breton2008, .vettoretti2019, .dexcomG6, .dexcomG7,
    ]
}

public typealias TunedSensor = Tuned<SensorModel>

extension Tuned where Kind == SensorModel {
    /// Errs by these values.
    public var model: SensorModel { isDefault ? kind : kind.with(values) }
}
