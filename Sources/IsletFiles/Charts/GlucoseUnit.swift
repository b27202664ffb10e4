// The unit in which readers see glucose. Files and all values handed to charts are mg/dL.
//
// Guarantees: thresholds of the consensus are shown as it prints them (3.0, 3.9, 10.0, 13.9 mmol/L), other values by the molar mass.

package enum GlucoseUnit: String, Sendable, CaseIterable {
    case mgdl = "mg/dL"
    case mmolL = "mmol/L"

    /// mg/dL per mmol/L: the molar mass of glucose, 180.16 g/mol, over 10.
    package static let mgdlPerMillimole = 18.016

    /// A value of mg/dL in this unit.
    package func value(mgdl: Double) -> Double { self == .mgdl ? mgdl : mgdl / Self.mgdlPerMillimole }

    /// Decimal places that a glucose value is shown with.
    package var places: Int { self == .mgdl ? 0 : 1 }

    /// A value of mg/dL in this unit, as text without the unit.
    package func text(mgdl: Double) -> String { ChartNumber.text(value(mgdl: mgdl), places: places) }

    /// With one decimal more, as means are shown.
    package func meanText(mgdl: Double) -> String {
        ChartNumber.text(value(mgdl: mgdl), places: places + 1)
    }
}
