// The names under which glucose metrics leave Islet: one row a metric.
//
// Guarantees: files, tables, schemas, outcomes of the true and of the sensor's glucose, and `docs/data.md` take a metric from its row. Names and
// their order are contracts that users script against; new ones go to the end.

package import IsletDevices

/// A glucose metric: its key in JSON and tables.
package struct GlucoseMetricKey: Hashable, Sendable, CaseIterable {
    package enum Kind: Sendable {
        /// It describes the trace rather than the glucose: no arms are compared by it.
        case trace
        case glucose
        /// A count, which grows with time: given a week too.
        case events
    }

    /// As it stands in files.
    package let rawValue: String
    /// What readers call it.
    package let words: ValueText
    /// As a table's heading shows it; "" for an index without one.
    package let unit: String
    /// One line.
    package let summary: String
    package let better: Better
    package let kind: Kind
    /// Whether a first look needs it.
    package let isShown: Bool
    /// nil where the metric is undefined.
    let value: @Sendable (GlucoseMetrics) -> Double?

    private init(
        _ rawValue: String, _ words: ValueText, _ unit: String, _ better: Better, _ summary: String,
        kind: Kind = .glucose,
        isShown: Bool = false, value: @escaping @Sendable (GlucoseMetrics) -> Double?
    ) {
        self.rawValue = rawValue
        self.words = words
        self.unit = unit
        self.summary = summary
        self.better = better
        self.kind = kind
        self.isShown = isShown
        self.value = value
    }

    package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// Whether the value is a whole number, to be written without a fraction.
    package var isCount: Bool { kind == .events || self == .n }

    package static let n = Self(
        "n", "readings", "readings", .neither, "readings that are there", kind: .trace
    ) {
        Double($0.n)
    }
    package static let days = Self(
        "days", "days of readings", "d", .neither, "time from the first to the last row", kind: .trace,
        value: \.days)
    package static let coveragePercent = Self(
        "coverage_percent", "readings that are there", "%", .neither,
        "readings, of those that the sampling interval (median spacing) allows", kind: .trace,
        value: \.coveragePercent)
    package static let meanMgdl = Self(
        "mean_mgdl", "mean glucose", "mg/dL", .neither, "mean", isShown: true, value: \.meanMgdl)
    package static let sdMgdl = Self(
        "sd_mgdl", "standard deviation of glucose", "mg/dL", .lower, "standard deviation, n − 1",
        value: \.sdMgdl)
    package static let cvPercent = Self(
        "cv_percent", "variation of glucose (CV)", "%", .lower, "coefficient of variation, 100·sd/mean",
        isShown: true, value: \.cvPercent)
    package static let gmiPercent = Self(
        "gmi_percent", "glucose management indicator", "%", .neither,
        "glucose management indicator, 3.31 + 0.02392·mean", isShown: true,
        value: \.gmiPercent)
    package static let tir70to180Percent = Self(
        "tir_70_180_percent", "time in range, \(70, unitless: "mg/dL") to \(180, unit: "mg/dL")", "%",
        .higher,
        "readings within 70...180, both ends in", isShown: true,
        value: \.tir70to180Percent)
    package static let titr70to140Percent = Self(
        "titr_70_140_percent", "time in tight range, \(70, unitless: "mg/dL") to \(140, unit: "mg/dL")", "%",
        .higher,
        "readings within 70...140, both ends in",
        value: \.titr70to140Percent)
    package static let tbr70Percent = Self(
        "tbr_70_percent", "time below \(70, unit: "mg/dL")", "%", .lower, "readings below 70", isShown: true,
        value: \.tbr70Percent)
    package static let tbr54Percent = Self(
        "tbr_54_percent", "time below \(54, unit: "mg/dL")", "%", .lower, "readings below 54", isShown: true,
        value: \.tbr54Percent)
    package static let tar180Percent = Self(
        "tar_180_percent", "time above \(180, unit: "mg/dL")", "%", .lower, "readings above 180",
        isShown: true,
        value: \.tar180Percent)
    package static let tar250Percent = Self(
        "tar_250_percent", "time above \(250, unit: "mg/dL")", "%", .lower, "readings above 250",
        isShown: true,
        value: \.tar250Percent)
    package static let lbgi = Self(
        "lbgi", "risk of lows (LBGI)", "", .lower, "low blood glucose index", isShown: true, value: \.lbgi)
    package static let hbgi = Self(
        "hbgi", "risk of highs (HBGI)", "", .lower, "high blood glucose index", isShown: true, value: \.hbgi)
    package static let gri = Self(
        "gri", "glycemia risk index", "", .lower, "glycemia risk index, 0...100", value: \.gri)
    package static let adrr = Self(
        "adrr", "average daily risk range", "", .lower, "average daily risk range", value: \.adrr)
    package static let moddMgdl = Self(
        "modd_mgdl", "difference from one day to the next (MODD)", "mg/dL", .lower,
        "mean absolute difference to the same time a day before",
        value: \.moddMgdl)
    package static let mageMgdl = Self(
        "mage_mgdl", "mean excursion of glucose (MAGE)", "mg/dL", .lower,
        "mean amplitude of excursions: moving averages of 5 and 32 points (iglu), up and down averaged",
        value: \.mageMgdl)
    package static let jIndex = Self("j_index", "J-index", "", .lower, "0.001·(mean + sd)²", value: \.jIndex)
    package static let conga1h = Self(
        "conga_1h", "swings within an hour (CONGA)", "mg/dL", .lower,
        "standard deviation of 1-hour differences", value: \.conga1h)
    package static let hypoEventsL1 = Self(
        "hypo_events_l1", "lows below \(70, unit: "mg/dL")", "events", .lower,
        "events below 70 for 15 min or more",
        kind: .events, isShown: true
    ) { Double($0.hypoEventsL1) }
    package static let hypoEventsL2 = Self(
        "hypo_events_l2", "lows below \(54, unit: "mg/dL")", "events", .lower,
        "events below 54 for 15 min or more",
        kind: .events, isShown: true
    ) { Double($0.hypoEventsL2) }
    package static let hyperEventsL1 = Self(
        "hyper_events_l1", "highs above \(180, unit: "mg/dL")", "events", .lower,
        "events above 180 for 15 min or more",
        kind: .events
    ) { Double($0.hyperEventsL1) }
    package static let hyperEventsL2 = Self(
        "hyper_events_l2", "highs above \(250, unit: "mg/dL")", "events", .lower,
        "events above 250 for 15 min or more",
        kind: .events
    ) { Double($0.hyperEventsL2) }

    /// Every key, in the order of the files.
    package static let allCases: [GlucoseMetricKey] = [
        .n, .days, .coveragePercent, .meanMgdl, .sdMgdl, .cvPercent, .gmiPercent, .tir70to180Percent,
        .titr70to140Percent, .tbr70Percent, .tbr54Percent, .tar180Percent, .tar250Percent, .lbgi, .hbgi, .gri,
        .adrr, .moddMgdl, .mageMgdl, .jIndex, .conga1h, .hypoEventsL1, .hypoEventsL2, .hyperEventsL1,
        .hyperEventsL2,
    ]
}
