// The names under which metrics leave Islet.
//
// Guarantees: raw values and their order are contracts that users script against; new ones go to the end.

/// A glucose metric: its key in JSON and tables, in output order.
package enum GlucoseMetricKey: String, CaseIterable, Hashable, Sendable {
    case n
    case days
    case coveragePercent = "coverage_percent"
    case meanMgdl = "mean_mgdl"
    case sdMgdl = "sd_mgdl"
    case cvPercent = "cv_percent"
    case gmiPercent = "gmi_percent"
    case tir70to180Percent = "tir_70_180_percent"
    case titr70to140Percent = "titr_70_140_percent"
    case tbr70Percent = "tbr_70_percent"
    case tbr54Percent = "tbr_54_percent"
    case tar180Percent = "tar_180_percent"
    case tar250Percent = "tar_250_percent"
    case lbgi
    case hbgi
    case gri
    case adrr
    case moddMgdl = "modd_mgdl"
    case mageMgdl = "mage_mgdl"
    case jIndex = "j_index"
    case conga1h = "conga_1h"
    case hypoEventsL1 = "hypo_events_l1"
    case hypoEventsL2 = "hypo_events_l2"
    case hyperEventsL1 = "hyper_events_l1"
    case hyperEventsL2 = "hyper_events_l2"

    /// The unit, as a table's heading shows it; "" for an index without one.
    package var unit: String {
        switch self {
        case .n: "readings"
        case .days: "d"
        case .coveragePercent, .cvPercent, .gmiPercent, .tir70to180Percent, .titr70to140Percent,
            .tbr70Percent,
            .tbr54Percent, .tar180Percent, .tar250Percent:
            "%"
        case .meanMgdl, .sdMgdl, .moddMgdl, .mageMgdl, .conga1h: "mg/dL"
        case .lbgi, .hbgi, .gri, .adrr, .jIndex: ""
        case .hypoEventsL1, .hypoEventsL2, .hyperEventsL1, .hyperEventsL2: "events"
        }
    }

    /// Whether the value is a whole number, to be written without a fraction.
    package var isCount: Bool {
        switch self {
        case .n, .hypoEventsL1, .hypoEventsL2, .hyperEventsL1, .hyperEventsL2: true
        default: false
        }
    }

    /// One line for the command line's help.
    package var summary: String {
        switch self {
        case .n: "readings that are there"
        case .days: "time from the first to the last row"
        case .coveragePercent: "readings, of those that the sampling interval (median spacing) allows"
        case .meanMgdl: "mean"
        case .sdMgdl: "standard deviation, n − 1"
        case .cvPercent: "coefficient of variation, 100·sd/mean"
        case .gmiPercent: "glucose management indicator, 3.31 + 0.02392·mean"
        case .tir70to180Percent: "readings within 70...180, both ends in"
        case .titr70to140Percent: "readings within 70...140, both ends in"
        case .tbr70Percent: "readings below 70"
        case .tbr54Percent: "readings below 54"
        case .tar180Percent: "readings above 180"
        case .tar250Percent: "readings above 250"
        case .lbgi: "low blood glucose index"
        case .hbgi: "high blood glucose index"
        case .gri: "glycemia risk index, 0...100"
        case .adrr: "average daily risk range"
        case .moddMgdl: "mean absolute difference to the same time a day before"
        case .mageMgdl:
            "mean amplitude of excursions: moving averages of 5 and 32 points (iglu), up and down averaged"
        case .jIndex: "0.001·(mean + sd)²"
        case .conga1h: "standard deviation of 1-hour differences"
        case .hypoEventsL1: "events below 70 for 15 min or more"
        case .hypoEventsL2: "events below 54 for 15 min or more"
        case .hyperEventsL1: "events above 180 for 15 min or more"
        case .hyperEventsL2: "events above 250 for 15 min or more"
        }
    }
}
