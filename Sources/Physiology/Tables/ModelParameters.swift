// One subject's parameters, whichever model they belong to.
//
// Guarantees: `makeModel` gives a model at its initial state with basal insulin flowing.

/// The parameters of one of the catalogue's models.
public enum ModelParameters: Hashable, Sendable {
    case uvaPadova2008(UVAPadova2008.Parameters)
    case hovorka2004(Hovorka2004Parameters)
    case hovorkaWilinska(HovorkaWilinskaParameters)
    case medtronicVirtualPatient(MedtronicVirtualPatientParameters)

    public var kind: ModelKind {
        switch self {
        case .uvaPadova2008: .uvaPadova2008
        case .hovorka2004: .hovorka2004
        case .hovorkaWilinska: .hovorkaWilinska
        case .medtronicVirtualPatient: .medtronicVirtualPatient
        }
    }

    /// A model at `initialState`, or in its steady state where there is none.
    /// - Precondition: `initialState` has as many values as the model has states.
    public func makeModel(
        initialState: [Double]? = nil, settings: IntegrationSettings = .session
    ) -> any GlucoseModel {
        switch self {
        case .uvaPadova2008(let p):
            UVAPadova2008(parameters: p, initialState: initialState, settings: settings)
        case .hovorka2004(let p):
            CompartmentModel<Hovorka2004>(parameters: p, initialState: initialState, settings: settings)
        case .hovorkaWilinska(let p):
            CompartmentModel<HovorkaWilinska>(
                parameters: p, initialState: initialState, settings: settings)
        case .medtronicVirtualPatient(let p):
            CompartmentModel<MedtronicVirtualPatient>(
                parameters: p, initialState: initialState, settings: settings)
        }
    }

    /// Values in the order of the catalogue's columns.
    public var values: [Double] {
        switch self {
        case .uvaPadova2008(let p): Self.values(p)
        case .hovorka2004(let p): Self.values(p)
        case .hovorkaWilinska(let p): Self.values(p)
        case .medtronicVirtualPatient(let p): Self.values(p)
        }
    }

    /// kg.
    public var bodyWeight: Double {
        switch self {
        case .uvaPadova2008(let p): p.BW
        case .hovorka2004(let p): p.BW
        case .hovorkaWilinska(let p): p.w
        case .medtronicVirtualPatient(let p): p.BW
        }
    }

    private static func values<P: TabulatedParameters>(_ p: P) -> [Double] {
        P.fields.map { p[keyPath: $0.path] }
    }
}
