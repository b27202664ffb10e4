// What an outcome can be at all: a mean of it, and the mean's interval, lie within.
//
// Guarantees: a share lies within 0 and 1, a part of the time within 0 and 100 %, and what is counted, measured or lasts is not negative; what may be
// negative is named here.

import IsletAlerts
import IsletFiles

enum PossibleValues {
    static func isShare(_ unit: String, isIndex: Bool) -> Bool { unit.isEmpty && !isIndex }

    static func of(_ name: String, _ unit: String, isShare: Bool) -> ClosedRange<Double> {
        if isShare { return 0...1 }
        let isSigned =
            name == AlertMetricKey.lead.name || name.hasPrefix("alerts_sole_cause_") || unit.hasPrefix("°")
        if isSigned { return -.infinity ... .infinity }
        // Of these a percentage is no part of a whole.
        let isRatio = [GlucoseMetricKey.cvPercent, .gmiPercent].contains { name.hasSuffix($0.rawValue) }
        return unit == "%" && !isRatio ? 0...100 : 0 ... .infinity
    }
}
