// A virtual person: parameters, and the therapy that an outpatient clinic would have found for them.
//
// Guarantees: the therapy is never sampled. It comes with the table or is found by simulation.

public import IsletDevices

/// Age groups of the field's cohorts.
public enum AgeGroup: String, Listed, CaseIterable {
    case adult, adolescent, child

    public static let noun = "a group"
    public var summary: String {
        switch self {
        case .adult: "adults"
        case .adolescent: "adolescents"
        case .child: "children"
        }
    }

    /// The group that a name like `adult#001` tells.
    public init?(subjectName name: String) {
        guard let group = Self.allCases.first(where: { name.hasPrefix($0.rawValue + "#") }) else {
            return nil
        }
        self = group
    }
}

/// One subject of a cohort.
public struct VirtualSubject: Hashable, Sendable {
    /// Like `adult#001`.
    public var name: String
    /// nil for subjects of tables whose names don't tell.
    public var group: AgeGroup?
    public var parameters: ModelParameters
    /// In the catalogue's order of states; nil for the steady state.
    public var initialState: [Double]?
    /// Holds the steady state.
    public var basalRate: InsulinRate
    /// CR, g/U.
    public var carbohydrateRatio: Double
    /// CF, mg/dL/U.
    public var correctionFactor: Double

    /// kg.
    public var bodyWeight: Double { parameters.bodyWeight }

    /// TDI, U/day: basal, and 200 g of carbohydrate at the ratio. Holds on every row of the field's table.
    public var totalDailyInsulin: InsulinAmount {
        InsulinAmount(units: 24 * basalRate.unitsPerHour + 200 / carbohydrateRatio)
    }

    /// A model of this subject with basal insulin flowing.
    public func makeModel(
        settings: IntegrationSettings = .session, options: BodyOptions = .published
    ) -> any GlucoseModel {
        parameters.makeModel(initialState: initialState, settings: settings, options: options)
    }

    /// The subject of a table's row; what therapy the table doesn't give is found by simulation.
    /// - Throws: `ModelRunError`.
    public init(_ entry: ParameterTable.Entry) throws(ModelRunError) {
        try self.init(
            name: entry.name, parameters: entry.parameters, initialState: entry.initialState,
            carbohydrateRatio: entry.carbohydrateRatio, correctionFactor: entry.correctionFactor)
    }

    /// - Parameters:
    ///   - carbohydrateRatio: g/U; nil to find it by simulation.
    ///   - correctionFactor: mg/dL/U; nil to find it by simulation.
    public init(
        name: String, parameters: ModelParameters, initialState: [Double]? = nil,
        carbohydrateRatio: Double? = nil, correctionFactor: Double? = nil
    ) throws(ModelRunError) {
        self.name = name
        group = AgeGroup(subjectName: name)
        self.parameters = parameters
        self.initialState = initialState
        if let carbohydrateRatio, let correctionFactor {
            basalRate = parameters.makeModel().basalRate
            self.carbohydrateRatio = carbohydrateRatio
            self.correctionFactor = correctionFactor
        } else {
            let search = TherapySearch(parameters, subject: name)
            basalRate = search.basalRate
            if let carbohydrateRatio {
                self.carbohydrateRatio = carbohydrateRatio
            } else {
                self.carbohydrateRatio = try search.carbohydrateRatio()
            }
            if let correctionFactor {
                self.correctionFactor = correctionFactor
            } else {
                self.correctionFactor = try search.correctionFactor(besideRatio: self.carbohydrateRatio)
            }
        }
    }
}
