// One subject's parameters, whichever model they belong to.
//
// Guarantees: `makeModel` gives a model at its initial state with basal insulin flowing.

import IsletDevices

/// The parameters of one of the models.
public struct ModelParameters: Hashable, Sendable {
    /// As the model's own type.
    public let base: any TabulatedParameters

    public init(_ base: some TabulatedParameters) { self.base = base }

    public var kind: ModelKind { type(of: base).kind }

    /// A model at `initialState`, or in its steady state where there is none.
    /// - Parameter options: of a model that has some; the others are what they are.
    /// - Precondition: `initialState` has as many values as the model has states.
    public func makeModel(
        initialState: [Double]? = nil, settings: IntegrationSettings = .session,
        options: BodyOptions = .published
    ) -> any GlucoseModel {
        if !options.isPublished, let own = base as? any OptionalBodyParameters {
            return own.makeModel(initialState: initialState, settings: settings, options: options)
        }
        return base.makeModel(initialState: initialState, settings: settings)
    }

    /// Values in the order of the model's columns.
    public var values: [Double] { base.values }

    /// kg.
    public var bodyWeight: Double { base.bodyWeight }

    public static func == (a: Self, b: Self) -> Bool { a.base.isEqual(b.base) }

    public func hash(into hasher: inout Hasher) { base.hash(into: &hasher) }
}

/// Parameters of a model that has more to it than its published equations.
protocol OptionalBodyParameters: TabulatedParameters {
    func makeModel(
        initialState: [Double]?, settings: IntegrationSettings, options: BodyOptions
    ) -> any GlucoseModel
}

extension UVAPadova2008.Parameters: OptionalBodyParameters {
    func makeModel(
        initialState: [Double]?, settings: IntegrationSettings, options: BodyOptions
    ) -> any GlucoseModel {
        UVAPadova2008(parameters: self, initialState: initialState, settings: settings, options: options)
    }
}

extension TabulatedParameters {
    static var columns: [ParameterColumn] { fields.map(\.facts) }

    fileprivate var values: [Double] { Self.fields.map { self[keyPath: $0.path] } }

    fileprivate func isEqual(_ other: any TabulatedParameters) -> Bool { self == other as? Self }
}
