// A dosing algorithm as a study names it, with what a study may set of it.
//
// Guarantees: an algorithm's row stands in its own file: id, summary, parameters with unit, range and default value, how it is made.

public import IsletDevices

/// One algorithm: a row, written in the algorithm's file.
public struct AlgorithmKind: ListedByID, Tunable {
    public static let noun = "an algorithm"

    public let id: String
    public let summary: String
    public let parameters: [TunableParameter]
    public let basalSource: BasalSource
    public let lowersHighs: Bool
    private let maker: @Sendable ([Double]) -> any DosingAlgorithm

    /// - Parameter default: the algorithm where a study sets nothing; its name is the row's.
    public init<Algorithm: DosingAlgorithm>(
        summary: String, default algorithm: Algorithm,
        parameters fields: [NumberRow<Algorithm, Void>] = []
    ) {
        id = algorithm.name
        self.summary = summary
        basalSource = algorithm.basalSource
        lowersHighs = algorithm.lowersHighs
        parameters = TunableParameter.list(fields, of: algorithm)
        let defaults = parameters.map(\.defaultValue)
        // To go along ten key paths costs as much as an hour of a session.
        maker = { $0 == defaults ? algorithm : TunableParameter.set($0, fields, of: algorithm) }
    }

    /// An algorithm that is no row of `all`: a program of somebody's own.
    package init(
        id: String, summary: String, basalSource: BasalSource,
        make: @escaping @Sendable () -> any DosingAlgorithm
    ) {
        (self.id, self.summary, self.basalSource) = (id, summary, basalSource)
        lowersHighs = basalSource != .programmed
        parameters = []
        maker = { _ in make() }
    }

    /// - Parameter values: in the order of `parameters`.
    fileprivate func make(_ values: [Double]) -> any DosingAlgorithm { maker(values) }

    /// The algorithms that a study can name.
    public static let all: [AlgorithmKind] = [
        .basalBolus, .lowGlucoseSuspend, .predictiveSuspend, .pidInsulinFeedback, .oref1Style,
        .loopStyle, .hovorkaMPC,
    ]
}

public typealias TunedAlgorithm = Tuned<AlgorithmKind>

extension Tuned where Kind == AlgorithmKind {
    public static var basalBolus: TunedAlgorithm { TunedAlgorithm(.basalBolus) }
    public static var pidInsulinFeedback: TunedAlgorithm { TunedAlgorithm(.pidInsulinFeedback) }
    public static var oref1Style: TunedAlgorithm { TunedAlgorithm(.oref1Style) }
    public static var loopStyle: TunedAlgorithm { TunedAlgorithm(.loopStyle) }

    public var algorithm: any DosingAlgorithm { kind.make(values) }
}
